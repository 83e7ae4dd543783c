//! Records that a payer's bank has taken back a payment that had settled a charge
//! (`docs/interface/charges.md#boleto`). A probe and a notification tell of it; whichever comes first is written, under the
//! version of the charge.

use regente_domain::actor::Actor;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::{AfterTakingBack, TakenBack, Transition};
use regente_domain::id::Id;
use regente_store::transaction_requests::{self, ObjectKind};
use regente_store::{Batch, Commit, charges, events};

use crate::app::App;
use crate::error::Error;

/// How often a lost race for the charge is decided again.
const RACES_MAX: usize = 4;

/// Applies it, however often it is told. `instructed` is the request whose instructions the payer followed.
///
/// # Errors
/// [`Error::Busy`] when other changes came first each time; [`Error::Unavailable`] when it is not known whether the change
/// is written.
pub(super) async fn take(
    app: &App,
    instructed: &TransactionRequest,
    taken_back: &TakenBack,
    actor: &Actor,
) -> Result<(), Error> {
    let client_id = instructed.client_id;
    for _ in 0..RACES_MAX {
        let found = charges::find_with_requests(&app.store, client_id, Id::new(instructed.object_id)).await?;
        let Some((stored, requests)) = found else {
            return Err(Error::internal("a transaction request without its charge"));
        };
        let before = stored.charge;
        let requests: Vec<TransactionRequest> = requests.into_iter().map(|stored| stored.request).collect();
        let now = app.clock.of(client_id);
        let (Transition { charge: after, announces }, told) =
            match before.take_back(app.chance.id(now), &requests, instructed.id, taken_back, now) {
                AfterTakingBack::Gone(gone) => *gone,
                AfterTakingBack::Known => return Ok(()),
                AfterTakingBack::NotPossible(status) => {
                    tracing::error!(
                        alert = "payment_taken_back_not_applied", charge = %before.id,
                        transaction_request = %instructed.id, status = status.word(),
                        "a payment was taken back, and its charge has no such payment: the operator must look"
                    );
                    return Ok(());
                }
            };
        let mut batch = Batch::new(client_id);
        charges::update(&mut batch, &before, &after, actor)?;
        transaction_requests::insert_ended(&mut batch, &told, ObjectKind::Charge, actor)?;
        if let Some(event) = announces {
            events::charge_changed(&mut batch, app.chance.id(now), &after, event, actor);
        }
        match app.store.apply(batch).await? {
            Commit::Applied => return Ok(()),
            // Another node moved the charge: decide again.
            Commit::Refused(_) => {}
            Commit::Unknown => return Err(Error::unavailable()),
        }
    }
    Err(Error::busy())
}
