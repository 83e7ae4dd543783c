//! What becomes of a charge when the outcome of a request is known: one batch, guarded by the version of the charge, for
//! every operation, in daily life and after a crash alike. Also what is noted while an outcome stays open.

use regente_domain::actor::Actor;
use regente_domain::card::record::{Card, ChargeVerdict};
use regente_domain::charge::attempt::{OpenReason, Outcome, TransactionRequest};
use regente_domain::charge::{Charge, ChargeState};
use regente_domain::id::CardId;
use regente_domain::time::Timestamp;
use regente_store::transaction_requests::{self, Beginning, ObjectKind};
use regente_store::{Batch, Commit, StoreError, cards, charges, events};

use super::attempt::operation_kind;
use super::step::Step;
use super::{purchase, schedule, security_code};
use crate::app::App;
use crate::error::Error;
use crate::queue::{self, Kind, NO_PAYLOAD};

/// How often the outcome of a call is written anew when the store does not take it, before the reconcile job is left
/// to find it at the provider.
const OUTCOME_TRIES_MAX: usize = 3;

/// Who wrote an outcome.
pub enum Written {
    /// This flow.
    ByUs,
    /// Another one was first: the charge has moved on.
    Elsewhere,
    /// Not yet: the store did not take it. The reconcile job will find the outcome at the provider.
    NotYet,
}

/// The second batch: the outcome, with the intent of what follows. Without `ended` there is an intent alone. Without a
/// `card` it was deleted meanwhile, or the outcome says nothing about it.
pub(super) async fn write(
    app: &App,
    before: &Charge,
    ended: Option<&TransactionRequest>,
    step: &Step,
    card: Option<&Card>,
    actor: &Actor,
) -> Result<Written, Error> {
    for _ in 0..OUTCOME_TRIES_MAX {
        let batch = outcome(app, before, ended, step, card, actor)?;
        match app.store.apply(batch).await {
            Ok(Commit::Applied) => return Ok(Written::ByUs),
            Ok(Commit::Refused(_) | Commit::Unknown) => {
                let stored = charges::find(&app.store, before.client_id, before.id).await;
                match stored {
                    Ok(Some(stored)) if stored.charge == step.charge => return Ok(Written::ByUs),
                    Ok(Some(stored)) if stored.charge.version > before.version => {
                        return Ok(Written::Elsewhere);
                    }
                    Ok(Some(stored)) if stored.charge.version == before.version => {}
                    // A backup was restored meanwhile: what was asked for is not in it, but at the provider it is.
                    Ok(Some(_) | None) => return Err(nothing_to_write_to(before, ended)),
                    Err(error) => log_unwritten(&error, before),
                }
            }
            Err(error) => log_unwritten(&error, before),
        }
    }
    Ok(Written::NotYet)
}

fn nothing_to_write_to(before: &Charge, ended: Option<&TransactionRequest>) -> Error {
    if let Some(ended) = ended {
        tracing::error!(
            charge = %ended.object_id, transaction_request = %ended.id, key = %ended.provider_key(),
            provider = %ended.provider_type.code(), operation = ended.request_type.word(),
            status = ended.status().word(), amount = ended.amount.minor_units(),
            "the charge of an outcome is not what it was any more: the operator must look at the provider"
        );
    }
    Error::internal(format!("charge {}, which an outcome is about, is gone", before.id))
}

fn log_unwritten(error: &StoreError, before: &Charge) {
    tracing::error!(
        error = error as &dyn std::error::Error, charge = %before.id,
        "the outcome of a call could not be written; the reconcile job will find it at the provider"
    );
}

fn outcome(
    app: &App,
    before: &Charge,
    ended: Option<&TransactionRequest>,
    step: &Step,
    card: Option<&Card>,
    actor: &Actor,
) -> Result<Batch, Error> {
    let now = app.clock.of(before.client_id);
    let after = &step.charge;
    let mut batch = Batch::new(before.client_id);
    charges::update(&mut batch, before, after, actor)?;
    if let Some(ended) = ended {
        end(app, &mut batch, ended, actor)?;
    }
    if let Some(next) = &step.next {
        let card_id = if next.request_type.is_authorization() { after.method.card_id() } else { None };
        begin(app, &mut batch, next, card_id, actor, now);
    }
    let verdict = ended.map_or(ChargeVerdict::Silent, verdict);
    if let Some(card) = card.and_then(|card| card.after_charge(verdict, now))
        && after.state.is_settled()
    {
        cards::settle(&mut batch, &card)?;
    }
    security_code::follow(&mut batch, before, step);
    let is_new_reservation = matches!(after.state, ChargeState::PreAuthorized { .. })
        && matches!(
            before.state,
            ChargeState::Processing | ChargeState::AwaitingPayer { .. } | ChargeState::Failed { .. }
        );
    // The cards of a purchase are let go together.
    if is_new_reservation && after.purchase_id.is_none() {
        let ends_at = now + app.settings.reservation_life;
        queue::enqueue(app, &mut batch, Kind::ExpireReservation, &after.id.to_string(), NO_PAYLOAD, ends_at);
    }
    // Whoever asked has gone on meanwhile; the purchase must not.
    match actor {
        Actor::Job(kind) if *kind != purchase::KIND => purchase::wake(app, &mut batch, after),
        Actor::Job(_) | Actor::Key(_) | Actor::ClientToken(_) | Actor::Operator => {}
    }
    if let Some(event) = step.announces {
        events::charge_changed(&mut batch, app.chance.id(now), after, event, actor);
    }
    Ok(batch)
}

/// What a first charge says about the card: a refusal speaks against it, an unanswered call says nothing.
fn verdict(ended: &TransactionRequest) -> ChargeVerdict<'_> {
    match &ended.outcome {
        Outcome::Approved(_) => ChargeVerdict::Confirmed,
        Outcome::Declined(decline) => ChargeVerdict::Refused(&decline.message),
        Outcome::NoEffect(_) | Outcome::Pending(_) | Outcome::Open => ChargeVerdict::Silent,
    }
}

/// Writes how a request ended.
fn end(app: &App, batch: &mut Batch, ended: &TransactionRequest, actor: &Actor) -> Result<(), StoreError> {
    match (ended.awaited(), &ended.outcome) {
        (Some(awaited), _) => transaction_requests::tell(batch, awaited, ended, actor),
        (None, Outcome::Pending(pending)) => {
            let due_at = schedule::first_look_at_payer(app, ended);
            transaction_requests::instruct(batch, ended, pending, due_at)
        }
        (None, Outcome::Open | Outcome::Approved(_) | Outcome::Declined(_) | Outcome::NoEffect(_)) => {
            transaction_requests::end(batch, ended)
        }
    }
}

/// Writes down that a provider is about to be asked, and when somebody must look what became of it. `card_id` is the
/// card whose number is opened for it.
pub fn begin(
    app: &App,
    batch: &mut Batch,
    request: &TransactionRequest,
    card_id: Option<CardId>,
    actor: &Actor,
    now: Timestamp,
) {
    let deadline = app.providers.deadline(request.provider_type, operation_kind(request));
    let due_at = now + deadline + app.settings.reconcile_grace;
    let beginning = Beginning { object_kind: ObjectKind::Charge, card_id, due_at, actor };
    transaction_requests::insert(batch, request, beginning);
}

/// Notes why an outcome stays open, and announces what the merchant would otherwise wait for. That the provider did not
/// tell is known here, so the schedule begins at once. Nothing depends on it: what cannot be noted is found by its due
/// date all the same.
pub async fn leave_open(
    app: &App,
    charge: &Charge,
    request: &TransactionRequest,
    reason: OpenReason,
    actor: &Actor,
) {
    let mut batch = announcement(app, charge, actor).unwrap_or_else(|| Batch::new(request.client_id));
    transaction_requests::note_open(
        &mut batch,
        request,
        reason,
        schedule::first_look(app, request.client_id),
    );
    match app.store.apply(batch).await {
        Ok(Commit::Applied | Commit::Refused(_) | Commit::Unknown) => {}
        Err(error) => tracing::warn!(
            error = &error as &dyn std::error::Error, transaction_request = %request.id,
            "why a request is open could not be noted"
        ),
    }
}

/// Announces what is open, once, where it is announced at all.
pub fn announcement(app: &App, charge: &Charge, actor: &Actor) -> Option<Batch> {
    let event = charge.announced_while_open()?;
    let mut batch = Batch::new(charge.client_id);
    events::charge_changed_once(
        &mut batch,
        app.chance.id(app.clock.of(charge.client_id)),
        charge,
        event,
        actor,
    );
    Some(batch)
}
