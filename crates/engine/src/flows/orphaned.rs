//! Orphaned authorizations: a provider took money for an authorization that it had said was not there, and the charge has
//! ended without it. [`finding`](super::finding) begins the void that gives it back; here that void ends. The reconcile job
//! repeats it until the provider confirms.

use regente_domain::actor::Actor;
use regente_domain::charge::attempt::{Outcome, TransactionRequest};
use regente_domain::charge::{Charge, Transition};
use regente_store::{Batch, Commit, charges, events, transaction_requests};

use super::reconcile;
use crate::app::App;
use crate::error::Error;

/// Ends the request that undid an orphaned authorization. The charge stays what it is; the merchant is told.
pub(super) async fn settle(app: &App, charge: &Charge, ended: TransactionRequest) -> Result<(), Error> {
    let mut batch = Batch::new(ended.client_id);
    transaction_requests::end(&mut batch, &ended)?;
    if matches!(ended.outcome, Outcome::Approved(_)) {
        let (now, actor) = (app.clock.of(charge.client_id), Actor::Job(reconcile::KIND));
        let Transition { charge: after, announces } = charge.confirm_orphan_voided(now);
        charges::update(&mut batch, charge, &after, &actor)?;
        if let Some(event) = announces {
            events::charge_changed(&mut batch, app.chance.id(now), &after, event, &actor);
        }
    } else {
        tracing::error!(
            charge = %charge.id, transaction_request = %ended.id,
            "The provider refuses to void an orphaned authorization: the operator must look"
        );
    }
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(()),
        // The charge has moved on; the next look ends the request.
        Commit::Refused(_) | Commit::Unknown => Err(Error::unavailable()),
    }
}
