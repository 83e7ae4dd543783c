//! Finds a session by its address, and turns it into what its page shows.

use jiff::civil::Date;
use regente_domain::id::SessionId;
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::session::{Capacity, OfferedMethod, Session, SessionStatus};
use regente_domain::time::Timestamp;
use regente_engine::charges::routing;
use regente_engine::error::Error;
use regente_engine::events::masked;
use regente_engine::sessions::access::public_key;
use regente_engine::subscriptions::card_links::{self, CardLink, LinkState};
use regente_providers::request::Mode;
use regente_store::sessions;
use serde_json::Value;

use super::colours::Chosen;
use super::view::{AsksCardholder, CardPage, Checkout, Ended, Item, Method, Shop};
use crate::api::buyer_page::logo::is_on_the_web;
use crate::api::sessions::link;
use crate::app::App;

/// A session and what can be done with it.
pub(super) enum OpenedPage {
    Open(Box<Checkout>),
    /// No payment can begin, but buyers have instructions which they may still follow.
    Instructed(Ended, Box<Checkout>),
    Ended(Ended, Box<Shop>),
    /// It takes a card, and no payment.
    Card(Box<CardPage>),
}

/// The session of an address.
pub(super) async fn find(app: &App, id: &str) -> Result<Option<OpenedPage>, Error> {
    let Ok(id) = id.parse::<SessionId>() else { return Ok(None) };
    let Some(client_id) = sessions::client_of(&app.store, id).await? else { return Ok(None) };
    let Some(session) = sessions::find(&app.store, client_id, id).await? else { return Ok(None) };
    let settings = serde_json::to_value(link::settings_of(app, &session).await?).map_err(Error::internal)?;
    let shop = shop(app, &session, &settings).await?;
    if let Some(link) = card_links::look(app, &session).await? {
        return of_card(app, &session, link, shop).await.map(Some);
    }
    let why_ended = ended(&session, app.clock.of(client_id));
    if let Some(why) = why_ended
        && !is_still_paid(&session, why)
    {
        return Ok(Some(OpenedPage::Ended(why, Box::new(shop))));
    }
    let methods: Vec<Method> = session.terms.methods.iter().filter_map(|offer| method(app, offer)).collect();
    // No provider takes an amount of nothing.
    if methods.is_empty() || session.amount == Amount::ZERO {
        return Ok(Some(OpenedPage::Ended(Ended::Disabled, Box::new(shop))));
    }
    let checkout = Box::new(Checkout {
        session_id: session.id.to_string(),
        client_id: client_id.to_string(),
        public_key: public_key(app, &session).await?.to_string(),
        name: session.terms.name.clone(),
        order_id: masked(session.order_id.as_deref()),
        amount: session.amount.minor_units(),
        currency: session.currency,
        items: session.terms.items.iter().map(item).collect(),
        methods,
        liability_must_shift: liability_must_shift(&session),
        shop,
        click_to_pay_dpa_id: text(&settings, "mastercardClickToPayDpaid"),
        is_paid_repeatedly: !session.capacity.is_single(),
        is_sandbox: app.settings.mode == Mode::Sandbox,
        asks_for_a_person: session.terms.captcha_enabled,
        begins_payments: why_ended.is_none(),
    });
    Ok(Some(match why_ended {
        None => OpenedPage::Open(checkout),
        Some(why) => OpenedPage::Instructed(why, checkout),
    }))
}

/// The page of a session that takes a card for a subscription.
async fn of_card(app: &App, session: &Session, link: CardLink, shop: Shop) -> Result<OpenedPage, Error> {
    let ended = match link.state {
        LinkState::Open => None,
        LinkState::Given(_) => Some(Ended::CardGiven),
        LinkState::SubscriptionEnded => Some(Ended::NothingToCharge),
        LinkState::Replaced => Some(Ended::CardReplaced),
        LinkState::Closed => match ended(session, app.clock.of(session.client_id)) {
            Some(Ended::Expired) => Some(Ended::Expired),
            // What is said of an order and its payment is not said of a card.
            None
            | Some(
                Ended::Paid
                | Ended::Canceled
                | Ended::Refunded
                | Ended::Disabled
                | Ended::Unknown
                | Ended::CardGiven
                | Ended::CardReplaced
                | Ended::NothingToCharge,
            ) => Some(Ended::Disabled),
        },
    };
    if let Some(why) = ended {
        return Ok(OpenedPage::Ended(why, Box::new(shop)));
    }
    let subscription = link.subscription;
    Ok(OpenedPage::Card(Box::new(CardPage {
        session_id: session.id.to_string(),
        client_id: session.client_id.to_string(),
        public_key: public_key(app, session).await?.to_string(),
        name: subscription.name,
        interval: subscription.schedule.interval(),
        amount: subscription.amount.minor_units(),
        outstanding: link.outstanding.map(Amount::minor_units),
        currency: session.currency,
        shop,
        is_sandbox: app.settings.mode == Mode::Sandbox,
        asks_for_a_person: session.terms.captcha_enabled,
    })))
}

/// Whether what a buyer pays by the instructions that they have still counts.
fn is_still_paid(session: &Session, why: Ended) -> bool {
    match why {
        Ended::Disabled | Ended::Expired => session.tally.pending > 0,
        Ended::Paid
        | Ended::Canceled
        | Ended::Refunded
        | Ended::Unknown
        | Ended::CardGiven
        | Ended::CardReplaced
        | Ended::NothingToCharge => false,
    }
}

/// Why a session cannot be paid; `None` while it can.
fn ended(session: &Session, now: Timestamp) -> Option<Ended> {
    let is_used_up = match session.capacity {
        Capacity::Many(limit) => session.tally.paid >= i64::from(limit),
        Capacity::One | Capacity::Unlimited => false,
    };
    match session.status {
        SessionStatus::Paid => Some(Ended::Paid),
        SessionStatus::Canceled => Some(Ended::Canceled),
        SessionStatus::Voided => Some(Ended::Refunded),
        SessionStatus::Created if session.takes_buyers(now) => None,
        SessionStatus::Created if is_used_up => Some(Ended::Paid),
        SessionStatus::Created if session.due_at.is_some_and(|due_at| due_at <= now) => Some(Ended::Expired),
        SessionStatus::Created => Some(Ended::Disabled),
    }
}

async fn shop(app: &App, session: &Session, settings: &Value) -> Result<Shop, Error> {
    let merchant = routing::merchant(app, session.client_id, session.merchant_id).await?;
    let name = merchant.and_then(|found| found.merchant.details.shown_name().map(str::to_owned));
    Ok(Shop {
        name: name.or_else(|| text(settings, "companyName")).unwrap_or_default(),
        logo: text(settings, "logo").filter(|url| is_on_the_web(url)),
        url: text(settings, "companyUrl").filter(|url| is_on_the_web(url)),
        colours: Chosen {
            main: text(settings, "mainColor"),
            secondary: text(settings, "secondaryColor"),
            attention: text(settings, "attentionColor"),
            error: text(settings, "errorColor"),
            success: text(settings, "successColor"),
            background: text(settings, "backgroundColor"),
        },
    })
}

fn text(settings: &Value, name: &str) -> Option<String> {
    settings.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn item(item: &regente_domain::session::Item) -> Item {
    Item {
        name: item.name.clone(),
        description: item.description.clone(),
        quantity: item.quantity,
        unit_price: item.unit_price.minor_units(),
    }
}

/// The method as the page offers it. A Click to Pay wallet needs a script of its network, which the page does not load: it is
/// offered where wallets are simulated.
fn method(app: &App, offer: &OfferedMethod) -> Option<Method> {
    let is_sandbox = app.settings.mode == Mode::Sandbox;
    match offer.payment_type {
        PaymentType::Credit => Some(Method::Credit {
            installments_max: installments(offer),
            asks_cardholder: match is_authenticated(offer) {
                true => AsksCardholder::Perhaps,
                false => AsksCardholder::Never,
            },
        }),
        PaymentType::Pix => Some(Method::Pix),
        PaymentType::Boleto => {
            let due = offer.terms.get("expiresDate").and_then(Value::as_str);
            Some(Method::Boleto { due: due.and_then(|due| due.get(..10)?.parse::<Date>().ok()) })
        }
        PaymentType::Nupay => Some(Method::Nupay),
        PaymentType::Drip => Some(Method::Drip),
        PaymentType::ClickToPay => is_sandbox.then_some(Method::ClickToPay),
        PaymentType::Debit | PaymentType::Voucher | PaymentType::Picpay | PaymentType::ApplePay => None,
    }
}

fn installments(offer: &OfferedMethod) -> u8 {
    let most = offer.terms.get("installments").and_then(Value::as_u64).unwrap_or(1);
    u8::try_from(most).unwrap_or(u8::MAX).max(1)
}

fn is_authenticated(offer: &OfferedMethod) -> bool {
    offer.terms.get("threeDS").and_then(|terms| terms.get("enabled")?.as_bool()).unwrap_or(false)
}

fn liability_must_shift(session: &Session) -> bool {
    let terms = session.offer(PaymentType::Credit).and_then(|offer| offer.terms.get("threeDS"));
    terms.and_then(|terms| terms.get("liabilityShiftRequired")?.as_bool()).unwrap_or(true)
}
