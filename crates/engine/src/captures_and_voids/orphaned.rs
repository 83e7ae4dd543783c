//! Orphaned authorizations: a provider approved an authorization that it had reported absent or refused, and the charge
//! has gone on without it. [`finding`](super::finding) begins the void; this module ends it. The reconcile job sends an
//! unanswered void again under its key. After a refusal another void follows under a key of its own, on the same waits;
//! when they are over the operator is alerted.

use regente_domain::actor::Actor;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::{Charge, OrphanVoid, Transition};
use regente_store::transaction_requests::{Beginning, ObjectKind, Probing};
use regente_store::{Batch, Commit, charges, events, transaction_requests};

use crate::app::App;
use crate::error::Error;
use crate::metrics;
use crate::queue::{payouts, sessions};
use crate::transaction_requests::look_up_schedule;

/// Ends the void of an orphaned authorization, which is written as `ended`. The charge keeps its status.
pub(crate) async fn end(
    app: &App,
    charge: &Charge,
    (ended, follows): (TransactionRequest, OrphanVoid),
    actor: &Actor,
) -> Result<(), Error> {
    let mut batch = Batch::new(charge.client_id);
    match follows {
        OrphanVoid::Confirmed(confirmed) => {
            transaction_requests::end(&mut batch, &ended)?;
            finish(app, batch, charge, confirmed, actor).await
        }
        OrphanVoid::Refused { refusals } => {
            transaction_requests::end(&mut batch, &ended)?;
            void_again(app, batch, (charge, charge), (&ended, refusals), actor).await
        }
        OrphanVoid::Accepted(after) => {
            let due_at = look_up_schedule::first_look(app, charge.client_id);
            transaction_requests::end_watched(&mut batch, &ended, due_at)?;
            charges::update(&mut batch, charge, &after, actor)?;
            write(app, batch).await
        }
    }
}

/// Ends the void of an orphaned authorization that the provider had accepted: `told` is the request with its result.
pub(crate) async fn report(
    app: &App,
    charge: &Charge,
    accepted: &TransactionRequest,
    (told, follows): (TransactionRequest, OrphanVoid),
    actor: &Actor,
) -> Result<(), Error> {
    let mut batch = Batch::new(charge.client_id);
    transaction_requests::tell(&mut batch, accepted.id, &told, Probing::Ends, actor)?;
    match follows {
        OrphanVoid::Confirmed(confirmed) => finish(app, batch, charge, confirmed, actor).await,
        OrphanVoid::Refused { refusals } => {
            let counted = charge.clone().with_one_more_request();
            void_again(app, batch, (charge, &counted), (accepted, refusals), actor).await
        }
        OrphanVoid::Accepted(_) => Err(Error::internal("a void that has not ended")),
    }
}

/// Writes the charge after the void, with the event.
async fn finish(
    app: &App,
    mut batch: Batch,
    before: &Charge,
    Transition { charge: after, announces }: Transition,
    actor: &Actor,
) -> Result<(), Error> {
    charges::update(&mut batch, before, &after, actor)?;
    sessions::wake(app, &mut batch, before, &after, None);
    payouts::wake(app, &mut batch, before, &after);
    if let Some(event) = announces {
        charges::keep_announced(&mut batch, &after)?;
        events::charge_changed(
            &mut batch,
            app.chance.id(app.clock.of(before.client_id)),
            &after,
            event,
            actor,
        );
    }
    write(app, batch).await
}

/// Adds the next void to the batch with the refusal, or gives up. `counted` is the charge with all requests of the batch.
async fn void_again(
    app: &App,
    mut batch: Batch,
    (charge, counted): (&Charge, &Charge),
    (refused, refusals): (&TransactionRequest, usize),
    actor: &Actor,
) -> Result<(), Error> {
    let now = app.clock.of(charge.client_id);
    let due_at = look_up_schedule::next_void(app, charge.client_id, refusals);
    let (after, void) = counted.void_orphan_again(app.chance.id(now), refused, now);
    charges::update(&mut batch, charge, &after, actor)?;
    let begins_at = |due_at| Beginning { object_kind: ObjectKind::Charge, card_id: None, due_at, actor };
    match due_at {
        Some(due_at) => transaction_requests::insert(&mut batch, &void, begins_at(due_at)),
        None => transaction_requests::insert_given_up(&mut batch, &void, begins_at(now)),
    }
    write(app, batch).await?;
    if due_at.is_some() {
        tracing::warn!(
            charge = %charge.id, transaction_request = %refused.id, refusals,
            "a provider refuses to void an orphaned authorization; it is asked again"
        );
        return Ok(());
    }
    metrics::orphan_given_up();
    tracing::error!(
        alert = "orphaned_authorization_given_up", charge = %charge.id, transaction_request = %void.id,
        client = %charge.client_id, provider = %void.provider_type.code(), refusals,
        "a provider refused to void an orphaned authorization as often as the schedule says: the operator must look \
         (`regente unknowns`)"
    );
    Ok(())
}

async fn write(app: &App, batch: Batch) -> Result<(), Error> {
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(()),
        // Another node moved the charge, or the commit is unknown: the due date brings the request back.
        Commit::Refused(_) | Commit::Unknown => Err(Error::unavailable()),
    }
}
