mod spellings;

use regente_domain::card::in_text::{
    CardData, LOOKS_MAX, card_data, has_number, is_security_code, masked, masked_by, numbers_like,
};

#[test]
fn a_number_of_a_known_range_is_found_however_it_is_grouped() {
    for text in [
        "4916745120294124",
        "card 4916 7451 2029 4124 of the buyer",
        "card:4916-7451-2029-4124.",
        "4916\u{a0}7451\u{a0}2029\u{a0}4124",
        "4916\u{2011}7451\u{2011}2029\u{2011}4124",
        "4 9 1 6 7 4 5 1 2 0 2 9 4 1 2 4",
        "4916  7451  2029  4124",
        "4916 - 7451 - 2029 - 4124",
        "371511430434941",
        "3715 114304 34941",
        "6062829302997360",
        "30569309025904",
        "3056 930902 5904",
        "12/2030 4916745120294124 220",
        "2030 4916 7451 2029 4124 220",
        "01a1fabf-18a4-7000-a66d-63a5d8615839 4916745120294124",
        "pan4916745120294124",
        "número:4916745120294124😀",
        // Signs and ends of lines between the digits.
        "4916.7451.2029.4124",
        "4916/7451/2029/4124",
        "4916, 7451, 2029, 4124",
        "4916_7451_2029_4124",
        "4916 | 7451 | 2029 | 4124",
        "4916\n7451\r\n2029\n4124",
        "4916\t7451\t2029\t4124",
        "4916·7451·2029·4124",
        "4.9.1.6.7.4.5.1.2.0.2.9.4.1.2.4",
        "4😀9😀1😀6😀7😀4😀5😀1😀2😀0😀2😀9😀4😀1😀2😀4",
        "(4916)7451(2029)4124",
        "49167451-20294124",
        "4916745120294124, 2026",
        // Digits of other scripts.
        "４９１６７４５１２０２９４１２４",
        "４９１６－７４５１－２０２９－４１２４",
        "٤٩١٦٧٤٥١٢٠٢٩٤١٢٤",
        "४९१६ ७४५१ २०२९ ४१२४",
        "𝟒𝟗𝟏𝟔𝟩𝟜𝟝𝟙𝟐𝟎𝟐𝟗𝟺𝟷𝟸𝟺",
        "④⑨①⑥⑦④⑤①②⓪②⑨④①②④",
        "4916745⑫0294124",
        "4\u{fe0f}\u{20e3}9\u{fe0f}\u{20e3}16745120294124",
        "⁴⁹¹⁶₇₄₅₁2029４１２४",
        // What cannot be seen.
        "4916\u{200b}7451\u{200b}2029\u{200b}4124",
        "49\u{200d}16\u{2060}74\u{feff}51\u{ad}20\u{200c}29\u{180e}41\u{e0041}24",
        "4\u{336}9\u{336}1\u{336}6\u{336}745120294124",
        "4916\u{1}745120294124",
        "4916745120294124 4916 7451 2029 4124 371511430434941",
    ] {
        assert!(has_number(text), "{text}");
    }
}

#[test]
fn what_only_looks_like_a_number_is_no_number() {
    for text in [
        "",
        "order 231",
        "4916745120294125",
        "9999999999999995",
        "4 9 1 6 7 4 5 1 2 0 2 9 4 1 2 5",
        "49 16 74 51 20 29 41 24",
        // Digits of other lengths, and parts of longer runs.
        "49167451202941240",
        "14916745120294124",
        "4222222222222",
        "378282246310005000",
        "4916    7451    2029    4124",
        "4916a7451b2029c4124",
        // A bar code of goods, a telephone, two of them in each form.
        "4006381333924",
        "+55 41 99876-5432",
        "41 99876-0008 41 99876-1236",
        "5541998765432",
        "49167451 20294124",
        "49167451 / 20294124",
        "4916-7451, 2029-4124",
        "4916-7451 2029-4124",
        "1120-4916, 7451-2029, 4124-1120",
        // Documents, dates, amounts, versions, addresses.
        "529.982.247-25, 390.533.447-05",
        "2026-11-28 03:41:07, 28/11/2026 03:41",
        "20261128034107",
        "R$ 4.556.684,53 + R$ 1.234,56 = R$ 4.557.919,09",
        "192.168.100.200:8080",
        "CEP 80010-000, 41 3333-4444",
        // Ids, and a hash around digits.
        "49167451-2029-4124-9000-012345678901",
        "id=49167451-2029-4124-9000-012345678901;",
        "a3f4916745120294124bc0d1",
        "0.4916745120294124",
        // A CNPJ in the range of Diners.
        "36123463000198",
        "36.123.463/0001-98",
        // The key of an invoice and the lines of a boleto and of a bill.
        "4916 7451 2029 4124 4916 7451 2029 4124 4916 7451 2029",
        "34191 79001 00002 510047 91020 150008 9 75520000370000",
        "846700000017 435900240209 024050002435 842210108119",
    ] {
        assert!(!has_number(text), "{text}");
    }
}

#[test]
fn masks_leave_six_and_four_digits() {
    assert_eq!(masked("order-231"), "order-231");
    assert_eq!(masked("a 4916-7451-2029-4124, b"), "a [card 491674…4124], b");
    assert_eq!(
        masked("à ４９１６.７４５１\u{200b}.２０２９.４１２４\u{200b}, ç"),
        "à [card 491674…4124]\u{200b}, ç"
    );
    assert_eq!(masked("x④⑨①⑥⑦④⑤⑫⓪②⑨④①②④ y"), "x[card 491674…4124] y");
    let both = masked("4916745120294124/371511430434941é");
    assert_eq!(both, "[card 491674…4124]/[card 371511…4941]é");
    assert!(!has_number(&both));
}

/// What a mask shows of one number would complete the other one.
#[test]
fn numbers_that_share_a_group_are_both_masked() {
    let text = "4915 7451 2029 4133 1234 4133 5678";
    assert_eq!(masked(text), "[card 491574…[card 413312…5678]");
    let line = "49\0\0\u{1}5 7451 20294133-1234 4133-5678";
    assert!(!has_number(&masked(line)));
}

#[test]
fn a_text_that_is_never_done_loses_its_digits() {
    assert_eq!(masked_by("4916 ٤١٢٤ a", |text| Some(text.to_owned())), "**** **** a");
    let looks = std::cell::Cell::new(1);
    let in_time = |text: &str| (looks.replace(looks.get() + 1) < LOOKS_MAX).then(|| format!("{text}1"));
    assert_eq!(masked_by("a", in_time), format!("a{}", "1".repeat(LOOKS_MAX - 1)));
}

#[test]
fn a_known_card_is_found_in_any_spelling() {
    for text in [
        "4916745120294124",
        "x4916.7451.2029.4124y",
        "7-49 16 74 51 20 29 41 24/9",
        "49167451202941249",
        "a４９b１６ ７４٥١ 20\u{200b}29 4124",
    ] {
        let found = numbers_like(text, "491674", "4124");
        assert_eq!(
            found.iter().map(|number| number.expose_digits()).collect::<Vec<_>>(),
            ["4916745120294124"]
        );
    }
    for text in ["", "491674", "4124", "491674…4124", "4916745120294125"] {
        assert!(numbers_like(text, "491674", "4124").is_empty(), "{text}");
    }
}

#[test]
fn a_security_code_is_found_by_its_name() {
    for text in [
        "cvv 220",
        "491674…4124 CVV: 0560",
        "(cvv=220)",
        "cvv220",
        "CVV2 220",
        "the cvc is 220",
        "security code: 220",
        "Código de Segurança é 220",
        "CÓDIGO DE SEGURANÇA 220",
        "card_cvv=\"220\"",
        "cod. seg. 220",
        "Cód. de seg.: 220",
        "cod seg 0560",
        "código de segurança: 220",
        "CO\u{301}DIGO DE SEGURANC\u{327}A 220",
        "código de segurança do cartão — 220",
        "código de seguridad: 220",
        "Security-Code 220",
        "sec.code=220",
        "card verification value 220",
        "cvc 220",
        "CVC2: 220",
        "cvv2220",
        "cvv number 220",
        "ＣＶＶ ２２０",
        "c\u{200b}vv ٢٢٠",
        "cvv ②②⓪",
        "cvv: 2 2 0",
        "cvv 0-5-6-0",
    ] {
        assert_eq!(card_data(text), Some(CardData::SecurityCode), "{text}");
    }
    assert_eq!(card_data("4916745120294124 CVV: 0560"), Some(CardData::Number));
    for text in [
        "",
        "220",
        "cvv",
        "cvv 22",
        "cvv 22000",
        "cvv of 220 buyers",
        "Pacote CVC 2024",
        "xcvv 220",
        "code 220",
        "zip code 220",
        "cod. 220",
        "seg. 220, ter. 221",
        "código de barras 220",
        "código de segurança 123456",
        "cvv 2 2",
        "cvv 2 2 0 5 6",
        "cvv2 em 10 vezes",
    ] {
        assert_eq!(card_data(text), None, "{text}");
    }
}

#[test]
fn a_member_may_be_named_after_a_security_code() {
    for (name, value) in [
        ("cvv", "220"),
        ("cardCvv", "0560"),
        ("security_code", " 220 "),
        ("codigoDeSegurança", "220"),
        ("codSeg", "２２０"),
        ("cvv2", "220"),
    ] {
        assert!(is_security_code(name, value), "{name}");
    }
    for (name, value) in [("cvv", "M"), ("cvv", "22"), ("cvvCheck", "220"), ("code", "220")] {
        assert!(!is_security_code(name, value), "{name}");
    }
}
