//! Orphaned authorizations: a provider approved an authorization that it had reported absent or refused, and the charge
//! has gone on without it. [`finding`](super::finding) begins the void; this module ends it. The reconcile job repeats the void
//! until the provider confirms it.

use regente_domain::actor::Actor;
use regente_domain::charge::attempt::{Outcome, TransactionRequest};
use regente_domain::charge::{Charge, Transition};
use regente_store::{Batch, Commit, charges, events, transaction_requests};

use super::schedule::RECONCILE;
use crate::app::App;
use crate::error::Error;

/// Ends the void of an orphaned authorization. The charge keeps its status; an event tells the merchant.
pub(super) async fn settle(app: &App, charge: &Charge, ended: TransactionRequest) -> Result<(), Error> {
    let mut batch = Batch::new(ended.client_id);
    transaction_requests::end(&mut batch, &ended)?;
    if matches!(ended.outcome, Outcome::Approved(_)) {
        let (now, actor) = (app.clock.of(charge.client_id), Actor::Job(RECONCILE));
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
        // Another node moved the charge; the reconcile job ends the request later.
        Commit::Refused(_) | Commit::Unknown => Err(Error::unavailable()),
    }
}
