//! One call to a provider for a transaction request that is already written down, and the probe that follows at once
//! when no answer comes (contract 07 §2, quality U2).

use std::time::Duration;

use regente_domain::charge::attempt::{Outcome, TransactionRequest, unanswered};
use regente_providers::outcome::{Answer, Finding, Probe};
use regente_providers::request::{Call, Credentials, Inquiry, Operation};
use regente_store::providers::Provider;
use serde_json::{Map, Value};

use crate::app::App;
use crate::vault::{Binding, Purpose, VaultError};

/// How a call ended, and how long it took with its probe.
#[derive(Debug)]
pub struct Asked {
    /// `Open` when neither the answer nor the probe tells.
    pub outcome: Outcome,
    /// The time from the call to the knowledge of its outcome.
    pub duration: Duration,
}

/// Calls the provider. What was not answered is probed at once: the provider's books decide, and where they do not
/// tell, the outcome stays open.
pub async fn ask(
    app: &App,
    provider: &Provider,
    request: &TransactionRequest,
    seed: Option<String>,
    operation: Operation,
) -> Result<Asked, VaultError> {
    let credentials = credentials(app, provider).await?;
    let _running = app.in_flight.enter(request.id);
    let started = app.clock.machine();
    let answer = app
        .providers
        .call(Call {
            key: request.provider_key(),
            at: app.clock.now(),
            provider_type: request.provider_type,
            credentials,
            options: provider.options.clone().unwrap_or_default(),
            mode: app.settings.mode,
            seed,
            faults: None,
            operation,
        })
        .await;
    let outcome = match answer {
        Answer::Approved(approval) => Outcome::Approved(approval),
        Answer::Declined(decline) => Outcome::Declined(decline),
        Answer::Unknown(reason) => {
            tracing::warn!(
                transaction_request = %request.id, provider = %request.provider_type.code(), %reason,
                "a provider did not answer; its books are asked"
            );
            match probe(app, provider, request).await? {
                Probe::Found(finding) => found(finding),
                Probe::Absent => Outcome::NoEffect(unanswered(request.provider_type)),
                Probe::Unknown => Outcome::Open,
            }
        }
    };
    Ok(Asked { outcome, duration: app.clock.machine().since(started) })
}

/// Asks what became of a request, by the key that it was sent with.
pub async fn probe(
    app: &App,
    provider: &Provider,
    request: &TransactionRequest,
) -> Result<Probe, VaultError> {
    Ok(app
        .providers
        .probe(Inquiry {
            key: request.provider_key(),
            at: app.clock.now(),
            provider_type: request.provider_type,
            credentials: credentials(app, provider).await?,
            options: provider.options.clone().unwrap_or_default(),
            mode: app.settings.mode,
            faults: None,
        })
        .await)
}

/// What the provider's books hold, as an outcome.
pub fn found(finding: Finding) -> Outcome {
    match finding {
        Finding::Approved(approval) => Outcome::Approved(approval),
        Finding::Declined(decline) => Outcome::Declined(decline),
    }
}

async fn credentials(app: &App, provider: &Provider) -> Result<Credentials, VaultError> {
    let binding = Binding::new(Purpose::ProviderCredentials, provider.client_id, provider.id.uuid());
    let plain = app.vault.open(binding, &provider.credentials).await?;
    let members: Map<String, Value> = serde_json::from_slice(&plain).map_err(|_| VaultError::DoesNotOpen)?;
    Ok(Credentials::new(members))
}
