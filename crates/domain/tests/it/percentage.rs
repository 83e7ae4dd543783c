use proptest::prelude::*;
use regente_domain::percentage::Percentage;

#[test]
fn hundredths_of_a_percent_are_read_and_shown() {
    for (text, hundredths, shown) in [
        ("0", 0, "0"),
        ("1", 100, "1"),
        ("1.5", 150, "1.5"),
        ("1.50", 150, "1.5"),
        ("0.03", 3, "0.03"),
        ("2.05", 205, "2.05"),
        ("100", 10_000, "100"),
    ] {
        let percentage = Percentage::parse(text).unwrap();
        assert_eq!((percentage.hundredths(), percentage.to_string().as_str()), (hundredths, shown));
    }
    assert_eq!(Percentage::parse("100"), Some(Percentage::HUNDRED));
}

#[test]
fn what_is_no_exact_percentage_is_refused() {
    for wrong in ["", ".", "1.", ".5", "-1", "+1", "1,5", "0.001", "1e2", "42949673", "٣"] {
        assert_eq!(Percentage::parse(wrong), None, "{wrong}");
    }
}

proptest! {
    #[test]
    fn what_is_shown_reads_back(hundredths in any::<u32>()) {
        let percentage = Percentage::from_hundredths(hundredths);
        prop_assert_eq!(Percentage::parse(&percentage.to_string()), Some(percentage));
        prop_assert_eq!(serde_json::to_value(percentage).unwrap(), hundredths);
    }
}
