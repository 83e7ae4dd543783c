//! Tells an anti-fraud provider of a charge that ended without an analysis (`docs/interface/provider-types.md#risk`).
//! The job of the charge is the intent: it is written with the end of the charge, and its id makes the key, so a
//! repetition has no second effect.

use regente_domain::actor::Actor;
use regente_domain::charge::attempt::{Approval, Outcome, RequestType, TransactionRequest};
use regente_domain::id::{ChargeId, ClientId, TransactionRequestId};
use regente_providers::anti_fraud::{AnalysisFailure, Feeding};
use regente_store::transaction_requests::{self, ObjectKind};
use regente_store::{Batch, Commit, charges};

use super::{analyst, fraud_analysis};
use crate::app::App;
use crate::charges::stored::provider_of;
use crate::error::Error;
use crate::transaction_requests::call::SimulatorOverrides;
use crate::transaction_requests::telemetry;

/// How a feeding ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fed {
    /// The provider knows of the charge, or does not have to.
    Done,
    /// No adapter of this release serves the provider.
    NoAdapter,
}

/// Tells the provider once, and records that under `id`.
///
/// # Errors
/// The provider did not take note, or the record could not be written: try again.
pub async fn feed(
    app: &App,
    (client_id, charge_id): (ClientId, ChargeId),
    id: TransactionRequestId,
    actor: &Actor,
) -> Result<Fed, Error> {
    let found = charges::find_with_requests(&app.store, client_id, charge_id).await?;
    let Some((stored, requests)) = found else { return Ok(Fed::Done) };
    let before = &stored.charge;
    let is_feeding = |request_type| request_type == RequestType::AntiFraudFeeding;
    let is_known = requests.iter().any(|stored| is_feeding(stored.request.request_type));
    // It is told once of a charge: what comes after its first end is not.
    let Some(asks) = before.feeding().filter(|_| !is_known) else { return Ok(Fed::Done) };
    let after = before.noting_one_more_request(app.clock.of(client_id));
    let request = after.begin_request(id, asks, app.clock.of(client_id));
    let provider = provider_of(app, &request).await?;
    let overrides = SimulatorOverrides::of(app, before, None);
    let feeding = Feeding {
        key: request.provider_key(),
        at: app.clock.of(client_id),
        analyst: analyst(app, &provider, &overrides).await?,
        status: before.state.status(),
        amount: before.amount,
        currency: before.currency,
        method: before.method.clone(),
        order_id: before.order_id.clone(),
        fraud_analysis: fraud_analysis(app, &stored).await?,
    };
    let started = app.clock.machine();
    match telemetry::feeding(app, &request, app.anti_fraud.feed(feeding)).await {
        Ok(()) => {}
        Err(AnalysisFailure::NoAdapter) => return Ok(Fed::NoAdapter),
        Err(failure) => {
            tracing::warn!(charge = %charge_id, ?failure, "an anti-fraud provider took no note of a charge");
            return Err(Error::unavailable());
        }
    }
    let duration = app.clock.machine().since(started);
    let outcome = Outcome::Approved(Approval::default());
    let ended: TransactionRequest = request.end(outcome, Some(duration), app.clock.of(client_id));
    let mut batch = Batch::new(client_id);
    charges::update(&mut batch, before, &after, actor)?;
    transaction_requests::insert_ended(&mut batch, &ended, ObjectKind::Charge, actor)?;
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(Fed::Done),
        // Another node moved the charge, or the commit is unknown: the job comes back.
        Commit::Refused(_) | Commit::Unknown => Err(Error::unavailable()),
    }
}
