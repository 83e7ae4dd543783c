//! Endpoints that answer with `Retry-After`.

use std::time::{Duration, UNIX_EPOCH};

use regente_domain::time::Timestamp;
use regente_engine::outbound::RetryAfter;

use super::deliveries::deliveries;
use crate::support::app::{TestApp, stories};
use crate::support::charges::any_charge;
use crate::support::receiver::{Receiver, Say};
use crate::support::time::MINUTE;
use crate::support::webhooks::webhook;

stories! {
    an_endpoint_that_asks_for_more_time_gets_it_within_bounds,
}

#[test]
fn a_time_is_read_in_every_form_of_http() {
    let at = |text| RetryAfter::At(Timestamp::parse(text).unwrap());
    for (value, read) in [
        ("0", Some(RetryAfter::Delay(Duration::ZERO))),
        (" 120 ", Some(RetryAfter::Delay(Duration::from_secs(120)))),
        ("Sun, 06 Nov 1994 08:49:37 GMT", Some(at("1994-11-06T08:49:37Z"))),
        ("Sunday, 06-Nov-94 08:49:37 GMT", Some(at("1994-11-06T08:49:37Z"))),
        ("Sun Nov  6 08:49:37 1994", Some(at("1994-11-06T08:49:37Z"))),
        ("Sun, 06 Nov 1994 08:49:37 CET", None),
        ("1994-11-06T08:49:37Z", None),
        ("1.5", None),
        ("-1", None),
        ("", None),
    ] {
        assert_eq!(RetryAfter::parse(value), read, "{value:?}");
    }
    let noon = Timestamp::parse("2026-01-01T12:00:00Z").unwrap();
    assert_eq!(RetryAfter::At(noon).wait(noon - MINUTE), MINUTE);
    assert_eq!(RetryAfter::At(noon).wait(noon + MINUTE), Duration::ZERO, "the past asks for nothing");
}

fn date_at(at: Timestamp) -> String {
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_millis(at.as_millis().unsigned_abs()))
}

async fn an_endpoint_that_asks_for_more_time_gets_it_within_bounds(app: TestApp) {
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    let day = 24 * 60 * 60;
    for (asked, least, most) in [
        ("1".to_owned(), 270, 330),
        ("3600".to_owned(), 3600, 3600),
        ("999999999".to_owned(), day, day),
        ("soon".to_owned(), 270, 330),
        ("-1".to_owned(), 270, 330),
        (date_at(app.clock.deployment() + 60 * MINUTE), 3599, 3600),
        (date_at(app.clock.deployment() + 365 * 24 * 60 * MINUTE), day, day),
        (date_at(app.clock.deployment() - 60 * MINUTE), 270, 330),
    ] {
        receiver.say(&[Say::With(503, "retry-after", asked.clone().leak())]);
        any_charge(&app).await;
        app.run_jobs().await;
        let next = deliveries(&app, &id).await.remove(0)["nextAttemptAt"].clone();
        let next = Timestamp::parse(next.as_str().unwrap()).unwrap();
        let waits = next.since(app.clock.deployment()).as_secs();
        assert!((least..=most).contains(&waits), "{asked}: {waits}");
    }
}
