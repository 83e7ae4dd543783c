//! A cardholder comes back from a challenge: finds out how it ended, and carries the charge on
//! (`docs/interface/charges.md#3-d-secure`). Repeating it, from another tab or at the same time, changes nothing more:
//! the version of the charge guards each step,
//! and the look-ups of one challenge are bounded ([`LOOK_UPS_MAX`](crate::calls::returns::LOOK_UPS_MAX)).

use regente_domain::actor::Actor;
use regente_domain::charge::ChargeState;
use regente_domain::charge::attempt::{Outcome, TransactionRequest, never_arrived};
use regente_domain::id::{ChargeId, ClientId};
use regente_store::charges::{self, StoredCharge};

use crate::app::App;
use crate::authentication;
use crate::calls::returns::{LookUpPermit, Returned};
use crate::charges::late_answer;
use crate::charges::stored::provider_of;
use crate::error::Error;
use crate::transaction_requests::call::{self, LookUp, SimulatorOverrides};

/// The actor of changes that a returning cardholder causes.
const CARDHOLDER: &str = "cardholder";

/// The address of the merchant to which the browser goes on; `None` for a charge that has none. `returned` is what the
/// browser has brought with it.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Unavailable`].
pub async fn come_back(
    app: App,
    client_id: ClientId,
    charge_id: ChargeId,
    returned: Returned,
) -> Result<Option<String>, Error> {
    let _admission = app.store.admit(client_id)?;
    let found = charges::find_with_requests(&app.store, client_id, charge_id).await?;
    let (stored, requests) = found.ok_or(Error::NotFound)?;
    let redirect_url = authentication::data_of(&app, &stored).await?.and_then(|data| data.redirect_url);
    let awaited = requests.into_iter().map(|stored| stored.request).rfind(is_challenge);
    if let (ChargeState::AwaitingPayer { .. }, Some(awaited)) = (&stored.charge.state, awaited)
        && let Some(permit) = app.returns.begin(awaited.id, &returned)
    {
        carry_on(&app, &stored, awaited, returned, permit).await?;
    }
    Ok(redirect_url)
}

fn is_challenge(request: &TransactionRequest) -> bool {
    request.pending().is_some_and(|pending| pending.instructions.is_challenge())
}

async fn carry_on(
    app: &App,
    stored: &StoredCharge,
    awaited: TransactionRequest,
    returned: Returned,
    permit: LookUpPermit,
) -> Result<(), Error> {
    let charge = &stored.charge;
    let found = match awaited.request_type.is_authentication() {
        true => authentication::look(app, charge, &awaited).await,
        false => {
            let provider = provider_of(app, &awaited).await?;
            let overrides = SimulatorOverrides::of(app, charge, None);
            let look_up = LookUp::Probe { returned: returned.clone() };
            call::find_out(app, &provider, &awaited, &overrides, look_up, never_arrived()).await?
        }
    };
    match found.outcome {
        // The provider has not answered, so that what the browser has brought is still good.
        Outcome::Open => Ok(()),
        // The cardholder has not answered, or the answer is not known yet: the reconcile job asks again.
        Outcome::Pending(_) | Outcome::Accepted(_) | Outcome::Analysed(_) => {
            permit.answered(returned);
            Ok(())
        }
        Outcome::Approved(_) | Outcome::Declined(_) | Outcome::NoEffect(_) => {
            late_answer::take_all(app, &awaited, found, &Actor::Job(CARDHOLDER)).await
        }
    }
}
