//! What a charge demands of the authentication of its cardholder (`docs/interface/charges.md#3-d-secure`).

use regente_domain::charge::PaymentMethod;
use regente_domain::charge::authentication::{Authentication, Authenticator, LiabilityShift, Purpose};
use regente_domain::id::ClientId;
use regente_domain::payment_type::PaymentType;
use regente_providers::authentication::ThreeDSecure;
use regente_store::authentication_setups::{self, AuthenticationSetup};
use uuid::Uuid;

use crate::app::App;
use crate::authentication::THREE_D_SECURE;
use crate::card_data::FundingSource;
use crate::charges::create::setup_not_found;
use crate::error::Error;

/// Who authenticates the cardholder, and for what.
pub(super) async fn of(
    app: &App,
    client_id: ClientId,
    data: &ThreeDSecure,
    source: &FundingSource,
    method: &PaymentMethod,
) -> Result<Authentication, Error> {
    let purpose = match data.data_only {
        Some(true) => Purpose::ShareData,
        Some(false) | None => Purpose::Authenticate,
    };
    let by = match (data.setup_id, &data.mpi) {
        (_, Some(_)) => Authenticator::Merchant,
        (None, None) => Authenticator::PaymentProvider { purpose },
        (Some(setup_id), None) => {
            let now = app.clock.of(client_id);
            let found = authentication_setups::find(&app.store, client_id, setup_id, now).await?;
            let setup = found.filter(|setup| Some(setup.fingerprint) == fingerprint_of(source));
            let AuthenticationSetup { server, .. } = setup.ok_or_else(setup_not_found)?;
            Authenticator::Server { server, setup_id, purpose }
        }
    };
    let by = by.unless_away(method.recurrence());
    let is_away = matches!(by, Authenticator::Merchant | Authenticator::Nobody);
    if !is_away && app.settings.base_url.is_none() {
        return Err(Error::invalid(
            THREE_D_SECURE,
            "is not available: the operator has not set the address of this service, `server.base_url`",
        ));
    }
    Ok(Authentication { by, liability_shift: liability_shift(data, method) })
}

fn liability_shift(data: &ThreeDSecure, method: &PaymentMethod) -> LiabilityShift {
    match data.requires_liability_shift {
        Some(true) => LiabilityShift::Required,
        // Issuers refuse debit cards whose holder nobody has authenticated.
        Some(false) | None if method.payment_type() == PaymentType::Debit => LiabilityShift::Required,
        Some(false) | None => LiabilityShift::NotRequired,
    }
}

fn fingerprint_of(source: &FundingSource) -> Option<Uuid> {
    match source {
        FundingSource::NewCard(new) => Some(new.card.fingerprint),
        FundingSource::StoredCard { found, .. } => Some(found.stored.card.fingerprint),
        FundingSource::Payer(_) | FundingSource::Wallet(_) => None,
    }
}
