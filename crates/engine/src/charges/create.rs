//! Makes charges that are resolved: writes the intent in one batch, calls the providers ([`call_providers`]), and writes each outcome
//! together with the next step. The same functions continue a charge after a crash. [`charges`](crate::charges) takes orders.

use std::sync::Arc;
use std::time::Duration;

use regente_domain::actor::Actor;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::{Charge, ChargeEvent, Means, Next};
use regente_domain::id::AuthenticationSetupId;
use regente_domain::purchase::{self, Purchase};
use regente_domain::seller::Seller;
use regente_providers::authentication::ThreeDSecure;
use regente_providers::request::VendorDetails;
use regente_store::sealed::Sealed;
use regente_store::sessions::payments;
use regente_store::transaction_requests::{self, ObjectKind};
use regente_store::{
    Admission, Batch, Commit, Refusal, authentication_setups, cards, charges, events, purchases,
    subscriptions, tokens, wallet_payments,
};

use crate::app::App;
use crate::audit::Openings;
use crate::calls::circuits::CircuitProbes;
use crate::calls::merchants::KnownMerchant;
use crate::card_data::{FundingSource, wallets};
use crate::charges::call_providers::{self, Asking, Begun, Prerequisites};
pub use crate::charges::stored::{Created, Ran};
use crate::charges::write_outcome;
use crate::clock::MachineTime;
use crate::error::Error;
use crate::idempotency::{self, Claim, Claiming};
use crate::sessions;
use crate::subscriptions::begin::AttemptStep;
use crate::transaction_requests::call::SimulatorOverrides;

/// The member with the card token.
pub const TOKEN_PATH: &str = "paymentSource.tokenId";
/// The member with the setup of an authentication.
pub const SETUP_PATH: &str = "threeDSecure2.setupId";
/// The member with the CVV token.
pub const CVV_TOKEN_PATH: &str = "paymentSource.tokenCvv";

/// A charge that is resolved and routed but not stored yet.
pub struct NewCharge {
    /// The pending charge, with its route.
    pub charge: Charge,
    /// The sealed fraud analysis data.
    pub private: Option<Sealed>,
    /// Where the money comes from.
    pub source: FundingSource,
    /// What the merchant has sent about the authentication of the cardholder.
    pub data: Option<Box<ThreeDSecure>>,
    /// In whose name the charge is taken.
    pub vendor: Option<Box<VendorDetails>>,
    /// The setup of an authentication that the charge uses up.
    pub setup_id: Option<AuthenticationSetupId>,
    /// The tokens that the charge uses up.
    pub tokens: Vec<[u8; 32]>,
    /// The records of the card numbers that were opened for it.
    pub openings: Openings,
    /// The sellers among whom the charge is divided.
    pub sellers: Vec<Seller>,
    /// The merchant and its providers.
    pub merchant: Arc<KnownMerchant>,
    /// The circuit probes that the charge holds.
    pub circuit_probes: CircuitProbes,
    /// The idempotency claim.
    pub claim: Option<Claim>,
    /// What the charge is part of: the batch that begins the charge also moves that.
    pub part_of: Option<PartOf>,
    /// The author of the charge.
    pub actor: Actor,
    /// `X-Sandbox-Seed`.
    pub seed: Option<String>,
}

/// What a charge is part of, before and after it begins.
pub enum PartOf {
    /// A purchase with several cards.
    Purchase(Box<PurchaseStep>),
    /// A subscription.
    Subscription(Box<AttemptStep>),
}

/// A purchase before and after the charge of one of its cards begins. If the stored purchase has another version, no
/// charge begins.
pub struct PurchaseStep {
    /// Before.
    pub before: Purchase,
    /// After.
    pub step: purchase::Advance,
    /// The sealed data after the charge has used up the security code: without the id of its token.
    pub private: Option<Sealed>,
}

/// Charges. Runs to its end even when the caller hangs up: call it in a task of its own. The charge keeps its place in
/// the store's admission until its outcome is written.
pub async fn create(app: App, mut new: Box<NewCharge>, admission: Admission) -> Result<Created, Error> {
    let _admission = admission;
    let (started, now) = (app.clock.machine(), new.charge.updated_at);
    let means = Means::Complete { elapsed: Duration::ZERO, budget: app.settings.charge_budget };
    let next = new.charge.next(&[], means, now);
    let (setup, request) = begin(&app, &mut new.charge, next)?;
    let intent = || intent(&app, &new, setup.as_ref(), &request);
    match Box::pin(idempotency::apply_claiming(&app, new.claim.as_ref(), intent)).await? {
        Claiming::Overtaken(finished) => return Ok(Created::Answered(finished)),
        Claiming::Ended(Commit::Applied) => {}
        Claiming::Ended(Commit::Refused(refusal)) => {
            return Err(match new.charge.session_id {
                Some(id) if refusal.is(&payments::RESERVE_SESSION) => {
                    sessions::taken(&app, &new.charge, id).await
                }
                Some(_) | None => refused(&new, &refusal),
            });
        }
        Claiming::Ended(Commit::Unknown) => {
            // The commit may have succeeded although its answer was lost: read the charge.
            let reading = Box::pin(charges::find(&app.store, new.charge.client_id, new.charge.id));
            if reading.await?.is_none() {
                return Err(Error::unavailable());
            }
        }
    }
    new.openings.written();
    // Boxed: data needed only before a call would enlarge every call in flight.
    let asking = Box::pin(ready(&app, new, setup, request, started)).await?;
    call_providers::drive(&app, asking).await.map(Created::Ran)
}

/// The first request of a charge; before the question to a 3DS server, the request that records the setup.
fn begin(
    app: &App,
    charge: &mut Charge,
    next: Next,
) -> Result<(Option<TransactionRequest>, TransactionRequest), Error> {
    let now = charge.updated_at;
    match next {
        Next::Authorize(hop) => {
            Ok((None, charge.begin_request(app.chance.id(now), charge.authorization_at(hop), now)))
        }
        Next::Enroll => {
            let ids = [app.chance.id(now), app.chance.id(now)];
            let begun = charge.clone().begin_authentication(ids, now);
            let (begun, [setup, enroll]) =
                begun.ok_or_else(|| Error::internal("an authentication without a 3DS server"))?;
            *charge = begun;
            Ok((Some(setup), enroll))
        }
        Next::Analyse => {
            *charge = charge.clone().under_analysis();
            let asks = charge.analysis().ok_or_else(|| Error::internal("an analysis that nobody makes"))?;
            Ok((None, charge.begin_request(app.chance.id(now), asks, now)))
        }
        Next::AwaitOutcome
        | Next::AwaitPayer { .. }
        | Next::AwaitResult
        | Next::Expire
        | Next::Void { .. }
        | Next::FollowUp { .. }
        | Next::Finish(_)
        | Next::Rest => Err(Error::internal("a charge without a route")),
    }
}

async fn ready(
    app: &App,
    new: Box<NewCharge>,
    setup: Option<TransactionRequest>,
    request: TransactionRequest,
    started: MachineTime,
) -> Result<Box<Asking>, Error> {
    let NewCharge { charge, source, data, vendor, sellers, merchant, circuit_probes, actor, seed, .. } = *new;
    let overrides = SimulatorOverrides::of(app, &charge, seed);
    let mut ended = Vec::with_capacity(1);
    ended.extend(setup);
    let prerequisites = Prerequisites { source, data, vendor, sellers, merchant, circuit_probes };
    Asking::begin(app, Begun { charge, request, ended }, prerequisites, overrides, actor, started).await
}

fn refused(new: &NewCharge, refusal: &Refusal) -> Error {
    if refusal.is(&purchases::UPDATE_PURCHASE) || refusal.is(&subscriptions::UPDATE_SUBSCRIPTION) {
        // Another node moved what the charge is part of: decide again.
        Error::busy()
    } else if wallet_payments::is_repetition(refusal)
        && let FundingSource::Wallet(wallet) = &new.source
    {
        wallets::paid_before(&wallet.details)
    } else if refusal.is(&authentication_setups::CONSUME_AUTHENTICATION_SETUP) {
        setup_not_found()
    } else if refusal.is(&tokens::CONSUME_TOKEN) {
        Error::token_not_found(match new.source {
            FundingSource::NewCard(_) => TOKEN_PATH,
            FundingSource::StoredCard { .. } | FundingSource::Payer(_) | FundingSource::Wallet(_) => {
                CVV_TOKEN_PATH
            }
        })
    } else {
        Error::internal(format!("the intent of a charge was refused by {}", refusal.statement))
    }
}

/// The setup of an authentication does not exist, was used, has expired, or is for another card.
pub fn setup_not_found() -> Error {
    Error::invalid(SETUP_PATH, "must be a setup of this card that was not used and has not expired")
}

/// The first batch: everything that must be stored before money can move.
fn intent(
    app: &App,
    new: &NewCharge,
    setup: Option<&TransactionRequest>,
    request: &TransactionRequest,
) -> Result<Batch, Error> {
    let now = new.charge.updated_at;
    let mut batch = Batch::new(new.charge.client_id);
    if let Some(claim) = &new.claim {
        claim.answer_with(app, &mut batch, &new.charge);
    }
    new.openings.record(&mut batch);
    for digest in &new.tokens {
        tokens::consume(&mut batch, *digest, now);
    }
    if let Some(setup_id) = new.setup_id {
        authentication_setups::consume(&mut batch, setup_id, now);
    }
    match &new.part_of {
        Some(PartOf::Purchase(purchase)) => {
            let PurchaseStep { before, step, private } = &**purchase;
            purchases::update(&mut batch, before, step, &new.actor, || app.chance.id(now))?;
            if let Some(private) = private {
                purchases::set_private(&mut batch, &step.purchase, private.clone());
            }
        }
        Some(PartOf::Subscription(attempt)) => attempt.write(app, &mut batch, new.charge.id)?,
        None => {}
    }
    if let Some(session_id) = new.charge.session_id {
        payments::begin(&mut batch, session_id, &new.charge, now);
    }
    charges::insert(&mut batch, &new.charge, new.private.clone(), &new.actor)?;
    match &new.source {
        FundingSource::NewCard(new) => {
            cards::insert(&mut batch, &new.card, new.sealed.number.clone(), new.sealed.holder.clone())?;
        }
        FundingSource::Wallet(wallet) => {
            let kept_until = now + wallet.kept_for;
            wallet_payments::insert(&mut batch, wallet.payment_digest, new.charge.id, kept_until);
        }
        FundingSource::StoredCard { .. } | FundingSource::Payer(_) => {}
    }
    if let Some(setup) = setup {
        transaction_requests::insert_ended(&mut batch, setup, ObjectKind::Charge, &new.actor)?;
    }
    write_outcome::begin(app, &mut batch, request, new.charge.method.card_id(), &new.actor, now);
    if new.charge.method.is_announced_when_accepted() {
        let event = ChargeEvent::Pending;
        events::charge_changed(&mut batch, app.chance.id(now), &new.charge, event, &new.actor);
    }
    Ok(batch)
}
