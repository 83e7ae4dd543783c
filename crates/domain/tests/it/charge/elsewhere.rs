//! What a merchant does at a provider's own page: every state and every deed, and each counted once.

use regente_domain::charge::attempt::{Asks, Outcome, RequestType, never_arrived};
use regente_domain::charge::elsewhere::{Deed, DeedKind, Much};
use regente_domain::charge::reversal::{ReversalReason, ReversalVerdict};
use regente_domain::charge::{ChargeEvent, ChargeState, StateName};
use regente_domain::currency::Currency;
use regente_domain::money::Amount;

use super::reversal::Story;
use super::{NOW, SANDBOX, approved, authorization, id, request};

use DeedKind::{Captured, Refunded, Released};
use ReversalReason::{CapturedBefore, MoreThanTaken, OtherCurrency, OtherPayment};

fn amount(minor_units: i64) -> Amount {
    Amount::new(minor_units).unwrap()
}

fn deed(kind: DeedKind, id: &str, much: Much) -> Deed {
    Deed { kind, id: id.to_owned(), much, currency: None }
}

fn refund(id: &str, minor_units: i64) -> Deed {
    deed(Refunded, id, Much::This(amount(minor_units)))
}

fn up_to(minor_units: i64) -> Deed {
    deed(Refunded, "last", Much::UpTo(amount(minor_units)))
}

fn verdict(story: &Story, deed: &Deed) -> ReversalVerdict {
    story.charge.done_elsewhere(&story.requests, &story.requests[0], deed, NOW)
}

/// It is told; what was announced, and what the charge has left.
fn happens(story: &mut Story, deed: &Deed) -> Option<(Option<ChargeEvent>, i64)> {
    let ReversalVerdict::Applies(done) = verdict(story, deed) else { return None };
    let recorded = done.request(id(900 + story.requests.len() as u128));
    assert_eq!(recorded.ordinal, story.charge.requests, "it is the newest request");
    assert_eq!(recorded.transaction_id(), Some(deed.id.as_str()));
    assert_eq!(done.transition.charge.version, story.charge.version + 1);
    story.requests.push(recorded);
    story.charge = done.transition.charge.clone();
    Some((done.transition.announces, story.charge.amount.minor_units()))
}

/// `-` refused, `~` too early, `=` known, otherwise the state that follows.
fn sign(story: &Story, deed: &Deed) -> &'static str {
    match verdict(story, deed) {
        ReversalVerdict::Applies(done) => done.transition.charge.state.name().word(),
        ReversalVerdict::Known => "=",
        ReversalVerdict::TooEarly(_) => "~",
        ReversalVerdict::Refused(_) => "-",
    }
}

#[test]
fn every_state_and_every_deed() {
    let deeds = [
        deed(Captured, "c", Much::This(amount(100))),
        deed(Released, "r", Much::Everything),
        refund("f", 50),
    ];
    let table = |name: StateName| match name {
        StateName::Processing
        | StateName::AwaitingPayer
        | StateName::CapturePending
        | StateName::RefundPending
        | StateName::RefundAccepted => ["~", "~", "~"],
        StateName::PreAuthorized => ["authorized", "canceled", "~"],
        // A capture besides what was taken at once.
        StateName::Authorized => ["-", "voided", "authorized"],
        StateName::Voided => ["-", "=", "-"],
        StateName::Failed | StateName::Canceled => ["-", "=", "-"],
        StateName::ChargedBack => ["-", "-", "-"],
    };
    for (_, name) in StateName::WORDS {
        let story = Story::in_state(*name);
        assert_eq!([0, 1, 2].map(|at| sign(&story, &deeds[at])), table(*name), "{}", name.word());
    }
}

#[test]
fn a_further_capture_is_never_dropped() {
    let captured = |id: &str, minor_units| deed(Captured, id, Much::This(amount(minor_units)));
    let mut story = Story::in_state(StateName::PreAuthorized);
    story.requests[0].request_type = RequestType::PreAuthorization;
    assert_eq!(happens(&mut story, &captured("one", 100)), Some((Some(ChargeEvent::Authorized), 100)));
    assert_eq!(verdict(&story, &captured("one", 100)), ReversalVerdict::Known, "it is told once more");
    for further in [captured("two", 100), captured("two", 50)] {
        assert_eq!(verdict(&story, &further), ReversalVerdict::Refused(CapturedBefore), "{further:?}");
    }
    // What is captured at once has no request of a capture.
    let story = Story::taken();
    assert_eq!(verdict(&story, &captured("one", 150)), ReversalVerdict::Known);
    assert_eq!(verdict(&story, &captured("one", 50)), ReversalVerdict::Refused(CapturedBefore));
}

#[test]
fn each_refund_is_counted_once_and_never_more_than_was_taken() {
    let mut story = Story::taken();
    assert_eq!(happens(&mut story, &refund("one", 40)), Some((Some(ChargeEvent::Voided), 110)));
    assert_eq!(verdict(&story, &refund("one", 40)), ReversalVerdict::Known);
    assert_eq!(verdict(&story, &refund("two", 111)), ReversalVerdict::Refused(MoreThanTaken));
    let dollars = Deed { currency: Currency::parse("USD"), ..refund("two", 10) };
    assert_eq!(verdict(&story, &dollars), ReversalVerdict::Refused(OtherCurrency));
    assert_eq!(happens(&mut story, &refund("two", 110)), Some((Some(ChargeEvent::Voided), 0)));
    assert_eq!(story.charge.state.name(), StateName::Voided);
    assert_eq!(verdict(&story, &refund("two", 110)), ReversalVerdict::Known);
    assert_eq!(verdict(&story, &refund("three", 1)), ReversalVerdict::Refused(MoreThanTaken));
}

#[test]
fn of_a_sum_what_we_have_given_back_is_no_part() {
    // A refund of ours of 50.
    let mut story = Story::taken().refunded(50);
    assert_eq!(verdict(&story, &up_to(50)), ReversalVerdict::Known, "that is ours");
    assert_eq!(verdict(&story, &up_to(20)), ReversalVerdict::Known, "an earlier state");
    assert_eq!(happens(&mut story, &up_to(80)), Some((Some(ChargeEvent::Voided), 70)));
    assert_eq!(verdict(&story, &up_to(80)), ReversalVerdict::Known);
    assert_eq!(verdict(&story, &up_to(151)), ReversalVerdict::Refused(MoreThanTaken));
    assert_eq!(
        happens(&mut story, &deed(Refunded, "all", Much::Everything)),
        Some((Some(ChargeEvent::Voided), 0))
    );
    assert_eq!(verdict(&story, &up_to(150)), ReversalVerdict::Known);
}

#[test]
fn what_we_give_back_ourselves_is_not_counted() {
    let denied = authorization(0, Outcome::NoEffect(never_arrived()));
    let mut story = Story::in_state(StateName::Failed);
    story.requests = vec![denied.clone()];
    story.charge.state = ChargeState::Failed { responsible: SANDBOX };
    let refunded = deed(Refunded, "r", Much::Everything);
    assert_eq!(verdict(&story, &refunded), ReversalVerdict::Refused(OtherPayment), "nobody has asked for it");
    story.requests.push(request(1, Asks::about(&denied, RequestType::Void, denied.amount), approved()));
    assert_eq!(verdict(&story, &refunded), ReversalVerdict::Known);
}
