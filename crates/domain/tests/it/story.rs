use std::collections::HashMap;
use std::time::Duration;

use regente_domain::charge::attempt::{
    Approval, Outcome, RequestType, TransactionRequest, never_arrived, unanswered,
};
use regente_domain::charge::explanation::{CircuitNote, Considered, Explanation, Skipped, Stopped};
use regente_domain::charge::story::{Asked, Audience, Ended, Story, Then, tell};
use regente_domain::charge::{
    CaptureMode, CardPayment, Charge, ChargeState, PaymentSource, PaymentType, References,
};
use regente_domain::currency::Currency;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::id::{Id, ProviderId};
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use serde_json::Map;
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
    let amount = Amount::new(150).unwrap();
    Charge {
        id: id(1),
        client_id: id(2),
        merchant_id: id(3),
        customer_id: None,
        customer_alias: None,
        order_id: None,
        payment_type: PaymentType::Credit,
        payment: CardPayment { installments: 3, recurrence: None, items: None },
        source: PaymentSource::Card { card_id: id(4) },
        amount,
        original_amount: amount,
        currency: Currency::BRL,
        capture: CaptureMode::Automatic,
        references: References::default(),
        state,
        explanation: Explanation { considered, stopped: None },
        requests,
        claim: None,
        unknown_members: Map::new(),
        version: 1,
        updated_at: at(MADE_AT),
    }
}

fn asked(n: u128, outcome: Outcome, duration_ms: Option<u64>) -> Asked {
    let request = TransactionRequest {
        id: id(200 + n),
        client_id: id(2),
        object_id: id::<()>(1).uuid(),
        ordinal: i64::try_from(n).unwrap() - 1,
        provider_id: provider(n),
        provider_type: ProviderType::Sandbox,
        request_type: RequestType::Authorization,
        amount: Amount::new(150).unwrap(),
        outcome,
        duration: duration_ms.map(Duration::from_millis),
        updated_at: at("2026-03-23T15:12:40.400Z"),
    };
    Asked { request, probes: 0, next_probe_at: None }
}

fn told(charge: &Charge, asked: &[Asked], audience: Audience) -> Story {
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
        considered(2, None, Some(CircuitNote::Trial)),
        considered(3, Some(Skipped::Installments), None),
    ];
    let charge = charge(ChargeState::Authorized { responsible: SANDBOX }, 2, route);
    let requests = [
        asked(1, Outcome::NoEffect(unanswered(SANDBOX)), Some(2_012)),
        asked(2, Outcome::Approved(Approval::default()), Some(35)),
    ];
    let story = told(&charge, &requests, Audience::Merchant);
    assert_eq!(
        story.lines,
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
    let steps: Vec<_> = story.steps.iter().map(|step| (step.ended, step.then)).collect();
    assert_eq!(steps, [(Ended::NoEffect, Then::NextAsked), (Ended::Approved, Then::Done)]);
    assert_eq!(story.steps[0].ended_at, Some(at("2026-03-23T15:12:40.400Z")));
    assert_eq!(story.steps[0].began_at, at(MADE_AT));
}

#[test]
fn each_end_says_why_nobody_else_was_asked() {
    let refused = || Outcome::Declined(Decline::of(DeclinedCode::TryAgain).with_network("51", "No funds"));
    let ends = [
        (refused(), Stopped::NotRetryable, "Such a refusal is final, so nobody else was asked."),
        (refused(), Stopped::NoProviderLeft, "No other provider was left to ask."),
        (refused(), Stopped::BudgetUsedUp, "The time for the charge was used up, so nobody else was asked."),
        (
            Outcome::NoEffect(never_arrived()),
            Stopped::Interrupted,
            "The service had been interrupted and only the buyer may start again, so nobody else was asked.",
        ),
    ];
    for (outcome, stopped, sentence) in ends {
        let mut charge =
            charge(ChargeState::Failed { responsible: SANDBOX }, 1, vec![considered(1, None, None)]);
        charge.explanation.stopped = Some(stopped);
        let story = told(&charge, &[asked(1, outcome, Some(20))], Audience::Merchant);
        assert_eq!((story.stopped, story.steps[0].then), (Some(stopped), Then::Stopped));
        let line = &story.lines[6];
        assert!(line.ends_with(sentence), "{line}");
        assert_eq!(story.lines.last().unwrap(), "It failed: nobody took it.");
        if stopped == Stopped::NotRetryable {
            let expected = "1. Main (SANDBOX, priority 1) was asked for BRL 1.50; it refused after 20 ms with try_again \
                            (\"";
            assert!(line.starts_with(expected) && line.contains("in its own words \"51\")"), "{line}");
        }
    }
}

#[test]
fn an_unknown_outcome_says_that_nobody_else_is_asked() {
    let charge =
        charge(ChargeState::Pending, 1, vec![considered(1, None, Some(CircuitNote::OpenButNoOther))]);
    let mut waiting = asked(1, Outcome::Open, None);
    waiting.next_probe_at = Some(at("2026-03-23T16:00:00Z"));
    for (probes, sentence) in [
        (0, "its books are asked at 2026-03-23T16:00:00.000Z"),
        (1, "its books were asked once, and are again at 2026-03-23T16:00:00.000Z"),
        (7, "its books were asked 7 times, and are again at 2026-03-23T16:00:00.000Z"),
    ] {
        waiting.probes = probes;
        let story = told(&charge, std::slice::from_ref(&waiting), Audience::Merchant);
        assert_eq!((story.steps[0].ended, story.steps[0].then), (Ended::Unknown, Then::Waiting));
        assert_eq!(
            story.lines[6],
            format!(
                "1. Main (SANDBOX, priority 1) was asked for BRL 1.50; what became of it is not known yet: {sentence}. \
                 Nobody else is asked until it is known."
            )
        );
        assert_eq!(story.steps[0].ended_at, None);
    }
    let story = told(&charge, std::slice::from_ref(&waiting), Audience::Merchant);
    assert!(story.lines[3].ends_with("had stopped answering, but no other provider can serve the charge."));
}

#[test]
fn a_payer_is_told_of_whom_was_asked_and_no_more() {
    let route = vec![
        considered(1, Some(Skipped::CircuitOpen), None),
        considered(2, None, Some(CircuitNote::Trial)),
        considered(3, None, None),
    ];
    let mut charge = charge(ChargeState::Failed { responsible: SANDBOX }, 1, route);
    charge.explanation.stopped = Some(Stopped::BudgetUsedUp);
    let mut only = asked(2, Outcome::Declined(Decline::of(DeclinedCode::TryAgain)), Some(20));
    (only.probes, only.next_probe_at) = (3, Some(at(MADE_AT)));
    let story = told(&charge, &[only], Audience::Payer);
    assert_eq!(story.providers.len(), 1);
    let provider = &story.providers[0].provider;
    assert_eq!((&provider.name, provider.priority, story.providers[0].circuit), (&None, None, None));
    assert_eq!((story.stopped, story.steps[0].probes, story.steps[0].next_probe_at), (None, 0, None));
    let text = story.lines.join("\n");
    for secret in ["Main", "Spare", "Third", "priority", "stopped answering", "time for the charge"] {
        assert!(!text.contains(secret), "{secret} in\n{text}");
    }
}

#[test]
fn requests_of_a_later_version_are_not_told() {
    let charge = charge(ChargeState::Pending, 1, vec![considered(1, None, None), considered(2, None, None)]);
    let later = [asked(1, Outcome::Open, None), asked(2, Outcome::Open, None)];
    assert_eq!(told(&charge, &later, Audience::Merchant).steps.len(), 1);
}
