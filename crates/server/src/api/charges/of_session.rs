//! The charge that pays a session (`docs/interface/sessions.md#paying`): the buyer says with what, the session says
//! everything else. Both together are the body of a charge, and read like one.

mod browser;

use std::fmt::Display;

use axum::http::HeaderMap;
use regente_domain::actor::Actor;
use regente_domain::charge::{INSTALLMENTS_MAX, PaymentType};
use regente_domain::session::{Item, OfferedMethod, Session};
use regente_engine::app as engine;
use regente_engine::caller::Caller;
use regente_engine::error::Error;
use regente_engine::events::session::RECIPIENTS;
use regente_engine::flows::authentication::THREE_D_SECURE;
use regente_engine::flows::charge::Created;
use regente_engine::flows::session;
use regente_engine::flows::session::opened::Opened;
use regente_engine::queue::Kind;
use regente_engine::settings::Settings;
use regente_providers::authentication::ThreeDSecure;
use regente_providers::request::Mode;
use serde_json::{Map, Value, json};

use super::begin;
use super::request::{self, ChargeRequest, FRAUD_ANALYSIS_BYTES_MAX};
use crate::api::fields::Body;
use crate::http::card_testing::{Attempt, TriedCard};
use crate::http::peer::PeerAddress;

/// The member of an offer of credit that says whether cardholders are authenticated.
pub(in crate::api) const THREE_DS: &str = "threeDS";
const PAYMENT_METHOD: &str = "paymentMethod";
const FRAUD_ANALYSIS: &str = "fraudAnalysis";
const INSTALLMENTS: &str = "installments";
/// The most bytes of the items of which an analysis of risk is told: its data has more members.
const CART_BYTES_MAX: usize = FRAUD_ANALYSIS_BYTES_MAX / 4 * 3;

/// The members of a charge that the session gives, and those that nobody sends with one.
const OF_THE_SESSION: [&str; 11] = [
    "merchantId",
    "amount",
    "currency",
    "capture",
    "orderId",
    "description",
    "statementDescriptor",
    "providerReferenceKey",
    "splitRules",
    "vendor",
    "appInfo",
];

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

/// Reads what a buyer sends.
///
/// # Errors
/// The problems of the charge, or that the session does not offer this.
pub(super) fn read(
    opened: &Opened,
    sent: &Body,
    sender: &Sender<'_>,
    settings: &Settings,
) -> Result<ChargeRequest, Error> {
    let Opened { session, private } = opened;
    let mut members = sent.members().clone();
    for name in OF_THE_SESSION {
        members.remove(name);
    }
    let terms = &session.terms;
    let texts = [
        ("orderId", &session.order_id),
        ("description", &terms.description),
        ("statementDescriptor", &terms.statement_descriptor),
        ("providerReferenceKey", &terms.provider_reference_key),
    ];
    members.extend(texts.map(|(name, text)| (name.to_owned(), json!(text))));
    members.insert("merchantId".to_owned(), json!(session.merchant_id));
    members.insert("amount".to_owned(), json!(session.amount));
    members.insert("currency".to_owned(), json!(session.currency.code()));
    members.insert("capture".to_owned(), json!(terms.capture));
    members.insert("vendor".to_owned(), json!(terms.vendor));
    let offered = match members.get(PAYMENT_METHOD).and_then(Value::as_object) {
        Some(method) => offered(session, method)?,
        None => None,
    };
    let mut not_sent = None;
    if let Some((offer, mut method)) = offered {
        if offer.payment_type == PaymentType::Nupay {
            fill_cart(session, &mut members);
            let recipients = private.nupay_recipients.clone();
            method.extend(recipients.map(|recipients| (RECIPIENTS.to_owned(), recipients)));
        }
        lead_back(session, offer.payment_type, settings, &mut method);
        members.insert(PAYMENT_METHOD.to_owned(), Value::Object(method));
        not_sent = authenticate(offer, sender.caller, &mut members)?;
    }
    let request = Body::of(members)?.read(|fields| request::read(fields, settings.mode))?;
    let split_rules = session.terms.split_rules.clone();
    let request = ChargeRequest { session_id: Some(session.id), split_rules, ..request };
    Ok(match not_sent {
        Some(must_shift) => request.authenticated(by_the_provider(session, must_shift, sender, settings)),
        None => request,
    })
}

/// The authentication of a cardholder whose page has sent nothing about it: the payment provider's own, from which he comes
/// back to the page of the session. Only the page of a buyer comes from his browser.
fn by_the_provider(
    session: &Session,
    must_shift: bool,
    sender: &Sender<'_>,
    settings: &Settings,
) -> ThreeDSecure {
    let base = settings.base_url.as_deref();
    let is_buyer = sender.caller.is_public_key();
    ThreeDSecure {
        setup_id: None,
        data_only: None,
        requires_liability_shift: Some(must_shift),
        redirect_url: return_page(session.id, settings),
        requestor_url: base.map(str::to_owned),
        browser: is_buyer.then(|| browser::of_request(sender.headers, sender.peer)),
        billing_address: None,
        shipping_address: None,
        card_holder: None,
        mpi: None,
    }
}

/// The page of the session to which a buyer comes back from his bank; `None` when the service does not know its own address.
pub fn return_page(session_id: impl Display, settings: &Settings) -> Option<String> {
    settings.base_url.as_deref().map(|base| format!("{base}/pay/{session_id}/returned"))
}

/// The offer that a buyer takes, and the method of the charge.
type Taken<'a> = (&'a OfferedMethod, Map<String, Value>);

/// The offer that the buyer takes, and the method of the charge; `None` where the body names no method, which its reader
/// finds out.
fn offered<'a>(session: &'a Session, sent: &Map<String, Value>) -> Result<Option<Taken<'a>>, Error> {
    let Some(payment_type) = sent.get("paymentType").and_then(Value::as_str).and_then(PaymentType::parse)
    else {
        return Ok(None);
    };
    let Some(offer) = session.offer(payment_type) else {
        let rule = format!("session does not offer paymentType {}", payment_type.word());
        return Err(impossible("paymentType", &rule));
    };
    // What the buyer may choose; everything else is the session's.
    let choices: &[&str] = match payment_type {
        PaymentType::Credit | PaymentType::ClickToPay => &[INSTALLMENTS],
        PaymentType::Pix => &["additionalInfo", "items"],
        PaymentType::Boleto => &["items"],
        PaymentType::Drip => &["browser", "items"],
        PaymentType::Nupay
        | PaymentType::Debit
        | PaymentType::Voucher
        | PaymentType::Picpay
        | PaymentType::ApplePay => &[],
    };
    let mut method = Map::new();
    method.insert("paymentType".to_owned(), json!(payment_type.word()));
    let chosen = choices.iter().filter_map(|name| Some(((*name).to_owned(), sent.get(*name)?.clone())));
    method.extend(chosen);
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
    Ok(Some((offer, method)))
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

/// The provider of a NuPay is told what is sold: the items of the session, unless the buyer's page has sent a cart.
fn fill_cart(session: &Session, members: &mut Map<String, Value>) {
    let analysis = members.entry(FRAUD_ANALYSIS).or_insert(Value::Null);
    if analysis.is_null() {
        *analysis = json!({});
    }
    let Some(analysis) = analysis.as_object_mut() else { return };
    if analysis.get("cart").is_none_or(Value::is_null) {
        let item = |item: &Item| {
            json!({ "name": item.name, "description": item.description, "unitPrice": item.unit_price,
                "quantity": item.quantity, "categoryId": item.category_id })
        };
        let items = cart_items(session.terms.items.iter().map(item));
        analysis.insert("cart".to_owned(), json!({ "items": items }));
    }
}

/// The buyer of a payment link comes back to it from the page of a provider, unless the session says where to.
fn lead_back(
    session: &Session,
    payment_type: PaymentType,
    settings: &Settings,
    method: &mut Map<String, Value>,
) {
    let names = match payment_type {
        PaymentType::Nupay => ["returnUrl", "cancelUrl"],
        PaymentType::Drip => ["successRedirectUrl", "cancelRedirectUrl"],
        PaymentType::Credit
        | PaymentType::Debit
        | PaymentType::Voucher
        | PaymentType::Pix
        | PaymentType::Boleto
        | PaymentType::Picpay
        | PaymentType::ApplePay
        | PaymentType::ClickToPay => return,
    };
    let is_good = |base: &&str| settings.mode == Mode::Sandbox || base.starts_with("https://");
    let base = settings.base_url.as_deref().filter(is_good);
    let Some(base) = base.filter(|_| session.terms.create_link) else { return };
    for name in names {
        method.entry(name).or_insert_with(|| json!(format!("{base}/pay/{}", session.id)));
    }
}

/// The session decides whether the cardholder is authenticated, and whether the liability must shift. Answers the latter where
/// he is and nothing was sent about it.
fn authenticate(
    offer: &OfferedMethod,
    caller: &Caller,
    members: &mut Map<String, Value>,
) -> Result<Option<bool>, Error> {
    let demand = offer.terms.get(THREE_DS).and_then(Value::as_object);
    let flag = |name: &str, default| demand.and_then(|demand| demand.get(name)?.as_bool()).unwrap_or(default);
    if !flag("enabled", false) {
        members.remove(THREE_D_SECURE);
        return Ok(None);
    }
    let must_shift = flag("liabilityShiftRequired", true);
    match members.get_mut(THREE_D_SECURE) {
        // A buyer does not say of himself that he was authenticated.
        Some(Value::Object(data)) if caller.is_public_key() && data.contains_key("mpi") => {
            Err(Error::invalid("threeDSecure2.mpi", "must be absent with a public key"))
        }
        Some(Value::Object(data)) => {
            data.insert("requiresLiabilityShift".to_owned(), json!(must_shift));
            Ok(None)
        }
        None | Some(Value::Null) => Ok(Some(must_shift)),
        // Its reader says what is wrong with it.
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => Ok(None),
    }
}

fn impossible(name: &str, rule: &str) -> Error {
    Error::Impossible {
        message: rule.to_owned().into(),
        details: vec![format!("{PAYMENT_METHOD}.{name}: {rule}")],
    }
}

/// Counts the charge in its session before its caller is answered. Should this fail, the job counts it.
pub(super) async fn counted(
    app: engine::App,
    attempt: Attempt,
    tried: Option<TriedCard>,
    creating: impl Future<Output = Result<Created, Error>>,
) -> Result<Created, Error> {
    let created = match tried {
        Some(tried) => begin::counted(attempt, tried, creating).await,
        None => creating.await,
    };
    if let Ok(Created::Ran(ran)) = &created {
        let (client_id, charge_id) = (ran.charge.client_id, ran.charge.id);
        let actor = Actor::Job(Kind::CountPayment.word());
        if let Err(error) = session::count(&app, client_id, charge_id, &actor).await {
            tracing::warn!(charge = %charge_id, error = ?error, "a charge is left for the job that counts it");
        }
    }
    created
}
