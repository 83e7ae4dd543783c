//! A tester sets the status of a charge (`docs/interface/sandbox.md#status`): it happens at the simulator, whose books then
//! agree, and the charge learns of it as of anything else that happens there ([`reach`]). What cannot happen there is set by
//! hand ([`by_hand`]).

mod by_hand;
mod reach;

use regente_domain::charge::{Charge, SimulatedStatus, Staging, StatusRefusal};
use regente_domain::id::{ChargeId, ClientId};
use regente_store::Batch;
use regente_store::charges::{self, StoredCharge};

use crate::app::App;
use crate::caller::{Caller, RequestId};
use crate::charges::stored::Ran;
use crate::error::Error;
use crate::purchases::operations::card_is_free;
use crate::{audit, races};
use reach::{Reached, reach};

/// What the audit calls it.
const STATUS_SET: &str = "charge.status_set";

/// The status that a tester sets, and how often that was tried.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The charge.
    pub charge_id: ChargeId,
    /// Its new status.
    pub status: SimulatedStatus,
    /// The version of the charge with which an earlier try began, which has not ended.
    pub begun: Option<i64>,
    /// Which try this is, from 1.
    pub nth_try: usize,
}

/// The charge before something happens at its simulator, if anything will.
///
/// # Errors
/// [`Error::NotFound`]; or why the status cannot be set.
pub async fn begins(
    app: &App,
    client_id: ClientId,
    charge_id: ChargeId,
    status: SimulatedStatus,
) -> Result<Option<Charge>, Error> {
    let charge = find(app, client_id, charge_id).await?.charge;
    card_is_free(app, &charge, None).await?;
    Ok(match charge.stage(status, None).map_err(refused)? {
        Staging::Reached | Staging::ByHand => None,
        Staging::Payment
        | Staging::Withdrawal
        | Staging::Capture
        | Staging::Void
        | Staging::Refund
        | Staging::RefundRefusal
        | Staging::ChargeBack
        | Staging::TakenBack => Some(charge),
    })
}

/// Brings a charge to a status as far as that happens at the simulator. The batch does the rest; with it come the charge as it
/// will be, and the row that it was before.
///
/// # Errors
/// [`Error::NotFound`]; why the status cannot be set; [`Error::Processing`] when others change the charge meanwhile.
pub async fn plan(
    app: &App,
    by: (&Caller, &RequestId),
    setting: Setting,
) -> Result<(Batch, StoredCharge, Ran), Error> {
    let Setting { charge_id, status, begun, nth_try } = setting;
    let (caller, request_id) = by;
    let client_id = caller.client_id;
    let stored = find(app, client_id, charge_id).await?;
    // Whoever lost every race is told what is under way, not that the service is busy.
    if nth_try == races::TRIES_MAX {
        return Err(under_way(&stored.charge));
    }
    card_is_free(app, &stored.charge, None).await?;
    match reach(app, (client_id, charge_id), status, begun, &caller.actor()).await? {
        Reached::AtProvider(ran) => {
            let mut batch = Batch::new(client_id);
            audit::record(app, &mut batch, caller, request_id, STATUS_SET, charge_id.uuid());
            Ok((batch, stored, *ran))
        }
        Reached::ByHand => {
            // What happened at the provider on the way has changed the charge.
            let stored = find(app, client_id, charge_id).await?;
            let (batch, ran) = by_hand::plan(app, by, &stored.charge, status).await?;
            Ok((batch, stored, ran))
        }
    }
}

async fn find(app: &App, client_id: ClientId, id: ChargeId) -> Result<StoredCharge, Error> {
    charges::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)
}

/// Others change the charge at this moment.
fn under_way(charge: &Charge) -> Error {
    Error::processing(charge.state.status().word())
}

fn refused(refusal: StatusRefusal) -> Error {
    match refusal {
        StatusRefusal::UnderWay(status) => Error::processing(status.word()),
        StatusRefusal::Final(status) => {
            Error::impossible(format!("charge status cannot be set in status {}", status.word()))
        }
        StatusRefusal::NotForPaymentType => {
            Error::invalid("status", "must be a status of the charge's payment type")
        }
    }
}
