use regente_domain::card::in_text::{has_number, has_security_code, is_security_code, masked, numbers_like};

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
        // A bar code of goods, a telephone, two of them.
        "4006381333924",
        "+55 41 99876-5432",
        "41 99876-0008 41 99876-1236",
        "5541998765432",
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
    let both = masked("4916745120294124/371511430434941é");
    assert_eq!(both, "[card 491674…4124]/[card 371511…4941]é");
    assert!(!has_number(&both));
}

#[test]
fn a_known_card_is_found_in_any_spelling() {
    for text in
        ["4916745120294124", "x4916.7451.2029.4124y", "7-49 16 74 51 20 29 41 24/9", "49167451202941249"]
    {
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
        "4916745120294124 CVV: 0560",
        "(cvv=220)",
        "cvv220",
        "CVV2 220",
        "the cvc is 220",
        "security code: 220",
        "Código de Segurança é 220",
        "CÓDIGO DE SEGURANÇA 220",
        "card_cvv=\"220\"",
    ] {
        assert!(has_security_code(text), "{text}");
    }
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
    ] {
        assert!(!has_security_code(text), "{text}");
    }
}

#[test]
fn a_member_may_be_named_after_a_security_code() {
    for (name, value) in
        [("cvv", "220"), ("cardCvv", "0560"), ("security_code", " 220 "), ("codigoDeSegurança", "220")]
    {
        assert!(is_security_code(name, value), "{name}");
    }
    for (name, value) in [("cvv", "M"), ("cvv", "22"), ("cvvCheck", "220"), ("code", "220")] {
        assert!(!is_security_code(name, value), "{name}");
    }
}
