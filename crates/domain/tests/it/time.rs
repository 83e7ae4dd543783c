use std::time::Duration;

use proptest::prelude::*;
use regente_domain::time::{Timestamp, parse_date};

fn shown(text: &str) -> Option<String> {
    Timestamp::parse(text).map(|time| time.to_string())
}

#[test]
fn many_spellings_of_one_moment() {
    for text in [
        "2022-10-25T22:49:06.588Z",
        "2022-10-25T22:49:06.588999Z",
        "2022-10-25T19:49:06.588-03:00",
        "2022-10-26T00:49:06.588+02:00",
        // What "+02:00" becomes in a query that nobody percent-encoded.
        "2022-10-26T00:49:06.588 02:00",
    ] {
        assert_eq!(shown(text).as_deref(), Some("2022-10-25T22:49:06.588Z"), "{text}");
    }
    assert_eq!(shown("2022-10-26T00:49:06 00:00").as_deref(), Some("2022-10-26T00:49:06.000Z"));
    assert_eq!(shown("2022-10-25T22:49:06Z").as_deref(), Some("2022-10-25T22:49:06.000Z"));
    assert_eq!(shown("2022-10-25").as_deref(), Some("2022-10-25T00:00:00.000Z"));
}

/// What others send in seconds may be of no year.
#[test]
fn seconds_are_of_a_year_that_can_be_written() {
    assert_eq!(Timestamp::from_seconds(1_767_225_600), Some(Timestamp::from_millis(1_767_225_600_000)));
    assert_eq!(Timestamp::from_seconds(-1), Some(Timestamp::from_millis(-1_000)));
    for seconds in [i64::MIN, -377_705_116_801, 253_402_300_800, 9_007_199_254_740_991, i64::MAX] {
        assert_eq!(Timestamp::from_seconds(seconds), None, "{seconds}");
    }
}

#[test]
fn what_is_no_moment_is_refused() {
    for wrong in [
        "",
        "today",
        "2022-10-25T22:49:06.588",
        "2022-13-25",
        "2022-02-30",
        "2022-10-25T25:00:00Z",
        "2022-10-25T22:49:06.588 ",
        "1666738146588",
    ] {
        assert_eq!(Timestamp::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn a_sign_of_several_bytes_breaks_nothing() {
    assert_eq!(Timestamp::parse("2022-10-25T22:49:0é.588Z"), None);
    assert_eq!(parse_date("2022-10-2é"), None);
}

#[test]
fn cards_show_an_offset() {
    let time = Timestamp::parse("2012-06-30T23:59:59.999Z").unwrap();
    assert_eq!(time.to_offset_form(), "2012-06-30 23:59:59 +0000");
}

#[test]
fn time_passes_forward_only() {
    let (early, late) = (Timestamp::from_millis(1_000), Timestamp::from_millis(4_500));
    assert_eq!(late.since(early), Duration::from_millis(3_500));
    assert_eq!(early.since(late), Duration::ZERO);
    assert_eq!(early + Duration::from_millis(3_500), late);
    assert_eq!(late - Duration::from_millis(3_500), early);
    assert_eq!(Timestamp::from_millis(-1).hour(), -1);
    assert_eq!(Timestamp::from_millis(3_600_000).hour(), 1);
}

proptest! {
    /// Years 1 to 9999.
    #[test]
    fn what_is_shown_reads_back(millis in -62_135_596_800_000_i64..253_402_300_800_000) {
        let time = Timestamp::from_millis(millis);
        let text = time.to_string();
        prop_assert_eq!(text.len(), "2022-10-25T22:49:06.588Z".len());
        prop_assert_eq!(Timestamp::parse(&text), Some(time));
        let json = serde_json::to_string(&time).unwrap();
        prop_assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), time);
    }

    #[test]
    fn no_text_breaks_the_reader(text in any::<String>(), tail in ".{0,8}") {
        let _ = Timestamp::parse(&text);
        let _ = Timestamp::parse(&format!("2022-10-25T22:49:0{tail}"));
    }
}
