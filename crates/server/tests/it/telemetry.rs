//! The log contains no card number.

use std::io::Write;
use std::sync::{Arc, Mutex};

use regente::telemetry::{human, json, scrub};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::SubscriberExt;

fn scrubbed(line: &str) -> String {
    String::from_utf8(scrub(line.as_bytes()).into_owned()).unwrap()
}

#[test]
fn card_numbers_are_cut_to_what_may_be_shown() {
    for (line, clean) in [
        ("pan 4916745120294124 x", "pan [card 491674…4124] x"),
        ("4916745120294124", "[card 491674…4124]"),
        ("pan=4916745120294124,cvv=560", "pan=[card 491674…4124],cvv=560"),
        ("x4916745120294124y", "x[card 491674…4124]y"),
        ("4916 7451 2029 4124 560", "[card 491674…4124] 560"),
        ("4916-7451-2029-4124", "[card 491674…4124]"),
        ("took 12 4916745120294124 560 ms", "took 12 [card 491674…4124] 560 ms"),
        ("3714 496353 98431", "[card 371449…8431]"),
        ("30306641444422", "[card 303066…4422]"),
        ("6304000000000000000", "[card 630400…0000]"),
        ("4222222222222", "[card 422222…2222]"),
        ("pan ４９１６ ７４５１ ２０２９ ４１２４ ã", "pan [card 491674…4124] ã"),
        ("٤٩١٦\u{200b}٧٤٥١٢٠٢٩٤١٢٤\u{200b} ç", "[card 491674…4124]\u{200b} ç"),
        ("a 4916745120294124 b 5214254988499590", "a [card 491674…4124] b [card 521425…9590]"),
        ("4916745120294124 5214254988499590", "[card 491674…4124] [card 521425…9590]"),
        ("\"4916745120294124\\n\"", "\"[card 491674…4124]\\n\""),
    ] {
        assert_eq!(scrubbed(line), clean, "{line}");
    }
}

#[test]
fn a_card_number_inside_a_longer_number_is_cut_too() {
    for line in [
        "8888888888884916745120294124",
        "49167451202941248888888888",
        "1234567890123456789004916745120294124",
    ] {
        let found = scrubbed(line);
        assert!(!found.contains("4916745120294124"), "{line}: {found}");
    }
}

#[test]
fn what_is_no_card_number_stays() {
    for line in [
        "",
        "4916745120294125",
        "4916 7451 2029 4125",
        "491674512029",
        "2026-11-20T20:51:50.757577Z  INFO stopping",
        "request_id=65d5bcf3-2015-4496-ba45-7dd1d57075e2",
        "order 12-34-56",
        "10.0.0.1:8080",
    ] {
        assert_eq!(scrubbed(line), line);
    }
}

#[test]
fn ids_are_no_card_numbers_whatever_digits_they_have() {
    // The first groups' digits pass the check of card numbers.
    let id = "49167451-2029-4124-8000-000000000000";
    assert_ne!(scrubbed("49167451-2029-4124"), "49167451-2029-4124");
    for line in [
        id.to_owned(),
        format!("id {id}, then"),
        format!("\"{id}\""),
        format!("{id} {id}"),
        format!("1 {id}"),
    ] {
        assert_eq!(scrubbed(&line), line);
    }
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Lines {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

fn log_something() {
    let span = tracing::info_span!("http.request", request_id = "r-1");
    let _inside = span.enter();
    tracing::info!(number = "4916745120294124", "charged 4916 7451 2029 4124");
}

#[test]
fn both_forms_of_the_log_are_scrubbed_and_carry_the_request_id() {
    let (for_people, for_programs) = (Lines::default(), Lines::default());
    let lines = for_people.clone();
    let subscriber = Registry::default().with(human(move || lines.clone()));
    tracing::subscriber::with_default(subscriber, log_something);
    let lines = for_programs.clone();
    let subscriber = Registry::default().with(json(move || lines.clone()));
    tracing::subscriber::with_default(subscriber, log_something);

    let text = for_people.text();
    assert!(text.contains("charged [card 491674…4124]") && text.contains("request_id=\"r-1\""), "{text}");
    assert!(!text.contains("45120294"), "{text}");
    let text = for_programs.text();
    let line: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(line["message"], "charged [card 491674…4124]");
    assert_eq!(line["number"], "[card 491674…4124]");
    assert_eq!(line["span"]["request_id"], "r-1");
    assert_eq!(line["level"], "INFO");
}
