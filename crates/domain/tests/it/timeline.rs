use std::collections::HashMap;
use std::time::Duration;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::attempt::{
    Approval, OpenReason, Outcome, RequestType, ToldBy, TransactionRequest, never_arrived, unanswered,
};
use regente_domain::charge::timeline::{Attempt, Audience, Ended, Then, Timeline, tell};
use regente_domain::charge::{CardSource, Charge, ChargeState, Credit, Held, OpenOperation, PaymentMethod};
use regente_domain::currency::Currency;
use regente_domain::decline::{Decline, DeclinedCode, Reason};
use regente_domain::id::{Id, ProviderId};
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::routing::explanation::{CircuitNote, Considered, Explanation, Skipped, Stopped};
use regente_domain::time::Timestamp;
use uuid::Uuid;

const MADE_AT: &str = "2026-03-23T15:12:38.379Z";

fn at(time: &str) -> Timestamp {
    Timestamp::parse(time).unwrap()
}

fn id<T>(n: u128) -> Id<T> {
    Id::new(Uuid::from_u128(Id::<()>::first_at(at(MADE_AT)).uuid().as_u128() | (7 << 76) | (2 << 62) | n))
}

fn provider(n: u128) -> ProviderId {
    id(100 + n)
}

fn considered(n: u128, skipped: Option<Skipped>, circuit: Option<CircuitNote>) -> Considered {
    let provider_type = ProviderType::Sandbox;
    Considered {
        provider_id: provider(n),
        provider_type,
        priority: i64::try_from(n).unwrap(),
        skipped,
        circuit,
    }
}

fn charge(state: ChargeState, requests: i64, considered: Vec<Considered>) -> Charge {
    let method = PaymentMethod::Credit(Credit {
        source: CardSource::Card { card_id: id(4) },
        installments: 3,
        recurrence: None,
    });
    let price = (Amount::new(150).unwrap(), Currency::BRL);
    Charge {
        state,
        explanation: Explanation { considered, flow: None, stopped: None },
        requests,
        ..Charge::new(id(1), id(2), id(3), method, price, CaptureMode::Automatic, at(MADE_AT))
    }
}

fn asked(n: u128, outcome: Outcome, duration_ms: Option<u64>) -> Attempt {
    let request = TransactionRequest {
        id: id(200 + n),
        client_id: id(2),
        object_id: id::<()>(1).uuid(),
        ordinal: i64::try_from(n).unwrap() - 1,
        provider_id: provider(n),
        provider_type: ProviderType::Sandbox,
        request_type: RequestType::Authorization,
        amount: Amount::new(150).unwrap(),
        follows: None,
        undone_transaction_id: None,
        delay_to_compose: None,
        authenticated: None,
        outcome,
        duration: duration_ms.map(Duration::from_millis),
        occurred_at: None,
        open_reason: None,
        told_by: None,
        sent_at: at(MADE_AT),
        updated_at: at("2026-03-23T15:12:40.400Z"),
    };
    Attempt { request, probes: 0, next_probe_at: None, given_up_at: None }
}

fn told(charge: &Charge, asked: &[Attempt], audience: Audience) -> Timeline {
    let names = [(1, "Main"), (2, "Spare"), (3, "Third")];
    let names: HashMap<ProviderId, String> =
        names.into_iter().map(|(n, name)| (provider(n), name.to_owned())).collect();
    tell(charge, asked, &names, audience)
}

const SANDBOX: ProviderType = ProviderType::Sandbox;

#[test]
fn a_charge_that_the_second_provider_took() {
    let route = vec![
        considered(1, None, None),
        considered(2, None, Some(CircuitNote::Probe)),
        considered(3, Some(Skipped::Installments), None),
    ];
    let charge = charge(ChargeState::Authorized { responsible: SANDBOX }, 2, route);
    let requests = [
        asked(1, Outcome::NoEffect(unanswered("sandbox timeout")), Some(2_012)),
        asked(2, Outcome::Approved(Approval::default()), Some(35)),
    ];
    let timeline = told(&charge, &requests, Audience::Merchant);
    assert_eq!(
        timeline.lines,
        [
            "Charge 019d1b41-4feb-7000-8000-000000000001 of BRL 1.50 by credit in 3 installments, made at \
             2026-03-23T15:12:38.379Z: authorized.",
            "",
            "Providers, in the order of the route:",
            "- Main (SANDBOX, priority 1).",
            "- Spare (SANDBOX, priority 2) had stopped answering; this charge was let through to try it again.",
            "- Third (SANDBOX, priority 3) was skipped: it does not take 3 installments.",
            "",
            "What was asked:",
            "1. Main (SANDBOX, priority 1) was asked for BRL 1.50; it did not answer within 2.0 s; its books say \
             that nothing happened. The next provider was asked.",
            "2. Spare (SANDBOX, priority 2) was asked for BRL 1.50; it approved after 35 ms.",
            "",
            "SANDBOX took it: BRL 1.50.",
        ]
    );
    let steps: Vec<_> = timeline.steps.iter().map(|step| (step.ended, step.then)).collect();
    assert_eq!(steps, [(Ended::NoEffect, Then::NextAsked), (Ended::Approved, Then::Done)]);
    assert_eq!(timeline.steps[0].ended_at, Some(at("2026-03-23T15:12:40.400Z")));
    assert_eq!(timeline.steps[0].began_at, at(MADE_AT));
}

#[test]
fn each_end_says_why_nobody_else_was_asked() {
    let refused = || Outcome::Declined(Decline::of(DeclinedCode::TryAgain).with_network("51", "No funds"));
    let ends = [
        (refused(), Stopped::NotRetryable, "Such a refusal is final, so nobody else was asked."),
        (refused(), Stopped::NoProviderLeft, "No other provider was left to ask."),
        (
            refused(),
            Stopped::Withdrawn,
            "The session was canceled, so the payer was not waited for any longer.",
        ),
        (
            refused(),
            Stopped::StillPayable,
            "The payer may still pay by what was issued before, so nobody else was asked.",
        ),
        (refused(), Stopped::BudgetUsedUp, "The time for the charge was used up, so nobody else was asked."),
        (
            Outcome::NoEffect(never_arrived()),
            Stopped::Interrupted,
            "It became known only when the buyer was gone, so nobody else was asked.",
        ),
    ];
    for (outcome, stopped, sentence) in ends {
        let mut charge =
            charge(ChargeState::Failed { responsible: SANDBOX }, 1, vec![considered(1, None, None)]);
        charge.explanation.stopped = Some(stopped);
        let timeline = told(&charge, &[asked(1, outcome, Some(20))], Audience::Merchant);
        assert_eq!((timeline.stopped, timeline.steps[0].then), (Some(stopped), Then::Stopped));
        let line = &timeline.lines[6];
        assert!(line.ends_with(sentence), "{line}");
        assert_eq!(timeline.lines.last().unwrap(), "It failed: nobody took it.");
        if stopped == Stopped::NotRetryable {
            let expected = "1. Main (SANDBOX, priority 1) was asked for BRL 1.50; it refused after 20 ms with try_again \
                            (\"";
            assert!(line.starts_with(expected) && line.contains("in its own words \"51\")"), "{line}");
        }
    }
}

#[test]
fn an_unknown_outcome_says_who_asks_and_that_nobody_else_is() {
    let charge =
        charge(ChargeState::Processing, 1, vec![considered(1, None, Some(CircuitNote::OpenButNoOther))]);
    let line = |asked: &Attempt| {
        let timeline = told(&charge, std::slice::from_ref(asked), Audience::Merchant);
        assert_eq!((timeline.steps[0].ended, timeline.steps[0].then), (Ended::Unknown, Then::Waiting));
        assert_eq!(timeline.steps[0].ended_at, None);
        let line =
            timeline.lines[6].strip_prefix("1. Main (SANDBOX, priority 1) was asked for BRL 1.50; ").unwrap();
        line.strip_suffix(". Nobody else is asked until it is known.").unwrap().to_owned()
    };
    let mut waiting = asked(1, Outcome::Open, None);
    assert_eq!(line(&waiting), "it has not answered yet");
    waiting.request.open_reason = Some(OpenReason::TimedOut);
    assert_eq!(
        line(&waiting),
        "it did not answer in time, and what became of it is not known: it was not asked again yet"
    );
    (waiting.probes, waiting.next_probe_at) = (1, Some(at("2026-03-23T16:00:00Z")));
    waiting.request.open_reason = Some(OpenReason::ConnectionLost);
    assert_eq!(
        line(&waiting),
        "the connection to it broke, and what became of it is not known: it was asked again once, and is at \
         2026-03-23T16:00:00.000Z"
    );
    (waiting.probes, waiting.next_probe_at) = (7, None);
    waiting.given_up_at = Some(at("2026-03-26T16:00:00Z"));
    assert!(line(&waiting).ends_with(
        "it was asked again 7 times; nobody asks any more since 2026-03-26T16:00:00.000Z, and the operator must look"
    ));
    let timeline = told(&charge, std::slice::from_ref(&waiting), Audience::Merchant);
    assert!(
        timeline.lines[3].ends_with("had stopped answering, but no other provider can serve the charge.")
    );
}

#[test]
fn an_outcome_that_was_found_out_later_says_so() {
    let ends = [
        (Outcome::Approved(Approval::default()), "; asked again, it said that it was done."),
        (Outcome::NoEffect(never_arrived()), "; its books say that nothing happened."),
        (
            Outcome::Declined(Decline::of(DeclinedCode::TryAgain)),
            "; asked again, it refused with try_again (\"",
        ),
    ];
    let charge = charge(ChargeState::Processing, 1, vec![considered(1, None, None)]);
    for (outcome, end) in ends {
        let mut late = asked(1, outcome, None);
        (late.probes, late.request.open_reason) = (1, Some(OpenReason::Interrupted));
        let timeline = told(&charge, &[late], Audience::Merchant);
        let expected = format!("the service stopped before the answer was written down{end}");
        assert!(timeline.lines[6].contains(&expected), "{}", timeline.lines[6]);
        assert!(!timeline.steps[0].set_by_hand);
    }
}

/// Every way in which a step can end: its outcome, why the answer to the call told none, what told it, and the sentence.
#[test]
fn every_way_a_step_can_end_has_a_sentence_of_its_own() {
    use OpenReason::{ConnectionLost, Interrupted, ProviderFailed, TimedOut, Unreadable};
    use ToldBy::{NotSent, Notification, Probe, Repetition};
    let approved = || Outcome::Approved(Approval::default());
    let refused = || Outcome::Declined(Decline::of(DeclinedCode::TryAgain));
    let accepted = || Outcome::Accepted(Approval::default());
    let unreached = || Outcome::Declined(Decline::from_reason(Reason::RequestNotSent));
    let none = || Outcome::NoEffect(unanswered("timeout"));
    let with = "with try_again (\"";
    let rows = [
        (approved(), None, None, "it approved after 35 ms.", ""),
        (
            approved(),
            Some(TimedOut),
            Some(Probe),
            "it did not answer in time; asked again, it said that it was done.",
            "",
        ),
        (
            approved(),
            Some(ConnectionLost),
            Some(Probe),
            "the connection to it broke; asked again, it said that it was done.",
            "",
        ),
        (
            approved(),
            Some(ProviderFailed),
            Some(Probe),
            "it failed; asked again, it said that it was done.",
            "",
        ),
        (
            approved(),
            Some(Unreadable),
            Some(Probe),
            "its answer could not be read; asked again, it said that it was done.",
            "",
        ),
        (
            approved(),
            Some(Interrupted),
            Some(Probe),
            "the service stopped before the answer was written down; asked again, it said that it was done.",
            "",
        ),
        (
            approved(),
            Some(TimedOut),
            Some(Repetition),
            "it did not answer in time; sent to it again under the same key, it was approved.",
            "",
        ),
        (
            approved(),
            Some(TimedOut),
            Some(Notification),
            "it did not answer in time; it reported by itself that it was done.",
            "",
        ),
        (approved(), None, Some(Notification), "it reported by itself that it was done.", ""),
        (refused(), None, None, "it refused after 35 ms ", with),
        (refused(), Some(TimedOut), Some(Probe), "it did not answer in time; asked again, it refused ", with),
        (
            refused(),
            Some(ConnectionLost),
            Some(Repetition),
            "the connection to it broke; sent to it again under the same key, it was refused ",
            with,
        ),
        (
            refused(),
            Some(TimedOut),
            Some(Notification),
            "it did not answer in time; it reported by itself that it refused ",
            with,
        ),
        (unreached(), None, Some(NotSent), "it could not be reached, so nothing was sent to it.", ""),
        (
            none(),
            Some(TimedOut),
            Some(Probe),
            "it did not answer in time; its books say that nothing happened.",
            "",
        ),
        (
            none(),
            Some(Unreadable),
            Some(Probe),
            "its answer could not be read; its books say that nothing happened.",
            "",
        ),
        (
            none(),
            Some(ConnectionLost),
            Some(Probe),
            "the connection to it broke; its books say that nothing happened.",
            "",
        ),
        (accepted(), None, None, "it accepted after 35 ms, and reports the result later.", ""),
        (
            accepted(),
            Some(TimedOut),
            Some(Repetition),
            "it did not answer in time; sent to it again under the same key, it accepted and reports the result later.",
            "",
        ),
    ];
    let charge = charge(ChargeState::Processing, 1, vec![considered(1, None, None)]);
    for (outcome, why, who, sentence, then) in rows {
        let mut ended = asked(1, outcome, Some(35));
        (ended.request.open_reason, ended.request.told_by) = (why, who);
        let timeline = told(&charge, &[ended], Audience::Merchant);
        let expected = format!("1. Main (SANDBOX, priority 1) was asked for BRL 1.50; {sentence}{then}");
        assert!(timeline.lines[6].starts_with(&expected), "{expected}\n{}", timeline.lines[6]);
        assert!(!timeline.steps[0].set_by_hand);
        assert_eq!((timeline.steps[0].open_reason, timeline.steps[0].told_by), (why, who));
    }
}

#[test]
fn what_was_reported_without_a_call_is_neither_asked_for_nor_set_by_hand() {
    let charge = charge(ChargeState::Authorized { responsible: SANDBOX }, 3, vec![considered(1, None, None)]);
    let mut notified = asked(1, Outcome::Approved(Approval::default()), None);
    notified.request.told_by = Some(ToldBy::Notification);
    let mut accepted = asked(1, Outcome::Accepted(Approval::default()), Some(9));
    (accepted.request.id, accepted.request.request_type) = (id(300), RequestType::Void);
    accepted.request.follows = Some(notified.request.id);
    let mut result = asked(1, Outcome::Approved(Approval::default()), None);
    (result.request.request_type, result.request.follows) = (RequestType::Void, Some(id(300)));
    result.request.told_by = Some(ToldBy::Notification);
    let timeline = told(&charge, &[notified.clone(), accepted, result.clone()], Audience::Merchant);
    let lines = &timeline.lines[6..];
    assert_eq!(
        lines[0],
        "1. Main (SANDBOX, priority 1) was asked for BRL 1.50; it reported by itself that it was done."
    );
    assert_eq!(
        lines[2],
        "3. Main (SANDBOX, priority 1) has done what it had accepted, as it reported by itself."
    );
    (result.request.told_by, result.request.follows) = (Some(ToldBy::Elsewhere), Some(notified.request.id));
    let timeline = told(&charge, &[notified, result], Audience::Merchant);
    assert_eq!(
        timeline.lines[7],
        "2. Main (SANDBOX, priority 1) reported that BRL 1.50 went back to the payer, or were released, there; nobody \
         had asked it."
    );
}

#[test]
fn captures_refunds_and_what_a_tester_sets_are_told() {
    let open = OpenOperation { ordinal: 2, amount: Amount::new(50).unwrap(), before: Held::Taken };
    let state = ChargeState::RefundPending { responsible: SANDBOX, open };
    let mut charge = charge(state, 5, vec![considered(1, None, None)]);
    charge.amount = Amount::new(100).unwrap();
    let of_type = |request_type, outcome, duration| {
        let mut asked = asked(1, outcome, duration);
        asked.request.request_type = request_type;
        asked
    };
    let approved = || Outcome::Approved(Approval::default());
    let mut lost = of_type(RequestType::Void, Outcome::Open, None);
    lost.request.open_reason = Some(OpenReason::ProviderFailed);
    let requests = [
        of_type(RequestType::PreAuthorization, approved(), Some(9)),
        of_type(RequestType::Capture, Outcome::Declined(Decline::of(DeclinedCode::Generic)), Some(8)),
        of_type(RequestType::Capture, approved(), Some(7)),
        of_type(RequestType::ChargeBack, approved(), None),
        lost,
    ];
    let timeline = told(&charge, &requests, Audience::Merchant);
    let lines = &timeline.lines[6..];
    assert_eq!(
        lines[0],
        "1. Main (SANDBOX, priority 1) was asked to reserve BRL 1.50; it approved after 9 ms."
    );
    assert!(
        lines[1].starts_with(
            "2. Main (SANDBOX, priority 1) was asked to capture BRL 1.50; it refused after 8 ms"
        )
    );
    assert!(lines[1].ends_with(")."), "nobody else can capture: {}", lines[1]);
    assert_eq!(
        lines[3],
        "4. A tester set it by hand, and nobody was asked: charge_back of BRL 1.50, approved."
    );
    assert_eq!(
        lines[4],
        "5. Main (SANDBOX, priority 1) was asked to give back BRL 1.50; it failed, and what became of it is not known: \
         it was not asked again yet. Nothing else is done with the charge until it is known."
    );
    assert_eq!(lines[6], "SANDBOX was asked to give BRL 0.50 back: the outcome is not known yet.");
    let thens: Vec<Then> = timeline.steps.iter().map(|step| step.then).collect();
    assert_eq!(thens, [Then::Done, Then::Done, Then::Done, Then::Done, Then::Waiting]);
}

#[test]
fn what_was_released_is_told_apart_from_what_was_given_back() {
    let mut charge =
        charge(ChargeState::Authorized { responsible: SANDBOX }, 4, vec![considered(1, None, None)]);
    let done = |request_type, amount| {
        let mut asked = asked(1, Outcome::Approved(Approval::default()), Some(9));
        (asked.request.request_type, asked.request.amount) = (request_type, Amount::new(amount).unwrap());
        asked
    };
    let requests = [
        done(RequestType::PreAuthorization, 150),
        done(RequestType::Void, 20),
        done(RequestType::Capture, 100),
        done(RequestType::Void, 30),
    ];
    let mut last = |requests: &[Attempt], left| {
        charge.amount = Amount::new(left).unwrap();
        told(&charge, requests, Audience::Merchant).lines.split_off(6)
    };
    let lines = last(&requests, 70);
    assert!(lines[1].contains("was asked to release BRL 0.20;"), "{}", lines[1]);
    assert!(lines[3].contains("was asked to give back BRL 0.30;"), "{}", lines[3]);
    assert_eq!(
        lines.last().unwrap(),
        "SANDBOX took BRL 1.00 of the BRL 1.50 that were reserved; BRL 0.30 given back, BRL 0.70 left."
    );
    assert_eq!(
        last(&requests[..3], 100).last().unwrap(),
        "SANDBOX took BRL 1.00 of the BRL 1.50 that were reserved."
    );
    let taken_at_once = [done(RequestType::Authorization, 150)];
    assert_eq!(last(&taken_at_once, 150).last().unwrap(), "SANDBOX took it: BRL 1.50.");
}

#[test]
fn what_a_tester_sets_after_a_refusal_is_no_next_provider() {
    let mut charge =
        charge(ChargeState::Authorized { responsible: SANDBOX }, 2, vec![considered(1, None, None)]);
    charge.explanation.stopped = Some(Stopped::NoProviderLeft);
    let refused = asked(1, Outcome::Declined(Decline::of(DeclinedCode::TryAgain)), Some(20));
    let set = asked(1, Outcome::Approved(Approval::default()), None);
    let timeline = told(&charge, &[refused, set], Audience::Merchant);
    assert_eq!((timeline.steps[0].then, timeline.steps[1].set_by_hand), (Then::Stopped, true));
}

#[test]
fn every_state_has_its_last_sentence() {
    let open = OpenOperation { ordinal: 1, amount: Amount::new(50).unwrap(), before: Held::Reserved };
    let responsible = SANDBOX;
    for (state, sentence) in [
        (ChargeState::Processing, "It is pending: its outcome is not known yet."),
        (
            ChargeState::PreAuthorized { responsible },
            "It is reserved at SANDBOX: BRL 1.00 can be captured, and BRL 0.50 were released.",
        ),
        (
            ChargeState::RefundPending { responsible, open },
            "SANDBOX was asked to release BRL 0.50: the outcome is not known yet.",
        ),
        (
            ChargeState::CapturePending { responsible, open },
            "A capture of BRL 0.50 is under way at SANDBOX: its outcome is not known yet.",
        ),
        (
            ChargeState::Authorized { responsible },
            "SANDBOX took it: BRL 1.50; BRL 0.50 given back, BRL 1.00 left.",
        ),
        (ChargeState::Failed { responsible }, "It failed: nobody took it."),
        (ChargeState::Canceled { responsible }, "It was canceled: what was reserved is released."),
        (ChargeState::Voided { responsible }, "It was given back in full."),
        (ChargeState::ChargedBack { responsible, lost: None }, "The cardholder's bank took it back."),
    ] {
        let mut charge = charge(state, 0, Vec::new());
        charge.amount = Amount::new(100).unwrap();
        assert_eq!(told(&charge, &[], Audience::Merchant).lines.last().unwrap(), sentence);
    }
}

#[test]
fn a_payer_is_told_of_whom_was_asked_and_no_more() {
    let route = vec![
        considered(1, Some(Skipped::CircuitOpen), None),
        considered(2, None, Some(CircuitNote::Probe)),
        considered(3, None, None),
    ];
    let mut charge = charge(ChargeState::Failed { responsible: SANDBOX }, 1, route);
    charge.explanation.stopped = Some(Stopped::BudgetUsedUp);
    let mut only = asked(2, Outcome::Declined(Decline::of(DeclinedCode::TryAgain)), Some(20));
    (only.probes, only.next_probe_at) = (3, Some(at(MADE_AT)));
    (only.request.open_reason, only.given_up_at) = (Some(OpenReason::TimedOut), Some(at(MADE_AT)));
    let timeline = told(&charge, &[only], Audience::Payer);
    assert_eq!(timeline.providers.len(), 1);
    let provider = &timeline.providers[0].provider;
    assert_eq!((&provider.name, provider.priority, timeline.providers[0].circuit), (&None, None, None));
    assert_eq!(
        (timeline.stopped, timeline.steps[0].probes, timeline.steps[0].next_probe_at),
        (None, 0, None)
    );
    assert_eq!((timeline.steps[0].open_reason, timeline.steps[0].given_up_at), (None, None));
    let text = timeline.lines.join("\n");
    for secret in ["Main", "Spare", "Third", "priority", "stopped answering", "time for the charge"] {
        assert!(!text.contains(secret), "{secret} in\n{text}");
    }
}

#[test]
fn requests_of_a_later_version_are_not_told() {
    let charge =
        charge(ChargeState::Processing, 1, vec![considered(1, None, None), considered(2, None, None)]);
    let later = [asked(1, Outcome::Open, None), asked(2, Outcome::Open, None)];
    assert_eq!(told(&charge, &later, Audience::Merchant).steps.len(), 1);
}
