//! What is sent for each operation. Pure: nothing is sent here.

use std::time::Duration;

use http::Method;
use regente_domain::charge::PaymentMethod;
use regente_domain::customer::Address;
use regente_domain::decline::{Decline, DeclinedCode, Retry};
use regente_domain::local_day::day_of;
use regente_domain::time::Timestamp;
use uuid::Uuid;
use zeroize::Zeroizing;

mod card;

use super::wire::member;
use super::{currency, declines};
use crate::request::{Authorization, Call, FollowUp, Inquiry, Instrument, PayerDetails, Verification};

/// Longest value of a member of `metadata`, in characters.
const METADATA_CHARS_MAX: usize = 500;
/// Longest time after which a boleto expires, in days.
const BOLETO_DAYS_MAX: i32 = 60;
/// Objects of a page.
const PAGE: &str = "100";
/// How far the clocks may differ, and how long a request may have been under way before it was taken in.
const LISTED_BEFORE: Duration = Duration::from_secs(60);
const LISTED_AFTER: Duration = Duration::from_secs(10 * 60);

/// A request, before it has an address and credentials. Not printed: it may hold a card.
pub struct Ask {
    /// Its name in traces.
    pub step: &'static str,
    /// `GET` or `POST`.
    pub method: Method,
    /// The path.
    pub path: String,
    /// The idempotency key of a `POST`.
    pub idempotency_key: Option<String>,
    /// The form of a `POST`, the query of a `GET`.
    pub members: Members,
}

/// Members of a form or query. Wiped when dropped, since they may hold a card.
#[derive(Default)]
pub struct Members(Vec<(&'static str, Zeroizing<String>)>);

impl Members {
    fn add(&mut self, name: &'static str, value: impl Into<String>) {
        self.0.push((name, Zeroizing::new(value.into())));
    }

    fn add_some(&mut self, name: &'static str, value: Option<impl Into<String>>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }

    /// The pairs, in the order in which they are sent.
    pub fn pairs(&self) -> &[(&'static str, Zeroizing<String>)] {
        &self.0
    }

    /// The value of a member.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

fn get(step: &'static str, path: impl Into<String>, members: Members) -> Ask {
    Ask { step, method: Method::GET, path: path.into(), idempotency_key: None, members }
}

fn post(step: &'static str, path: impl Into<String>, key: String, members: Members) -> Ask {
    Ask { step, method: Method::POST, path: path.into(), idempotency_key: Some(key), members }
}

/// Charges or reserves an amount.
///
/// # Errors
/// A refusal: the provider cannot do what is asked, and nothing is sent.
pub fn authorization(call: &Call, authorization: &Authorization) -> Result<Ask, Decline> {
    let amount = currency::sent(authorization.amount, authorization.currency)
        .ok_or_else(|| declines::own(DeclinedCode::InvalidAmount, "fraction_of_currency", Retry::Yes))?;
    let mut form = Members::default();
    form.add("amount", amount.to_string());
    form.add("currency", currency::code(authorization.currency));
    form.add("confirm", "true");
    form.add("expand[]", "latest_charge");
    references(&mut form, call);
    let metadata = |text: &String| text.chars().take(METADATA_CHARS_MAX).collect::<String>();
    form.add_some("metadata[order_id]", authorization.order_id.as_ref().map(metadata));
    form.add_some("metadata[reference]", authorization.provider_reference_key.as_ref().map(metadata));
    form.add_some("description", authorization.description.clone());
    match (&authorization.instrument, &authorization.method) {
        (Instrument::Card(details), _) => {
            card::card(&mut form, details, authorization.buyer.as_deref());
            card::agreement(&mut form, authorization);
            card::proof(&mut form, authorization)?;
        }
        (Instrument::Payer(payer), PaymentMethod::Boleto(boleto)) => {
            let days = (boleto.due - day_of(call.at)).get_days();
            if !(0..=BOLETO_DAYS_MAX).contains(&days) {
                return Err(declines::own(DeclinedCode::InvalidData, "expires_after_days", Retry::Yes));
            }
            form.add("payment_method_types[]", "boleto");
            form.add("payment_method_data[type]", "boleto");
            form.add("payment_method_data[boleto][tax_id]", payer.document.number.clone());
            billed(&mut form, Some(&payer.name), payer);
            form.add("payment_method_options[boleto][expires_after_days]", days.to_string());
        }
        (Instrument::Payer(_) | Instrument::Wallet(_), _) => {
            return Err(declines::own(DeclinedCode::Generic, "payment_method_not_supported", Retry::Yes));
        }
    }
    Ok(post("payment_intents.create", "/v1/payment_intents", call.key.to_string(), form))
}

/// Checks a card without an amount.
pub fn verification(call: &Call, verification: &Verification) -> Ask {
    let mut form = Members::default();
    form.add("confirm", "true");
    form.add("usage", "off_session");
    references(&mut form, call);
    card::card(&mut form, &verification.card, None);
    post("setup_intents.create", "/v1/setup_intents", call.key.to_string(), form)
}

/// Captures a reservation; what is not captured is released. `intent` is its id.
///
/// # Errors
/// A refusal: the provider cannot express the amount.
pub fn capture(call: &Call, follow_up: &FollowUp, intent: &str) -> Result<Ask, Decline> {
    let mut form = Members::default();
    form.add("amount_to_capture", amount_of(follow_up)?.to_string());
    // The key by which the capture is known when the provider has forgotten it as an idempotency key.
    form.add("metadata[regente_capture_key]", call.key.to_string());
    form.add("expand[]", "latest_charge");
    Ok(post(
        "payment_intents.capture",
        format!("/v1/payment_intents/{intent}/capture"),
        call.key.to_string(),
        form,
    ))
}

/// Releases a reservation, or ends a payment that waits for its payer.
pub fn cancellation(key: String, intent: &str) -> Ask {
    post("payment_intents.cancel", format!("/v1/payment_intents/{intent}/cancel"), key, Members::default())
}

/// Gives money back.
///
/// # Errors
/// A refusal: the provider cannot express the amount.
pub fn refund(call: &Call, follow_up: &FollowUp, intent: &str) -> Result<Ask, Decline> {
    let mut form = Members::default();
    form.add("payment_intent", intent);
    form.add("amount", amount_of(follow_up)?.to_string());
    references(&mut form, call);
    // A key belongs to one path, and the cancellation of the same void may have used the bare one.
    Ok(post("refunds.create", "/v1/refunds", format!("{}-refund", call.key), form))
}

/// Undoes a payment whose cardholder was not authenticated: all of it.
pub(super) fn undoing_refund(key: Uuid, intent: &str) -> Ask {
    let mut form = Members::default();
    form.add("payment_intent", intent);
    form.add("metadata[regente_undone_key]", key.to_string());
    post("refunds.create", "/v1/refunds", undoing_key(key), form)
}

/// The idempotency key of undoing the authorization with this key.
pub(super) fn undoing_key(key: Uuid) -> String {
    format!("{key}-undo")
}

/// Reads a payment.
pub fn intent(id: &str) -> Ask {
    let mut query = Members::default();
    query.add("expand[]", "latest_charge");
    get("payment_intents.get", format!("/v1/payment_intents/{id}"), query)
}

/// Reads the check of a card.
pub fn setup_intent(id: &str) -> Ask {
    get("setup_intents.get", format!("/v1/setup_intents/{id}"), Members::default())
}

/// Reads a refund.
pub fn refund_by_id(id: &str) -> Ask {
    get("refunds.get", format!("/v1/refunds/{id}"), Members::default())
}

/// The refunds of a payment, newest first.
pub fn refunds_of(intent: &str) -> Ask {
    let mut query = Members::default();
    query.add("payment_intent", intent);
    query.add("limit", PAGE);
    get("refunds.list", "/v1/refunds", query)
}

/// The payments, or the checks of cards, that were made about the time of the call; newest first, from the page after
/// `after` on.
pub fn made_about(inquiry: &Inquiry, of: Listed, after: Option<&str>) -> Ask {
    let seconds = |at: Timestamp| at.as_millis().div_euclid(1_000).to_string();
    let mut query = Members::default();
    query.add("created[gte]", seconds(inquiry.sent_at - LISTED_BEFORE));
    query.add("created[lte]", seconds(inquiry.sent_at + LISTED_AFTER));
    query.add("limit", PAGE);
    query.add_some("starting_after", after);
    match of {
        Listed::PaymentIntents => {
            query.add("expand[]", "data.latest_charge");
            get("payment_intents.list", "/v1/payment_intents", query)
        }
        Listed::SetupIntents => get("setup_intents.list", "/v1/setup_intents", query),
    }
}

/// What is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Payments.
    PaymentIntents,
    /// Checks of cards.
    SetupIntents,
}

/// The payment that was made with this key, by the search of the provider, which lags behind.
pub fn search(key: Uuid) -> Ask {
    let mut query = Members::default();
    query.add("query", format!("metadata['{}']:'{key}'", member::KEY));
    query.add("expand[]", "data.latest_charge");
    get("payment_intents.search", "/v1/payment_intents/search", query)
}

/// A request without effect, which any key may make.
pub fn balance() -> Ask {
    get("balance.get", "/v1/balance", Members::default())
}

fn amount_of(follow_up: &FollowUp) -> Result<i64, Decline> {
    currency::sent(follow_up.amount, follow_up.currency)
        .ok_or_else(|| declines::own(DeclinedCode::InvalidAmount, "fraction_of_currency", Retry::No))
}

/// What leads from the provider's object back to the call.
fn references(form: &mut Members, call: &Call) {
    form.add("metadata[regente_object_id]", call.object_id.to_string());
    form.add("metadata[regente_key]", call.key.to_string());
}

fn billed(form: &mut Members, name: Option<&str>, payer: &PayerDetails) {
    let filled = |text: &&str| !text.trim().is_empty();
    form.add_some("payment_method_data[billing_details][name]", name.filter(filled));
    form.add_some("payment_method_data[billing_details][email]", payer.email.as_deref().filter(filled));
    form.add_some(
        "payment_method_data[billing_details][phone]",
        Some(payer.phone_number.as_str()).filter(filled),
    );
    let Some(address) = &payer.address else { return };
    let Address { country, state, city, district, zip_code, street, street_number, complement } = address;
    let joined = |parts: [&Option<String>; 2]| {
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).filter(filled).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    };
    form.add_some("payment_method_data[billing_details][address][line1]", joined([street, street_number]));
    form.add_some("payment_method_data[billing_details][address][line2]", joined([complement, district]));
    form.add_some("payment_method_data[billing_details][address][city]", city.as_deref().filter(filled));
    form.add_some("payment_method_data[billing_details][address][state]", state.as_deref().filter(filled));
    form.add_some(
        "payment_method_data[billing_details][address][postal_code]",
        zip_code.as_deref().filter(filled),
    );
    form.add_some(
        "payment_method_data[billing_details][address][country]",
        country.map(|country| country.code()),
    );
}
