//! The door to all providers: the deadline, types without an adapter, and what never gets printed.

use std::time::Duration;

use regente_domain::decline::DeclinedCode;
use regente_domain::provider_type::ProviderType;
use regente_providers::outcome::{Answer, Probe, UnknownReason};
use regente_providers::provider::Providers;
use regente_providers::request::{Mode, TestOverrides};
use regente_providers::sandbox::{Sandbox, SandboxOptions, TransactionLog, overrides};
use serde_json::json;
use tokio::time::Instant;

use crate::support::{
    APPROVED, TIMED_OUT, approved, charge, declined, inquiry, key, object, providers, sandbox_options,
};

#[tokio::test(start_paused = true)]
async fn a_provider_that_does_not_answer_is_unknown_after_its_deadline() {
    let begin = Instant::now();
    let answer = providers(&TransactionLog::memory()).call(charge(key(1), TIMED_OUT, Some("600"))).await;
    assert_eq!(answer, Answer::Unknown(UnknownReason::TimedOut));
    assert_eq!(begin.elapsed().as_millis(), 2_000, "docs/interface/sandbox.md#silence");
}

#[tokio::test(start_paused = true)]
async fn the_deadline_is_configured() {
    let options = SandboxOptions { deadline: Duration::from_millis(300), ..sandbox_options(1) };
    let providers = Providers::with([Sandbox::new(options, TransactionLog::memory()).into_adapter()]);
    let begin = Instant::now();
    assert_eq!(
        providers.call(charge(key(1), TIMED_OUT, None)).await,
        Answer::Unknown(UnknownReason::TimedOut)
    );
    assert_eq!(begin.elapsed().as_millis(), 300);
}

#[tokio::test]
async fn a_type_without_an_adapter_refuses_new_calls_and_says_nothing_about_earlier_ones() {
    let providers = providers(&TransactionLog::memory());
    let mut call = charge(key(1), APPROVED, None);
    call.provider_type = ProviderType::Cielo;
    let decline = declined(providers.call(call).await);
    assert_eq!(decline.code, DeclinedCode::InvalidMerchant);
    assert_eq!(decline.network_denied_reason.as_deref(), Some("no adapter for CIELO"));
    assert!(decline.retryable);

    let mut inquiry = inquiry(key(1));
    inquiry.provider_type = ProviderType::Cielo;
    assert_eq!(providers.probe(inquiry).await, Probe::Unknown);
    // It was not the simulator that was asked.
    approved(providers.call(charge(key(1), APPROVED, None)).await);
}

#[test]
fn only_silence_that_the_request_asked_for_does_not_count_against_the_provider() {
    let providers = providers(&TransactionLog::memory());
    assert!(providers.silence_counts(&charge(key(1), APPROVED, None)));
    assert!(!providers.silence_counts(&charge(key(1), TIMED_OUT, None)));
    let mut with_faults = charge(key(1), APPROVED, None);
    with_faults.test_overrides = overrides(Mode::Sandbox, None, Some(json!([])));
    assert!(!providers.silence_counts(&with_faults));
    with_faults.test_overrides = overrides(Mode::Sandbox, Some("seed".to_owned()), None);
    assert!(providers.silence_counts(&with_faults));
    // To a provider that is no simulator, a card is a card.
    let mut real = charge(key(1), TIMED_OUT, None);
    real.provider_type = ProviderType::Cielo;
    assert!(providers.silence_counts(&real));
}

#[test]
fn each_adapter_has_its_word_for_a_request_without_an_answer() {
    let providers = providers(&TransactionLog::memory());
    assert_eq!(providers.unanswered_reason(ProviderType::Sandbox), "sandbox timeout");
    assert_eq!(providers.unanswered_reason(ProviderType::Cielo), "timeout");
}

#[test]
fn nothing_is_overridden_in_production() {
    let members = || object(json!({ "seed": "a" }));
    assert!(TestOverrides::new(Mode::Sandbox, members()).is_some());
    assert_eq!(TestOverrides::new(Mode::Production, members()), None);
}

#[test]
fn a_call_prints_no_secret() {
    let printed = format!("{:?}", charge(key(1), APPROVED, Some("8370")));
    for secret in [APPROVED, "8370", "4124", "JOAO", "sandbox-secret", &APPROVED[..12]] {
        assert!(!printed.contains(secret), "{secret} in {printed}");
    }
}
