//! What becomes of a charge when the outcome of a request is known: one batch, guarded by the version of the charge, for
//! every operation, in daily life and after a crash alike. Also what is noted while an outcome stays open.

use regente_domain::actor::Actor;
use regente_domain::card::record::{Card, ChargeVerdict};
use regente_domain::charge::attempt::{OpenReason, Outcome, TransactionRequest};
use regente_domain::charge::{Charge, ChargeEvent, ChargeState};
use regente_domain::id::CardId;
use regente_domain::time::Timestamp;
use regente_providers::request::OperationKind;
use regente_store::transaction_requests::{self, Beginning, ObjectKind};
use regente_store::{Batch, Commit, StoreError, cards, charges, events};

use super::{purchase, reconcile};
use crate::app::App;
use crate::error::Error;
use crate::queue::{self, Kind};

/// How often the outcome of a call is written anew when the store does not take it, before the reconcile job is left
/// to find it at the provider.
const OUTCOME_TRIES_MAX: usize = 3;

/// What an outcome makes of a charge.
pub struct Step {
    /// The charge after it.
    pub charge: Charge,
    /// What is announced of it.
    pub announces: Option<ChargeEvent>,
    /// The request that follows at once: the next provider's, or one that gives back.
    pub next: Option<TransactionRequest>,
}

/// Who wrote an outcome.
pub enum Written {
    /// This flow.
    ByUs,
    /// Another one was first, and this is the charge by now.
    Elsewhere(Box<Charge>),
    /// Nobody yet: the store did not take it. The reconcile job will find the outcome at the provider.
    NotYet,
}

/// The second batch: the outcome, with the intent of what follows. Without a `card` it was deleted meanwhile, or the
/// outcome says nothing about it.
pub async fn write(
    app: &App,
    before: &Charge,
    ended: &TransactionRequest,
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
                        return Ok(Written::Elsewhere(Box::new(stored.charge)));
                    }
                    Ok(Some(stored)) if stored.charge.version == before.version => {}
                    // A backup was restored meanwhile: what was asked for is not in it, but at the provider it is.
                    Ok(Some(_) | None) => return Err(nothing_to_write_to(ended)),
                    Err(error) => log_unwritten(&error, ended),
                }
            }
            Err(error) => log_unwritten(&error, ended),
        }
    }
    Ok(Written::NotYet)
}

fn nothing_to_write_to(ended: &TransactionRequest) -> Error {
    tracing::error!(
        charge = %ended.object_id, transaction_request = %ended.id, key = %ended.provider_key(),
        provider = %ended.provider_type.code(), operation = ended.request_type.word(),
        status = ended.status().word(), amount = ended.amount.minor_units(),
        "the charge of an outcome is not what it was any more: the operator must look at the provider"
    );
    Error::internal("the charge of an outcome is gone")
}

fn log_unwritten(error: &StoreError, ended: &TransactionRequest) {
    tracing::error!(
        error = error as &dyn std::error::Error, transaction_request = %ended.id,
        "the outcome of a call could not be written; the reconcile job will find it at the provider"
    );
}

fn outcome(
    app: &App,
    before: &Charge,
    ended: &TransactionRequest,
    step: &Step,
    card: Option<&Card>,
    actor: &Actor,
) -> Result<Batch, Error> {
    let now = app.clock.of(before.client_id);
    let after = &step.charge;
    let mut batch = Batch::new(before.client_id);
    charges::update(&mut batch, before, after, actor)?;
    transaction_requests::end(&mut batch, ended)?;
    if let Some(next) = &step.next {
        begin(app, &mut batch, next, Some(after.source.card_id()), actor, now);
    }
    if let Some(card) = card.and_then(|card| card.after_charge(verdict(ended), now))
        && after.state.is_settled()
    {
        cards::settle(&mut batch, &card)?;
    }
    let is_new_reservation =
        matches!((&before.state, &after.state), (ChargeState::Pending, ChargeState::PreAuthorized { .. }));
    // The cards of a purchase are let go together.
    if is_new_reservation && after.purchase_id.is_none() {
        let ends_at = now + app.settings.reservation_life;
        queue::enqueue(app, &mut batch, Kind::ExpireReservation, &after.id.to_string(), "{}", ends_at);
    }
    // Whoever asked has gone on meanwhile; the purchase must not.
    if *actor == Actor::Job(reconcile::KIND) {
        purchase::wake(app, &mut batch, after);
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
        Outcome::NoEffect(_) | Outcome::Open => ChargeVerdict::Silent,
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

fn operation_kind(request: &TransactionRequest) -> OperationKind {
    use regente_domain::charge::attempt::RequestType;
    match request.request_type {
        RequestType::Authorization | RequestType::PreAuthorization => OperationKind::Authorization,
        RequestType::ZeroDollar => OperationKind::ZeroDollar,
        RequestType::Capture => OperationKind::Capture,
        RequestType::Void | RequestType::ChargeBack => OperationKind::Void,
    }
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
    let first_wait = app.settings.reconcile_waits.first().copied().unwrap_or_default();
    transaction_requests::note_open(&mut batch, request, reason, app.clock.of(charge.client_id) + first_wait);
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
