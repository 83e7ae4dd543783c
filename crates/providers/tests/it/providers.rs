//! The door to all providers: the deadline, types without an adapter, and what never gets printed.

use std::time::Duration;

use regente_domain::decline::DeclinedCode;
use regente_domain::provider_type::ProviderType;
use regente_providers::outcome::{Answer, Probe, UnknownReason};
use regente_providers::provider::Providers;
use regente_providers::sandbox::{Books, Sandbox, SandboxOptions};
use tokio::time::Instant;

use crate::support::{
    APPROVED, TIMED_OUT, approved, charge, declined, inquiry, key, providers, sandbox_options,
};

#[tokio::test(start_paused = true)]
async fn a_provider_that_does_not_answer_is_unknown_after_its_deadline() {
    let begin = Instant::now();
    let answer = providers(&Books::memory()).call(charge(key(1), TIMED_OUT, Some("600"))).await;
    assert_eq!(answer, Answer::Unknown(UnknownReason::TimedOut));
    assert_eq!(begin.elapsed().as_millis(), 2_000, "docs/interface/sandbox.md#silence");
}

#[tokio::test(start_paused = true)]
async fn the_deadline_is_configured() {
    let options = SandboxOptions { deadline: Duration::from_millis(300), ..sandbox_options(1) };
    let providers = Providers::new(Sandbox::new(options, Books::memory()));
    let begin = Instant::now();
    assert_eq!(
        providers.call(charge(key(1), TIMED_OUT, None)).await,
        Answer::Unknown(UnknownReason::TimedOut)
    );
    assert_eq!(begin.elapsed().as_millis(), 300);
}

#[tokio::test]
async fn a_type_without_an_adapter_refuses_and_lets_routing_go_on() {
    let providers = providers(&Books::memory());
    let mut call = charge(key(1), APPROVED, None);
    call.provider_type = ProviderType::Cielo;
    let decline = declined(providers.call(call).await);
    assert_eq!(decline.code, DeclinedCode::InvalidMerchant);
    assert_eq!(decline.network_denied_reason.as_deref(), Some("no adapter for CIELO"));
    assert!(decline.retryable);

    let mut inquiry = inquiry(key(1));
    inquiry.provider_type = ProviderType::Cielo;
    assert_eq!(providers.probe(inquiry).await, Probe::Absent);
    // It was not the simulator that was asked.
    approved(providers.call(charge(key(1), APPROVED, None)).await);
}

#[test]
fn a_call_prints_no_secret() {
    let printed = format!("{:?}", charge(key(1), APPROVED, Some("8370")));
    for secret in [APPROVED, "8370", "4124", "JOAO", "sandbox-secret", &APPROVED[..12]] {
        assert!(!printed.contains(secret), "{secret} in {printed}");
    }
}
