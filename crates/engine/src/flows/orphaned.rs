//! Orphaned authorizations: a provider approved an authorization that it had reported absent or refused, and the charge
//! has gone on without it. [`finding`](super::finding) begins the void; this module ends it. The reconcile job sends an
//! unanswered void again under its key. After a refusal another void follows under a key of its own, on the same waits;
//! when they are over the operator is alerted.

use regente_domain::actor::Actor;
use regente_domain::charge::attempt::{Outcome, TransactionRequest};
use regente_domain::charge::{Charge, Transition, later_of, refused_voids};
use regente_store::transaction_requests::{Beginning, ObjectKind, Probing};
use regente_store::{Batch, Commit, charges, events, transaction_requests};

use super::schedule;
use crate::app::App;
use crate::error::Error;
use crate::metrics;
use crate::queue::sessions;

/// Ends the void of an orphaned authorization. `requests` are those of the charge, before that. The charge keeps its
/// status.
pub(super) async fn settle(
    app: &App,
    charge: &Charge,
    requests: &[TransactionRequest],
    ended: &TransactionRequest,
    actor: &Actor,
) -> Result<(), Error> {
    // It ends after the version that an answer may have shown meanwhile, with the void open.
    let updated_at = later_of(app.clock.of(charge.client_id), charge.updated_at);
    let ended = &TransactionRequest { updated_at, ..ended.clone() };
    match &ended.outcome {
        Outcome::Approved(_) => confirm(app, charge, ended, actor).await,
        Outcome::Declined(_) | Outcome::NoEffect(_) => {
            let refusals = refused_voids(requests, ended.follows) + 1;
            try_again(app, charge, ended, refusals, actor).await
        }
        Outcome::Accepted(_) => accept(app, charge, ended, actor).await,
        Outcome::Open | Outcome::Pending(_) | Outcome::Analysed(_) => {
            Err(Error::internal("a void that has not ended"))
        }
    }
}

/// Ends the void of an orphaned authorization that the provider had accepted: `told` is the request with its result.
pub(super) async fn report(
    app: &App,
    charge: &Charge,
    requests: &[TransactionRequest],
    accepted: &TransactionRequest,
    told: TransactionRequest,
    actor: &Actor,
) -> Result<(), Error> {
    let mut batch = Batch::new(charge.client_id);
    transaction_requests::tell(&mut batch, accepted.id, &told, Probing::Ends, actor)?;
    let counted = charge.clone().with_one_more_request();
    match &told.outcome {
        Outcome::Approved(_) => {
            finish(app, batch, charge, counted.confirm_orphan_voided(told.updated_at), actor).await
        }
        Outcome::Declined(_) | Outcome::NoEffect(_) => {
            // The accepted void is already among the refused ones.
            let refusals = refused_voids(requests, accepted.follows);
            void_again(app, batch, charge, &counted, accepted, refusals, actor).await
        }
        Outcome::Open | Outcome::Pending(_) | Outcome::Accepted(_) | Outcome::Analysed(_) => {
            Err(Error::internal("a void that has not ended"))
        }
    }
}

/// The provider reports the result later. The charge gets a version of its own: an operation on it that is under way
/// would otherwise be answered with the void as it was before.
async fn accept(
    app: &App,
    charge: &Charge,
    accepted: &TransactionRequest,
    actor: &Actor,
) -> Result<(), Error> {
    let mut batch = Batch::new(charge.client_id);
    let due_at = schedule::first_look(app, charge.client_id);
    transaction_requests::end_accepted(&mut batch, accepted, due_at)?;
    charges::update(&mut batch, charge, &charge.note_orphan_void(accepted.updated_at), actor)?;
    write(app, batch).await
}

/// The money was given back: an event tells the merchant.
async fn confirm(app: &App, charge: &Charge, ended: &TransactionRequest, actor: &Actor) -> Result<(), Error> {
    let now = app.clock.of(charge.client_id);
    let mut batch = Batch::new(charge.client_id);
    transaction_requests::end(&mut batch, ended)?;
    finish(app, batch, charge, charge.confirm_orphan_voided(now), actor).await
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
    sessions::wake(app, &mut batch, before, &after);
    if let Some(event) = announces {
        charges::keep_announced(&mut batch, &after)?;
        let id = app.chance.id(app.clock.of(before.client_id));
        events::charge_changed(&mut batch, id, &after, event, actor);
    }
    write(app, batch).await
}

/// The provider refuses for the `refusals`th time: writes the next void, or gives up.
async fn try_again(
    app: &App,
    charge: &Charge,
    refused: &TransactionRequest,
    refusals: usize,
    actor: &Actor,
) -> Result<(), Error> {
    let mut batch = Batch::new(charge.client_id);
    transaction_requests::end(&mut batch, refused)?;
    void_again(app, batch, charge, charge, refused, refusals, actor).await
}

/// Adds the next void to the batch with the refusal, or gives up. `counted` is the charge with all requests of the batch.
async fn void_again(
    app: &App,
    mut batch: Batch,
    charge: &Charge,
    counted: &Charge,
    refused: &TransactionRequest,
    refusals: usize,
    actor: &Actor,
) -> Result<(), Error> {
    let now = app.clock.of(charge.client_id);
    let due_at = schedule::next_void(app, charge.client_id, refusals);
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
