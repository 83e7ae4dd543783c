//! Applies an authorization outcome that arrives after the call: the reconcile job asked for it, the provider sent a
//! notification, or the call's answer came after another node had moved the charge. The version of the charge guards
//! each change, so the order and the number of reports do not matter.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use regente_domain::actor::Actor;
use regente_domain::card::record::{Card, SecurityCodeSent};
use regente_domain::charge::attempt::{Asks, Outcome, RequestType, TransactionRequest, expired};
use regente_domain::charge::explanation::Stopped;
use regente_domain::charge::{Charge, ChargeState, Finish, Means, Next, PaymentSource};
use regente_domain::id::{ChargeId, ClientId};
use regente_store::cards;

use super::asking::{self, Asking, Begun, Prerequisites};
use super::attempt::{Found, SimulatorOverrides};
use super::outcome::{self, ChargedWith, Written};
use super::step::{Step, step};
use super::stored::{self, Ran};
use super::{anti_fraud, follow_up, security_code, taken_back};
use crate::app::App;
use crate::error::Error;

/// How often a lost race for the charge is decided again.
const RACES_MAX: usize = 4;

/// The payer, and a security code if one is needed, are no longer available.
const BUYER_IS_GONE: Means = Means::Incomplete(Stopped::Interrupted);

/// Applies the outcome of an authorization: `found` is the request with it. If a payer who was waited for has not paid,
/// this calls the next provider at once.
pub fn take<'a>(
    app: &'a App,
    found: &'a TransactionRequest,
    actor: &'a Actor,
) -> BoxFuture<'a, Result<(), Error>> {
    async move {
        for _ in 0..RACES_MAX {
            let Some(planned) = Planned::of(app, found).await? else { return Ok(()) };
            match planned.carry_out(app, actor).await? {
                CarriedOut::Yes => return Ok(()),
                CarriedOut::LostRace => {}
            }
        }
        Err(Error::busy())
    }
    .boxed()
}

/// Applies the outcome of an authorization that a provider has notified.
///
/// # Errors
/// [`Error::Unavailable`] while this process still waits for the answer to the request itself.
pub async fn notified(app: &App, request: &TransactionRequest, found: impl Into<Found>) -> Result<(), Error> {
    let found = found.into();
    if app.in_flight.contains(request.id) {
        return Err(Error::busy());
    }
    let _admission = app.store.admit_waiting().await?;
    take_all(app, request, found, &Actor::Job(NOTIFICATION)).await
}

/// Ends the instructions of a payer who is not waited for any longer, as if he had not come in time. What he pays
/// nevertheless is taken like any late payment.
pub async fn withdraw(
    app: &App,
    client_id: ClientId,
    charge_id: ChargeId,
    actor: &Actor,
) -> Result<(), Error> {
    for _ in 0..RACES_MAX {
        let Some(Ran { charge, requests }) = stored::find(app, client_id, charge_id).await? else {
            return Ok(());
        };
        let ChargeState::AwaitingPayer { .. } = charge.state else { return Ok(()) };
        let awaited = requests.iter().rfind(|request| request.pending().is_some()).cloned();
        let awaited = awaited.ok_or_else(|| Error::internal("a charge that waits for nobody"))?;
        let Some(planned) = Planned::without_payer(app, charge, requests, &awaited)? else { return Ok(()) };
        match planned.with_card(app).await?.carry_out(app, actor).await? {
            CarriedOut::Yes => return Ok(()),
            CarriedOut::LostRace => {}
        }
    }
    Err(Error::busy())
}

/// Applies what a provider says of an authorization: its outcome, every payment of its payer, and what was taken back.
pub async fn take_all(
    app: &App,
    request: &TransactionRequest,
    found: Found,
    actor: &Actor,
) -> Result<(), Error> {
    let payments = found.taken_back.clone();
    for ended in found.ended(request, app.clock.of(request.client_id)) {
        take(app, &ended, actor).await?;
    }
    for payment in &payments {
        taken_back::take(app, request, payment, actor).await?;
    }
    Ok(())
}

/// The actor of changes that a notification causes.
pub(super) const NOTIFICATION: &str = "notification";

/// Whether the plan is written.
enum CarriedOut {
    Yes,
    /// Another node moved the charge: decide again.
    LostRace,
}

/// The change that an outcome makes to a charge.
struct Planned {
    before: Charge,
    /// The charge's requests with the outcome, oldest first.
    requests: Vec<TransactionRequest>,
    /// The request whose outcome is written.
    ended: Option<TransactionRequest>,
    step: Step,
    card: Option<Card>,
    /// What calling the next provider needs.
    prerequisites: Option<Prerequisites>,
}

impl Planned {
    /// Reads the charge and plans; `None` when there is nothing to write.
    async fn of(app: &App, found: &TransactionRequest) -> Result<Option<Self>, Error> {
        let Ran { charge, requests } = stored::whole_of(app, found).await?;
        let Some(at) = requests.iter().position(|request| request.id == found.id) else {
            return Err(Error::internal("an outcome of a request that the charge does not have"));
        };
        let is_last = requests.iter().skip(at + 1).all(|later| !later.request_type.is_authorization());
        let planned = match (&charge.state, &requests[at].outcome) {
            (ChargeState::Processing, Outcome::Open) => {
                let mut requests = requests;
                requests[at] = found.clone();
                let next = charge.next(&requests, BUYER_IS_GONE, app.clock.of(found.client_id));
                Self::plan(app, charge.clone(), charge, requests, Some(at), next)?
            }
            (ChargeState::AwaitingPayer { .. }, Outcome::Pending(_)) if is_last => {
                Self::after_payer(app, charge, requests, found).await?
            }
            (
                ChargeState::Processing
                | ChargeState::AwaitingPayer { .. }
                | ChargeState::PreAuthorized { .. }
                | ChargeState::CapturePending { .. }
                | ChargeState::Authorized { .. }
                | ChargeState::RefundPending { .. }
                | ChargeState::RefundAccepted { .. }
                | ChargeState::Failed { .. }
                | ChargeState::Canceled { .. }
                | ChargeState::Voided { .. }
                | ChargeState::ChargedBack { .. },
                _,
            ) => Self::late(app, charge, requests, found)?,
        };
        match planned {
            Some(planned) => planned.with_card(app).await.map(Some),
            None => Ok(None),
        }
    }

    /// The outcome of a request that waited for its payer.
    async fn after_payer(
        app: &App,
        charge: Charge,
        requests: Vec<TransactionRequest>,
        found: &TransactionRequest,
    ) -> Result<Option<Self>, Error> {
        let now = app.clock.of(found.client_id);
        if let Outcome::Pending(_) = found.outcome {
            return match charge.next(&requests, BUYER_IS_GONE, now) {
                Next::Expire => Self::without_payer(app, charge, requests, found),
                Next::Enroll
                | Next::Authorize(_)
                | Next::Analyse
                | Next::FollowUp { .. }
                | Next::AwaitOutcome
                | Next::AwaitPayer { .. }
                | Next::Void { .. }
                | Next::AwaitResult
                | Next::Finish(_)
                | Next::Rest => Ok(None),
            };
        }
        let is_followed = match found.decline() {
            Some(decline) => decline.retryable,
            None => found.request_type.is_authentication(),
        };
        let prerequisites = if is_followed { Prerequisites::of(app, &charge).await? } else { None };
        let means = match prerequisites {
            Some(_) => Means::Complete { elapsed: Duration::ZERO, budget: app.settings.charge_budget },
            None => BUYER_IS_GONE,
        };
        let planned =
            Self::tell(app, charge, requests, found, |charge, requests| charge.next(requests, means, now))?;
        Ok(planned.map(|planned| Self { prerequisites, ..planned }))
    }

    /// The payer of `found` did not come.
    fn without_payer(
        app: &App,
        charge: Charge,
        requests: Vec<TransactionRequest>,
        found: &TransactionRequest,
    ) -> Result<Option<Self>, Error> {
        let stopped = match found.request_type.is_authentication() {
            true => Stopped::NotAuthenticated,
            false => Stopped::Expired,
        };
        let finish = Finish::Failed { by: found.provider_type, stopped };
        let gone = TransactionRequest {
            outcome: Outcome::Declined(expired(found)),
            authenticated: found.authenticated.as_deref().map(|known| Box::new(known.not_completed())),
            ..found.clone()
        };
        Self::tell(app, charge, requests, &gone, |_, _| Next::Finish(finish))
    }

    /// A late outcome: the charge has continued without it.
    fn late(
        app: &App,
        charge: Charge,
        mut requests: Vec<TransactionRequest>,
        found: &TransactionRequest,
    ) -> Result<Option<Self>, Error> {
        match charge.next_after_late(&requests, found) {
            Next::Void { .. } if is_further_payment(&charge, &requests, found) => {
                tracing::error!(
                    alert = "paid_again", charge = %charge.id, transaction_request = %found.id,
                    amount = found.amount.minor_units(),
                    "A payer has paid what is not asked of him any more: it is given back"
                );
                Self::tell(app, charge, requests, found, |_, requests| {
                    requests.last().map_or(Next::Rest, |told| Next::Void { request: told.id })
                })
            }
            next @ Next::Void { .. } => {
                // The approval has the provider's id of what is voided.
                if let Some(stored) = requests.iter_mut().find(|stored| stored.id == found.id) {
                    stored.outcome = with_reference(found.outcome.clone(), stored);
                }
                tracing::error!(
                    charge = %charge.id, transaction_request = %found.id,
                    "Late approval of an authorization after its charge has gone on without it: void it"
                );
                Self::plan(app, charge.clone(), charge, requests, None, next)
            }
            next @ Next::Finish(_) => Self::tell(app, charge, requests, found, |_, _| next),
            Next::Enroll
            | Next::Authorize(_)
            | Next::Analyse
            | Next::FollowUp { .. }
            | Next::AwaitOutcome
            | Next::AwaitPayer { .. }
            | Next::AwaitResult
            | Next::Expire
            | Next::Rest => Ok(None),
        }
    }

    /// Adds the request that reports the outcome of one that waited for its payer: `found` is the latter with the outcome.
    fn tell(
        app: &App,
        before: Charge,
        mut requests: Vec<TransactionRequest>,
        found: &TransactionRequest,
        next: impl FnOnce(&Charge, &[TransactionRequest]) -> Next,
    ) -> Result<Option<Self>, Error> {
        let now = app.clock.of(before.client_id);
        let charge = before.clone().with_one_more_request();
        let asks = Asks::about(found, found.request_type.told_as(), found.amount);
        let told = charge.begin_request(app.chance.id(now), asks, now);
        let awaited = requests.iter().find(|request| request.id == found.id).unwrap_or(found);
        let outcome = with_reference(found.outcome.clone(), awaited);
        requests.push(TransactionRequest { outcome, authenticated: found.authenticated.clone(), ..told });
        let (next, at) = (next(&charge, &requests), requests.len() - 1);
        Self::plan(app, before, charge, requests, Some(at), next)
    }

    /// Plans to write `next` and the outcome of the request at `ended`.
    fn plan(
        app: &App,
        before: Charge,
        charge: Charge,
        requests: Vec<TransactionRequest>,
        ended: Option<usize>,
        next: Next,
    ) -> Result<Option<Self>, Error> {
        let step = step(app, &charge, &requests, next, security_code::assumed(&charge))?;
        let ended = ended.and_then(|at| requests.get(at).cloned());
        Ok(step.map(|step| Self { before, requests, ended, step, card: None, prerequisites: None }))
    }

    async fn with_card(self, app: &App) -> Result<Self, Error> {
        let card = match (&self.ended, self.before.method.card_id()) {
            (Some(_), Some(card_id)) => cards::find(&app.store, self.before.client_id, card_id).await?,
            (Some(_) | None, None) | (None, Some(_)) => None,
        };
        Ok(Self { card: card.map(|stored| stored.card), ..self })
    }

    /// Writes the plan and carries out what follows: the next provider, the analysis, or the capture or void that a
    /// verdict leads to. The void of an orphaned authorization is left to the reconcile job.
    async fn carry_out(self, app: &App, actor: &Actor) -> Result<CarriedOut, Error> {
        let Self { before, requests, ended, step, card, prerequisites } = self;
        // Whether the caller gave a security code is not known any more.
        let card = card.as_ref().map(|card| ChargedWith { card, code: SecurityCodeSent::No });
        match outcome::write(app, &before, ended.as_ref(), &step, card, actor).await? {
            Written::ByUs => {}
            Written::Elsewhere => return Ok(CarriedOut::LostRace),
            Written::NotYet => return Err(Error::unavailable()),
        }
        let Some(request) = step.next else { return Ok(CarriedOut::Yes) };
        let (overrides, started) = (SimulatorOverrides::of(app, &step.charge, None), app.clock.machine());
        if step.charge.has_open(&request) {
            follow_up::send(app, step.charge, request, requests, &overrides, actor).await?;
            return Ok(CarriedOut::Yes);
        }
        let Some(prerequisites) = prerequisites else {
            if request.request_type == RequestType::AntiFraud {
                let asked = anti_fraud::analyse(app, &step.charge, &request, &overrides).await?;
                let now = app.clock.of(request.client_id);
                take(app, &request.end(asked.outcome, Some(asked.duration), now), actor).await?;
            }
            return Ok(CarriedOut::Yes);
        };
        let begun = Begun { charge: step.charge, request, ended: requests };
        let asking = Asking::begin(app, begun, prerequisites, overrides, *actor, started).await?;
        asking::drive(app, asking).await?;
        Ok(CarriedOut::Yes)
    }
}

/// Whether `found` is a payment of instructions that have ended otherwise: they were paid already, or withdrawn. Of
/// instructions that were paid before they were known the request is approved itself.
fn is_further_payment(charge: &Charge, requests: &[TransactionRequest], found: &TransactionRequest) -> bool {
    let stored = requests.iter().find(|request| request.id == found.id);
    match charge.method.source() {
        PaymentSource::Card(_) | PaymentSource::Wallet => false,
        PaymentSource::Payer(_) => stored.is_some_and(|stored| {
            stored.pending().is_some() || matches!(stored.outcome, Outcome::Approved(_))
        }),
    }
}

/// Adds the ids of the provider and of the card network to an approval; they may have been given only with the
/// instructions.
fn with_reference(outcome: Outcome, awaited: &TransactionRequest) -> Outcome {
    match outcome {
        Outcome::Approved(mut approval) => {
            let given = || awaited.transaction_id().map(str::to_owned);
            approval.transaction_id = approval.transaction_id.or_else(given);
            let named = || awaited.reference().and_then(|known| known.network_transaction_id.clone());
            approval.network_transaction_id = approval.network_transaction_id.or_else(named);
            Outcome::Approved(approval)
        }
        Outcome::Open
        | Outcome::Pending(_)
        | Outcome::Accepted(_)
        | Outcome::Declined(_)
        | Outcome::NoEffect(_)
        | Outcome::Analysed(_) => outcome,
    }
}
