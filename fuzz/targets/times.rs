//! Moments, days, spans, time zones and the times of `Retry-After`. A moment is written in the interface's form and read to the
//! same moment.

#![no_main]

use libfuzzer_sys::fuzz_target;
use regente_domain::account_clock::Span;
use regente_domain::report::Zone;
use regente_domain::time::{Timestamp, parse_date};
use regente_domain::wire::{day, moment};
use regente_engine::outbound::RetryAfter;
use regente_fuzz::NOW;

fuzz_target!(|text: &str| {
    if let Some(at) = Timestamp::parse(text) {
        assert_eq!(Timestamp::parse(&at.to_string()), Some(at));
        let second = at.as_millis().div_euclid(1_000) * 1_000;
        assert!(Timestamp::parse(&at.to_offset_form()).is_none_or(|at| at.as_millis() == second));
        let _ = Zone::default().shown(at);
    }
    let _ = parse_date(text);
    if let Some(day) = day(text) {
        assert_eq!(day.to_string(), text);
        assert!(moment(text).is_some());
    }
    if let Some(at) = moment(text) {
        assert_eq!(moment(&at.to_string()), Some(at));
    }
    if let Some(then) = Span::parse(text).and_then(|span| span.after(NOW)) {
        assert!(then >= NOW);
    }
    if let Some(zone) = Zone::parse(text) {
        assert_eq!(Zone::parse(zone.name()).map(|zone| zone.shown(NOW)), Some(zone.shown(NOW)));
    }
    if let Some(after) = RetryAfter::parse(text) {
        let _ = NOW + after.wait(NOW);
    }
});
