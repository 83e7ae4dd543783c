//! Reads and writes the document of a charge: its members without a column. This release writes format 2, and also
//! reads format 1, which holds the facts of every payment method in one place and has no position in the route.

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::analysis::Screening;
use regente_domain::charge::authentication::Authentication;
use regente_domain::charge::{
    CardSource, Charge, Credit, OpenOperation, PaidOtherwise, PaymentMethod, Recurrence, References,
    SecurityCode, StateFacts, Voucher,
};
use regente_domain::id::{Id, PurchaseId, SessionId, SubscriptionId, of};
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::routing;
use regente_domain::routing::explanation::Explanation;
use regente_domain::split::Split;
use regente_domain::vendor::NamedVendor;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::free_form::FreeForm;
use crate::StoreError;
use crate::value::Json;

/// The format that this release writes.
const FORMAT: u32 = 2;

/// The document.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Doc {
    format: u32,
    /// Of format 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<PaymentMethod>,
    /// Of format 1.
    #[serde(default, skip_serializing)]
    payment: Option<FirstPayment>,
    /// Of format 1.
    #[serde(default, skip_serializing)]
    source: Option<CardSource>,
    capture: CaptureMode,
    #[serde(default)]
    references: References,
    #[serde(default)]
    free_form: FreeForm,
    explanation: Explanation,
    /// Of format 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    position: Option<usize>,
    requests: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open: Option<OpenOperation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    security_code: Option<SecurityCode>,
    /// What was charged back, where it is not all that was left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lost: Option<Amount>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    customer_alias: Option<Id<of::CustomerAlias>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    purchase_id: Option<PurchaseId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_id: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subscription_id: Option<SubscriptionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vendor: Option<Box<NamedVendor>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    authentication: Option<Box<Authentication>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    screening: Option<Box<Screening>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    split: Option<Box<Split>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    paid_otherwise: Option<PaidOtherwise>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// `payment` of format 1.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FirstPayment {
    installments: u8,
    #[serde(default)]
    recurrence: Option<Recurrence>,
}

/// The facts of a document.
pub(super) struct Facts {
    pub(super) method: PaymentMethod,
    pub(super) capture: CaptureMode,
    pub(super) references: References,
    pub(super) explanation: Explanation,
    pub(super) position: usize,
    pub(super) requests: i64,
    pub(super) state: StateFacts,
    pub(super) customer_alias: Option<Id<of::CustomerAlias>>,
    pub(super) purchase_id: Option<PurchaseId>,
    pub(super) session_id: Option<SessionId>,
    pub(super) subscription_id: Option<SubscriptionId>,
    pub(super) vendor: Option<Box<NamedVendor>>,
    pub(super) authentication: Option<Box<Authentication>>,
    pub(super) screening: Option<Box<Screening>>,
    pub(super) split: Option<Box<Split>>,
    pub(super) paid_otherwise: Option<PaidOtherwise>,
    pub(super) unknown_members: Map<String, Value>,
}

/// Whether the documents of both are equal. Members that are not compared have columns.
pub(super) fn is_same(before: &Charge, after: &Charge) -> bool {
    let Charge {
        id: _,
        client_id: _,
        merchant_id: _,
        customer_id: _,
        customer_alias,
        order_id: _,
        method,
        amount: _,
        original_amount: _,
        paid_otherwise,
        currency: _,
        capture,
        references,
        state,
        explanation,
        position,
        requests,
        purchase_id,
        session_id,
        subscription_id,
        vendor,
        authentication,
        screening,
        split,
        unknown_members,
        version: _,
        updated_at: _,
    } = before;
    *method == after.method
        && *capture == after.capture
        && *references == after.references
        && *explanation == after.explanation
        && *position == after.position
        && *requests == after.requests
        && state.facts() == after.state.facts()
        && *customer_alias == after.customer_alias
        && *purchase_id == after.purchase_id
        && *session_id == after.session_id
        && *subscription_id == after.subscription_id
        && *vendor == after.vendor
        && *authentication == after.authentication
        && *screening == after.screening
        && *split == after.split
        && *paid_otherwise == after.paid_otherwise
        && *unknown_members == after.unknown_members
}

/// The document of a charge.
pub(super) fn write(charge: &Charge) -> Result<Json, StoreError> {
    let mut method = charge.method.clone();
    let (free_form, references) = FreeForm::apart(&mut method, &charge.references);
    let StateFacts { open, security_code, lost } = charge.state.facts();
    Json::of(&Doc {
        format: FORMAT,
        method: Some(method),
        payment: None,
        source: None,
        capture: charge.capture,
        references,
        free_form,
        explanation: charge.explanation.clone(),
        position: Some(charge.position),
        requests: charge.requests,
        open,
        security_code,
        lost,
        customer_alias: charge.customer_alias,
        purchase_id: charge.purchase_id,
        session_id: charge.session_id,
        subscription_id: charge.subscription_id,
        vendor: charge.vendor.clone(),
        authentication: charge.authentication.clone(),
        screening: charge.screening.clone(),
        split: charge.split.clone(),
        paid_otherwise: charge.paid_otherwise,
        unknown: charge.unknown_members.clone(),
    })
}

/// Reads a document; `None` when it is unreadable. `payment_type` comes from the column.
pub(super) fn read(text: &str, payment_type: PaymentType) -> Option<Facts> {
    let doc: Doc = serde_json::from_str(text).ok()?;
    let mut method = match (doc.method, doc.payment, doc.source) {
        (Some(method), _, _) => method,
        (None, Some(payment), Some(source)) => of_first_format(payment, source, payment_type)?,
        (None, _, _) => return None,
    };
    if method.payment_type() != payment_type {
        return None;
    }
    let mut references = doc.references;
    doc.free_form.give(&mut method, &mut references).ok()?;
    // In format 1 each request but the open one had asked one provider of the route.
    let tried = || usize::try_from(doc.requests - 1).unwrap_or(0);
    Some(Facts {
        method,
        capture: doc.capture,
        references,
        position: doc.position.unwrap_or_else(|| routing::position_after(&doc.explanation, tried())),
        explanation: doc.explanation,
        requests: doc.requests,
        state: StateFacts { open: doc.open, security_code: doc.security_code, lost: doc.lost },
        customer_alias: doc.customer_alias,
        purchase_id: doc.purchase_id,
        session_id: doc.session_id,
        subscription_id: doc.subscription_id,
        vendor: doc.vendor,
        authentication: doc.authentication,
        screening: doc.screening,
        split: doc.split,
        paid_otherwise: doc.paid_otherwise,
        unknown_members: doc.unknown,
    })
}

fn of_first_format(
    payment: FirstPayment,
    source: CardSource,
    payment_type: PaymentType,
) -> Option<PaymentMethod> {
    let FirstPayment { installments, recurrence } = payment;
    match payment_type {
        PaymentType::Credit => Some(PaymentMethod::Credit(Credit { source, installments, recurrence })),
        PaymentType::Voucher => Some(PaymentMethod::Voucher(Voucher { source, items: None })),
        PaymentType::Debit
        | PaymentType::Pix
        | PaymentType::Boleto
        | PaymentType::Nupay
        | PaymentType::Drip
        | PaymentType::Picpay
        | PaymentType::ApplePay
        | PaymentType::ClickToPay => None,
    }
}
