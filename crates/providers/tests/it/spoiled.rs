//! Faults that spoil the way of an answer, in process: what the caller sees, and what the transaction log says afterwards.

use std::time::Duration;

use regente_providers::outcome::{Answer, Finding, Probe, UnknownReason};
use regente_providers::provider::Providers;
use regente_providers::request::{Call, Inquiry, Mode};
use regente_providers::sandbox::{
    FAULT_DELAY_MS_MAX, FAULT_DENY_SECONDS_MAX, FAULTS_MAX, SEQUENCE_PLACE_MAX, SEQUENCE_PLACES_MAX, Sandbox,
    TransactionLog, overrides, validate,
};
use serde_json::{Value, json};
use tokio::time::Instant;
use uuid::Uuid;

use crate::support::{
    APPROVED, TIMED_OUT, approved, capture, charge, declined, inquiry, key, object, providers, reservation,
    sandbox_options, void,
};

const TIMED_OUT_ANSWER: Answer = Answer::Unknown(UnknownReason::TimedOut);

/// The faults of the request itself.
fn with(faults: Value, mut call: Call) -> Call {
    call.test_overrides = overrides(call.mode, None, Some(faults));
    call
}

fn asked_with(faults: Value, mut inquiry: Inquiry) -> Inquiry {
    inquiry.test_overrides = overrides(inquiry.mode, None, Some(faults));
    inquiry
}

fn only(then: Value) -> Value {
    json!([{ "then": then }])
}

fn with_plan(log: &TransactionLog, plan: Value) -> Providers {
    let sandbox = Sandbox::new(sandbox_options(1), log.clone());
    sandbox.set_plan(plan, "plan").unwrap();
    Providers::with([sandbox.into_adapter()])
}

/// Every fault that hides what was done, and what the caller sees.
const HIDING: [(&str, Answer); 4] = [
    ("timeout", TIMED_OUT_ANSWER),
    ("reset", Answer::Unknown(UnknownReason::ConnectionLost)),
    ("server_error", Answer::Unknown(UnknownReason::ProviderFailed)),
    ("garbage", Answer::Unknown(UnknownReason::Unreadable)),
];

#[tokio::test(start_paused = true)]
async fn a_fault_before_the_effect_leaves_nothing_in_the_log() {
    for (name, seen) in HIDING {
        let log = TransactionLog::memory();
        let providers = providers(&log);
        let faults = only(json!({ name: "before_effect" }));
        assert_eq!(providers.call(with(faults, charge(key(1), APPROVED, Some("560")))).await, seen, "{name}");
        assert!(log.entries().await.unwrap().is_empty(), "{name}");
        assert_eq!(providers.probe(inquiry(key(1))).await, Probe::Absent, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_fault_after_the_effect_is_found_by_a_probe_and_has_no_second_effect() {
    for (name, seen) in HIDING {
        let log = TransactionLog::memory();
        let providers = providers(&log);
        let faults = only(json!({ name: "after_effect" }));
        approved(providers.call(reservation(key(1), APPROVED, Some("560"))).await);
        for _ in 0..2 {
            let capturing = with(faults.clone(), capture(key(2), key(1), 1000));
            assert_eq!(providers.call(capturing).await, seen, "{name}");
        }
        let Probe::Found(Finding::Approved(approval)) = providers.probe(inquiry(key(2))).await else {
            panic!("{name}")
        };
        assert_eq!(approved(providers.call(capture(key(2), key(1), 1000)).await), approval, "{name}");
        let holding = log.holding(key(1)).await.unwrap().unwrap();
        assert_eq!((holding.captured.minor_units(), holding.released.minor_units()), (1000, 500));
        assert_eq!(log.entries().await.unwrap().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn probes_have_faults_of_their_own() {
    for (name, _) in HIDING {
        let providers = providers(&TransactionLog::memory());
        approved(providers.call(charge(key(1), APPROVED, Some("560"))).await);
        let faults = json!([{ "when": { "operation": "probe" }, "then": { name: "before_effect" } }]);
        assert_eq!(providers.probe(asked_with(faults.clone(), inquiry(key(1)))).await, Probe::Unknown);
        approved(providers.call(with(faults.clone(), charge(key(2), APPROVED, Some("560")))).await);
        // Nothing was closed: the call that comes later is done.
        assert_eq!(providers.probe(asked_with(faults, inquiry(key(3)))).await, Probe::Unknown);
        approved(providers.call(charge(key(3), APPROVED, Some("560"))).await);

        let after = json!([{ "when": { "operation": "probe" }, "then": { name: "after_effect" } }]);
        assert_eq!(providers.probe(asked_with(after, inquiry(key(4)))).await, Probe::Unknown);
        let late = declined(providers.call(charge(key(4), APPROVED, Some("560"))).await);
        assert_eq!(late.network_denied_reason.as_deref(), Some("probed before it arrived"), "{name}");

        let of_calls = only(json!({ name: "before_effect" }));
        assert!(matches!(
            providers.probe(asked_with(of_calls, inquiry(key(1)))).await,
            Probe::Found(Finding::Approved(_))
        ));
    }
}

#[tokio::test]
async fn a_probe_denies_what_exists_and_admits_it_later() {
    let log = TransactionLog::memory();
    let providers = providers(&log);
    let call = charge(key(1), APPROVED, Some("560"));
    let called_at = call.at;
    let approval = approved(providers.call(call).await);
    let faults = json!([{ "when": { "operation": "probe" }, "then": { "deny_seconds": 60 } }]);
    let asked_after = |seconds, inquiry| Inquiry {
        at: called_at + Duration::from_secs(seconds),
        ..asked_with(faults.clone(), inquiry)
    };
    for seconds in [0, 59] {
        assert_eq!(providers.probe(asked_after(seconds, inquiry(key(1)))).await, Probe::Absent);
    }
    let admitted = providers.probe(asked_after(60, inquiry(key(1)))).await;
    assert_eq!(admitted, Probe::Found(Finding::Approved(approval)));
    // A lie proves nothing: a call that comes later is carried out.
    assert_eq!(providers.probe(asked_after(0, inquiry(key(2)))).await, Probe::Absent);
    approved(providers.call(charge(key(2), APPROVED, Some("560"))).await);
    assert_eq!(log.entries().await.unwrap().len(), 2);
}

#[test]
fn only_a_probe_is_denied() {
    for when in [json!({}), json!({ "operation": "authorization" })] {
        let faults = json!([{ "when": when, "then": { "deny_seconds": 60 } }]);
        let problems = validate(&faults, "faults").unwrap_err();
        assert_eq!(problems.into_details(), ["faults.0.then must be something that can happen to a call"]);
    }
    let of_a_probe =
        |value: Value| json!([{ "when": { "operation": "probe" }, "then": { "deny_seconds": value } }]);
    validate(&of_a_probe(json!(FAULT_DENY_SECONDS_MAX)), "faults").unwrap();
    for wrong in [json!(true), json!(0), json!(FAULT_DENY_SECONDS_MAX + 1)] {
        let problems = validate(&of_a_probe(wrong), "faults").unwrap_err();
        let rule = "faults.0.then.deny_seconds must be an integer from 1 to 86400";
        assert_eq!(problems.into_details(), [rule]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_delay_is_the_ordinary_answer_later_and_beyond_the_deadline_nothing_is_done() {
    for name in ["delay_ms", "slow_body_ms"] {
        let log = TransactionLog::memory();
        let providers = providers(&log);
        let begin = Instant::now();
        let faults = only(json!({ name: 1500 }));
        approved(providers.call(with(faults, charge(key(1), APPROVED, Some("560")))).await);
        assert_eq!(begin.elapsed(), Duration::from_millis(1500));
        let faults = only(json!({ name: 2500 }));
        let answer = providers.call(with(faults, charge(key(2), APPROVED, Some("560")))).await;
        assert_eq!(answer, TIMED_OUT_ANSWER);
        // A slow body begins with the effect; a delay ends with it.
        assert_eq!(log.find(key(2)).await.unwrap().is_some(), name == "slow_body_ms");
    }
}

#[tokio::test]
async fn a_duplicate_is_one_effect() {
    let log = TransactionLog::memory();
    let providers = providers(&log);
    let faults = only(json!({ "duplicate": true }));
    approved(providers.call(with(faults.clone(), charge(key(1), APPROVED, Some("560")))).await);
    approved(providers.call(with(faults, void(key(2), key(1), 1000))).await);
    assert_eq!(log.entries().await.unwrap().len(), 2);
    assert_eq!(log.holding(key(1)).await.unwrap().unwrap().kept().minor_units(), 500);
}

#[tokio::test(start_paused = true)]
async fn a_card_that_is_not_answered_stays_so_under_other_faults() {
    let providers = providers(&TransactionLog::memory());
    for (number, then) in (1..).zip([json!({ "duplicate": true }), json!({ "slow_body_ms": 5 })]) {
        let call = with(only(then), charge(key(number), TIMED_OUT, None));
        assert_eq!(providers.call(call).await, TIMED_OUT_ANSWER);
    }
}

#[tokio::test]
async fn a_refusal_of_captures_leaves_the_authorization_alone() {
    let log = TransactionLog::memory();
    let providers = providers(&log);
    let faults = json!([{ "when": { "operation": "capture", "amount": 700 }, "then": "try_again" }]);
    approved(providers.call(with(faults.clone(), reservation(key(1), APPROVED, Some("560")))).await);
    let decline = declined(providers.call(with(faults.clone(), capture(key(2), key(1), 700))).await);
    assert!(decline.retryable);
    assert_eq!(log.holding(key(1)).await.unwrap().unwrap().reserved.minor_units(), 1500);
    approved(providers.call(with(faults, capture(key(3), key(1), 701))).await);
}

/// Which of so many calls were refused, from 1.
async fn refused(providers: &Providers, calls: impl Iterator<Item = Call>) -> Vec<usize> {
    let mut refused = Vec::new();
    for (place, call) in calls.enumerate() {
        if matches!(providers.call(call).await, Answer::Declined(_)) {
            refused.push(place + 1);
        }
    }
    refused
}

fn charges(first: u128) -> impl Iterator<Item = Call> {
    (first..first + 5).map(|number| charge(key(number), APPROVED, Some("560")))
}

#[tokio::test]
async fn a_sequence_names_the_calls_that_are_meant() {
    let plan = json!([
        { "when": { "operation": "authorization" }, "then": "try_again", "sequence": [1, 3] },
        { "then": "generic", "sequence": [3, 4] },
    ]);
    let providers = with_plan(&TransactionLog::memory(), plan);
    let verifications =
        (90..93).map(|number| crate::support::verification(key(number), APPROVED, Some("560")));
    assert_eq!(
        refused(&providers, charges(1)).await,
        [1, 3, 4],
        "the second fault counts the first one's calls"
    );
    assert!(refused(&providers, charges(11)).await.is_empty());
    assert!(refused(&providers, verifications).await.is_empty());
}

#[tokio::test]
async fn the_simulators_plan_begins_to_count_anew_when_it_is_set() {
    let plan = json!([{ "then": "try_again", "sequence": [1] }]);
    let log = TransactionLog::memory();
    let sandbox = Sandbox::new(sandbox_options(1), log.clone());
    for number in [1, 3] {
        sandbox.set_plan(plan.clone(), "plan").unwrap();
        let first = sandbox.act(&charge(key(number), APPROVED, Some("560")), || None).await;
        let second = sandbox.act(&charge(key(number + 1), APPROVED, Some("560")), || None).await;
        assert_ne!(format!("{first:?}"), format!("{second:?}"));
    }
    assert_eq!(log.effects().await.unwrap(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_sequence_of_a_request_counts_for_each_payment_apart() {
    let providers = providers(&TransactionLog::memory());
    let faults =
        json!([{ "when": { "operation": "void" }, "then": { "timeout": "before_effect" }, "sequence": [1] }]);
    for payment in [10, 20] {
        approved(providers.call(charge(key(payment), APPROVED, Some("560"))).await);
        let refund = |number| with(faults.clone(), void(key(number), key(payment), 100));
        assert_eq!(providers.call(refund(payment + 1)).await, TIMED_OUT_ANSWER);
        approved(providers.call(refund(payment + 1)).await);
        approved(providers.call(refund(payment + 2)).await);
    }
}

#[tokio::test]
async fn the_request_comes_before_the_options_and_these_before_the_simulator() {
    let providers = with_plan(&TransactionLog::memory(), only(json!("generic")));
    let reason = async |call| declined(providers.call(call).await).code.code();
    let new = |number| charge(key(number), APPROVED, Some("560"));
    let options = |mut call: Call| {
        call.options = object(json!({ "faults": [{ "then": "expired_card" }] }));
        call
    };
    assert_eq!(reason(new(1)).await, "generic");
    assert_eq!(reason(options(new(2))).await, "expired_card");
    assert_eq!(reason(with(only(json!("lost_card")), options(new(3)))).await, "lost_card");
    // A fault that does not happen makes room for the next one.
    let never = json!([{ "then": "lost_card", "probability": 0 }]);
    assert_eq!(reason(with(never, options(new(4)))).await, "expired_card");
    let mut in_production = options(new(5));
    in_production.mode = Mode::Production;
    assert_eq!(reason(with(only(json!("lost_card")), in_production)).await, "expired_card");
}

#[tokio::test]
async fn chance_is_the_same_again_for_the_same_seed_from_every_source() {
    let fault = json!([{ "then": "try_again", "probability": 0.5 }]);
    let mut runs = Vec::new();
    for _ in 0..2 {
        let of_plan = with_plan(&TransactionLog::memory(), fault.clone());
        let of_request = providers(&TransactionLog::memory());
        let calls = || (0..40).map(|number| charge(key(number), APPROVED, Some("560")));
        let with_faults = calls().map(|call| with(fault.clone(), call));
        runs.push((refused(&of_plan, calls()).await, refused(&of_request, with_faults).await));
    }
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0].0, runs[0].1, "each source draws for itself");
    for refused in [&runs[0].0, &runs[0].1] {
        assert!((8..=32).contains(&refused.len()), "{} of 40", refused.len());
    }
}

#[test]
fn what_is_wrong_with_the_faults_of_a_request_is_said_with_its_path() {
    const PATH: &str = "paymentFlow.metadata.sandboxFaults";
    let wrong = json!([
        { "then": { "timeout": "later" } },
        { "then": { "delay_ms": 0 } },
        { "then": { "slow_body_ms": FAULT_DELAY_MS_MAX + 1 } },
        { "then": { "duplicate": false } },
        { "then": { "reset": "before_effect", "garbage": "before_effect" } },
        { "then": {} },
        { "when": { "operation": "probe", "amount": 5 }, "then": { "reset": "before_effect" } },
        { "when": { "operation": "probe" }, "then": "try_again" },
        { "then": "try_again", "sequence": [] },
        { "then": "try_again", "sequence": [0, 1, SEQUENCE_PLACE_MAX + 1] },
        { "then": "try_again", "sequence": vec![1; SEQUENCE_PLACES_MAX + 1] },
        { "then": "try_again", "sequence": [SEQUENCE_PLACE_MAX], "when": { "operation": "void" } },
    ]);
    let one_of = "must contain exactly one of the following members: decline, delay_ms, timeout, reset, \
                  server_error, duplicate, slow_body_ms, garbage, deny_seconds, forge, lose";
    assert_eq!(
        validate(&wrong, PATH).unwrap_err().into_details(),
        [
            "0.then.timeout must be one of the following values: before_effect, after_effect",
            "1.then.delay_ms must be an integer from 1 to 60000",
            "2.then.slow_body_ms must be an integer from 1 to 60000",
            "3.then.duplicate must be true",
            &format!("4.then {one_of}"),
            &format!("5.then {one_of}"),
            "6.when.amount should not exist: a probe has none",
            "7.then must be something that can happen to a probe",
            "8.sequence must be an array of 1 to 64 elements",
            "9.sequence.0 must be an integer from 1 to 10000",
            "9.sequence.2 must be an integer from 1 to 10000",
            "10.sequence must be an array of 1 to 64 elements",
        ]
        .map(|problem| format!("{PATH}.{problem}"))
    );
    let problems = |faults| validate(&faults, PATH).unwrap_err().into_details();
    assert_eq!(problems(json!("try_again")), [format!("{PATH} must be an array")]);
    let too_many = vec![json!({ "then": "try_again" }); FAULTS_MAX + 1];
    assert_eq!(problems(json!(too_many)), [format!("{PATH} must contain no more than 64 elements")]);
    assert!(validate(&json!([]), PATH).is_ok());
}

#[tokio::test]
async fn faults_that_were_stored_and_cannot_be_read_refuse_the_call_and_let_it_be_probed() {
    let providers = providers(&TransactionLog::memory());
    let decline = declined(providers.call(with(json!({}), charge(key(1), APPROVED, None))).await);
    assert_eq!(decline.network_denied_message.as_deref(), Some("sandboxFaults must be an array"));
    let found = providers.probe(asked_with(json!({}), inquiry(key(1)))).await;
    assert_eq!(found, Probe::Found(Finding::Declined(decline)));
    let nowhere: Uuid = key(2);
    assert_eq!(providers.probe(asked_with(json!({}), inquiry(nowhere))).await, Probe::Absent);
}
