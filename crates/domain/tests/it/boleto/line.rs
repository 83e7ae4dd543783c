use jiff::ToSpan;
use jiff::civil::Date;
use proptest::prelude::*;
use regente_domain::boleto::{BankCode, Barcode, BarcodeFacts, FreeField, NotABarcode};
use regente_domain::money::Amount;

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

/// Slips printed in the manuals of banks: line, bar code, due date, cents.
const PRINTED: [(&str, &str, &str, i64); 3] = [
    (
        "34191.10121 34567.880058 71234.570001 6 16670000012345",
        "34196166700000123451101234567880057123457000",
        "2002-05-01",
        12_345,
    ),
    (
        "00190.50095 40144.816069 06809.350314 3 37370000000100",
        "00193373700000001000500940144816060680935031",
        "2007-12-31",
        100,
    ),
    (
        "23793.38128 60007.827136 95000.063305 9 75520000370000",
        "23799755200003700003381260007827139500006330",
        "2018-06-11",
        370_000,
    ),
];

#[test]
fn slips_of_banks_are_read_and_written() {
    for (line, code, due, cents) in PRINTED {
        let barcode = Barcode::parse(code).unwrap();
        assert_eq!(barcode.printed_line(), line);
        assert_eq!(Barcode::parse_line(line), Ok(barcode));
        assert_eq!(Barcode::parse_line(&barcode.line()), Ok(barcode));
        let facts = barcode.facts(day("2010-01-01"));
        assert_eq!((facts.due, facts.amount.minor_units()), (Some(day(due)), cents));
        assert_eq!((facts.bank.as_str(), facts.free_field.as_str()), (&code[..3], &code[19..]));
        assert_eq!(Barcode::new(facts), Some(barcode));
    }
}

#[test]
fn banks_are_printed_with_a_check_digit() {
    for (bank, check_digit) in
        [("001", '9'), ("033", '7'), ("104", '0'), ("237", '2'), ("341", '7'), ("756", '0')]
    {
        assert_eq!(BankCode::parse(bank).unwrap().check_digit(), check_digit, "{bank}");
    }
}

#[test]
fn the_factor_begins_anew_after_9999() {
    // FEBRABAN's table of the due-date factor.
    for (due, factor) in [
        ("2000-07-03", "1000"),
        ("2000-07-04", "1001"),
        ("2012-04-27", "5316"),
        ("2025-02-20", "9998"),
        ("2025-02-21", "9999"),
        ("2025-02-22", "1000"),
        ("2025-02-23", "1001"),
        ("2049-10-13", "9999"),
        ("2049-10-14", "1000"),
    ] {
        let barcode = Barcode::new(facts(Some(day(due)), 1)).unwrap();
        assert_eq!(&barcode.digits()[5..9], factor, "{due}");
        assert_eq!(barcode.facts(day(due)).due, Some(day(due)));
    }
    assert_eq!(Barcode::new(facts(Some(day("2000-07-02")), 1)), None);
}

#[test]
fn one_factor_is_another_day_years_later() {
    let barcode = Barcode::new(facts(Some(day("2025-02-22")), 1)).unwrap();
    for (today, due) in [
        ("2008-09-18", "2000-07-03"),
        ("2008-09-19", "2000-07-03"),
        ("2008-09-20", "2025-02-22"),
        ("2026-11-22", "2025-02-22"),
        ("2033-05-11", "2025-02-22"),
        ("2033-05-12", "2049-10-14"),
    ] {
        assert_eq!(barcode.facts(day(today)).due, Some(day(due)), "{today}");
    }
}

#[test]
fn a_boleto_may_be_without_date_and_amount() {
    let barcode = Barcode::new(facts(None, 0)).unwrap();
    assert_eq!(&barcode.digits()[5..19], "00000000000000");
    assert_eq!(barcode.facts(day("2026-11-22")), facts(None, 0));
}

#[test]
fn the_amount_has_ten_digits() {
    assert!(Barcode::new(facts(None, 9_999_999_999)).is_some());
    assert_eq!(Barcode::new(facts(None, 10_000_000_000)), None);
}

#[test]
fn what_is_no_boleto_is_refused() {
    let (line, code, ..) = PRINTED[0];
    for wrong in ["", &code[1..], "3419616670000012345110123456788005712345700a", "٣٤١٩٦", line] {
        assert_eq!(Barcode::parse(wrong), Err(NotABarcode::Length), "{wrong}");
    }
    for wrong in ["", code, &line[1..], "34191-10121 34567.880058 71234.570001 6 16670000012345"] {
        assert_eq!(Barcode::parse_line(wrong), Err(NotABarcode::Length), "{wrong}");
    }
    assert_eq!(Barcode::parse(&code.replacen("3419", "3418", 1)), Err(NotABarcode::Currency));
    assert_eq!(Barcode::parse(&code.replacen("34196", "34195", 1)), Err(NotABarcode::CheckDigit));
    assert_eq!(Barcode::parse_line(&line.replacen("10121", "10122", 1)), Err(NotABarcode::FieldCheckDigit));
    assert_eq!(Barcode::parse_line(&line.replacen(" 6 ", " 7 ", 1)), Err(NotABarcode::CheckDigit));
}

fn facts(due: Option<Date>, cents: i64) -> BarcodeFacts {
    let (bank, free_field) = ("341", "1101234567880057123457000");
    BarcodeFacts {
        bank: BankCode::parse(bank).unwrap(),
        due,
        amount: Amount::new(cents).unwrap(),
        free_field: FreeField::parse(free_field).unwrap(),
    }
}

proptest! {
    #[test]
    fn every_boleto_reads_back(
        bank in "[0-9]{3}", free in "[0-9]{25}", cents in 0_i64..=9_999_999_999, offset in -2_999_i64..5_999
    ) {
        let today = day("2026-11-22");
        let facts = BarcodeFacts {
            bank: BankCode::parse(&bank).unwrap(),
            due: Some(today.checked_add(offset.days()).unwrap()),
            amount: Amount::new(cents).unwrap(),
            free_field: FreeField::parse(&free).unwrap(),
        };
        let barcode = Barcode::new(facts).unwrap();
        prop_assert_eq!(Barcode::parse(barcode.digits()), Ok(barcode));
        prop_assert_eq!(Barcode::parse_line(&barcode.line()), Ok(barcode));
        prop_assert_eq!(Barcode::parse_line(&barcode.printed_line()), Ok(barcode));
        prop_assert_eq!(barcode.facts(today), facts);
    }

    /// Modulus 10 finds every wrong digit of a field. Modulus 11 finds those of the rest but where 0, 10 and 11 share
    /// the check digit 1.
    #[test]
    fn a_wrong_digit_of_a_field_is_found(at in 0_usize..32, by in 1_u8..10, free in "[0-9]{25}") {
        let barcode = Barcode::new(BarcodeFacts { free_field: FreeField::parse(&free).unwrap(), ..facts(None, 150) });
        let mut line = barcode.unwrap().line().into_bytes();
        line[at] = b'0' + (line[at] - b'0' + by) % 10;
        let read = Barcode::parse_line(str::from_utf8(&line).unwrap());
        prop_assert_eq!(read, Err(NotABarcode::FieldCheckDigit));
    }

    #[test]
    fn no_text_breaks_the_readers(text in any::<String>()) {
        let _ = Barcode::parse(&text);
        let _ = Barcode::parse_line(&text);
    }
}
