//! `POST /v1/purchases`: parses the body, with checks in the order of `docs/interface/purchases.md#checks`. Unknown
//! members of `payments` are refused, so that no card data gets in.

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::References;
use regente_domain::payment_type::INSTALLMENTS_MAX;
use regente_domain::text::chars_max;
use regente_engine::card_data::CvvSource;
use regente_engine::purchases::{NewPurchase, SentPayment, SentPurchase};
use regente_engine::settings::Settings;
use serde_json::{Value, json};

use super::error::PurchaseError;
use super::pan;
use crate::api::charges::request::{read_cvv, read_flow_metadata, read_fraud_analysis};
use crate::api::fields::{Body, Fields};
use crate::http::business_code::BodyCode;

/// The most bytes of one free-form JSON member.
const FREE_FORM_BYTES_MAX: usize = 16 * 1024;
/// The most members of `metadata`.
const METADATA_KEYS_MAX: usize = 50;
/// The most payments that are parsed before their number is checked.
const PAYMENTS_READ_MAX: usize = 100;

/// Members that purchases do not support; each is refused by name.
const NOT_ON_PURCHASES: [&str; 4] = ["splitRules", "threeDSecure2", "recurrence", "vendor"];
const PAYMENT_MEMBERS: [&str; 6] = ["cardId", "tokenId", "amount", "installments", "cardCvv", "tokenCvv"];

/// Reads the body.
pub fn read(body: &Body, settings: &Settings) -> Result<NewPurchase, PurchaseError> {
    let shaped = body.read(|fields| read_shape(fields, settings));
    let pans = pan::places(body.members().get("payments"));
    let sent = match shaped {
        Ok(sent) if pans.is_empty() => sent,
        Ok(_) => return Err(pan_not_allowed(&pans)),
        Err(problems) => {
            // A card number hides all other problems at its path.
            let mut details = problems.into_details();
            details.retain(|detail| !pans.iter().any(|place| is_about(detail, place)));
            return Err(match details.is_empty() {
                true => pan_not_allowed(&pans),
                false => PurchaseError::refused(BodyCode::InvalidRequest, details),
            });
        }
    };
    Ok(sent.check(settings.purchase_payment_min)?)
}

fn pan_not_allowed(places: &[String]) -> PurchaseError {
    let details = places.iter().map(|place| format!("{place} must not hold card data")).collect();
    PurchaseError::refused(BodyCode::PanNotAllowed, details)
}

/// Whether a problem is at this path, above it or below it.
fn is_about(detail: &str, place: &str) -> bool {
    let path = detail.split(' ').next().unwrap_or(detail);
    let is_inside = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    is_inside(path, place) || is_inside(place, path)
}

fn read_shape(fields: &Fields<'_>, settings: &Settings) -> Option<SentPurchase> {
    let merchant_id = fields.required("merchantId").id();
    let amount = fields.required("amount").positive_amount();
    let currency = fields.optional("currency").text(chars_max::LINE);
    let capture = if fields.has("capture") { fields.optional("capture").boolean() } else { Some(false) };
    let order_id = fields.optional("orderId").verbatim().text(chars_max::LINE);
    let customer_id = fields.optional("customerId").id();
    let references = References {
        description: fields.optional("description").text(chars_max::FREE),
        statement_descriptor: fields.optional("statementDescriptor").text(chars_max::LINE),
        provider_reference_key: None,
        flow_metadata: fields.optional("paymentFlow").object(|flow| read_flow_metadata(flow, settings.mode)),
        app_info: fields.optional("appInfo").raw_object(FREE_FORM_BYTES_MAX).map(Value::Object),
    };
    let metadata = fields.optional("metadata").raw_object(FREE_FORM_BYTES_MAX);
    if metadata.as_ref().is_some_and(|metadata| metadata.len() > METADATA_KEYS_MAX) {
        fields.problem("metadata", format_args!("must not have more than {METADATA_KEYS_MAX} members"));
    }
    let fraud_analysis = fields.optional("fraudAnalysis").object(read_fraud_analysis);
    for name in NOT_ON_PURCHASES {
        let is_empty_list = fields.members().get(name).is_some_and(|value| *value == json!([]));
        if fields.has(name) && !is_empty_list {
            fields.problem(name, "is not available on purchases");
        }
    }
    let payments = fields.required("payments").array(0..=PAYMENTS_READ_MAX, |item| item.object(read_payment));
    Some(SentPurchase {
        merchant_id: merchant_id?,
        amount: amount?,
        currency,
        capture: CaptureMode::from_flag(capture?),
        order_id,
        customer_id,
        references,
        metadata,
        fraud_analysis,
        payments: payments?,
    })
}

fn read_payment(fields: &Fields<'_>) -> Option<SentPayment> {
    for name in fields.members().keys() {
        if !PAYMENT_MEMBERS.contains(&name.as_str()) && !pan::is_name_of_card_data(name) {
            fields.problem(name, "is not a member of a payment");
        }
    }
    let card_id = fields.optional("cardId").id();
    let token_id = fields.optional("tokenId").id();
    let amount = fields.required("amount").amount();
    let installments = if fields.has("installments") {
        let number = fields.optional("installments").integer(1..=i64::from(INSTALLMENTS_MAX));
        number.and_then(|number| u8::try_from(number).ok())
    } else {
        Some(1)
    };
    let cvv_token = fields.optional("tokenCvv").id();
    let cvv = fields.optional("cardCvv");
    let cvv = if fields.has("cardCvv") { read_cvv(cvv) } else { None };
    for name in ["cardCvv", "tokenCvv"] {
        if fields.has(name) && !fields.has("cardId") {
            fields.problem(name, "is only for a cardId");
        }
    }
    let cvv = match (cvv_token, cvv) {
        (Some(token_id), _) => CvvSource::Token(token_id),
        (None, Some(cvv)) => CvvSource::Inline(cvv),
        (None, None) => CvvSource::None,
    };
    Some(SentPayment { card_id, token_id, amount: amount?, installments: installments?, cvv })
}
