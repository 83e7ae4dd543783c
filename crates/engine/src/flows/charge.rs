//! Charging a card: the intent, the call, the outcome; and after a retryable refusal the outcome together with the
//! next provider's intent. The same functions end a charge in daily life and after a crash.

use std::sync::Arc;

use regente_domain::actor::Actor;
use regente_domain::card::record::Card;
use regente_domain::charge::attempt::{Outcome, RequestType, TransactionRequest};
use regente_domain::charge::explanation::Stopped;
use regente_domain::charge::{CaptureMode, Charge, ChargeEvent, ChargeState, NotPending, Transition};
use regente_domain::decline::Decline;
use regente_domain::id::ProviderId;
use regente_domain::provider_type::ProviderType;
use regente_domain::purchase::{self, Purchase};
use regente_domain::routing::{self, Next};
use regente_providers::request::{Authorization, CardDetails, Operation};
use regente_store::merchants::MerchantWithProviders;
use regente_store::providers::Provider;
use regente_store::sealed::Sealed;
use regente_store::transaction_requests::StoredRequest;
use regente_store::{Admission, Batch, Commit, Refusal, cards, charges, events, purchases, tokens};

use super::attempt::{self, Asked, Wishes};
use super::outcome::{self, Step, Written};
use super::stray;
use crate::app::App;
use crate::calls::circuits::Trials;
use crate::card_data::{ChargedCard, SealedCard};
use crate::clock::MachineTime;
use crate::error::Error;
use crate::idempotency::{Claim, Finished};

/// The member that names a card token.
pub const TOKEN_PATH: &str = "paymentSource.tokenId";
/// The member that names a CVV token.
pub const CVV_TOKEN_PATH: &str = "paymentSource.tokenCvv";

/// A charge that everything is known for: parsed, resolved, routed, not written yet.
pub struct NewCharge {
    /// The charge, pending, with its route.
    pub charge: Charge,
    /// Fraud analysis data, sealed.
    pub private: Option<Sealed>,
    /// The card that is charged.
    pub card: Card,
    /// Its number and holder's name, when the charge stores the card.
    pub new_card: Option<SealedCard>,
    /// What goes to the provider of the card.
    pub details: ChargedCard,
    /// The tokens that the charge uses up.
    pub tokens: Vec<[u8; 32]>,
    /// The merchant and its providers.
    pub merchant: Arc<MerchantWithProviders>,
    /// The providers that this charge tries after they had stopped answering.
    pub trials: Trials,
    /// The idempotency claim.
    pub claim: Option<Claim>,
    /// The purchase that it is one card of, moved on by the very batch that begins the charge.
    pub purchase: Option<Box<PurchaseStep>>,
    /// Who charges.
    pub actor: Actor,
    /// `X-Sandbox-Seed`.
    pub seed: Option<String>,
}

/// A purchase before and after the charge of one of its cards begins. Whoever is too late for that version begins no
/// charge.
pub struct PurchaseStep {
    /// Before.
    pub before: Purchase,
    /// After.
    pub step: purchase::Step,
}

/// What became of a new charge.
pub enum Created {
    /// It ran; it may still be pending.
    Ran(Box<Ran>),
    /// Another request with the same key was first, and this is its answer.
    Answered(Finished),
}

/// A charge that ran, with its requests, oldest first.
pub struct Ran {
    /// The charge.
    pub charge: Charge,
    /// Its requests.
    pub requests: Vec<TransactionRequest>,
}

/// Charges. Runs to its end even when the caller hangs up: call it in a task of its own. The place that the charge was
/// admitted to is held until its outcome is written.
pub async fn create(app: App, new: Box<NewCharge>, admission: Admission) -> Result<Created, Error> {
    let _admission = admission;
    let Some((provider_id, provider_type)) = routing::first(&new.charge.explanation) else {
        return Err(Error::internal("a charge without a route"));
    };
    let started = app.clock.machine();
    let request = request_to(&app, &new.charge, 0, provider_id, provider_type);
    match Box::pin(app.store.apply(intent(&app, &new, &request)?)).await? {
        Commit::Applied => {}
        Commit::Refused(refusal) => return Box::pin(refused(&new, &app, &refusal)).await,
        Commit::Unknown => {
            // The answer to the commit was lost, not necessarily the commit: the charge itself tells.
            let reading = Box::pin(charges::find(&app.store, new.charge.client_id, new.charge.id));
            if reading.await?.is_none() {
                return Err(Error::unavailable());
            }
        }
    }
    drive(&app, new, request, started).await.map(Created::Ran)
}

async fn refused(new: &NewCharge, app: &App, refusal: &Refusal) -> Result<Created, Error> {
    match &new.claim {
        Some(claim) if Claim::lost(refusal) => claim.of_winner(app).await.map(Created::Answered),
        // Somebody else has moved the purchase on: what is to be done now is decided anew.
        _ if refusal.statement == purchases::UPDATE_PURCHASE.name() => Err(Error::busy()),
        _ if refusal.statement == tokens::CONSUME_TOKEN.name() => {
            let path = if new.new_card.is_some() { TOKEN_PATH } else { CVV_TOKEN_PATH };
            Err(Error::token_not_found(path))
        }
        _ => Err(Error::internal(format!("the intent of a charge was refused by {}", refusal.statement))),
    }
}

/// The first batch: everything that must be known before money can move.
fn intent(app: &App, new: &NewCharge, request: &TransactionRequest) -> Result<Batch, Error> {
    let now = app.clock.of(request.client_id);
    let mut batch = Batch::new(new.charge.client_id);
    if let Some(claim) = &new.claim {
        claim.answer_with(app, &mut batch, &new.charge);
    }
    for digest in &new.tokens {
        tokens::consume(&mut batch, *digest, now);
    }
    if let Some(purchase) = &new.purchase {
        purchases::update(&mut batch, &purchase.before, &purchase.step, &new.actor, || app.chance.id(now))?;
    }
    charges::insert(&mut batch, &new.charge, new.private.clone(), &new.actor)?;
    if let Some(sealed) = &new.new_card {
        cards::insert(&mut batch, &new.card, sealed.number.clone(), sealed.holder.clone())?;
    }
    outcome::begin(app, &mut batch, request, Some(new.charge.source.card_id()), &new.actor, now);
    events::charge_changed(&mut batch, app.chance.id(now), &new.charge, ChargeEvent::Pending, &new.actor);
    Ok(batch)
}

/// Asks one provider after the other until the charge has ended, or its outcome stays unknown.
async fn drive(
    app: &App,
    new: Box<NewCharge>,
    first: TransactionRequest,
    started: MachineTime,
) -> Result<Box<Ran>, Error> {
    // Boxed: what is large only before or after a call would make every call in flight as large.
    let mut asking = Box::pin(Asking::of(app, new, first, started)).await?;
    loop {
        let asked = asking.ask(app).await?;
        match Box::pin(asking.conclude(app, asked)).await? {
            Concluded::AskNext(next) => asking = next,
            Concluded::Ran(ran) => return Ok(ran),
        }
    }
}

/// A charge that is written, and all that is held of it while a provider is waited for.
struct Asking {
    charge: Charge,
    card: Card,
    details: CardDetails,
    merchant: Arc<MerchantWithProviders>,
    wishes: Wishes,
    actor: Actor,
    started: MachineTime,
    /// The request that is open.
    request: TransactionRequest,
    /// Those that have ended, oldest first.
    ended: Vec<TransactionRequest>,
    _trials: Trials,
}

/// What an answer has led to.
enum Concluded {
    /// The next provider is to be asked.
    AskNext(Box<Asking>),
    /// The charge has ended, or its outcome stays unknown.
    Ran(Box<Ran>),
}

impl Asking {
    async fn of(
        app: &App,
        new: Box<NewCharge>,
        first: TransactionRequest,
        started: MachineTime,
    ) -> Result<Box<Self>, Error> {
        let NewCharge { charge, card, details, merchant, trials, actor, seed, .. } = *new;
        Ok(Box::new(Self {
            details: details.open(app).await?,
            wishes: Wishes::of(app, &charge, seed),
            merchant,
            charge,
            card,
            actor,
            started,
            request: first,
            ended: Vec::with_capacity(1),
            _trials: trials,
        }))
    }

    async fn ask(&self, app: &App) -> Result<Asked, Error> {
        let is_asked = |provider: &&Provider| provider.id == self.request.provider_id;
        let Some(provider) = self.merchant.providers.iter().find(is_asked) else {
            return Err(Error::internal("a route to a provider that the merchant does not have"));
        };
        Ok(attempt::ask(app, provider, &self.request, &self.wishes, self.authorization()).await?)
    }

    fn authorization(&self) -> Operation {
        let charge = &self.charge;
        Operation::Authorize(Authorization {
            amount: charge.amount,
            currency: charge.currency,
            capture: charge.capture_in_effect(),
            payment_type: charge.payment_type,
            installments: charge.payment.installments,
            recurrence: charge.payment.recurrence,
            card: self.details.clone(),
            statement_descriptor: charge.references.statement_descriptor.clone(),
            order_id: charge.order_id.clone(),
            description: charge.references.description.clone(),
            provider_reference_key: charge.references.provider_reference_key.clone(),
            merchant_mcc: Some(self.merchant.merchant.details.mcc.clone()),
        })
    }

    /// Writes what was answered.
    async fn conclude(mut self: Box<Self>, app: &App, asked: Asked) -> Result<Concluded, Error> {
        let Self { charge, request, actor, .. } = &*self;
        if let Some(reason) = asked.open_reason {
            outcome::leave_open(app, charge, request, reason, actor).await;
            return Ok(self.still_open());
        }
        let ended = end(app, request, asked);
        let elapsed = app.clock.machine().since(self.started);
        let step = decide(app, charge, &ended, |decline, tried| {
            routing::next(&charge.explanation, tried, decline, elapsed, app.settings.charge_budget)
        })?;
        match outcome::write(app, charge, &ended, &step, Some(&self.card), actor).await? {
            Written::ByUs => {}
            Written::Elsewhere(current) => {
                stray::undo(app, *current, &ended, actor).await?;
                return Ok(Concluded::Ran(Box::new(reread(app, charge).await?)));
            }
            Written::NotYet => return Ok(self.still_open()),
        }
        self.ended.push(ended);
        self.charge = step.charge;
        Ok(match step.next {
            Some(next) => {
                self.request = next;
                Concluded::AskNext(self)
            }
            None => Concluded::Ran(Box::new(Ran { charge: self.charge, requests: self.ended })),
        })
    }

    fn still_open(self) -> Concluded {
        let Self { charge, request, mut ended, .. } = self;
        ended.push(request);
        Concluded::Ran(Box::new(Ran { charge, requests: ended }))
    }
}

/// A charge as it is stored, with its requests.
pub async fn reread(app: &App, charge: &Charge) -> Result<Ran, Error> {
    let (client_id, id) = (charge.client_id, charge.id);
    let Some((stored, requests)) = charges::find_with_requests(&app.store, client_id, id).await? else {
        return Err(Error::internal("a charge that is gone"));
    };
    let requests = requests.into_iter().map(|stored| stored.request).collect();
    Ok(Ran { charge: stored.charge, requests })
}

/// The request with its outcome.
pub fn end(app: &App, request: &TransactionRequest, asked: Asked) -> TransactionRequest {
    request.end(asked.outcome, Some(asked.duration), app.clock.of(request.client_id))
}

/// Decides what an outcome makes of a charge. `route` says what follows a refusal after so many providers were asked.
pub fn decide(
    app: &App,
    charge: &Charge,
    ended: &TransactionRequest,
    route: impl FnOnce(&Decline, usize) -> Next,
) -> Result<Step, Error> {
    let now = app.clock.of(charge.client_id);
    let not_pending = |NotPending(status)| {
        Error::internal(format!("the outcome of a request came for a charge that is {}", status.word()))
    };
    let step = |Transition { charge, announces }, next| Step { charge, announces, next };
    let Some(decline) = ended.decline() else {
        return Ok(step(charge.approve(ended.provider_type, now).map_err(not_pending)?, None));
    };
    let tried = usize::try_from(ended.ordinal + 1).unwrap_or(usize::MAX);
    Ok(match route(decline, tried) {
        Next::Stop(stopped) => {
            step(charge.fail(ended.provider_type, stopped, now).map_err(not_pending)?, None)
        }
        Next::Ask(provider_id, provider_type) => {
            let next = request_to(app, charge, charge.requests, provider_id, provider_type);
            step(charge.try_next(now).map_err(not_pending)?, Some(next))
        }
    })
}

/// What recovery makes of a refusal: the buyer and the security code are gone, so nobody else is asked (U4).
pub fn interrupted(decline: &Decline, _tried: usize) -> Next {
    Next::Stop(if decline.retryable { Stopped::Interrupted } else { Stopped::NotRetryable })
}

fn request_to(
    app: &App,
    charge: &Charge,
    ordinal: i64,
    provider_id: ProviderId,
    provider_type: ProviderType,
) -> TransactionRequest {
    let now = app.clock.of(charge.client_id);
    TransactionRequest {
        id: app.chance.id(now),
        client_id: charge.client_id,
        object_id: charge.id.uuid(),
        ordinal,
        provider_id,
        provider_type,
        request_type: match charge.capture_in_effect() {
            CaptureMode::Automatic => RequestType::Authorization,
            CaptureMode::Manual => RequestType::PreAuthorization,
        },
        amount: charge.amount,
        outcome: Outcome::Open,
        duration: None,
        updated_at: now,
    }
}

/// Ends a charge whose authorization was found out about by the reconcile job.
pub async fn recover(app: &App, stored: &StoredRequest, ended: TransactionRequest) -> Result<(), Error> {
    let actor = Actor::Job(super::reconcile::KIND);
    let client_id = stored.request.client_id;
    let charge = charge_of(app, &stored.request).await?;
    if charge.state != ChargeState::Pending {
        // Whoever had sent the request was only slow, and has written its outcome meanwhile.
        return stray::undo(app, charge, &ended, &actor).await;
    }
    let card = match stored.card_id {
        Some(card_id) => cards::find(&app.store, client_id, card_id).await?,
        None => None,
    };
    let step = decide(app, &charge, &ended, interrupted)?;
    let card = card.as_ref().map(|card| &card.card);
    match outcome::write(app, &charge, &ended, &step, card, &actor).await? {
        Written::ByUs => Ok(()),
        Written::Elsewhere(current) => stray::undo(app, *current, &ended, &actor).await,
        Written::NotYet => Err(Error::unavailable()),
    }
}

/// The charge that a request belongs to.
pub async fn charge_of(app: &App, request: &TransactionRequest) -> Result<Charge, Error> {
    let id = regente_domain::id::Id::new(request.object_id);
    let found = charges::find(&app.store, request.client_id, id).await?;
    let found = found.ok_or_else(|| Error::internal("a transaction request without its charge"))?;
    Ok(found.charge)
}

/// The provider of a request as it is configured now, also when it was deleted since.
pub async fn provider_of(app: &App, request: &TransactionRequest) -> Result<Provider, Error> {
    regente_store::providers::find(&app.store, request.client_id, request.provider_id)
        .await?
        .ok_or_else(|| Error::internal("a transaction request without its provider"))
}
