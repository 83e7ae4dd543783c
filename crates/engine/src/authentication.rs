//! Asks 3DS servers to authenticate cardholders (`docs/interface/charges.md#3-d-secure`). None of these calls moves
//! money: one that is not answered is an authentication that is not available.

pub mod challenge;
pub mod setup;

use regente_domain::charge::Charge;
use regente_domain::charge::attempt::{Approval, Outcome, ToldBy, TransactionRequest, never_arrived};
use regente_domain::charge::authentication::{
    Authentication, Authenticator, Purpose as Asked, newest_answer,
};
use regente_domain::charge::instructions::Pending;
use regente_providers::authentication::{Enrolled, Enrollment, Proof, ThreeDSecure, Validation};
use regente_providers::request::CardDetails;
use regente_store::charges::StoredCharge;
use regente_store::merchants::MerchantWithProviders;
use serde_json::{Map, Value};

use crate::app::App;
use crate::charges::security_code::held_until;
use crate::error::Error;
use crate::transaction_requests::call::{CallResult, ProviderReport, SimulatorOverrides};
use crate::transaction_requests::telemetry;
use crate::vault::{Binding, Purpose};

/// The member with the data of an authentication, also of the sealed data of a charge.
pub const THREE_D_SECURE: &str = "threeDSecure2";

/// What the merchant has sent about the authentication of a stored charge.
pub async fn data_of(app: &App, stored: &StoredCharge) -> Result<Option<ThreeDSecure>, Error> {
    let Some(sealed) = &stored.private else { return Ok(None) };
    let binding = Binding::new(Purpose::ChargeData, stored.charge.client_id, stored.charge.id.uuid());
    let plain = app.vault.open(binding, sealed).await?;
    let mut members: Map<String, Value> = serde_json::from_slice(&plain).map_err(Error::internal)?;
    let data = members.remove(THREE_D_SECURE).map(serde_json::from_value);
    data.transpose().map_err(Error::internal)
}

/// What an authorization says about the authentication of the cardholder. `requests` are those of the charge so far.
pub(crate) fn proof(
    app: &App,
    charge: &Charge,
    requests: &[TransactionRequest],
    data: Option<&ThreeDSecure>,
) -> Option<Box<Proof>> {
    let Authentication { by, .. } = charge.authentication.as_deref()?;
    let proof = match by {
        Authenticator::Server { .. } => Proof::Answered(newest_answer(requests)?.clone()),
        Authenticator::PaymentProvider { purpose } => Proof::ToDo {
            purpose: *purpose,
            data: Box::new(data?.clone()),
            return_url: app.return_addresses.of(charge.client_id, charge.id)?,
        },
        Authenticator::Merchant => Proof::Outside(data?.mpi.clone()?),
        Authenticator::Nobody => return None,
    };
    Some(Box::new(proof))
}

/// Asks the 3DS server to authenticate the cardholder.
pub(crate) async fn enroll(
    app: &App,
    charge: &Charge,
    request: &TransactionRequest,
    card: CardDetails,
    data: &ThreeDSecure,
    merchant: &MerchantWithProviders,
    overrides: &SimulatorOverrides,
) -> Result<CallResult, Error> {
    let Some(Authentication { by: Authenticator::Server { server, setup_id, purpose }, .. }) =
        charge.authentication.as_deref()
    else {
        return Err(Error::internal("an authentication that no 3DS server is asked for"));
    };
    let Some(return_url) = app.return_addresses.of(charge.client_id, charge.id) else {
        return Err(Error::internal("an authentication without an address to come back to"));
    };
    let _running = app.in_flight.enter(request.id);
    let started = app.clock.machine();
    let enrollment = app.authentication.enroll(Enrollment {
        key: request.provider_key(),
        at: app.clock.of(request.client_id),
        server: *server,
        setup_id: *setup_id,
        purpose: *purpose,
        amount: charge.amount,
        currency: charge.currency,
        card,
        data: data.clone(),
        return_url,
        merchant: merchant.merchant.details.shown_name().unwrap_or_default().to_owned(),
        test_overrides: overrides.of_call(),
    });
    let (outcome, authenticated) = match telemetry::enrollment(app, request, enrollment).await {
        Enrolled::Decided(authenticated) => (charge.judge(&authenticated), authenticated),
        Enrolled::Challenge { .. } if *purpose == Asked::ShareData => {
            return Err(Error::internal("a challenge where data was only to be shared"));
        }
        Enrolled::Challenge { authenticated, instructions } => {
            let pending = Pending {
                reference: Approval {
                    transaction_id: authenticated.network_transaction_id.clone(),
                    ..Approval::default()
                },
                instructions,
                expires_at: Some(held_until(charge.id)),
            };
            (Outcome::Pending(Box::new(pending)), authenticated)
        }
    };
    Ok(CallResult {
        outcome,
        authenticated: Some(Box::new(authenticated)),
        open_reason: None,
        told_by: None,
        duration: app.clock.machine().since(started),
        sent_at: request.sent_at,
    })
}

/// What became of a step of an authentication. One that was not
/// answered before the service stopped is not asked for again, because the cardholder is gone.
pub(crate) async fn look(app: &App, charge: &Charge, request: &TransactionRequest) -> ProviderReport {
    let Outcome::Pending(_) = request.outcome else {
        return ProviderReport { told_by: Some(ToldBy::Nobody), ..Outcome::Declined(never_arrived()).into() };
    };
    let validation = Validation {
        key: request.provider_key(),
        at: app.clock.of(request.client_id),
        server: request.provider_type,
    };
    match telemetry::validation(app, request, app.authentication.validate(validation)).await {
        Some(authenticated) => {
            let outcome = charge.judge(&authenticated);
            let authenticated = Some(Box::new(authenticated));
            ProviderReport { authenticated, told_by: Some(ToldBy::Probe), ..outcome.into() }
        }
        None => request.outcome.clone().into(),
    }
}
