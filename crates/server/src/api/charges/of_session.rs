//! The charge that pays a session (`docs/interface/sessions.md#paying`): the buyer says with what, the session says
//! everything else.

mod browser;

use axum::http::HeaderMap;
use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::References;
use regente_domain::charge::sent::FraudAnalysis;
use regente_domain::money::Amount;
use regente_domain::payment_type::{INSTALLMENTS_MAX, PaymentType};
use regente_domain::session::{Item, OfferedMethod, Session};
use regente_engine::anti_fraud::FRAUD_ANALYSIS;
use regente_engine::authentication::THREE_D_SECURE;
use regente_engine::caller::Caller;
use regente_engine::charges::{Buyer, ChargeOrder, Origin, return_page};
use regente_engine::error::Error;
use regente_engine::events::session::RECIPIENTS;
use regente_engine::sessions::opened::{Opened, Private};
use regente_engine::settings::Settings;
use regente_providers::authentication::ThreeDSecure;
use serde_json::{Map, Value, json};

use super::request::{
    Method, MethodRead, PAYMENT_METHOD, SentAuthentication, SentPayment, ShiftRule, parsed_address,
    read_flow_metadata, read_fraud_analysis, read_method,
};
use crate::api::fields::{Body, Fields};
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
    let (buyer, paid, flow_metadata, authentication) = sent.read(|fields| {
        let mode = settings.mode;
        if session.amount == Amount::ZERO {
            fields.problem("amount", "must be greater than 0");
        }
        let customer_id = fields.optional("customerId").id();
        let payment = SentPayment::read(fields, read_offered(fields, offer.as_ref(), &session, settings));
        let flow_metadata = fields.optional("paymentFlow").object(|flow| read_flow_metadata(flow, mode));
        let risk_data = read_risk_data(fields, offer.as_ref(), &session);
        let authentication = match shift {
            Some(shift) => SentAuthentication::read(fields, mode, shift),
            None => SentAuthentication::Absent,
        };
        let paid = payment.complete(fields, risk_data, &authentication)?;
        Some((customer_id.map(Buyer::Named), paid, flow_metadata, authentication))
    })?;
    let authentication = match (shift, authentication) {
        (Some(ShiftRule::Required | ShiftRule::NotRequired), SentAuthentication::Absent) => {
            SentAuthentication::Sent(Some(Box::new(by_the_provider(&session, shift, sender, settings))))
        }
        (_, authentication) => authentication,
    };
    let (paid_by, private) = paid;
    let terms = &session.terms;
    Ok(authentication.of(ChargeOrder {
        merchant_id: session.merchant_id,
        amount: session.amount,
        currency: session.currency,
        capture: CaptureMode::from_flag(terms.capture),
        order_id: session.order_id.clone(),
        buyer,
        paid_by,
        authentication: None,
        split_rules: terms.split_rules.clone(),
        references: References {
            description: terms.description.clone(),
            statement_descriptor: terms.statement_descriptor.clone(),
            provider_reference_key: terms.provider_reference_key.clone(),
            flow_metadata,
            app_info: None,
        },
        vendor: terms.vendor.clone(),
        private,
        origin: Origin::Session(Box::new(session)),
    }))
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

/// Reads the method: that of the offer, or what was sent where it names none. The buyer of a payment link comes back to it
/// from the page of a provider, unless the session says where to.
fn read_offered(
    fields: &Fields<'_>,
    offer: Option<&Offer>,
    session: &Session,
    settings: &Settings,
) -> Option<MethodRead> {
    let mode = settings.mode;
    let Some(offer) = offer else {
        return fields.required(PAYMENT_METHOD).object(|method| read_method(method, mode));
    };
    let read = fields.object_of(PAYMENT_METHOD, &offer.method, |method| read_method(method, mode))?;
    Some(match (read, page_of_link(session, settings)) {
        ((Method::Payer(method), private), Some(page)) => {
            (Method::Payer(method.leading_back_to(&page)), private)
        }
        (read, _) => read,
    })
}

/// The page of a payment link.
fn page_of_link(session: &Session, settings: &Settings) -> Option<String> {
    let base = settings.base_url.as_deref().filter(|_| session.terms.create_link)?;
    parsed_address(&format!("{base}/pay/{}", session.id), settings.mode)
}

/// Reads the data for risk analysis. The provider of a NuPay is told what is sold: the items of the session, unless the buyer's
/// page has sent a cart.
fn read_risk_data(
    fields: &Fields<'_>,
    offer: Option<&Offer>,
    session: &Session,
) -> Option<Map<String, Value>> {
    let as_sent = || fields.optional(FRAUD_ANALYSIS).object(read_fraud_analysis);
    if offer.is_none_or(|offer| offer.payment_type != PaymentType::Nupay) {
        return as_sent();
    }
    let mut data = match fields.members().get(FRAUD_ANALYSIS) {
        Some(Value::Object(data)) => data.clone(),
        Some(Value::Null) | None => Map::new(),
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => return as_sent(),
    };
    if data.get(CART).is_none_or(Value::is_null) {
        data.insert(CART.to_owned(), cart_of(session));
    }
    fields.object_of(FRAUD_ANALYSIS, &data, read_fraud_analysis)
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
