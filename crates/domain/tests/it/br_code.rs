use proptest::prelude::*;
use regente_domain::br_code::{BrCode, BrCodeError, TXID_AT_LOCATION};
use regente_domain::mcc::Mcc;
use regente_domain::money::Amount;

const LOCATION: &str = "pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a99";

fn shop() -> BrCode<'static> {
    BrCode {
        location: LOCATION,
        merchant_name: "EMPRESA",
        merchant_city: "SAO PAULO",
        category: None,
        amount: Amount::ZERO,
        txid: TXID_AT_LOCATION,
    }
}

fn of_cents(cents: i64) -> BrCode<'static> {
    BrCode { amount: Amount::new(cents).unwrap(), ..shop() }
}

#[test]
fn a_code_field_by_field() {
    let code = BrCode { category: Mcc::parse_digits("742"), txid: "RP12345678", ..of_cents(123_456) }
        .encode()
        .unwrap();
    let (fields, checksum) = code.split_at(code.len() - 4);
    assert_eq!(
        fields,
        [
            "000201",
            "010212",
            "2677",
            "0014br.gov.bcb.pix",
            "2555pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a99",
            "52040742",
            "5303986",
            "54071234.56",
            "5802BR",
            "5907EMPRESA",
            "6009SAO PAULO",
            "6214",
            "0510RP12345678",
            "6304",
        ]
        .concat()
    );
    assert_eq!(checksum.len(), 4);
}

/// Codes written by others, with the checksums they printed.
#[test]
fn codes_of_others_are_read() {
    let example = "00020101021226770014BR.GOV.BCB.PIX2555pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a99\
                   5204000053039865802BR5907EMPRESA6009SAO PAULO62070503***6304EEAB";
    assert_eq!(BrCode::parse(example), Ok(shop()));
    // Of a key, not of a charge at a location.
    let static_code = "00020126330014BR.GOV.BCB.PIX01115794666323452040000530398654041.005802BR\
                       5925CLENILTON CRUZ DE ALENCAR6006MANAUS62070503***6304FA88";
    assert_eq!(BrCode::parse(static_code), Err(BrCodeError::Static));
}

/// What is shorter would be written with four and be another one, or none.
#[test]
fn a_category_has_four_digits() {
    for (field, checksum) in [("52010", "3E3A"), ("5203742", "A949"), ("520500742", "1457")] {
        let code = format!(
            "00020126770014BR.GOV.BCB.PIX2555{LOCATION}{field}53039865802BR5907EMPRESA6009SAO PAULO62070503***6304{checksum}"
        );
        assert_eq!(BrCode::parse(&code), Err(BrCodeError::Category), "{field}");
    }
}

#[test]
fn amounts_are_reais_with_two_decimals() {
    for (cents, field) in [(1, "54040.01"), (150, "54041.50"), (999_999_999_999, "54139999999999.99")] {
        assert!(of_cents(cents).encode().unwrap().contains(field), "{cents}");
    }
    assert_eq!(of_cents(1_000_000_000_000).encode(), Err(BrCodeError::Amount));
    assert!(!of_cents(0).encode().unwrap().contains("398654"));
}

#[test]
fn names_are_written_without_accents_and_cut() {
    for (name, written) in [
        ("Açaí & Cia.", "5911Acai & Cia."),
        ("  Pão  ", "5903Pao"),
        ("Comércio de Eletrônicos São João Ltda", "5925Comercio de Eletronicos S"),
        // The cut falls behind a space, which goes too.
        ("Comercio de Eletronicos e mais", "5925Comercio de Eletronicos e"),
        ("Comércio de Eletrônico 1 e mais", "5924Comercio de Eletronico 1"),
        ("Straße\u{7}\n", "5907Strasse"),
    ] {
        let code = BrCode { merchant_name: name, ..shop() }.encode().unwrap();
        assert!(code.contains(&format!("5802BR{written}60")), "{name}: {code}");
    }
    let code = BrCode { merchant_city: "São José do Rio Preto", ..shop() }.encode().unwrap();
    assert!(code.contains("6015Sao Jose do Rio62"), "{code}");
}

#[test]
fn what_cannot_be_written_is_named() {
    let with_location = |location: &'static str| BrCode { location, ..shop() };
    let long = "a".repeat(78);
    let longest = "a".repeat(77);
    for wrong in ["", "https://pix.example.com/a", "pix.example.com/a b", "pix.example.com/ã"] {
        assert_eq!(with_location(wrong).encode(), Err(BrCodeError::Location), "{wrong}");
    }
    assert_eq!(BrCode { location: &long, ..shop() }.encode(), Err(BrCodeError::Location));
    assert!(BrCode { location: &longest, ..shop() }.encode().unwrap().contains("2699"));
    for wrong in ["", " ", "\u{301}\u{7}"] {
        assert_eq!(BrCode { merchant_name: wrong, ..shop() }.encode(), Err(BrCodeError::MerchantName));
        assert_eq!(BrCode { merchant_city: wrong, ..shop() }.encode(), Err(BrCodeError::MerchantCity));
    }
    for wrong in ["", "**", "a-b", "açaí", "12345678901234567890123456"] {
        assert_eq!(BrCode { txid: wrong, ..shop() }.encode(), Err(BrCodeError::Txid), "{wrong}");
    }
}

#[test]
fn what_is_no_code_is_named() {
    let sealed = |fields: &str| {
        let code = format!("{fields}6304");
        format!("{code}{:04X}", crc16(&code))
    };
    let good = "00020101021226770014BR.GOV.BCB.PIX2555pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a99\
                5204581253039865802BR5907EMPRESA6009SAO PAULO62070503***";
    assert!(BrCode::parse(&sealed(good)).is_ok());
    assert!(BrCode::parse(&sealed(good).to_lowercase()).is_err());
    for (from, to, error) in [
        ("000201", "000202", BrCodeError::Format),
        ("BCB.PIX", "BCB.PAX", BrCodeError::Format),
        ("2677", "2777", BrCodeError::Format),
        ("5303986", "5303840", BrCodeError::Currency),
        ("52045812", "520458a2", BrCodeError::Category),
        ("5802BR", "54041,005802BR", BrCodeError::Amount),
        ("5802BR", "5404.1005802BR", BrCodeError::Amount),
        ("5907EMPRESA", "", BrCodeError::MerchantName),
        ("6009SAO PAULO", "", BrCodeError::MerchantCity),
        ("62070503***", "", BrCodeError::Txid),
        ("62070503***", "62070503*-*", BrCodeError::Txid),
        ("62070503***", "62990503***", BrCodeError::Fields),
        ("62070503***", "62070509***", BrCodeError::Fields),
    ] {
        assert_eq!(BrCode::parse(&sealed(&good.replacen(from, to, 1))), Err(error), "{from} -> {to}");
    }
    for wrong in ["", "63", "6304", good, &sealed(good)[1..], "é630400"] {
        assert!(BrCode::parse(wrong).is_err(), "{wrong}");
    }
}

/// The published check value of CRC-16/IBM-3740. The test's own computation, bit by bit over a register of 17 bits.
#[test]
fn the_checksum_is_the_published_one() {
    assert_eq!(crc16("123456789"), 0x29B1);
    let code = of_cents(150).encode().unwrap();
    let (fields, checksum) = code.split_at(code.len() - 4);
    assert_eq!(format!("{:04X}", crc16(fields)), checksum);
}

fn crc16(text: &str) -> u32 {
    let mut register: u32 = 0xFFFF;
    for bit in text.bytes().flat_map(|byte| (0..8).rev().map(move |at| u32::from(byte >> at & 1))) {
        register = (register << 1) ^ (bit << 16);
        if register & 0x1_0000 != 0 {
            register ^= 0x1_1021;
        }
    }
    register
}

proptest! {
    #[test]
    fn what_is_written_reads_back(
        location in "[a-z0-9./-]{1,77}", name in "[ -~]{0,24}[!-~]", city in "[!-~]{1,15}", txid in "[A-Za-z0-9]{1,25}",
        category in proptest::option::of("[1-9][0-9]{3}"), cents in 0_i64..1_000_000_000_000
    ) {
        let said = BrCode {
            location: &location,
            merchant_name: name.trim_start(),
            merchant_city: &city,
            category: category.and_then(|digits| Mcc::parse_digits(&digits)),
            amount: Amount::new(cents).unwrap(),
            txid: &txid,
        };
        let code = said.encode().unwrap();
        prop_assert_eq!(BrCode::parse(&code), Ok(said));
    }

    #[test]
    fn every_changed_sign_is_found(at in 0_usize..149, sign in "[ -~]") {
        let mut code = of_cents(150).encode().unwrap();
        prop_assume!(at < code.len() && !code[at..].starts_with(&sign));
        code.replace_range(at..=at, &sign);
        prop_assume!(!code.eq_ignore_ascii_case(&of_cents(150).encode().unwrap()));
        prop_assert!(BrCode::parse(&code).is_err());
    }

    #[test]
    fn no_text_breaks_it(text in any::<String>()) {
        let _ = BrCode::parse(&text);
        let _ = BrCode { merchant_name: &text, merchant_city: &text, ..shop() }.encode();
    }
}
