//! From a call to the request that carries it out. Pure.

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::{Boleto, PaymentMethod};
use regente_domain::currency::Currency;
use regente_domain::decline::Decline;
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use super::reference::Reference;
use super::wire::{Details, Modification, PaymentMethods, PaymentsBody, RedirectResult, Terms, WireAmount};
use super::{currency, declines};
use crate::request::{Authorization, Call, Credentials, FollowUp, Held, Inquiry, Operation, OperationKind};

mod card;
mod payer;
mod vendor;

/// Member of `returned` and of the address to which the browser comes back.
const REDIRECT_RESULT: &str = "redirectResult";
/// Where the browser would come back to from a payment that sends nobody away. The provider demands an address.
const NOWHERE: &str = "https://regente.invalid/";
/// Most characters of a text on the buyer's statement that banks show.
const STATEMENT_CHARS_MAX: usize = 22;
/// Most characters of a value in `metadata`.
const METADATA_CHARS_MAX: usize = 80;

/// A request to the provider.
pub struct AdyenRequest<'a> {
    /// Its name in traces.
    pub step: &'static str,
    /// The segments of its path.
    pub path: Vec<String>,
    /// The value of `Idempotency-Key`; absent for what has no effect.
    pub idempotency_key: Option<Uuid>,
    /// Its body in JSON.
    pub body: Body<'a>,
    /// What it can be answered with.
    pub expects: Expects,
}

/// A body in JSON. It may have card data, so it is not printed.
#[derive(Serialize)]
#[serde(transparent)]
pub struct Body<'a>(Kind<'a>);

#[derive(Serialize)]
#[serde(untagged)]
enum Kind<'a> {
    Payment(Box<PaymentsBody<'a>>),
    Modification(Modification<'a>),
    Details(Details<'a>),
    PaymentMethods(PaymentMethods<'a>),
}

/// What the answer to a request can be: without the card, which is not kept while the answer is awaited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expects {
    /// The outcome of a card payment, or a page of the provider for the cardholder if they have an address to return to.
    Card {
        /// Where the browser comes back to.
        return_url: Option<String>,
    },
    /// A code that can be paid until then.
    Pix {
        /// What was asked for; the answer may say otherwise.
        expires_at: Timestamp,
    },
    /// The line of a boleto.
    Boleto(Box<Boleto>),
    /// That a capture, a refund or a cancellation was received.
    Receipt,
}

/// The request of a call; a refusal for what the provider could not do as it is asked for.
pub fn asked(call: &Call) -> Result<AdyenRequest<'_>, Decline> {
    match &call.operation {
        Operation::Authorize(authorization) => authorize(call, authorization),
        Operation::VerifyCard(verification) => card::verify(call, verification),
        Operation::Capture(follow_up) => capture(call, follow_up),
        Operation::Void(follow_up) => void(call, follow_up),
    }
}

/// The question about a payment whose payer came back from the provider. `None` while they are away: there is no other
/// question.
pub fn returned(inquiry: &Inquiry) -> Option<AdyenRequest<'_>> {
    let redirect_result = inquiry.returned.get(REDIRECT_RESULT)?;
    let details = Details { details: RedirectResult { redirect_result } };
    Some(AdyenRequest {
        step: "payments.details",
        path: vec!["payments".to_owned(), "details".to_owned()],
        // Anyone can send a result, so a false one must not use up the key of the true one.
        idempotency_key: Some(Uuid::new_v5(&inquiry.key, redirect_result.as_bytes())),
        body: Body(Kind::Details(details)),
        expects: Expects::Card { return_url: None },
    })
}

/// A question without an effect, which tells whether the provider knows the credentials.
pub fn payment_methods(credentials: &Credentials) -> AdyenRequest<'_> {
    AdyenRequest {
        step: "payment_methods",
        path: vec!["paymentMethods".to_owned()],
        idempotency_key: None,
        body: Body(Kind::PaymentMethods(PaymentMethods { merchant_account: merchant_account(credentials) })),
        expects: Expects::Receipt,
    }
}

fn authorize<'a>(call: &'a Call, authorization: &'a Authorization) -> Result<AdyenRequest<'a>, Decline> {
    match &authorization.method {
        PaymentMethod::Credit(_) | PaymentMethod::Debit(_) => card::pay(call, authorization),
        PaymentMethod::Pix(pix) => payer::pix(call, authorization, pix),
        PaymentMethod::Boleto(boleto) => payer::boleto(call, authorization, boleto),
        PaymentMethod::Voucher(_)
        | PaymentMethod::Nupay(_)
        | PaymentMethod::Drip(_)
        | PaymentMethod::Picpay(_)
        | PaymentMethod::ApplePay(_)
        | PaymentMethod::ClickToPay(_) => Err(declines::not_sent("cards, Pix and boletos alone")),
    }
}

fn capture<'a>(call: &'a Call, follow_up: &'a FollowUp) -> Result<AdyenRequest<'a>, Decline> {
    let Some(psp_reference) = &follow_up.transaction_id else {
        return Err(declines::not_sent("the payment has no id at the provider"));
    };
    modify(call, "payments.captures", psp_reference, "captures", Some(amount(follow_up)?))
}

/// A reservation is cancelled, as a whole; of what was taken any part is refunded. A payment whose id we do not know is
/// cancelled by our reference of it.
fn void<'a>(call: &'a Call, follow_up: &'a FollowUp) -> Result<AdyenRequest<'a>, Decline> {
    let is_whole = |held: Amount| follow_up.amount >= held;
    match (&follow_up.transaction_id, follow_up.held) {
        (Some(psp_reference), Held::Taken(_)) => {
            modify(call, "payments.refunds", psp_reference, "refunds", Some(amount(follow_up)?))
        }
        (Some(psp_reference), Held::Reserved(held)) if is_whole(held) => {
            modify(call, "payments.cancels", psp_reference, "cancels", None)
        }
        (None, Held::Reserved(held) | Held::Taken(held)) if is_whole(held) => Ok(AdyenRequest {
            step: "cancels",
            path: vec!["cancels".to_owned()],
            idempotency_key: Some(call.key),
            body: Body(Kind::Modification(Modification {
                payment_reference: Some(
                    Reference {
                        object_id: call.object_id,
                        key: follow_up.authorization_key,
                        operation: OperationKind::Authorization,
                    }
                    .to_string(),
                ),
                ..modification(call)
            })),
            expects: Expects::Receipt,
        }),
        (Some(_) | None, Held::Reserved(_)) | (None, Held::Taken(_)) => {
            Err(declines::not_sent("a reservation is cancelled as a whole"))
        }
    }
}

fn modify<'a>(
    call: &'a Call,
    step: &'static str,
    psp_reference: &str,
    what: &'static str,
    amount: Option<WireAmount>,
) -> Result<AdyenRequest<'a>, Decline> {
    Ok(AdyenRequest {
        step,
        path: vec!["payments".to_owned(), psp_reference.to_owned(), what.to_owned()],
        idempotency_key: Some(call.key),
        body: Body(Kind::Modification(Modification { amount, ..modification(call) })),
        expects: Expects::Receipt,
    })
}

fn modification(call: &Call) -> Modification<'_> {
    Modification {
        merchant_account: merchant_account(&call.credentials),
        reference: reference(call),
        amount: None,
        payment_reference: None,
    }
}

fn pay<'a>(call: &Call, payment: PaymentsBody<'a>, expects: Expects) -> AdyenRequest<'a> {
    AdyenRequest {
        step: "payments",
        path: vec!["payments".to_owned()],
        idempotency_key: Some(call.key),
        body: Body(Kind::Payment(Box::new(payment))),
        expects,
    }
}

fn amount(follow_up: &FollowUp) -> Result<WireAmount, Decline> {
    wire_amount(follow_up.amount, follow_up.currency)
}

fn wire_amount(amount: Amount, currency: Currency) -> Result<WireAmount, Decline> {
    let value = currency::to_provider(amount, currency);
    let value = value.ok_or_else(|| declines::not_sent("no parts of the currency's unit"))?;
    Ok(WireAmount { currency: currency.code(), value })
}

fn merchant_account(credentials: &Credentials) -> &str {
    credentials.expose("merchantAccount").unwrap_or_default()
}

fn reference(call: &Call) -> String {
    let Call { object_id, key, .. } = *call;
    Reference { object_id, key, operation: call.operation.kind() }.to_string()
}

/// An address that the provider demands and nobody goes to.
fn nowhere(call: &Call) -> &str {
    call.notify.as_ref().map_or(NOWHERE, |notify| &notify.service)
}

/// What is said of every payment.
fn terms<'a>(authorization: &'a Authorization) -> Result<Terms<'a>, Decline> {
    let facilitator =
        authorization.vendor.as_deref().and_then(|vendor| vendor.payment_facilitator_id.as_deref());
    let named = [
        ("providerReferenceKey", authorization.provider_reference_key.as_deref()),
        (vendor::FACILITATOR, facilitator),
    ];
    let cut = |text: &str| text.chars().take(METADATA_CHARS_MAX).collect();
    let metadata = named.into_iter().filter_map(|(name, text)| Some((name, cut(text?))));
    let mut terms = Terms {
        merchant_order_reference: authorization.order_id.as_deref(),
        metadata: metadata.collect(),
        sub_merchants: vendor::sub_merchants(authorization)?,
        shopper_statement: authorization.statement_descriptor.as_deref().and_then(statement),
        ..Terms::default()
    };
    match authorization.capture {
        CaptureMode::Automatic => terms.capture_delay_hours = Some(0),
        CaptureMode::Manual => {
            terms.additional_data.insert("manualCapture", "true".into());
        }
    }
    Ok(terms)
}

/// The text on the statement, with the characters that are allowed; `None` if nothing is left.
fn statement(text: &str) -> Option<String> {
    let is_allowed = |sign: &char| sign.is_ascii_alphanumeric() || " .,'_-?+*/".contains(*sign);
    let text: String = text.chars().filter(is_allowed).take(STATEMENT_CHARS_MAX).collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
