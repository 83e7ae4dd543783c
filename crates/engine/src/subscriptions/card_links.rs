//! Links at which the buyer of a subscription gives another card (`docs/interface/subscriptions.md#another-card`): a session that takes no
//! payment. The card is stored, and checked where the merchant has a provider that can; then one batch links it to the customer, changes the
//! subscription as its merchant would, and ends the session.

use std::borrow::Cow;
use std::time::Duration;

use jiff::ToSpan;
use regente_domain::card::record::{Card, CardState};
use regente_domain::id::{CardId, CycleId, Id, SessionId, SubscriptionId, TokenId};
use regente_domain::local_day::{day_of, end_of};
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::session::sent::NewCardLink;
use regente_domain::session::{Capacity, CardGiven, CardWanted, Item, OfferedMethod, Session, Terms};
use regente_domain::subscription::{
    CURRENCY, CycleStatus, Refusal, Subscription, SubscriptionStatus, Trigger, Update,
};
use regente_domain::time::Timestamp;
use regente_store::{Batch, cards as card_rows, subscriptions as rows};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use utoipa::ToSchema;
use uuid::Uuid;

use super::change::{Planned, Wish, planned};
use super::create::refused;
use super::known::Known;
use crate::app::{Answer, App};
use crate::audit;
use crate::caller::{Caller, RequestId};
use crate::card_checks;
use crate::cards::{self, NewCheckedCard, Stored, Tried, UncheckedCard};
use crate::charges::Guard;
use crate::customers::{self, resolve_customer};
use crate::error::Error;
use crate::events::card::CardView;
use crate::idempotency::{Claim, Claimed, Finished, Key};
use crate::sessions::create::{NewSession, plan_for_card};
use crate::sessions::opened::{Opened, Private};
use crate::sessions::{self, DISABLED};

/// For how many days a link is good unless its merchant says otherwise: to the end of the last one.
const GOOD_FOR_DAYS: i64 = 7;

/// `businessCode` of a session that is there to be paid, where somebody gives a card for a subscription.
pub const TAKES_NO_CARD: &str = "session_takes_no_card";

/// The status of the answer that shows a stored card.
const CREATED: u16 = 201;

/// The batch that makes a link, and its session.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::BusinessRule`] when the subscription has ended; [`Error::Invalid`] names a due date that has passed.
pub async fn plan_link(
    app: &App,
    by: (&Caller, &RequestId),
    id: SubscriptionId,
    link: &NewCardLink,
) -> Result<(Batch, Opened), Error> {
    let client_id = by.0.client_id;
    let subscription = rows::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)?;
    must_be_alive(&subscription)?;
    let wanted = CardWanted { subscription_id: id, replaces: subscription.payment.card_id, given: None };
    let today = day_of(app.clock.of(client_id));
    let usual_end = || end_of(today.saturating_add(GOOD_FOR_DAYS.days())) - Duration::from_secs(1);
    let new = new_session(
        subscription,
        link.due_date.unwrap_or_else(usual_end),
        link.captcha_enabled.unwrap_or(false),
    );
    plan_for_card(app, by, &new, wanted).await
}

fn new_session(subscription: Subscription, due_at: Timestamp, captcha_enabled: bool) -> NewSession {
    let item = |item: regente_domain::subscription::Item| Item {
        id: Id::new(Uuid::nil()),
        name: item.name,
        description: item.description,
        unit_price: item.amount,
        quantity: item.quantity,
        tangible: None,
        category_id: item.category_id,
    };
    let by_card = OfferedMethod {
        payment_type: PaymentType::Credit,
        terms: [("installments".to_owned(), json!(subscription.payment.installments))].into_iter().collect(),
    };
    NewSession {
        merchant_id: subscription.merchant_id,
        amount: subscription.amount,
        currency: CURRENCY,
        order_id: subscription.reference_key,
        is_active: true,
        due_at: Some(due_at),
        capacity: Capacity::One,
        terms: Terms {
            name: Some(subscription.name),
            description: None,
            statement_descriptor: None,
            provider_reference_key: None,
            capture: true,
            captcha_enabled,
            create_link: true,
            vendor: None,
            items: subscription.items.into_iter().map(item).collect(),
            methods: vec![by_card],
            split_rules: Vec::new(),
        },
        private: Private::default(),
    }
}

/// Where a link stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// It takes a card.
    Open,
    /// A card was given by it.
    Given(Outstanding),
    /// The subscription has got another card otherwise.
    Replaced,
    /// The subscription has ended.
    SubscriptionEnded,
    /// Its due date has passed, or its merchant has switched it off or canceled it.
    Closed,
}

/// What became of the cycle that was not paid when the card was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outstanding {
    /// There was none.
    None,
    /// It is being charged.
    Pending,
    /// It is paid.
    Paid,
    /// It was refused again.
    Failed,
}

/// A link with its subscription.
pub struct CardLink {
    /// Where it stands.
    pub state: LinkState,
    /// What is charged with the card.
    pub subscription: Subscription,
    /// The amount of the cycle that is not paid, of an unpaid subscription.
    pub outstanding: Option<Amount>,
}

/// The link that a session is; `None` where the session is there to be paid.
pub async fn look(app: &App, session: &Session) -> Result<Option<CardLink>, Error> {
    let Some(wanted) = session.card_wanted else { return Ok(None) };
    let client_id = session.client_id;
    let given_for = wanted.given.and_then(|given| given.cycle_id);
    let known = Known::find(app, client_id, wanted.subscription_id, given_for).await?;
    let Known { subscription, cycles } =
        known.ok_or_else(|| Error::internal("a link without a subscription"))?;
    let cycle = |id: CycleId| cycles.iter().find(|cycle| cycle.id == id);
    let status_of = |id| cycle(id).map(|cycle| cycle.status);
    let state = match wanted.given {
        Some(CardGiven { cycle_id, .. }) => LinkState::Given(cycle_id.and_then(status_of).into()),
        None if must_be_alive(&subscription).is_err() => LinkState::SubscriptionEnded,
        None if subscription.payment.card_id != wanted.replaces => LinkState::Replaced,
        None if session.takes_buyers(app.clock.of(client_id)) => LinkState::Open,
        None => LinkState::Closed,
    };
    let outstanding = subscription.unpaid_cycle().and_then(cycle).map(|cycle| cycle.terms.amount);
    Ok(Some(CardLink { state, subscription, outstanding }))
}

impl StoredCard {
    /// The batch of the change was committed.
    pub fn written(&self) {
        match self {
            Self::Checked { .. } => {}
            Self::Unchecked(card) => card.written(),
        }
    }
}

impl From<Option<CycleStatus>> for Outstanding {
    fn from(status: Option<CycleStatus>) -> Self {
        match status {
            None => Self::None,
            Some(CycleStatus::Scheduled | CycleStatus::Pending | CycleStatus::Retrying) => Self::Pending,
            Some(CycleStatus::Authorized) => Self::Paid,
            Some(CycleStatus::Failed | CycleStatus::Canceled) => Self::Failed,
        }
    }
}

/// A card that a buyer gives.
pub struct SentCard {
    /// The token of the card.
    pub token_id: TokenId,
    /// The key of the request, by which a card that was stored before is known again when the rest was not done.
    pub key: Option<Key>,
    /// `X-Sandbox-Seed`.
    pub seed: Option<String>,
}

/// A card that a buyer has given, before the subscription has it.
pub enum StoredCard {
    /// A provider has checked it.
    Checked {
        /// The card.
        id: CardId,
        /// As answers show it.
        view: Value,
    },
    /// It is written together with the change of the subscription.
    Unchecked(Box<UncheckedCard>),
}

/// What comes of a card that was given.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CardOfSession)]
pub struct GivenView {
    /// Whether the subscription has it from now on. A card that was refused when it was checked changes nothing, and another one may be
    /// given.
    saved: bool,
    /// The card.
    #[schema(value_type = CardView)]
    card: Value,
}

/// The batch that gives the subscription of a session the card that a buyer has sent, and what is answered. The card is stored first, once
/// for all plans of a request: `stored` has it. A card that its provider refuses changes nothing, and the buyer may try another one.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::token_not_found`]; [`Error::BusinessRule`] when the session takes no card or its subscription none;
/// [`Error::ProviderNeeded`] when the card could not be checked; or what the guard says.
pub async fn plan_card<G: Guard>(
    app: &App,
    by: (&Caller, &RequestId),
    session_id: SessionId,
    sent: &SentCard,
    stored: &OnceCell<StoredCard>,
    guard: &G,
) -> Result<(Batch, GivenView), G::Error> {
    let card = stored.get_or_try_init(|| store(app, by, session_id, sent, guard)).await?;
    Ok(plan_change(app, by, session_id, card).await?)
}

/// The operation of the key with which a card is stored.
fn route(session_id: SessionId) -> String {
    format!("the card of POST /v1/sessions/{session_id}/card")
}

async fn store<G: Guard>(
    app: &App,
    by: (&Caller, &RequestId),
    session_id: SessionId,
    SentCard { token_id, key, seed }: &SentCard,
    guard: &G,
) -> Result<StoredCard, G::Error> {
    let caller = by.0;
    let key = key.as_ref().map(|key| Key {
        text: key.text.clone(),
        route: route(session_id),
        payload: key.payload.clone(),
    });
    let claim = match &key {
        None => None,
        Some(key) => match Claim::read(app, &key.of(caller)).await? {
            Claimed::Free(claim) => Some(claim),
            Claimed::Answered(finished) => return Ok(known_again(finished)?),
        },
    };
    let session = sessions::find(app, caller.client_id, session_id).await?;
    must_be_open(app, &session).await?;
    sessions::must_try_card(&session, app.clock.of(caller.client_id))?;
    guard.lets_pay(&session).await?;
    let new =
        NewCheckedCard { token_id: *token_id, merchant_id: session.merchant_id, claim, seed: seed.clone() };
    match cards::try_to_check(app, by, new, |card: &Card| guard.lets_try(card)).await? {
        Tried::Uncheckable(card) => Ok(StoredCard::Unchecked(card)),
        Tried::Stored(Stored::Checked(view)) => {
            let view = serde_json::to_value(&view).map_err(Error::internal)?;
            Ok(checked(view)?)
        }
        Tried::Stored(Stored::Answered(finished)) => Ok(known_again(finished)?),
    }
}

/// The card that the same request has stored before.
fn known_again(finished: Finished) -> Result<StoredCard, Error> {
    match finished {
        // There is no card: it could not be checked.
        Finished::Body(Answer { status, .. }) if status != CREATED => Err(card_checks::unanswered()),
        Finished::Body(answer) => checked(serde_json::from_slice(&answer.bytes).map_err(Error::internal)?),
        Finished::Charge { id, .. } => {
            Err(Error::internal(format!("this answer is a card, not charge {id}")))
        }
    }
}

fn checked(view: Value) -> Result<StoredCard, Error> {
    let id = view.get("id").and_then(Value::as_str).and_then(|id| id.parse().ok());
    Ok(StoredCard::Checked { id: id.ok_or_else(|| Error::internal("a card without an id"))?, view })
}

async fn plan_change(
    app: &App,
    by: (&Caller, &RequestId),
    session_id: SessionId,
    stored: &StoredCard,
) -> Result<(Batch, GivenView), Error> {
    let (caller, request_id) = by;
    let client_id = caller.client_id;
    let session = sessions::find(app, client_id, session_id).await?;
    let (card, view) = match stored {
        StoredCard::Unchecked(new) => {
            (Cow::Borrowed(new.card()), serde_json::to_value(new.view()).map_err(Error::internal)?)
        }
        StoredCard::Checked { id, view } => {
            let found = card_rows::find(&app.store, client_id, *id).await?;
            (Cow::Owned(found.ok_or(Error::ReferenceNotFound("cardId"))?.card), view.clone())
        }
    };
    if matches!(card.state, CardState::Failed { .. }) {
        return Ok((Batch::new(client_id), GivenView { saved: false, card: view }));
    }
    let card_id = card.id;
    let CardLink { subscription, .. } = must_be_open(app, &session).await?;
    let customer = resolve_customer(app, client_id, subscription.customer_id).await?;
    let customer_id = customer.ok_or(Error::NotFound)?.real_id;
    let update = Update { card_id: Some(card_id), ..Update::default() };
    let wish = Wish::CardInPlaceOf(subscription.payment.card_id, update);
    let changed = planned(app, by, subscription.id, &wish).await?;
    let Planned { batch: Some(mut batch), subscription } = changed else { return Err(replaced()) };
    let action = match stored {
        StoredCard::Unchecked(new) => {
            new.write(app, &mut batch, customer_id)?;
            "card.created"
        }
        StoredCard::Checked { .. } => {
            customers::cards::link(app, &mut batch, &card, customer_id)?;
            "card.linked"
        }
    };
    audit::record(app, &mut batch, caller, request_id, action, card_id.uuid());
    let given = CardGiven { card_id, cycle_id: subscription.unpaid_cycle() };
    let taken = session.take_card(given, app.clock.of(client_id)).ok_or_else(closed)?;
    sessions::write(app, &mut batch, &session, &taken, &caller.actor())?;
    Ok((batch, GivenView { saved: true, card: view }))
}

/// The link of a session that takes a card now.
async fn must_be_open(app: &App, session: &Session) -> Result<CardLink, Error> {
    let link = look(app, session).await?.ok_or(Error::BusinessRule {
        business_code: TAKES_NO_CARD,
        message: "session is there to be paid, and takes no card for a subscription".into(),
    })?;
    match link.state {
        LinkState::Open => Ok(link),
        LinkState::Given(_) | LinkState::Closed => Err(closed()),
        LinkState::Replaced => Err(replaced()),
        LinkState::SubscriptionEnded => Err(ended(link.subscription.status())),
    }
}

fn must_be_alive(subscription: &Subscription) -> Result<(), Error> {
    match subscription.status().on(Trigger::Update) {
        Some(_) => Ok(()),
        None => Err(ended(subscription.status())),
    }
}

fn ended(status: SubscriptionStatus) -> Error {
    refused(Refusal::InvalidState(status))
}

fn closed() -> Error {
    Error::BusinessRule { business_code: DISABLED, message: "session takes no card any more".into() }
}

fn replaced() -> Error {
    Error::BusinessRule {
        business_code: DISABLED,
        message: "the card of the subscription was replaced already".into(),
    }
}
