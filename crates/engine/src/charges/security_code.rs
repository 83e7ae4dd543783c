//! Holds the security code of a card while its payer is away: sealed under a key of its charge, for the next provider.
//! It is deleted when it is used, when its charge ends, or when it expires.

use regente_domain::card::Cvv;
use regente_domain::charge::{Charge, ChargeState, SECURITY_CODE_HELD_FOR, SecurityCode};
use regente_domain::id::ChargeId;
use regente_domain::time::Timestamp;
use regente_store::sealed::Sealed;
use regente_store::{Batch, held_security_codes};

use crate::app::App;
use crate::charges::plan_step::Step;
use crate::error::Error;
use crate::vault::{Binding, Purpose, VaultError};

/// When the code of a charge expires.
pub(crate) fn held_until(charge_id: ChargeId) -> Timestamp {
    charge_id.created_at() + SECURITY_CODE_HELD_FOR
}

/// Seals the code; `None` when it has expired.
pub(crate) fn seal(app: &App, charge: &Charge, cvv: &Cvv) -> Option<Sealed> {
    let is_in_time = app.clock.of(charge.client_id) < held_until(charge.id);
    is_in_time.then(|| app.vault.seal(binding(charge), cvv.expose().as_bytes()))
}

/// The held code of a charge; `None` when there is none or it has expired.
pub(crate) async fn find(app: &App, charge: &Charge) -> Result<Option<Cvv>, Error> {
    let now = app.clock.of(charge.client_id);
    let held = held_security_codes::find(&app.store, charge.client_id, charge.id, now).await?;
    let Some(sealed) = held else { return Ok(None) };
    let plain = match app.vault.open(binding(charge), &sealed).await {
        // A key rotation does not reseal held codes, because they expire soon.
        Err(VaultError::UnknownKey(_)) => return Ok(None),
        plain => plain?,
    };
    let digits = std::str::from_utf8(&plain).map_err(|_| VaultError::DoesNotOpen)?;
    Ok(Some(Cvv::parse(digits).ok_or(VaultError::DoesNotOpen)?))
}

/// Stores the code with the step that begins to wait for the payer, and deletes it with the step that ends the wait.
pub(crate) fn follow(batch: &mut Batch, before: &Charge, step: &Step) {
    match (&before.state, &step.security_code) {
        (_, Some(sealed)) => {
            held_security_codes::hold(batch, before.id, sealed.clone(), held_until(before.id));
        }
        // A void of an orphaned authorization leaves the payer who is waited for alone.
        (ChargeState::AwaitingPayer { .. }, None)
            if matches!(step.charge.state, ChargeState::AwaitingPayer { .. }) => {}
        (ChargeState::AwaitingPayer { security_code: SecurityCode::Needed, .. }, None) => {
            held_security_codes::discard(batch, before.id);
        }
        (
            ChargeState::AwaitingPayer { security_code: SecurityCode::NotNeeded, .. }
            | ChargeState::Processing
            | ChargeState::PreAuthorized { .. }
            | ChargeState::CapturePending { .. }
            | ChargeState::Authorized { .. }
            | ChargeState::RefundPending { .. }
            | ChargeState::RefundAccepted { .. }
            | ChargeState::Failed { .. }
            | ChargeState::Canceled { .. }
            | ChargeState::Voided { .. }
            | ChargeState::ChargedBack { .. },
            None,
        ) => {}
    }
}

fn binding(charge: &Charge) -> Binding {
    Binding::new(Purpose::SecurityCode, charge.client_id, charge.id.uuid())
}
