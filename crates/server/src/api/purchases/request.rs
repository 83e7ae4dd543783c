//! `POST /v1/purchases`: the body, checked in the order of `docs/interface/purchases.md#checks`. What stands inside of
//! `payments` is strict: raw card data in an unexpected place must not get in.

use std::collections::HashSet;

use regente_domain::charge::{CaptureMode, INSTALLMENTS_MAX, References};
use regente_domain::id::{CardId, CustomerId, MerchantId, TokenId};
use regente_domain::money::Amount;
use regente_domain::purchase::{CURRENCY, SLOTS};
use regente_domain::text::chars_max;
use regente_engine::settings::Settings;
use serde_json::{Map, Value, json};

use super::error::{BodyCode, PurchaseError};
use super::pan;
use crate::api::charges::request::{CvvSource, read_cvv, read_flow_metadata, read_fraud_analysis};
use crate::api::fields::{Body, Fields};

/// Bytes of free-form JSON of one member.
const FREE_FORM_BYTES_MAX: usize = 16 * 1024;
/// Members of `metadata`.
const METADATA_KEYS_MAX: usize = 50;
/// Payments that are looked at before they are counted.
const PAYMENTS_READ_MAX: usize = 100;

/// What was asked for.
pub struct PurchaseRequest {
    /// The sub-account.
    pub merchant_id: MerchantId,
    /// The sum.
    pub amount: Amount,
    /// Captured by itself or later.
    pub capture: CaptureMode,
    /// The merchant's reference.
    pub order_id: Option<String>,
    /// The buyer.
    pub customer_id: Option<CustomerId>,
    /// Texts and references.
    pub references: References,
    /// Free data of the merchant.
    pub metadata: Option<Map<String, Value>>,
    /// Fraud analysis data, for each charge.
    pub fraud_analysis: Option<Map<String, Value>>,
    /// The cards, in order.
    pub payments: Vec<Payment>,
}

/// One card and its part of the sum.
pub struct Payment {
    /// Which card.
    pub source: Source,
    /// How much.
    pub amount: Amount,
    /// In how many installments.
    pub installments: u8,
}

/// Which card pays.
pub enum Source {
    /// A stored card.
    Card {
        /// Which.
        card_id: CardId,
        /// Its security code, when the buyer is present.
        cvv: CvvSource,
    },
    /// A card token.
    Token(TokenId),
}

/// What cannot be had with several cards; refused by name.
const NOT_ON_PURCHASES: [&str; 4] = ["splitRules", "threeDSecure2", "recurrence", "vendor"];
const PAYMENT_MEMBERS: [&str; 6] = ["cardId", "tokenId", "amount", "installments", "cardCvv", "tokenCvv"];

/// Reads the body.
pub fn read(body: &Body, settings: &Settings) -> Result<PurchaseRequest, PurchaseError> {
    let shaped = body.read(|fields| read_shape(fields, settings));
    let pans = pan::places(body.members().get("payments"));
    let shape = match shaped {
        Ok(shape) if pans.is_empty() => shape,
        Ok(_) => return Err(pan_not_allowed(&pans)),
        Err(problems) => {
            // What is wrong with the very place of a card number is that it is one.
            let mut details = problems.into_details();
            details.retain(|detail| !pans.iter().any(|place| is_about(detail, place)));
            return Err(match details.is_empty() {
                true => pan_not_allowed(&pans),
                false => PurchaseError::refused(BodyCode::InvalidRequest, details),
            });
        }
    };
    shape.check(settings)
}

fn pan_not_allowed(places: &[String]) -> PurchaseError {
    let details = places.iter().map(|place| format!("{place} must not hold card data")).collect();
    PurchaseError::refused(BodyCode::PanNotAllowed, details)
}

/// Whether a problem is about this place, or about what it stands in or what stands in it.
fn is_about(detail: &str, place: &str) -> bool {
    let path = detail.split(' ').next().unwrap_or(detail);
    let is_inside = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    is_inside(path, place) || is_inside(place, path)
}

/// A body of the right shape, whose rules are not looked at yet.
struct Shape {
    merchant_id: MerchantId,
    amount: Amount,
    currency: Option<String>,
    capture: CaptureMode,
    order_id: Option<String>,
    customer_id: Option<CustomerId>,
    references: References,
    metadata: Option<Map<String, Value>>,
    fraud_analysis: Option<Map<String, Value>>,
    payments: Vec<PaymentShape>,
}

struct PaymentShape {
    card_id: Option<CardId>,
    token_id: Option<TokenId>,
    amount: Amount,
    installments: u8,
    cvv: CvvSource,
}

fn read_shape(fields: &Fields<'_>, settings: &Settings) -> Option<Shape> {
    let merchant_id = fields.required("merchantId").id();
    let amount = fields.required("amount").positive_amount();
    let currency = fields.optional("currency").text(chars_max::LINE);
    let capture = if fields.has("capture") { fields.optional("capture").boolean() } else { Some(false) };
    let order_id = fields.optional("orderId").text(chars_max::LINE);
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
    Some(Shape {
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

fn read_payment(fields: &Fields<'_>) -> Option<PaymentShape> {
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
    Some(PaymentShape { card_id, token_id, amount: amount?, installments: installments?, cvv })
}

impl Shape {
    fn check(self, settings: &Settings) -> Result<PurchaseRequest, PurchaseError> {
        let refuse = |code, details: Vec<String>| match details.is_empty() {
            true => Ok(()),
            false => Err(PurchaseError::refused(code, details)),
        };
        if !SLOTS.contains(&self.payments.len()) {
            let details = vec!["payments must contain 2 or 3 items".to_owned()];
            return Err(PurchaseError::refused(BodyCode::InvalidPaymentsCount, details));
        }
        let sources = self.payments.iter().map(|payment| (payment.card_id, payment.token_id));
        let missing = at(sources, |source| *source == (None, None), "must have a cardId or a tokenId");
        refuse(BodyCode::PaymentSourceRequired, missing)?;
        refuse(BodyCode::InvalidRequest, self.ambiguous_sources())?;
        let least = settings.purchase_payment_min;
        let rule = format!("must not be less than {}", least.minor_units());
        let amounts = self.payments.iter().map(|payment| payment.amount);
        let too_little = amounts.clone().enumerate().filter(|(_, amount)| *amount < least);
        let too_little = too_little.map(|(index, _)| format!("payments[{index}].amount {rule}")).collect();
        refuse(BodyCode::PaymentAmountBelowMinimum, too_little)?;
        if self.currency.as_deref().is_some_and(|currency| currency != CURRENCY.code()) {
            let details = vec!["currency must be BRL".to_owned()];
            return Err(PurchaseError::refused(BodyCode::CurrencyNotBrl, details));
        }
        let sum: i64 = amounts.map(Amount::minor_units).sum();
        if sum != self.amount.minor_units() {
            let details = vec![format!("amount must be the sum of the payments, which is {sum}")];
            return Err(PurchaseError::refused(BodyCode::PaymentsAmountMismatch, details));
        }
        Ok(PurchaseRequest {
            merchant_id: self.merchant_id,
            amount: self.amount,
            capture: self.capture,
            order_id: self.order_id,
            customer_id: self.customer_id,
            references: self.references,
            metadata: self.metadata,
            fraud_analysis: self.fraud_analysis,
            payments: self.payments.into_iter().filter_map(PaymentShape::into_payment).collect(),
        })
    }

    /// Two sources in one payment, or one in two: a token works once, and issuers suspect a card that is charged twice.
    fn ambiguous_sources(&self) -> Vec<String> {
        let sources = self.payments.iter().map(|payment| (payment.card_id, payment.token_id));
        let is_both = |source: &(Option<CardId>, Option<TokenId>)| source.0.is_some() && source.1.is_some();
        let mut details = at(sources, is_both, "must have either a cardId or a tokenId");
        let mut used = HashSet::new();
        for (index, payment) in self.payments.iter().enumerate() {
            let cvv_token = match &payment.cvv {
                CvvSource::Token(token_id) => Some(token_id.uuid()),
                CvvSource::None | CvvSource::Inline(_) => None,
            };
            let named = [
                ("cardId", payment.card_id.map(|id| id.uuid())),
                ("tokenId", payment.token_id.map(|id| id.uuid())),
                ("tokenCvv", cvv_token),
            ];
            for (name, id) in named {
                if id.is_some_and(|id| !used.insert(id)) {
                    details.push(format!("payments[{index}].{name} must not be used twice"));
                }
            }
        }
        details
    }
}

fn at<T>(items: impl Iterator<Item = T>, is_wrong: impl Fn(&T) -> bool, rule: &str) -> Vec<String> {
    let wrong = items.enumerate().filter(|(_, item)| is_wrong(item));
    wrong.map(|(index, _)| format!("payments[{index}] {rule}")).collect()
}

impl PaymentShape {
    fn into_payment(self) -> Option<Payment> {
        let source = match (self.card_id, self.token_id) {
            (Some(card_id), None) => Source::Card { card_id, cvv: self.cvv },
            (None, Some(token_id)) => Source::Token(token_id),
            (Some(_), Some(_)) | (None, None) => return None,
        };
        Some(Payment { source, amount: self.amount, installments: self.installments })
    }
}
