//! Creates subscriptions, and shows what one would charge (`docs/interface/subscriptions.md#creating`).

use std::time::Duration;

use regente_domain::card::Cvv;
use regente_domain::card::record::{Card, CardState};
use regente_domain::id::{CardId, ClientId, CustomerId, MerchantId, SubscriptionId};
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::split::SplitRule;
use regente_domain::subscription::data::SubscriptionData;
use regente_domain::subscription::{Advance, NewSubscription, Phase, Refusal, Subscription};
use regente_store::{Batch, cards, subscriptions as rows};

use super::known::{GoesOn, announce, look_next};
use super::{INVALID_STATE, Shown};
use crate::app::App;
use crate::audit;
use crate::caller::{Caller, RequestId};
use crate::charges::{CardTriedObserver, Guard, routing, split};
use crate::customers::resolve_customer;
use crate::error::Error;
use crate::queue::subscriptions::look_at;
use crate::settings::Mode;

/// A new subscription, the batch that writes it, and who wants to hear what becomes of its card.
///
/// # Errors
/// Why the guard lets the card not be tried; [`Error::Invalid`] names a date that has passed; [`Error::Impossible`] names a merchant, customer or card that is not there;
/// or why its charges could not be divided.
pub async fn plan_creation<G: Guard>(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    data: &SubscriptionData,
    guard: &G,
) -> Result<(Batch, Shown, Option<CardTriedObserver>), G::Error> {
    let (client_id, actor) = (caller.client_id, caller.actor());
    let (created, card) = created(app, client_id, data).await?;
    let hears = guard.lets_try(&card)?;
    let subscription = &created.subscription;
    let mut batch = Batch::new(client_id);
    rows::insert(&mut batch, subscription, &actor).map_err(Error::from)?;
    announce(app, &mut batch, Vec::new(), &created, &actor).await?;
    match charges_with_code(subscription, data) {
        // Whoever has the code charges it; should they not come to it, the job does so without.
        Some(_) => look_at(app, &mut batch, subscription.id, app.clock.of(client_id) + CODE_COMES_WITHIN),
        None => look_next(app, &mut batch, subscription, &[], GoesOn::TheJob),
    }
    audit::record(app, &mut batch, caller, request_id, "subscription.created", subscription.id.uuid());
    Ok((batch, Shown { subscription: created.subscription, last_cycle: None }, hears))
}

/// How long the job of a subscription that begins at once leaves its first charge to whoever has the security code.
const CODE_COMES_WITHIN: Duration = Duration::from_secs(60);

/// The security code for the first charge: one that is sent for what begins later is dropped, since it may be stored nowhere.
pub(super) fn charges_with_code<'a>(
    subscription: &Subscription,
    data: &'a SubscriptionData,
) -> Option<&'a Cvv> {
    let begins_now = subscription.begins_at_once.is_some() && subscription.phase == Phase::Created;
    data.payment_method.cvv.as_ref().filter(|_| begins_now)
}

/// The subscription that would be created, with a batch that changes nothing: an answer to an idempotency key is all that is written.
///
/// # Errors
/// As [`plan_creation`].
pub async fn plan_preview(
    app: &App,
    caller: &Caller,
    data: &SubscriptionData,
) -> Result<(Batch, Subscription), Error> {
    let client_id = caller.client_id;
    let (created, _card) = created(app, client_id, data).await?;
    Ok((Batch::new(client_id), created.subscription))
}

/// The subscription and its card.
async fn created(app: &App, client_id: ClientId, data: &SubscriptionData) -> Result<(Advance, Card), Error> {
    let now = app.clock.of(client_id);
    let id: SubscriptionId = app.chance.id(now);
    let mut new = data.create(id, client_id, app.settings.mode == Mode::Production);
    new.customer_id = customer(app, client_id, new.customer_id).await?;
    let card = must_pay(app, client_id, new.payment.card_id).await?;
    let created = Subscription::create(NewSubscription { split_rules: Vec::new(), ..new.clone() }, now);
    let mut created = created.map_err(refused)?;
    let terms = Terms {
        merchant_id: new.merchant_id,
        amount: created.subscription.amount,
        installments: new.payment.installments,
    };
    created.subscription.split_rules = divided(app, client_id, terms, &new.split_rules).await?;
    Ok((created, card))
}

/// The customer's own id, also where an alias was sent.
async fn customer(app: &App, client_id: ClientId, id: CustomerId) -> Result<CustomerId, Error> {
    let found = resolve_customer(app, client_id, id).await?;
    found.map(|customer| customer.real_id).ok_or_else(|| missing("customerId"))
}

/// The member with the card.
const CARD_PATH: &str = "paymentMethod.card.cardId";

/// A record that a subscription names and that is not there (`docs/interface/subscriptions.md#creating`).
fn missing(path: &str) -> Error {
    let message = format!("{path} was not found");
    Error::Impossible { message: message.clone().into(), details: vec![message] }
}

/// A card that can pay.
pub(super) async fn must_pay(app: &App, client_id: ClientId, card_id: CardId) -> Result<Card, Error> {
    let found = cards::find(&app.store, client_id, card_id).await?;
    let card = found.ok_or_else(|| missing(CARD_PATH))?.card;
    match card.state {
        CardState::Failed { .. } => {
            let message = "card cannot be used in status failed";
            Err(Error::Impossible {
                message: message.into(),
                details: vec![format!("{CARD_PATH}: {message}")],
            })
        }
        CardState::Active | CardState::Pending(_) | CardState::Verifying => Ok(card),
    }
}

/// What decides how the charges of a subscription are divided.
pub(super) struct Terms {
    pub(super) merchant_id: MerchantId,
    pub(super) amount: Amount,
    pub(super) installments: u8,
}

/// The rules with their ids; refused where a charge could not be divided so, or the merchant is not there.
pub(super) async fn divided(
    app: &App,
    client_id: ClientId,
    Terms { merchant_id, amount, installments }: Terms,
    rules: &[SplitRule],
) -> Result<Vec<SplitRule>, Error> {
    let now = app.clock.of(client_id);
    let merchant = routing::merchant(app, client_id, merchant_id).await?;
    let merchant = merchant.ok_or_else(|| missing("merchantId"))?;
    let sellers = split::Named::find(app, client_id, merchant_id, rules).await?.all()?;
    let rules = split::rules_with(app, rules, &sellers, now);
    let fees = &merchant.merchant.details.platform_fee;
    let fee = fees.of_charge(PaymentType::Credit, installments, now);
    if let Some(divided) = split::of_rules(rules.clone(), fee) {
        divided.fit(amount).map_err(|misfit| split::misfit(split::SPLIT_RULES, misfit))?;
    }
    Ok(rules)
}

/// Why the domain refuses what a merchant wants.
pub(super) fn refused(refusal: Refusal) -> Error {
    let invalid = |path: &'static str, rule: &str| Error::invalid(path, rule);
    match refusal {
        Refusal::InvalidState(status) => Error::BusinessRule {
            business_code: INVALID_STATE,
            message: format!("subscription is {}", status.word()).into(),
        },
        Refusal::AlreadyStarted => Error::BusinessRule {
            business_code: INVALID_STATE,
            message: "recurrence.startAt cannot change: the first cycle is made, or a pause has skipped it"
                .into(),
        },
        Refusal::Behind => Error::busy(),
        Refusal::StartInThePast => invalid("recurrence.startAt", "must not be in the past"),
        Refusal::TrialNotAhead => invalid("trial.endAt", "must be after today"),
        Refusal::CancellationInThePast => invalid("scheduledCancellationAt", "must not be in the past"),
        Refusal::FewerCyclesThanMade(made) => {
            invalid("recurrence.cycles", &format!("must not be less than {made}: so many cycles are made"))
        }
        Refusal::AmountTooHigh => {
            let most = Amount::MINOR_UNITS_MAX;
            invalid("items", &format!("must not cost more than {most} together"))
        }
    }
}
