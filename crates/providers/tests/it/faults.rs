//! The fault plan: what it refuses to be, and what it does.

use regente_domain::currency::Currency;
use regente_domain::decline::{DeclinedCode, Reason};
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_providers::outcome::Answer;
use regente_providers::provider::Providers;
use regente_providers::request::{Authorization, Call, Operation};
use regente_providers::sandbox::{FAULTS_MAX, Options, Sandbox, TransactionLog};
use serde_json::{Value, json};

use crate::support::{
    APPROVED, approved, authorization, call, charge, credit, declined, key, object, providers,
    sandbox_options, verification,
};

fn problems(options: Value) -> Vec<String> {
    Options::parse(&object(options), "options").unwrap_err().into_details()
}

fn with(options: Value, mut call: Call) -> Call {
    call.options = object(options);
    call
}

fn plan(fault: Value) -> Value {
    json!({ "type": "SANDBOX", "faults": [fault] })
}

#[test]
fn a_wrong_plan_names_every_wrong_member() {
    let wrong = json!({
        "type": "STRIPE",
        "faults": [
            { "when": { "operation": "refund", "amount": 1.5, "currency": "brl", "lastDigit": 10,
                        "installments": 0, "brand": "Visa" },
              "then": { "decline": "nonsense" }, "probability": 1.1 },
            { "then": { "explode": true } },
            { "when": "always" },
            "try_again",
            { "then": null },
            { "then": "try_again", "probability": -0.5, "chance": 1 },
            { "then": { "decline": 7 }, "probability": "1" }
        ],
        "supports": { "paymentTypes": ["credit", "cash"], "currencies": "BRL", "installmentsMax": 25 },
        "sandboxReviewEveryDays": 0
    });
    assert_eq!(
        problems(wrong),
        [
            "options.type must be SANDBOX",
            "options.faults.0.when.brand should not exist",
            "options.faults.0.when.operation must be one of the following values: authorization, zero_dollar, capture, \
             void, probe, anti_fraud, notification, authentication, seller",
            "options.faults.0.when.amount must be an integer number of minor units",
            "options.faults.0.when.currency must be one of the listed currency codes",
            "options.faults.0.when.lastDigit must be an integer from 0 to 9",
            "options.faults.0.when.installments must be an integer from 1 to 24",
            "options.faults.0.probability must be a number from 0 to 1",
            "options.faults.0.then.decline must be a declined code or one of its finer reasons",
            "options.faults.1.then.explode should not exist",
            "options.faults.1.then must contain exactly one of the following members: decline, delay_ms, timeout, reset, \
             server_error, duplicate, slow_body_ms, garbage, deny_seconds, forge, lose",
            "options.faults.2.when must be an object",
            "options.faults.2.then must be an object",
            "options.faults.3 must be an object",
            "options.faults.4.then must be an object",
            "options.faults.5.chance should not exist",
            "options.faults.5.probability must be a number from 0 to 1",
            "options.faults.6.probability must be a number from 0 to 1",
            "options.faults.6.then.decline must be a string",
            "options.supports.paymentTypes.1 must be one of the following values: credit, debit, voucher, pix, \
         boleto, nupay, drip, picpay, apple_pay, click_to_pay",
            "options.supports.currencies must be an array",
            "options.supports.installmentsMax must be an integer from 1 to 24",
            "options.sandboxReviewEveryDays must be an integer from 1 to 3650",
        ]
    );
    assert_eq!(
        Options::parse(&object(json!({ "faults": 1 })), "").unwrap_err().details(),
        ["faults must be an array"]
    );
    let too_many = vec![json!({ "then": "try_again" }); FAULTS_MAX + 1];
    assert_eq!(
        problems(json!({ "faults": too_many })),
        ["options.faults must contain no more than 64 elements"]
    );
}

#[test]
fn options_without_a_plan_take_nothing_away() {
    for options in [
        json!({}),
        json!({ "type": "SANDBOX", "faults": null, "supports": null, "color": "blue" }),
        // The options of another provider type, on a provider that is simulated.
        json!({ "type": "ANTIFRAUD", "captureOnApproved": true, "faults": 1 }),
    ] {
        let options = Options::parse(&object(options), "options").unwrap();
        assert!(options.faults.is_empty());
        assert!(options.supports.payment_types.is_none() && options.supports.installments_max.is_none());
    }
}

#[test]
fn what_a_provider_supports_can_be_narrowed() {
    let options = json!({ "type": "SANDBOX", "supports":
        { "paymentTypes": ["credit", "voucher"], "currencies": ["BRL"], "installmentsMax": 6 } });
    let supports = Options::parse(&object(options), "options").unwrap().supports;
    assert_eq!(supports.payment_types, Some(vec![PaymentType::Credit, PaymentType::Voucher]));
    assert_eq!(supports.currencies, Some(vec![Currency::BRL]));
    assert_eq!(supports.installments_max, Some(6));
}

#[tokio::test]
async fn every_code_and_every_finer_reason_can_be_a_fault() {
    let providers = providers(&TransactionLog::memory());
    let words = DeclinedCode::all()
        .map(|code| (code.code(), code))
        .chain(Reason::all().map(|reason| (reason.word(), reason.sent_as())));
    for (number, (word, code)) in (0..).zip(words) {
        let plan = plan(json!({ "then": { "decline": word } }));
        let decline = declined(providers.call(with(plan, charge(key(number), APPROVED, Some("560")))).await);
        assert_eq!(decline.code, code, "{word}");
        let reason = format!("sandbox {}", word.replace('_', " "));
        assert_eq!(decline.network_denied_reason, Some(reason));
    }
}

#[tokio::test]
async fn a_fault_comes_before_the_rules() {
    let plan = plan(json!({ "then": "insufficient_funds" }));
    // The security code is wrong, which the rules would have refused.
    let call = with(plan, charge(key(1), APPROVED, Some("321")));
    assert_eq!(
        declined(providers(&TransactionLog::memory()).call(call).await).code,
        DeclinedCode::InsufficientFunds
    );
}

#[tokio::test]
async fn a_fault_is_about_the_operations_that_fit_every_condition() {
    let providers = providers(&TransactionLog::memory());
    let usd = Currency::parse("USD").unwrap();
    let fitting = || Authorization {
        amount: Amount::new(991).unwrap(),
        currency: usd,
        method: credit(3),
        ..authorization(APPROVED, Some("560"))
    };
    let plan = plan(json!({ "then": { "decline": "try_again" }, "when": { "operation": "authorization",
        "amount": 991, "currency": "USD", "lastDigit": 4, "installments": 3 } }));
    let ask = async |number, authorization| {
        providers.call(with(plan.clone(), call(key(number), Operation::Authorize(authorization)))).await
    };
    assert_eq!(declined(ask(1, fitting()).await).code, DeclinedCode::TryAgain);
    approved(ask(2, Authorization { amount: Amount::new(990).unwrap(), ..fitting() }).await);
    approved(ask(3, Authorization { currency: Currency::BRL, ..fitting() }).await);
    approved(ask(4, Authorization { method: credit(2), ..fitting() }).await);
    let other_digit = authorization("4111111111111111", Some("560")).instrument;
    approved(ask(5, Authorization { instrument: other_digit, ..fitting() }).await);
}

#[tokio::test]
async fn a_fault_can_be_about_verifications_alone() {
    let providers = providers(&TransactionLog::memory());
    let plan = plan(json!({ "when": { "operation": "zero_dollar" }, "then": "try_again" }));
    approved(providers.call(with(plan.clone(), charge(key(1), APPROVED, Some("560")))).await);
    let decline = declined(providers.call(with(plan, verification(key(2), APPROVED, Some("560")))).await);
    assert_eq!(decline.code, DeclinedCode::TryAgain);
}

#[tokio::test]
async fn the_first_fault_that_happens_decides() {
    let plan = json!({ "faults": [
        { "then": "lost_card", "probability": 0 },
        { "then": "stolen_card", "when": { "amount": 1 } },
        { "then": "generic" },
        { "then": "try_again" },
    ] });
    let call = with(plan, charge(key(1), APPROVED, Some("560")));
    assert_eq!(declined(providers(&TransactionLog::memory()).call(call).await).code, DeclinedCode::Generic);
}

#[tokio::test]
async fn a_probability_is_drawn_from_the_seed_and_the_key() {
    let faults = async |seed, probability: Value| {
        let providers =
            Providers::with([Sandbox::new(sandbox_options(seed), TransactionLog::memory()).into_adapter()]);
        let plan = plan(json!({ "then": "try_again", "probability": probability }));
        let mut happened = Vec::new();
        for number in 0..400 {
            let call = with(plan.clone(), charge(key(number), APPROVED, Some("560")));
            happened.push(matches!(providers.call(call).await, Answer::Declined(_)));
        }
        happened
    };
    let count = |happened: &[bool]| happened.iter().filter(|happened| **happened).count();

    let quarter = faults(1, json!(0.25)).await;
    assert_eq!(quarter, faults(1, json!(0.25)).await, "the same seed, the same faults");
    assert_ne!(quarter, faults(2, json!(0.25)).await, "another seed, other faults");
    assert!((70..=130).contains(&count(&quarter)), "{} of 400", count(&quarter));
    assert_eq!(count(&faults(1, json!(0)).await), 0);
    assert_eq!(count(&faults(1, json!(1)).await), 400);
    assert_eq!(count(&faults(1, json!(1.0)).await), 400);
    assert_eq!(count(&faults(1, json!(1e-9)).await), 0, "less than one in a million is never");
}

#[tokio::test]
async fn stored_options_that_are_no_longer_valid_refuse_and_let_routing_go_on() {
    let call = with(json!({ "faults": 1 }), charge(key(1), APPROVED, Some("560")));
    let decline = declined(providers(&TransactionLog::memory()).call(call).await);
    assert_eq!(decline.code, DeclinedCode::InvalidMerchant);
    assert!(decline.retryable);
    assert_eq!(decline.network_denied_message.as_deref(), Some("options.faults must be an array"));
}

#[tokio::test]
async fn a_sequence_is_over_however_many_keys_come_after_it() {
    let providers = providers(&TransactionLog::memory());
    let once = plan(json!({ "then": "try_again", "sequence": [1] }));
    let ask = async |number, plan: &Value| {
        providers.call(with(plan.clone(), charge(key(number), APPROVED, Some("560")))).await
    };
    assert_eq!(declined(ask(0, &once).await).code, DeclinedCode::TryAgain);
    // Each of them leaves a count of its own.
    let never = plan(json!({ "then": "try_again", "probability": 0 }));
    for number in 1..=10_001 {
        approved(ask(number, &never).await);
    }
    approved(ask(20_000, &once).await);
}
