//! What is sent for each operation. Pure: nothing is sent here.

use std::time::Duration;

use http::Method;
use regente_domain::charge::authentication::{Authenticated, LiabilityShift, Purpose};
use regente_domain::charge::{CaptureMode, PaymentMethod, Recurrence};
use regente_domain::customer::Address;
use regente_domain::decline::{Decline, DeclinedCode, Retry};
use regente_domain::local_day::day_of;
use regente_domain::time::Timestamp;
use uuid::Uuid;
use zeroize::Zeroizing;

use super::wire::member;
use super::{currency, declines};
use crate::authentication::{Mpi, Proof};
use crate::request::{
    Authorization, Call, CardDetails, FollowUp, Inquiry, Instrument, PayerDetails, Verification,
};

/// Longest value of a member of `metadata`, in characters.
const METADATA_CHARS_MAX: usize = 500;
/// Characters that every account leaves for the suffix of the statement descriptor: 22, less the longest prefix (10) and the
/// asterisk and space between them.
const DESCRIPTOR_SUFFIX_CHARS_MAX: usize = 10;
/// Signs that statement descriptors may not have.
const DESCRIPTOR_FORBIDDEN: [char; 6] = ['<', '>', '\\', '\'', '"', '*'];
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
            card(&mut form, details, authorization.buyer.as_deref());
            agreement(&mut form, authorization);
            proof(&mut form, authorization)?;
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
    card(&mut form, &verification.card, None);
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

fn card(form: &mut Members, card: &CardDetails, buyer: Option<&PayerDetails>) {
    form.add("payment_method_types[]", "card");
    form.add("payment_method_data[type]", "card");
    form.add("payment_method_data[card][number]", card.number.expose_digits());
    form.add("payment_method_data[card][exp_month]", card.expiry.month_text());
    form.add("payment_method_data[card][exp_year]", card.expiry.year_text());
    form.add_some("payment_method_data[card][cvc]", card.cvv.as_ref().map(|cvv| cvv.expose()));
    match buyer {
        Some(buyer) => billed(form, Some(&card.holder_name), buyer),
        None => form.add("payment_method_data[billing_details][name]", card.holder_name.clone()),
    }
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

/// How a card is charged: at once or later, in installments, by an earlier agreement.
fn agreement(form: &mut Members, authorization: &Authorization) {
    let capture = match authorization.capture {
        CaptureMode::Automatic => "automatic",
        CaptureMode::Manual => "manual",
    };
    form.add("capture_method", capture);
    form.add_some(
        "statement_descriptor_suffix",
        authorization.statement_descriptor.as_deref().and_then(descriptor_suffix),
    );
    let installments = authorization.method.installments();
    if installments > 1 {
        form.add("payment_method_options[card][installments][enabled]", "true");
        form.add("payment_method_options[card][installments][plan][type]", "fixed_count");
        form.add("payment_method_options[card][installments][plan][interval]", "month");
        form.add("payment_method_options[card][installments][plan][count]", installments.to_string());
    }
    match authorization.method.recurrence() {
        Some(Recurrence::Initial) => form.add("setup_future_usage", "off_session"),
        Some(Recurrence::Subsequent | Recurrence::Unscheduled) => {
            form.add("off_session", "true");
            form.add_some(
                "payment_method_options[card][mit_exemption][network_transaction_id]",
                authorization.network_transaction_id.clone(),
            );
        }
        None => {}
    }
}

/// Who authenticates the cardholder. A browser that does not know where to return cannot be sent to the issuer, so a payment
/// for which the issuer wants that fails at once; one without the cardholder does so by itself.
fn proof(form: &mut Members, authorization: &Authorization) -> Result<(), Decline> {
    let result = match authorization.proof.as_deref() {
        Some(Proof::ToDo { purpose: Purpose::Authenticate, data: _, return_url }) => {
            form.add("payment_method_options[card][request_three_d_secure]", "any");
            form.add("return_url", return_url.clone());
            if authorization.liability_shift == LiabilityShift::Required {
                form.add("metadata[regente_liability_shift]", member::REQUIRED);
            }
            return Ok(());
        }
        None => {
            if form.get("off_session").is_none() {
                form.add("error_on_requires_action", "true");
            }
            return Ok(());
        }
        // The provider has no request to share data alone.
        Some(Proof::ToDo { purpose: Purpose::ShareData, .. }) => None,
        Some(Proof::Answered(answered)) => ThreeDSecureResult::of_server(answered),
        Some(Proof::Outside(mpi)) => ThreeDSecureResult::of_merchant(mpi),
    };
    form.add("error_on_requires_action", "true");
    match (result, authorization.liability_shift) {
        (Some(result), _) => result.add(form),
        (None, LiabilityShift::Required) => return Err(declines::no_shift()),
        (None, LiabilityShift::NotRequired) => {}
    }
    Ok(())
}

/// The result of another 3DS server. The provider takes it with version, cryptogram and id alone.
struct ThreeDSecureResult<'a> {
    version: &'a str,
    cryptogram: &'a str,
    transaction_id: &'a str,
    eci: Option<&'a str>,
    trans_status: Option<&'a str>,
}

impl<'a> ThreeDSecureResult<'a> {
    fn of_server(answered: &'a Authenticated) -> Option<Self> {
        Some(Self {
            version: answered.version.as_deref()?,
            cryptogram: answered.cavv.as_deref()?,
            transaction_id: answered.network_transaction_id.as_deref()?,
            eci: answered.eci.as_deref(),
            trans_status: None,
        })
    }

    fn of_merchant(mpi: &'a Mpi) -> Option<Self> {
        Some(Self {
            version: mpi.version.as_deref()?,
            cryptogram: mpi.cavv.as_deref()?,
            transaction_id: mpi.directory_server_transaction_id.as_deref().or(mpi.xid.as_deref())?,
            eci: mpi.eci.as_deref(),
            trans_status: mpi.trans_status.as_deref(),
        })
    }

    fn add(&self, form: &mut Members) {
        form.add("payment_method_options[card][three_d_secure][version]", self.version);
        form.add("payment_method_options[card][three_d_secure][cryptogram]", self.cryptogram);
        form.add("payment_method_options[card][three_d_secure][transaction_id]", self.transaction_id);
        form.add_some(
            "payment_method_options[card][three_d_secure][electronic_commerce_indicator]",
            self.eci,
        );
        form.add_some("payment_method_options[card][three_d_secure][ares_trans_status]", self.trans_status);
    }
}

/// The part of a descriptor that the provider prints behind the account's prefix: Latin letters without accents, at least one.
fn descriptor_suffix(text: &str) -> Option<String> {
    let plain = deunicode::deunicode(text);
    let allowed =
        plain.chars().filter(|sign| matches!(sign, ' '..='~') && !DESCRIPTOR_FORBIDDEN.contains(sign));
    let suffix: String = allowed.take(DESCRIPTOR_SUFFIX_CHARS_MAX).collect();
    let suffix = suffix.trim();
    suffix.contains(|sign: char| sign.is_ascii_alphabetic()).then(|| suffix.to_owned())
}
