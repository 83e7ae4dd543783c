//! What must not stand: a provider took money for an authorization that its own books had said was not there, and the
//! charge has ended without it. It is given back by a void that is repeated until the provider confirms it (U3).

use regente_domain::actor::Actor;
use regente_domain::charge::attempt::{Outcome, RequestType, TransactionRequest};
use regente_domain::charge::{Charge, Transition};
use regente_store::{Batch, Commit, charges, events, transaction_requests};

use super::charge::charge_of;
use super::{outcome, reconcile};
use crate::app::App;
use crate::error::Error;

/// How often the intent to give back is written anew after losing a race for the charge.
const RACES_MAX: usize = 4;

/// Looks whether `ended`, which came too late to be written, is such a case, and if so writes down that it is to be given
/// back; the reconcile job does it. An outcome that somebody else has written is none.
pub async fn undo(
    app: &App,
    mut charge: Charge,
    ended: &TransactionRequest,
    actor: &Actor,
) -> Result<(), Error> {
    if !matches!(ended.outcome, Outcome::Approved(_)) {
        return Ok(());
    }
    for _ in 0..RACES_MAX {
        let requests =
            transaction_requests::of_object(&app.store, charge.client_id, charge.id.uuid()).await?;
        let written = requests.iter().find(|stored| stored.request.id == ended.id);
        let is_stray = written.is_some_and(|stored| matches!(stored.request.outcome, Outcome::NoEffect(_)));
        let is_undone = requests.iter().any(|stored| is_undoing(&charge, &stored.request));
        if !is_stray || is_undone {
            return Ok(());
        }
        tracing::error!(
            charge = %charge.id, transaction_request = %ended.id,
            "a provider took what it had said it did not have; it is given back"
        );
        match app.store.apply(intent(app, &charge, ended, actor)?).await? {
            Commit::Applied => return Ok(()),
            Commit::Refused(_) | Commit::Unknown => charge = charge_of(app, ended).await?,
        }
    }
    Err(Error::busy())
}

fn intent(app: &App, charge: &Charge, taken: &TransactionRequest, actor: &Actor) -> Result<Batch, Error> {
    let now = app.clock.of(charge.client_id);
    let mut batch = Batch::new(charge.client_id);
    let after = charge.undo_stray(now);
    charges::update(&mut batch, charge, &after, actor)?;
    let request = TransactionRequest {
        id: app.chance.id(now),
        ordinal: charge.requests,
        request_type: RequestType::Void,
        outcome: Outcome::Open,
        duration: None,
        updated_at: now,
        ..taken.clone()
    };
    outcome::begin(app, &mut batch, &request, None, actor, now);
    Ok(batch)
}

/// Whether a request gives back what a charge had been ended without.
fn is_undoing(charge: &Charge, request: &TransactionRequest) -> bool {
    request.request_type == RequestType::Void
        && charge.state.open_operation().is_none_or(|open| open.ordinal != request.ordinal)
        && matches!(request.outcome, Outcome::Open)
}

/// Ends the request that gave back. The charge stays what it is; the merchant is told.
pub async fn settle(app: &App, charge: &Charge, ended: TransactionRequest) -> Result<(), Error> {
    let mut batch = Batch::new(ended.client_id);
    transaction_requests::end(&mut batch, &ended)?;
    if matches!(ended.outcome, Outcome::Approved(_)) {
        let (now, actor) = (app.clock.of(charge.client_id), Actor::Job(reconcile::KIND));
        let Transition { charge: after, announces } = charge.confirm_stray_undone(now);
        charges::update(&mut batch, charge, &after, &actor)?;
        if let Some(event) = announces {
            events::charge_changed(&mut batch, app.chance.id(now), &after, event, &actor);
        }
    } else {
        tracing::error!(
            charge = %charge.id, transaction_request = %ended.id,
            "a provider refuses to give back what a charge was ended without: the operator must look"
        );
    }
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(()),
        // The charge has moved on; the next look ends the request.
        Commit::Refused(_) | Commit::Unknown => Err(Error::unavailable()),
    }
}
