//! Records that a payer's bank has taken back a payment that had settled a charge
//! (`docs/interface/charges.md#boleto`). A probe and a notification tell of it; whichever comes first is written, under the
//! version of the charge.

use regente_domain::actor::Actor;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::{AfterTakingBack, TakenBack};
use regente_store::Commit;

use crate::app::App;
use crate::charges::stored::{self, Ran};
use crate::charges::write_outcome;
use crate::error::Error;
use crate::races;

/// Applies it, however often it is told. `instructed` is the request whose instructions the payer followed.
///
/// # Errors
/// [`Error::Busy`] when other changes came first each time; [`Error::Unavailable`] when it is not known whether the change
/// is written.
pub(crate) async fn take(
    app: &App,
    instructed: &TransactionRequest,
    taken_back: &TakenBack,
    actor: &Actor,
) -> Result<(), Error> {
    for _ in races::tries() {
        let Ran { charge: before, requests } = stored::whole_of(app, instructed).await?;
        let now = app.clock.of(before.client_id);
        let (after, told) =
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
        match write_outcome::write_report(app, &before, &after, &told, actor).await? {
            Commit::Applied => return Ok(()),
            // Another node moved the charge: decide again.
            Commit::Refused(_) => {}
            Commit::Unknown => return Err(Error::unavailable()),
        }
    }
    Err(Error::busy())
}
