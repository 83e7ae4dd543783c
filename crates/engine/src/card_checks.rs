//! Stores a card, with or without a zero-dollar check (`docs/interface/tokens-and-cards.md#checks`). A checked card is
//! hidden until the provider answers; without an answer it is deleted.

use std::sync::Arc;

use regente_domain::actor::Actor;
use regente_domain::card::record::{Card, CardState, SecurityCodeSent};
use regente_domain::charge::attempt::{
    Asks, OpenReason, Outcome, RequestPosition, RequestType, TransactionRequest,
};
use regente_domain::currency::Currency;
use regente_domain::decline::DeclinedCode;
use regente_domain::id::{Id, SessionId};
use regente_domain::money::Amount;
use regente_domain::provider_type::Simulators;
use regente_domain::session::cards::CardRefused;
use regente_providers::request::{CardDetails, Operation, OperationKind, Verification};
use regente_store::audit::{self, AuditEntry};
use regente_store::merchants::MerchantWithProviders;
use regente_store::providers::Provider;
use regente_store::sealed::Sealed;
use regente_store::sessions::tries;
use regente_store::transaction_requests::{self, Beginning, ObjectKind, StoredRequest};
use regente_store::{Batch, Commit, Refusal, cards, tokens};

use crate::app::App;
use crate::audit::Openings;
use crate::calls::merchants::KnownMerchant;
use crate::card_data::{SealedCard, open_holder};
use crate::error::Error;
use crate::events::card::CardView;
use crate::idempotency::{self, Claim, Claiming, Finished};
use crate::sessions;
use crate::transaction_requests::call::{self, SimulatorOverrides};
use crate::transaction_requests::look_up_schedule;

/// A card to store and check.
pub struct NewCheck {
    /// The card, in status `verifying`.
    pub card: Card,
    /// Its sealed parts.
    pub sealed: SealedCard,
    /// The card data for the provider.
    pub details: CardDetails,
    /// The token that the card comes from.
    pub token: [u8; 32],
    /// The records of the card numbers that were opened for it.
    pub openings: Openings,
    /// The merchant whose provider checks the card.
    pub merchant: Arc<KnownMerchant>,
    /// The session whose buyer has the card checked.
    pub session_id: Option<SessionId>,
    /// The idempotency claim.
    pub claim: Option<Claim>,
    /// The author of the change.
    pub actor: Actor,
    /// `X-Sandbox-Seed`.
    pub seed: Option<String>,
}

/// The result of a check.
pub enum Checked {
    /// The provider answered: the card is active or failed.
    Card(Box<Card>, Box<TransactionRequest>),
    /// Another request with the same key came first; this is its answer.
    Answered(Finished),
}

/// The merchant's provider with the highest priority that can check this brand with a zero amount.
pub fn checking_provider<'a>(
    merchant: &'a MerchantWithProviders,
    card: &Card,
    simulators: Simulators,
) -> Option<&'a Provider> {
    let mut able: Vec<&Provider> = merchant
        .providers
        .iter()
        .filter(|provider| simulators.permit(provider.provider_type))
        .filter(|provider| provider.provider_type.capabilities().can_check_card(card.face.brand))
        .collect();
    able.sort_by_key(|provider| (provider.priority, provider.id));
    able.first().copied()
}

/// Stores and checks the card. Runs to its end even when the caller hangs up: call it in a task of its own.
pub async fn create(app: App, new: NewCheck) -> Result<Checked, Error> {
    let Some(provider) = checking_provider(&new.merchant, &new.card, app.settings.simulators) else {
        return Err(no_provider());
    };
    let _admission = app.store.admit(new.card.client_id)?;
    let request = request_to(&app, &new.card, provider);
    let intent = || intent(&app, &new, &request);
    match idempotency::apply_claiming(&app, new.claim.as_ref(), intent).await? {
        Claiming::Overtaken(finished) => return Ok(Checked::Answered(finished)),
        Claiming::Ended(Commit::Applied) => {}
        Claiming::Ended(Commit::Refused(refusal)) => {
            return Err(match new.session_id {
                Some(id) if refusal.is(&tries::RESERVE_TRY) => {
                    sessions::full_of_cards(&app, new.card.client_id, id).await
                }
                Some(_) | None => refused(&refusal),
            });
        }
        Claiming::Ended(Commit::Unknown) => {
            let written = cards::find(&app.store, new.card.client_id, new.card.id).await?;
            if written.is_none() {
                return Err(Error::unavailable());
            }
        }
    }
    new.openings.written();
    let operation = Operation::VerifyCard(Verification {
        currency: Currency::BRL,
        card: new.details,
        merchant_mcc: Some(new.merchant.merchant.details.mcc.clone()),
    });
    let overrides = SimulatorOverrides::of_seed(&app, new.seed);
    let asked = call::ask(&app, provider, &request, &overrides, operation).await?;
    if asked.outcome == Outcome::Open {
        return Err(give_up(&app, &new.card, new.session_id, &request, asked.open_reason).await);
    }
    let ended = asked.end(&request, app.clock.of(request.client_id));
    let card = settle(&app, (&new.card, new.session_id), &new.sealed.holder, &ended, &new.actor).await?;
    Ok(Checked::Card(Box::new(card), Box::new(ended)))
}

/// The merchant has no provider that can check the card.
pub fn no_provider() -> Error {
    not_available("merchant has no provider with zero dollar support")
}

fn refused(refusal: &Refusal) -> Error {
    if refusal.is(&tokens::CONSUME_TOKEN) {
        Error::token_not_found("tokenId")
    } else {
        Error::internal(format!("the intent of a card check was refused by {}", refusal.statement))
    }
}

/// The provider's answer is unknown, or the check had no effect.
const NO_ANSWER: &str = "the provider did not answer";
/// The provider does not accept the merchant.
const REFUSES_MERCHANT: &str = "the provider refused the merchant";

fn not_available(detail: &'static str) -> Error {
    Error::ProviderNeeded {
        message: "Card validation is not available".into(),
        details: vec![detail.to_owned()],
    }
}

/// A card could not be checked, as the answer to an earlier try says.
pub fn unanswered() -> Error {
    not_available(NO_ANSWER)
}

fn request_to(app: &App, card: &Card, provider: &Provider) -> TransactionRequest {
    let now = app.clock.of(card.client_id);
    let place = RequestPosition { client_id: card.client_id, object_id: card.id.uuid(), ordinal: 0 };
    let asks = Asks {
        provider_id: provider.id,
        provider_type: provider.provider_type,
        request_type: RequestType::ZeroDollar,
        amount: Amount::ZERO,
        follows: None,
    };
    TransactionRequest::begin(app.chance.id(now), place, asks, now)
}

fn intent(app: &App, new: &NewCheck, request: &TransactionRequest) -> Result<Batch, Error> {
    let now = app.clock.of(request.client_id);
    let mut batch = Batch::new(new.card.client_id);
    if let Some(claim) = &new.claim {
        claim.run(app, &mut batch, "card", new.card.id.uuid());
    }
    new.openings.record(&mut batch);
    // The token before the session, as a charge has them: two batches in different orders would wait for each other.
    tokens::consume(&mut batch, new.token, now);
    if let Some(session_id) = new.session_id {
        tries::begin(&mut batch, session_id, new.card.id.uuid(), now);
    }
    cards::insert(&mut batch, &new.card, new.sealed.number.clone(), new.sealed.holder.clone())?;
    let due_at = now
        + app.providers.deadline(request.provider_type, OperationKind::ZeroDollar)
        + app.settings.reconcile_grace;
    let actor = &new.actor;
    let beginning = Beginning { object_kind: ObjectKind::Card, card_id: Some(new.card.id), due_at, actor };
    transaction_requests::insert(&mut batch, request, beginning);
    Ok(batch)
}

/// Writes the result: the card is active or failed, or is deleted when the check had no effect. Its place at a session is
/// free, and its refusal counts there.
async fn settle(
    app: &App,
    (card, session_id): (&Card, Option<SessionId>),
    holder: &Sealed,
    ended: &TransactionRequest,
    actor: &Actor,
) -> Result<Card, Error> {
    let now = ended.updated_at;
    let mut batch = Batch::new(card.client_id);
    transaction_requests::end(&mut batch, ended)?;
    let settled = match &ended.outcome {
        // The card comes from a token, which always has a security code.
        Outcome::Approved(_) => Ok(card.confirm(SecurityCodeSent::Yes, now)),
        // This decline is about the merchant, not about the card.
        Outcome::Declined(decline) if decline.code == DeclinedCode::InvalidMerchant => Err(REFUSES_MERCHANT),
        Outcome::Declined(decline) => Ok(card.refuse(&decline.message, now)),
        Outcome::NoEffect(_)
        | Outcome::Pending(_)
        | Outcome::Accepted(_)
        | Outcome::Open
        | Outcome::Analysed(_) => Err(NO_ANSWER),
    };
    match &settled {
        Ok(after) => {
            cards::settle(&mut batch, after)?;
            let entry = AuditEntry {
                id: app.chance.id(now),
                actor: *actor,
                action: "card.created",
                object_kind: "card",
                object_id: after.id.uuid(),
                request_id: None,
            };
            audit::record(&mut batch, entry);
            if let Some(claim) = &card.claim {
                let holder = open_holder(app, card.client_id, card.id, holder).await?;
                let view = CardView::created(after, Some(holder), std::slice::from_ref(ended));
                idempotency::end_with_body(app, &mut batch, claim, &idempotency::created(&view)?)?;
            }
        }
        Err(why) => end_without_card(app, &mut batch, card, why)?,
    }
    if let Some(session_id) = session_id {
        tries::end(&mut batch, session_id, card.id.uuid(), CardRefused::by(Some(ended)));
    }
    match app.store.apply(batch).await? {
        Commit::Applied => settled.map_err(not_available),
        // The reconcile job is writing the result: a retry with the same key returns it.
        Commit::Refused(_) | Commit::Unknown => Err(Error::unavailable()),
    }
}

/// Deletes the card and stores that answer for the idempotency key.
fn end_without_card(app: &App, batch: &mut Batch, card: &Card, why: &'static str) -> Result<(), Error> {
    cards::drop_verifying(batch, card.id);
    let Some(claim) = &card.claim else { return Ok(()) };
    idempotency::end_with_body(app, batch, claim, &(app.answer_to)(not_available(why)))
}

/// The provider's answer is unknown: deletes the card and stores that answer for the idempotency key. The request stays
/// open, with its reason, until the provider reports the outcome.
async fn give_up(
    app: &App,
    card: &Card,
    session_id: Option<SessionId>,
    request: &TransactionRequest,
    reason: Option<OpenReason>,
) -> Error {
    let mut batch = Batch::new(card.client_id);
    if let Some(reason) = reason {
        transaction_requests::note_open(
            &mut batch,
            request,
            reason,
            look_up_schedule::first_look(app, request.client_id),
        );
    }
    if let Err(error) = end_without_card(app, &mut batch, card, NO_ANSWER) {
        return error;
    }
    if let Some(session_id) = session_id {
        tries::end(&mut batch, session_id, card.id.uuid(), CardRefused::No);
    }
    match app.store.apply(batch).await {
        Ok(Commit::Applied) => not_available(NO_ANSWER),
        // The reconcile job is writing the result: a retry with the same key returns it.
        Ok(Commit::Refused(_) | Commit::Unknown) => Error::unavailable(),
        Err(error) => error.into(),
    }
}

/// Ends a check after its caller is gone: the reconcile job has found out its outcome, or the provider has notified it.
pub async fn recover(
    app: &App,
    stored: &StoredRequest,
    ended: TransactionRequest,
    actor: &Actor,
) -> Result<(), Error> {
    let card_id = Id::new(stored.request.object_id);
    let found = cards::find(&app.store, stored.request.client_id, card_id).await?;
    let Some((card, holder)) = found.and_then(|found| Some((found.card, found.holder?))) else {
        // The caller was told that there is no card: only the request remains to be ended.
        let mut batch = Batch::new(stored.request.client_id);
        transaction_requests::end(&mut batch, &ended)?;
        return match app.store.apply(batch).await? {
            Commit::Applied => Ok(()),
            Commit::Refused(_) | Commit::Unknown => Err(Error::unavailable()),
        };
    };
    if card.state != CardState::Verifying {
        return Err(Error::internal("a check of a card that is not being checked"));
    }
    let session_id = tries::session_of(&app.store, card.client_id, card.id.uuid()).await?;
    match settle(app, (&card, session_id), &holder, &ended, actor).await {
        Ok(_) | Err(Error::ProviderNeeded { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
