//! The charge that pays a session (`docs/interface/sessions.md#paying`): the buyer says with what, the session says
//! everything else.

mod browser;

use axum::http::HeaderMap;
use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::References;
use regente_domain::charge::sent::{FraudAnalysis, NewPaymentSource, ThreeDSecure};
use regente_domain::money::Amount;
use regente_domain::payment_type::{INSTALLMENTS_MAX, PaymentType};
use regente_domain::problems::Problems;
use regente_domain::session::sent::SessionPayment;
use regente_domain::session::{Item, OfferedMethod, Session};
use regente_engine::anti_fraud::FRAUD_ANALYSIS;
use regente_engine::authentication::THREE_D_SECURE;
use regente_engine::caller::Caller;
use regente_engine::charges::sent::paid_by;
use regente_engine::charges::{Buyer, ChargeOrder, Origin, PaidBy, return_page};
use regente_engine::error::Error;
use regente_engine::events::session::RECIPIENTS;
use regente_engine::sessions::opened::{Opened, Private};
use regente_engine::settings::Settings;
use regente_providers::request::Mode;
use serde_json::{Map, Value, json};

use super::request::{PAYMENT_METHOD, flow_metadata, not_valid, parsed_address, sealed, settle};
use crate::api::fields::Body;
use crate::http::peer::PeerAddress;

/// The member of an offer of credit that says whether cardholders are authenticated.
const THREE_DS: &str = "threeDS";
const INSTALLMENTS: &str = "installments";
/// The member of the data for risk analysis with what is sold.
const CART: &str = "cart";
/// The most bytes of the items of which an analysis of risk is told: its data has more members.
const CART_BYTES_MAX: usize = FraudAnalysis::BYTES_MAX / 4 * 3;

/// The operation of an idempotency key.
pub fn route(session: &Session) -> String {
    format!("POST /v1/sessions/{}/charge", session.id)
}

/// Who sends a payment: the page of a buyer with a public key, or the merchant's server.
pub(super) struct Sender<'a> {
    pub(super) caller: &'a Caller,
    pub(super) headers: &'a HeaderMap,
    pub(super) peer: PeerAddress,
}

/// Reads what a buyer sends into an order. Members that the session gives do not count.
///
/// # Errors
/// The problems of the order, or that the session does not offer this.
pub(super) fn read(
    opened: Opened,
    sent: &Body,
    sender: &Sender<'_>,
    settings: &Settings,
) -> Result<ChargeOrder, Error> {
    let Opened { session, private } = opened;
    let offer = match sent.members().get(PAYMENT_METHOD).and_then(Value::as_object) {
        Some(method) => Offer::taken(&session, private, method)?,
        None => None,
    };
    let shift = match &offer {
        Some(offer) => offer.shift,
        None => Some(ShiftRule::AsSent),
    };
    must_not_vouch(shift, sent, sender.caller)?;
    let members = with_terms(sent.members(), offer.as_ref(), shift, &session);
    let (payment, source) = read_payment(members, &session, settings.mode)?;
    let (paid_by, mut private) = paid_by(payment.payment_method, source).ok_or_else(not_valid)?;
    // The buyer of a payment link comes back to it from the page of a provider, unless the session says where to.
    let paid_by = match (paid_by, page_of_link(&session, settings).filter(|_| offer.is_some())) {
        (PaidBy::Payer(method, payer), Some(page)) => PaidBy::Payer(method.leading_back_to(&page), payer),
        (paid_by, _) => paid_by,
    };
    private.extend(sealed(payment.fraud_analysis));
    let authentication = payment.three_d_secure2.or_else(|| {
        let by_us = matches!(shift, Some(ShiftRule::Required | ShiftRule::NotRequired));
        by_us.then(|| Box::new(by_the_provider(&session, shift, sender, settings)))
    });
    let terms = &session.terms;
    let order = ChargeOrder {
        merchant_id: session.merchant_id,
        amount: session.amount,
        currency: session.currency,
        capture: CaptureMode::from_flag(terms.capture),
        order_id: session.order_id.clone(),
        buyer: payment.customer_id.map(Buyer::Named),
        paid_by,
        authentication: None,
        split_rules: terms.split_rules.clone(),
        references: References {
            description: terms.description.clone(),
            statement_descriptor: terms.statement_descriptor.clone(),
            provider_reference_key: terms.provider_reference_key.clone(),
            flow_metadata: flow_metadata(payment.payment_flow),
            app_info: None,
        },
        vendor: terms.vendor.clone(),
        private,
        origin: Origin::Session(Box::new(session)),
    };
    Ok(match authentication {
        Some(data) => order.authenticated(data),
        None => order,
    })
}

/// Who says whether the liability must shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShiftRule {
    /// Whoever sends the data.
    AsSent,
    /// The session that is paid: it must.
    Required,
    /// The session that is paid: it need not.
    NotRequired,
}

fn read_payment(
    mut members: Map<String, Value>,
    session: &Session,
    mode: Mode,
) -> Result<(SessionPayment, NewPaymentSource), Problems> {
    let mut problems = settle(&mut members, mode);
    if session.amount == Amount::ZERO {
        problems.add("amount", "must be greater than 0");
    }
    SessionPayment::read(members, problems)
}

/// What a buyer sends, with what the session says in place of what does not count.
fn with_terms(
    sent: &Map<String, Value>,
    offer: Option<&Offer>,
    shift: Option<ShiftRule>,
    session: &Session,
) -> Map<String, Value> {
    let mut members = sent.clone();
    if let Some(offer) = offer {
        members.insert(PAYMENT_METHOD.to_owned(), Value::Object(offer.method.clone()));
        if offer.payment_type == PaymentType::Nupay {
            add_cart(&mut members, session);
        }
    }
    match (shift, members.get_mut(THREE_D_SECURE)) {
        (None, _) => drop(members.shift_remove(THREE_D_SECURE)),
        (Some(rule @ (ShiftRule::Required | ShiftRule::NotRequired)), Some(Value::Object(data))) => {
            data.insert("requiresLiabilityShift".to_owned(), json!(rule == ShiftRule::Required));
        }
        (Some(ShiftRule::AsSent | ShiftRule::Required | ShiftRule::NotRequired), _) => {}
    }
    members
}

/// The provider of a NuPay is told what is sold: the items of the session, unless the buyer's page has sent a cart.
fn add_cart(members: &mut Map<String, Value>, session: &Session) {
    let data = members.entry(FRAUD_ANALYSIS).or_insert(Value::Null);
    if data.is_null() {
        *data = Value::Object(Map::new());
    }
    if let Value::Object(data) = data
        && data.get(CART).is_none_or(Value::is_null)
    {
        data.insert(CART.to_owned(), cart_of(session));
    }
}

/// The authentication of a cardholder whose page has sent nothing about it: the payment provider's own, from which they come
/// back to the page of the session. Only the page of a buyer comes from their browser.
fn by_the_provider(
    session: &Session,
    shift: Option<ShiftRule>,
    sender: &Sender<'_>,
    settings: &Settings,
) -> ThreeDSecure {
    let base = settings.base_url.as_deref();
    let is_buyer = sender.caller.is_public_key();
    ThreeDSecure {
        setup_id: None,
        data_only: None,
        requires_liability_shift: Some(shift == Some(ShiftRule::Required)),
        redirect_url: return_page(session.id, settings),
        requestor_url: base.map(str::to_owned),
        browser: is_buyer.then(|| browser::of_request(sender.headers, sender.peer)),
        billing_address: None,
        shipping_address: None,
        card_holder: None,
        mpi: None,
    }
}

/// The offer that a buyer takes.
struct Offer {
    payment_type: PaymentType,
    /// The method of the charge: the terms of the session and what buyers choose, which are members of one.
    method: Map<String, Value>,
    /// Whether the liability must shift; `None` where cardholders are not authenticated.
    shift: Option<ShiftRule>,
}

impl Offer {
    /// `None` where the body names no method, which its reader finds out.
    fn taken(session: &Session, private: Private, sent: &Map<String, Value>) -> Result<Option<Self>, Error> {
        let Some(payment_type) = sent.get("paymentType").and_then(Value::as_str).and_then(PaymentType::parse)
        else {
            return Ok(None);
        };
        let Some(offer) = session.offer(payment_type) else {
            let rule = format!("session does not offer paymentType {}", payment_type.word());
            return Err(impossible("paymentType", &rule));
        };
        let mut method = Map::new();
        method.insert("paymentType".to_owned(), json!(payment_type.word()));
        let choices = choices(payment_type).iter();
        method.extend(choices.filter_map(|name| Some(((*name).to_owned(), sent.get(*name)?.clone()))));
        let most = offer.terms.get(INSTALLMENTS).and_then(Value::as_i64);
        let asked = method.get(INSTALLMENTS).and_then(Value::as_i64);
        // What no charge may have is left to its reader.
        if let (Some(most), Some(asked)) = (most, asked)
            && asked > most
            && asked <= i64::from(INSTALLMENTS_MAX)
        {
            return Err(impossible(INSTALLMENTS, &format!("session offers at most {most} installments")));
        }
        let terms = offer.terms.iter().filter(|(name, _)| ![INSTALLMENTS, THREE_DS].contains(&name.as_str()));
        method.extend(terms.map(|(name, value)| (name.clone(), value.clone())));
        if payment_type == PaymentType::Nupay {
            let recipients = private.nupay_recipients;
            method.extend(recipients.map(|recipients| (RECIPIENTS.to_owned(), recipients)));
        }
        Ok(Some(Self { payment_type, method, shift: shift_of(offer) }))
    }
}

/// What the buyer may choose; everything else is the session's.
const fn choices(payment_type: PaymentType) -> &'static [&'static str] {
    match payment_type {
        PaymentType::Credit | PaymentType::ClickToPay => &[INSTALLMENTS],
        PaymentType::Pix => &["additionalInfo", "items"],
        PaymentType::Boleto => &["items"],
        PaymentType::Drip => &["browser", "items"],
        PaymentType::Nupay
        | PaymentType::Debit
        | PaymentType::Voucher
        | PaymentType::Picpay
        | PaymentType::ApplePay => &[],
    }
}

/// The session decides whether the cardholder is authenticated, and whether the liability must shift.
fn shift_of(offer: &OfferedMethod) -> Option<ShiftRule> {
    let demand = offer.terms.get(THREE_DS)?.as_object()?;
    let flag = |name: &str, default| demand.get(name).and_then(Value::as_bool).unwrap_or(default);
    flag("enabled", false).then(|| match flag("liabilityShiftRequired", true) {
        true => ShiftRule::Required,
        false => ShiftRule::NotRequired,
    })
}

/// A buyer does not say of themselves that they were authenticated.
fn must_not_vouch(shift: Option<ShiftRule>, sent: &Body, caller: &Caller) -> Result<(), Error> {
    let data = sent.members().get(THREE_D_SECURE).and_then(Value::as_object);
    let has_result = data.is_some_and(|data| data.contains_key("mpi"));
    match shift {
        Some(ShiftRule::Required | ShiftRule::NotRequired) if has_result && caller.is_public_key() => {
            Err(Error::invalid("threeDSecure2.mpi", "must be absent with a public key"))
        }
        Some(ShiftRule::Required | ShiftRule::NotRequired | ShiftRule::AsSent) | None => Ok(()),
    }
}

/// The page of a payment link.
fn page_of_link(session: &Session, settings: &Settings) -> Option<String> {
    let base = settings.base_url.as_deref().filter(|_| session.terms.create_link)?;
    parsed_address(&format!("{base}/pay/{}", session.id), settings.mode)
}

fn cart_of(session: &Session) -> Value {
    let item = |item: &Item| {
        json!({ "name": item.name, "description": item.description, "unitPrice": item.unit_price,
            "quantity": item.quantity, "categoryId": item.category_id })
    };
    json!({ "items": cart_items(session.terms.items.iter().map(item)) })
}

/// The first items, as many as an analysis of risk may be told.
pub fn cart_items(items: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut bytes = 0;
    let fits = |item: &Value| {
        bytes += item.to_string().len() + 1;
        bytes <= CART_BYTES_MAX
    };
    items.take_while(fits).collect()
}

fn impossible(name: &str, rule: &str) -> Error {
    Error::Impossible {
        message: rule.to_owned().into(),
        details: vec![format!("{PAYMENT_METHOD}.{name}: {rule}")],
    }
}
