//! Charging a card: the intent, the call, the outcome; and after a retryable refusal the outcome together with the
//! next provider's intent. The same functions end a charge in daily life and after a crash.

use axum::http::StatusCode;
use regente_domain::actor::Actor;
use regente_domain::card::record::{Card, ChargeVerdict};
use regente_domain::charge::attempt::{Outcome, RequestType, TransactionRequest};
use regente_domain::charge::explanation::Stopped;
use regente_domain::charge::{CaptureMode, Charge, ChargeState, NotPending};
use regente_domain::decline::Decline;
use regente_domain::id::ProviderId;
use regente_domain::provider_type::ProviderType;
use regente_domain::routing::{self, Next};
use regente_domain::time::Timestamp;
use regente_providers::request::{Authorization, CardDetails, Operation, OperationKind};
use regente_store::merchants::MerchantWithProviders;
use regente_store::providers::Provider;
use regente_store::sealed::Sealed;
use regente_store::transaction_requests::{self, Beginning, ObjectKind, StoredRequest};
use regente_store::{Batch, Commit, Refusal, cards, charges, events, tokens};

use super::attempt::{self, Asked};
use crate::api::error::ApiError;
use crate::api::idempotency::{self, Claim, Finished};
use crate::app::App;
use crate::card_data::{ChargedCard, SealedCard};
use crate::clock::MachineTime;

/// How often the outcome of a call is written anew when the store does not take it, before the reconcile job is left
/// to find it at the provider.
const OUTCOME_TRIES_MAX: usize = 3;

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
    pub merchant: MerchantWithProviders,
    /// The idempotency claim.
    pub claim: Option<Claim>,
    /// Who charges.
    pub actor: Actor,
    /// `X-Sandbox-Seed`.
    pub seed: Option<String>,
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

/// Charges. Runs to its end even when the caller hangs up: call it in a task of its own.
pub async fn create(app: App, new: NewCharge) -> Result<Created, ApiError> {
    let Some((provider_id, provider_type)) = routing::first(&new.charge.explanation) else {
        return Err(ApiError::internal("a charge without a route"));
    };
    let _admission = app.store.admit()?;
    let started = app.clock.machine();
    let request = request_to(&app, &new.charge, 0, provider_id, provider_type);
    match app.store.apply(intent(&app, &new, &request)?).await? {
        Commit::Applied => {}
        Commit::Refused(refusal) => return refused(&new, &app, &refusal).await,
        Commit::Unknown => {
            // The answer to the commit was lost, not necessarily the commit: the charge itself tells.
            let written = charges::find(&app.store, new.charge.client_id, new.charge.id).await?;
            if written.is_none() {
                return Err(ApiError::unavailable());
            }
        }
    }
    drive(&app, new, request, started).await.map(|ran| Created::Ran(Box::new(ran)))
}

async fn refused(new: &NewCharge, app: &App, refusal: &Refusal) -> Result<Created, ApiError> {
    match &new.claim {
        Some(claim) if Claim::lost(refusal) => claim.of_winner(app).await.map(Created::Answered),
        _ if refusal.statement == tokens::CONSUME_TOKEN.name() => {
            let path = if new.new_card.is_some() { TOKEN_PATH } else { CVV_TOKEN_PATH };
            Err(ApiError::token_not_found(path))
        }
        _ => Err(ApiError::internal(format!("the intent of a charge was refused by {}", refusal.statement))),
    }
}

/// The first batch: everything that must be known before money can move.
fn intent(app: &App, new: &NewCharge, request: &TransactionRequest) -> Result<Batch, ApiError> {
    let now = app.clock.now();
    let mut batch = Batch::new(new.charge.client_id);
    if let Some(claim) = &new.claim {
        claim.run(app, &mut batch, "charge", new.charge.id.uuid());
    }
    for digest in &new.tokens {
        tokens::consume(&mut batch, *digest, now);
    }
    charges::insert(&mut batch, &new.charge, new.private.clone(), &new.actor)?;
    if let Some(sealed) = &new.new_card {
        cards::insert(&mut batch, &new.card, sealed.number.clone(), sealed.holder.clone())?;
    }
    begin(app, &mut batch, &new.charge, request, &new.actor, now);
    events::charge_changed(&mut batch, app.chance.id(now), &new.charge, &new.actor);
    Ok(batch)
}

fn begin(
    app: &App,
    batch: &mut Batch,
    charge: &Charge,
    request: &TransactionRequest,
    actor: &Actor,
    now: Timestamp,
) {
    let due_at = now
        + app.providers.deadline(request.provider_type, OperationKind::Authorization)
        + app.settings.reconcile_grace;
    let card_id = charge.source.card_id();
    let beginning = Beginning { object_kind: ObjectKind::Charge, card_id, due_at, actor };
    transaction_requests::insert(batch, request, beginning);
}

/// Asks one provider after the other until the charge has ended, or its outcome stays unknown.
async fn drive(
    app: &App,
    new: NewCharge,
    first: TransactionRequest,
    started: MachineTime,
) -> Result<Ran, ApiError> {
    let (mut charge, mut request) = (new.charge.clone(), first);
    let mut requests = Vec::with_capacity(1);
    let card = new.details.open(app).await?;
    loop {
        let Some(provider) =
            new.merchant.providers.iter().find(|provider| provider.id == request.provider_id)
        else {
            return Err(ApiError::internal("a route to a provider that the merchant does not have"));
        };
        let operation = authorization(&charge, &new, &card);
        let asked = attempt::ask(app, provider, &request, new.seed.clone(), operation).await?;
        if asked.outcome == Outcome::Open {
            requests.push(request);
            return Ok(Ran { charge, requests });
        }
        let ended = end(app, &request, asked);
        let elapsed = app.clock.machine().since(started);
        let step = decide(app, &charge, &ended, |decline, tried| {
            routing::next(&charge.explanation, tried, decline, elapsed, app.settings.charge_budget)
        })?;
        match write_outcome(app, &charge, &ended, &step, Some(&new.card), &new.actor).await? {
            Written::ByUs => {}
            Written::Elsewhere(current) => {
                if ended.decline().is_none() && step.charge.state != current.state {
                    tracing::error!(
                        charge = %current.id, transaction_request = %ended.id,
                        "a provider approved a charge that had been ended without it: the operator must look"
                    );
                }
                return reread(app, *current).await;
            }
            Written::NotYet => {
                requests.push(request);
                return Ok(Ran { charge, requests });
            }
        }
        requests.push(ended);
        charge = step.charge;
        match step.next {
            Some(next) => request = next,
            None => return Ok(Ran { charge, requests }),
        }
    }
}

/// A charge that another flow has ended, with its requests as they are stored.
async fn reread(app: &App, charge: Charge) -> Result<Ran, ApiError> {
    let stored = transaction_requests::of_object(&app.store, charge.client_id, charge.id.uuid()).await?;
    Ok(Ran { charge, requests: stored.into_iter().map(|stored| stored.request).collect() })
}

fn authorization(charge: &Charge, new: &NewCharge, card: &CardDetails) -> Operation {
    Operation::Authorize(Authorization {
        amount: charge.amount,
        currency: charge.currency,
        capture: charge.capture_in_effect(),
        payment_type: charge.payment_type,
        installments: charge.payment.installments,
        recurrence: charge.payment.recurrence,
        card: card.clone(),
        statement_descriptor: charge.references.statement_descriptor.clone(),
        order_id: charge.order_id.clone(),
        description: charge.references.description.clone(),
        provider_reference_key: charge.references.provider_reference_key.clone(),
        merchant_mcc: Some(new.merchant.merchant.details.mcc.clone()),
    })
}

/// The request with its outcome.
pub fn end(app: &App, request: &TransactionRequest, asked: Asked) -> TransactionRequest {
    request.end(asked.outcome, Some(asked.duration), app.clock.now())
}

/// What an outcome makes of a charge.
pub struct Step {
    /// The charge after it.
    pub charge: Charge,
    /// The next provider's request, when one is asked.
    pub next: Option<TransactionRequest>,
}

/// Decides what an outcome makes of a charge. `route` says what follows a refusal after so many providers were asked.
pub fn decide(
    app: &App,
    charge: &Charge,
    ended: &TransactionRequest,
    route: impl FnOnce(&Decline, usize) -> Next,
) -> Result<Step, ApiError> {
    let now = app.clock.now();
    let not_pending = |NotPending(status)| {
        ApiError::internal(format!("the outcome of a request came for a charge that is {}", status.word()))
    };
    let Some(decline) = ended.decline() else {
        let approved = charge.approve(ended.provider_type, now).map_err(not_pending)?;
        return Ok(Step { charge: approved, next: None });
    };
    let tried = usize::try_from(ended.ordinal + 1).unwrap_or(usize::MAX);
    match route(decline, tried) {
        Next::Stop(stopped) => {
            let failed = charge.fail(ended.provider_type, stopped, now).map_err(not_pending)?;
            Ok(Step { charge: failed, next: None })
        }
        Next::Ask(provider_id, provider_type) => {
            let next = request_to(app, charge, charge.requests, provider_id, provider_type);
            Ok(Step { charge: charge.try_next(now).map_err(not_pending)?, next: Some(next) })
        }
    }
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
    let now = app.clock.now();
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

/// Who wrote an outcome.
pub enum Written {
    /// This flow.
    ByUs,
    /// Another one was first, and this is the charge by now.
    Elsewhere(Box<Charge>),
    /// Nobody yet: the store did not take it. The reconcile job will find the outcome at the provider.
    NotYet,
}

/// The second batch: the outcome, with the next provider's intent where there is one. Without a `card` it was deleted
/// meanwhile, and nothing is to be said about it.
pub async fn write_outcome(
    app: &App,
    before: &Charge,
    ended: &TransactionRequest,
    step: &Step,
    card: Option<&Card>,
    actor: &Actor,
) -> Result<Written, ApiError> {
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
                    Ok(_) => {}
                    Err(error) => log_unwritten(&error, ended),
                }
            }
            Err(error) => log_unwritten(&error, ended),
        }
    }
    Ok(Written::NotYet)
}

fn log_unwritten(error: &regente_store::StoreError, ended: &TransactionRequest) {
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
) -> Result<Batch, ApiError> {
    let now = app.clock.now();
    let after = &step.charge;
    let mut batch = Batch::new(before.client_id);
    charges::update(&mut batch, before, after, actor)?;
    transaction_requests::end(&mut batch, ended)?;
    if let Some(next) = &step.next {
        begin(app, &mut batch, after, next, actor, now);
    }
    if after.state == ChargeState::Pending {
        return Ok(batch);
    }
    if let Some(card) = card.and_then(|card| card.after_charge(refusal_of(ended), now)) {
        cards::settle(&mut batch, &card)?;
    }
    events::charge_changed(&mut batch, app.chance.id(now), after, actor);
    if let Some(claim) = &before.claim {
        idempotency::end_with_record(
            app,
            &mut batch,
            claim,
            StatusCode::CREATED,
            after.id.uuid(),
            after.version,
        )?;
    }
    Ok(batch)
}

/// What a first charge says about the card: a refusal speaks against it, an unanswered call says nothing.
fn refusal_of(ended: &TransactionRequest) -> ChargeVerdict<'_> {
    match &ended.outcome {
        Outcome::Approved(_) => ChargeVerdict::Confirmed,
        Outcome::Declined(decline) => ChargeVerdict::Refused(&decline.message),
        Outcome::NoEffect(_) | Outcome::Open => ChargeVerdict::Silent,
    }
}

/// Ends a charge whose request was found out about by the reconcile job.
pub async fn recover(app: &App, stored: &StoredRequest, ended: TransactionRequest) -> Result<(), ApiError> {
    let actor = Actor::Job(super::reconcile::KIND);
    let client_id = stored.request.client_id;
    let charge_id = regente_domain::id::Id::new(stored.request.object_id);
    let Some(found) = charges::find(&app.store, client_id, charge_id).await? else {
        return Err(ApiError::internal("a transaction request without its charge"));
    };
    let card = match stored.card_id {
        Some(card_id) => cards::find(&app.store, client_id, card_id).await?,
        None => None,
    };
    let step = decide(app, &found.charge, &ended, interrupted)?;
    match write_outcome(app, &found.charge, &ended, &step, card.as_ref().map(|card| &card.card), &actor)
        .await?
    {
        Written::ByUs | Written::Elsewhere(_) => Ok(()),
        Written::NotYet => Err(ApiError::unavailable()),
    }
}

/// The provider of a request as it is configured now, also when it was deleted since.
pub async fn provider_of(app: &App, request: &TransactionRequest) -> Result<Provider, ApiError> {
    regente_store::providers::find(&app.store, request.client_id, request.provider_id)
        .await?
        .ok_or_else(|| ApiError::internal("a transaction request without its provider"))
}
