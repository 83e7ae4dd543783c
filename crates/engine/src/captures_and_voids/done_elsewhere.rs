//! Applies what the merchant has done with a payment at its provider's own page (`docs/interface/charges.md#done-elsewhere`).
//! The version of the charge guards the change and the provider's id makes it single.

use regente_domain::actor::Actor;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::elsewhere::Deed;
use regente_domain::charge::reversal::ReversalVerdict;
use regente_store::Commit;

use crate::app::App;
use crate::charges::stored::{self, Ran};
use crate::disputes::{self, Applied};
use crate::error::Error;
use crate::races;

/// Applies what was done with the payment of `about`. The caller has admission.
///
/// # Errors
/// [`Error::Busy`] when other changes came first each time.
pub(crate) async fn apply(
    app: &App,
    about: &TransactionRequest,
    deed: &Deed,
    actor: &Actor,
) -> Result<Applied, Error> {
    for _ in races::tries() {
        let Ran { charge, requests } = stored::whole_of(app, about).await?;
        match charge.done_elsewhere(&requests, about, deed, app.clock.of(about.client_id)) {
            ReversalVerdict::Known => return Ok(Applied::Yes),
            ReversalVerdict::TooEarly(reason) => return Ok(Applied::TooEarly(reason)),
            ReversalVerdict::Refused(reason) => {
                tracing::error!(
                    alert = "done_elsewhere_not_applied", charge = %charge.id, client = %charge.client_id,
                    provider = %about.provider_type.code(), what = deed.kind.word(), id = deed.id,
                    reason = reason.word(),
                    "a merchant has done something with a payment at its provider's page, and the charge cannot show it: \
                     the operator must look"
                );
                return Ok(Applied::Refused(reason));
            }
            ReversalVerdict::Applies(done) => match disputes::write(app, &charge, &done, actor).await? {
                Commit::Applied => return Ok(Applied::Yes),
                // Another node moved the charge, or this change is written: decide again.
                Commit::Refused(_) | Commit::Unknown => {}
            },
        }
    }
    Err(Error::busy())
}
