//! Writes the outcome of a request to its charge: one batch, guarded by the version of the charge, for every operation.
//! Also records why an outcome stays open.

use regente_domain::actor::Actor;
use regente_domain::card::record::{Card, ChargeVerdict, SecurityCodeSent};
use regente_domain::charge::analysis::Verdict;
use regente_domain::charge::attempt::{OpenReason, Outcome, TransactionRequest};
use regente_domain::charge::{Charge, ChargeState, Held, Recurrence, Transition};
use regente_domain::decline::CardVerdict;
use regente_domain::id::CardId;
use regente_domain::rates;
use regente_domain::time::Timestamp;
use regente_store::transaction_requests::{self, Beginning, ObjectKind, Probing, StoredRequest};
use regente_store::{Batch, Commit, StoreError, cards, charges, events};

use crate::app::App;
use crate::charges::plan_step::Step;
use crate::charges::{security_code, underpaid};
use crate::error::Error;
use crate::queue::{self, Kind, NO_PAYLOAD, purchases};
use crate::transaction_requests::call::deadline;
use crate::transaction_requests::look_up_schedule;

/// How often a failed write of an outcome is tried again before the reconcile job has to look it up at the provider.
const OUTCOME_TRIES_MAX: usize = 3;

/// The result of writing an outcome.
pub enum Written {
    /// This task has written it.
    ByUs,
    /// Another node moved the charge first.
    Elsewhere,
    /// The store did not accept it. The reconcile job will look the outcome up at the provider.
    NotYet,
}

/// The card of an authorization whose outcome is written.
#[derive(Clone, Copy)]
pub(crate) struct ChargedWith<'a> {
    /// The card.
    pub card: &'a Card,
    /// Whether the provider was sent its security code.
    pub code: SecurityCodeSent,
}

/// Writes the second batch: the outcome, and the intent of the next request. Without `ended` it writes only the intent.
/// `card` is `None` when the card was deleted meanwhile or the outcome does not affect it.
pub(crate) async fn write(
    app: &App,
    before: &Charge,
    ended: Option<&TransactionRequest>,
    step: &Step,
    card: Option<ChargedWith<'_>>,
    actor: &Actor,
) -> Result<Written, Error> {
    for _ in 0..OUTCOME_TRIES_MAX {
        let batch = outcome(app, before, ended, step, card, actor)?;
        match app.store.apply(batch).await {
            Ok(Commit::Applied) => {
                underpaid::report(before, &step.charge);
                return Ok(Written::ByUs);
            }
            Ok(Commit::Refused(_) | Commit::Unknown) => {
                let stored = charges::find_with_requests(&app.store, before.client_id, before.id).await;
                match stored {
                    Ok(Some((stored, requests)))
                        if stored.charge == step.charge && has_all(&requests, ended, step) =>
                    {
                        underpaid::report(before, &step.charge);
                        return Ok(Written::ByUs);
                    }
                    Ok(Some((stored, _))) if stored.charge.version > before.version => {
                        return Ok(Written::Elsewhere);
                    }
                    Ok(Some((stored, _))) if stored.charge.version == before.version => {}
                    // A backup was restored meanwhile: it lacks the request, but the provider has carried it out.
                    Ok(Some(_) | None) => return Err(nothing_to_write_to(before, ended)),
                    Err(error) => log_unwritten(&error, before),
                }
            }
            Err(error) => log_unwritten(&error, before),
        }
    }
    Ok(Written::NotYet)
}

/// Writes what a provider reports of a payment without being asked: the charge after it, and `told`, the request that
/// records it. What it means that the change is refused, or not known to be written, is left to the caller.
pub(crate) async fn write_report(
    app: &App,
    before: &Charge,
    after: &Transition,
    told: &TransactionRequest,
    actor: &Actor,
) -> Result<Commit, Error> {
    let Transition { charge: after, announces } = after;
    let mut batch = Batch::new(before.client_id);
    charges::update(&mut batch, before, after, actor)?;
    queue::follow(app, &mut batch, before, after, Some(told));
    transaction_requests::insert_ended(&mut batch, told, ObjectKind::Charge, actor)?;
    purchases::wake(app, &mut batch, after);
    if matches!(after.state, ChargeState::PreAuthorized { .. }) {
        release_later(app, &mut batch, after);
    }
    if let Some(event) = announces {
        events::charge_changed(
            &mut batch,
            app.chance.id(app.clock.of(before.client_id)),
            after,
            *event,
            actor,
        );
    }
    Ok(app.store.apply(batch).await?)
}

/// A reservation that nobody captures is let go. A purchase releases the reservations of all its cards together.
fn release_later(app: &App, batch: &mut Batch, reserved: &Charge) {
    if reserved.purchase_id.is_none() {
        let ends_at = app.clock.of(reserved.client_id) + app.settings.reservation_life;
        queue::enqueue(app, batch, Kind::ExpireReservation, &reserved.id.to_string(), NO_PAYLOAD, ends_at);
    }
}

/// Whether the requests of this step are stored. Two nodes may move a charge alike in the same millisecond, each with a
/// request of its own, or with another payment of one request: the charge alone does not tell which of them has written it.
fn has_all(stored: &[StoredRequest], ended: Option<&TransactionRequest>, step: &Step) -> bool {
    let of = |request: &TransactionRequest| {
        let id = request.id;
        stored.iter().map(|stored| &stored.request).find(|stored| stored.id == id)
    };
    let has_ended = |ended: &TransactionRequest| {
        of(ended).is_some_and(|stored| stored.transaction_id() == ended.transaction_id())
    };
    ended.is_none_or(has_ended) && step.next.as_ref().is_none_or(|next| of(next).is_some())
}

fn nothing_to_write_to(before: &Charge, ended: Option<&TransactionRequest>) -> Error {
    if let Some(ended) = ended {
        tracing::error!(
            charge = %ended.object_id, transaction_request = %ended.id, key = %ended.provider_key(),
            provider = %ended.provider_type.code(), operation = ended.request_type.word(),
            status = ended.status().word(), amount = ended.amount.minor_units(),
            "the charge of an outcome is gone or has an older version: the operator must check the provider"
        );
    }
    Error::internal(format!("charge {}, which an outcome is about, is gone", before.id))
}

fn log_unwritten(error: &StoreError, before: &Charge) {
    tracing::error!(
        error = error as &dyn std::error::Error, charge = %before.id,
        "the outcome of a call could not be written; the reconcile job will look it up at the provider"
    );
}

fn outcome(
    app: &App,
    before: &Charge,
    ended: Option<&TransactionRequest>,
    step: &Step,
    card: Option<ChargedWith<'_>>,
    actor: &Actor,
) -> Result<Batch, Error> {
    let after = &step.charge;
    // Versions of one moment have times that run ahead of the clock; what is due and what has an id goes by the clock.
    let now = app.clock.of(before.client_id);
    let mut batch = Batch::new(before.client_id);
    charges::update(&mut batch, before, after, actor)?;
    queue::follow(app, &mut batch, before, after, ended);
    if let Some(ended) = ended {
        end(app, &mut batch, before, after, ended, actor)?;
        let face = card.map(|card| &card.card.face);
        if let Some(key) = rates::counted(before, face, ended, step.first_told_of.as_deref()) {
            batch.rate(key);
        }
    }
    if let Some(next) = &step.next {
        let card_id = if next.request_type.opens_card() { after.method.card_id() } else { None };
        begin(app, &mut batch, next, card_id, actor, now);
    }
    let changed_card = card
        .zip(ended)
        .and_then(|(ChargedWith { card, code }, ended)| card.after_charge(verdict(after, ended, code), now));
    let approval = ended.and_then(|ended| match &ended.outcome {
        Outcome::Approved(approval) if ended.request_type.is_authorization() => Some(approval),
        Outcome::Approved(_)
        | Outcome::Open
        | Outcome::Pending(_)
        | Outcome::Accepted(_)
        | Outcome::Declined(_)
        | Outcome::NoEffect(_)
        | Outcome::Analysed(_) => None,
    });
    if let (Some(Recurrence::Initial), Some(card_id), Some(id)) = (
        after.method.recurrence(),
        after.method.card_id(),
        approval.and_then(|approval| approval.network_transaction_id.as_deref()),
    ) {
        cards::keep_network_transaction_id(&mut batch, card_id, id);
    }
    let is_approved = ended.is_some_and(|ended| matches!(ended.outcome, Outcome::Approved(_)));
    if let Some(card) = changed_card
        && (after.state.is_settled() || is_approved)
    {
        cards::settle(&mut batch, &card)?;
    }
    security_code::follow(&mut batch, before, step);
    let is_new_reservation = matches!(after.state, ChargeState::PreAuthorized { .. })
        && (matches!(
            before.state,
            ChargeState::Processing | ChargeState::AwaitingPayer { .. } | ChargeState::Failed { .. }
        ) || before.state.open_operation().is_some_and(|open| open.before == Held::JustReserved));
    if is_new_reservation {
        release_later(app, &mut batch, after);
    }
    if after.feeding().is_some() && before.feeding().is_none() {
        queue::enqueue(app, &mut batch, Kind::FeedAntiFraud, &after.id.to_string(), NO_PAYLOAD, now);
    }
    // The driver of the purchase may have stopped waiting: wake the purchase.
    match actor {
        Actor::Job(kind) if *kind != purchases::KIND => purchases::wake(app, &mut batch, after),
        Actor::Job(_)
        | Actor::Key(_)
        | Actor::ClientToken(_)
        | Actor::SessionKey(_)
        | Actor::Member(_)
        | Actor::Operator => {}
    }
    if let Some(event) = step.announces {
        events::charge_changed(&mut batch, app.chance.id(now), after, event, actor);
    }
    Ok(batch)
}

/// What the outcome of a charge says about its card: a decline that is final for the card counts against it; any other
/// one, an unanswered call, and a payer who did not come do not.
fn verdict<'a>(after: &Charge, ended: &'a TransactionRequest, code: SecurityCodeSent) -> ChargeVerdict<'a> {
    match &ended.outcome {
        // An authentication says nothing about the card.
        _ if !ended.request_type.is_authorization() => ChargeVerdict::Silent,
        Outcome::Approved(_) => ChargeVerdict::Confirmed(code),
        Outcome::Declined(_) if after.ended_unpaid() => ChargeVerdict::Silent,
        Outcome::Declined(decline) => match decline.code.card_verdict() {
            CardVerdict::Final => ChargeVerdict::Refused(&decline.message),
            CardVerdict::Open => ChargeVerdict::Silent,
        },
        Outcome::NoEffect(_)
        | Outcome::Pending(_)
        | Outcome::Accepted(_)
        | Outcome::Open
        | Outcome::Analysed(_) => ChargeVerdict::Silent,
    }
}

/// Writes the outcome of a request. A request that `before` does not have yet tells what became of the one it follows.
fn end(
    app: &App,
    batch: &mut Batch,
    before: &Charge,
    after: &Charge,
    ended: &TransactionRequest,
    actor: &Actor,
) -> Result<(), StoreError> {
    let told_of = ended.follows.filter(|_| ended.ordinal >= before.requests);
    match (told_of, &ended.outcome) {
        (Some(told_of), _) => {
            let probing = if after.is_asked_on(ended) { Probing::GoesOn } else { Probing::Ends };
            transaction_requests::tell(batch, told_of, ended, probing, actor)
        }
        (None, Outcome::Pending(pending)) => {
            let due_at = look_up_schedule::first_look_at_payer(app, ended);
            transaction_requests::instruct(batch, ended, pending, due_at)
        }
        (None, Outcome::Accepted(_)) => {
            let due_at = look_up_schedule::first_look(app, ended.client_id);
            transaction_requests::end_watched(batch, ended, due_at)
        }
        (None, Outcome::NoEffect(_)) => {
            transaction_requests::end_watched(batch, ended, look_up_schedule::first_look_at_denied(ended))
        }
        (None, Outcome::Declined(_)) if after.may_have_unseen_instructions(ended) => {
            let due_at = look_up_schedule::first_look(app, ended.client_id);
            transaction_requests::end_watched(batch, ended, due_at)
        }
        (None, Outcome::Analysed(analysed)) => {
            let is_pending = analysed.verdict == Verdict::Pending;
            let due_at = is_pending.then(|| look_up_schedule::first_look(app, ended.client_id));
            transaction_requests::analysed(batch, ended, &analysed.verdict, due_at)
        }
        (None, Outcome::Open | Outcome::Approved(_) | Outcome::Declined(_)) => {
            transaction_requests::end(batch, ended)
        }
    }
}

/// Stores a request before the provider is called, with the time when its outcome must be looked up. `card_id` is the
/// card whose number is opened for it.
pub fn begin(
    app: &App,
    batch: &mut Batch,
    request: &TransactionRequest,
    card_id: Option<CardId>,
    actor: &Actor,
    now: Timestamp,
) {
    let due_at = now + deadline(app, request) + app.settings.reconcile_grace;
    let beginning = Beginning { object_kind: ObjectKind::Charge, card_id, due_at, actor };
    transaction_requests::insert(batch, request, beginning);
}

/// Records why an outcome stays open, and sends the event for it. The first look-up is due at once, because the
/// provider is known not to have answered. A failure here does no harm: the request's due date still leads to a
/// look-up.
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
        look_up_schedule::first_look(app, request.client_id),
    );
    match app.store.apply(batch).await {
        Ok(Commit::Applied | Commit::Refused(_) | Commit::Unknown) => {}
        Err(error) => tracing::warn!(
            error = &error as &dyn std::error::Error, transaction_request = %request.id,
            "the reason of an open request could not be stored"
        ),
    }
}

/// Announces the open outcome once, if its charge has an event for that.
pub fn announcement(app: &App, charge: &Charge, actor: &Actor) -> Option<Batch> {
    let event = charge.announced_while_open()?;
    let mut batch = Batch::new(charge.client_id);
    events::charge_changed(&mut batch, app.chance.id(app.clock.of(charge.client_id)), charge, event, actor);
    Some(batch)
}
