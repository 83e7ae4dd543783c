//! What a payer is told to do and what a provider says of a payment, as answers and events show it
//! (`docs/interface/charges.md#awaiting-the-payer`): one member for each payment method that has one of its own.

use regente_domain::charge::attempt::{Outcome, PaidAs, RequestGroup, TransactionRequest};
use regente_domain::charge::instructions::Instructions;
use regente_domain::charge::{Boleto, Drip, FollowUpKind, Nupay, PaymentMethod, Pix, expiry};
use regente_domain::time::Timestamp;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::Ref;

use crate::document_links::Addresses;

/// The members of a transaction request with what belongs to its payment method alone: one of them.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[schema(as = PaymentInstructions)]
pub struct InstructionsView {
    /// The code of a Pix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pix: Option<PixView>,
    /// The page of a NuPay, how it was paid, or the id of its refund.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nupay: Option<NupayView>,
    /// The page of a Drip, with what was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drip: Option<DripView>,
    /// The code of a PicPay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picpay: Option<PicpayView>,
    /// The line and the slip of a boleto.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boleto: Option<BoletoView>,
}

/// The code of a Pix, to scan or to copy.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PixInstructions)]
pub struct PixView {
    /// How long the payer has, in seconds.
    #[schema(example = 3600)]
    expires_in: u32,
    /// The code as text.
    pub qr_code_data: String,
    /// The code as a picture; absent when the service does not know its own address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qr_code_image_url: Option<String>,
}

/// A step of a NuPay. On a request of type `pending` the first two, on an `authorization` the next two, on a `void` the last.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NupayDetails)]
pub struct NupayView {
    /// After how many minutes it is canceled when nobody pays.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 30)]
    expires_in: Option<u32>,
    /// The page where the payer pays or refuses.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_url: Option<String>,
    /// In how many installments they have paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    installments_number: Option<u8>,
    /// From what they have paid, in the provider's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "debit")]
    payment_type: Option<String>,
    /// The provider's id of the refund.
    #[serde(skip_serializing_if = "Option::is_none")]
    refund_id: Option<String>,
}

/// The page of a Drip, with what was asked for.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DripInstructions)]
pub struct DripView {
    /// The page where the payer pays or refuses.
    pub payment_url: String,
    /// As sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    items: Option<Value>,
    /// The browser of the payer, for whoever may open it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = drip_browser)]
    pub browser: Option<Value>,
    /// Where the payer goes when they have paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    success_redirect_url: Option<String>,
    /// Where the payer goes when they have refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    cancel_redirect_url: Option<String>,
}

/// Requests describe it.
fn drip_browser() -> Ref {
    let mut browser = Ref::from_schema_name("DripBrowser");
    browser.description = "Not in events.".to_owned();
    browser
}

/// The code of a PicPay, to scan or to copy.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PicpayInstructions)]
pub struct PicpayView {
    /// When the code expires, in seconds since 1970.
    #[schema(example = 1_774_279_659)]
    pub expires_in: i64,
    /// The code as text.
    pub qr_code_data: String,
    /// The code as a picture; absent when the service does not know its own address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qr_code_image_url: Option<String>,
}

/// What a payer of a boleto needs.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BoletoInstructions)]
pub struct BoletoView {
    /// When it falls due.
    #[schema(format = Date, example = "2030-12-31")]
    expires_date: String,
    /// The line to type, 47 digits.
    pub barcode_data: String,
    /// The slip as a PDF file; absent when the service does not know its own address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub barcode_image_url: Option<String>,
}

impl InstructionsView {
    /// What a request says of its payment method; `None` when it says nothing.
    pub fn of(method: &PaymentMethod, request: &TransactionRequest, addresses: &Addresses) -> Option<Self> {
        let given = || request.pending().map(|pending| &pending.instructions);
        let nothing = Self::default();
        Some(match method {
            PaymentMethod::Pix(pix) => Self { pix: Some(PixView::of(pix, given()?, addresses)?), ..nothing },
            PaymentMethod::Boleto(boleto) => {
                Self { boleto: Some(BoletoView::of(boleto, given()?, addresses)?), ..nothing }
            }
            PaymentMethod::Nupay(nupay) => Self { nupay: Some(NupayView::of(nupay, request)?), ..nothing },
            PaymentMethod::Drip(drip) => Self { drip: Some(DripView::of(drip, given()?)?), ..nothing },
            PaymentMethod::Picpay(_) => {
                Self { picpay: Some(PicpayView::of(expiry(request), given()?, addresses)?), ..nothing }
            }
            PaymentMethod::Credit(_)
            | PaymentMethod::Debit(_)
            | PaymentMethod::Voucher(_)
            | PaymentMethod::ApplePay(_)
            | PaymentMethod::ClickToPay(_) => return None,
        })
    }
}

impl DripView {
    fn of(drip: &Drip, instructions: &Instructions) -> Option<Self> {
        Some(Self {
            payment_url: page(instructions)?.to_owned(),
            items: drip.items.as_deref().cloned(),
            browser: None,
            success_redirect_url: drip.success_redirect_url.clone(),
            cancel_redirect_url: drip.cancel_redirect_url.clone(),
        })
    }
}

impl PicpayView {
    fn of(expires_at: Timestamp, instructions: &Instructions, addresses: &Addresses) -> Option<Self> {
        Some(Self {
            expires_in: expires_at.as_millis().div_euclid(1000),
            qr_code_data: code(instructions)?.to_owned(),
            qr_code_image_url: addresses.qr_code.clone(),
        })
    }
}

impl PixView {
    fn of(pix: &Pix, instructions: &Instructions, addresses: &Addresses) -> Option<Self> {
        Some(Self {
            expires_in: pix.expires_in,
            qr_code_data: code(instructions)?.to_owned(),
            qr_code_image_url: addresses.qr_code.clone(),
        })
    }
}

impl NupayView {
    fn of(nupay: &Nupay, request: &TransactionRequest) -> Option<Self> {
        match &request.outcome {
            Outcome::Pending(pending) => Some(Self {
                expires_in: Some(nupay.delay_to_auto_cancel),
                payment_url: Some(page(&pending.instructions)?.to_owned()),
                ..Self::default()
            }),
            Outcome::Accepted(reference) | Outcome::Approved(reference) => match request.request_type.group()
            {
                RequestGroup::Authorization(_) => reference.paid_as.as_deref().map(Self::paid),
                RequestGroup::FollowUp(FollowUpKind::Void) => {
                    let refund_id = Some(reference.transaction_id.clone()?);
                    Some(Self { refund_id, ..Self::default() })
                }
                RequestGroup::FollowUp(FollowUpKind::Capture)
                | RequestGroup::CardCheck
                | RequestGroup::Reversal(_)
                | RequestGroup::Authentication(_)
                | RequestGroup::Risk(_) => None,
            },
            Outcome::Open | Outcome::Declined(_) | Outcome::NoEffect(_) | Outcome::Analysed(_) => None,
        }
    }

    fn paid(PaidAs { installments_number, payment_type }: &PaidAs) -> Self {
        Self {
            installments_number: Some(*installments_number),
            payment_type: Some(payment_type.clone()),
            ..Self::default()
        }
    }
}

/// The page that the payer goes to.
fn page(instructions: &Instructions) -> Option<&str> {
    match instructions {
        Instructions::Redirect { url } => Some(url),
        Instructions::QrCode { .. }
        | Instructions::Challenge { .. }
        | Instructions::HostedChallenge { .. }
        | Instructions::Boleto(_) => None,
    }
}

/// The code that the payer scans or copies.
fn code(instructions: &Instructions) -> Option<&str> {
    match instructions {
        Instructions::QrCode { data } => Some(data),
        Instructions::Redirect { .. }
        | Instructions::Challenge { .. }
        | Instructions::HostedChallenge { .. }
        | Instructions::Boleto(_) => None,
    }
}

impl BoletoView {
    fn of(boleto: &Boleto, instructions: &Instructions, addresses: &Addresses) -> Option<Self> {
        match instructions {
            Instructions::Boleto(issued) => Some(Self {
                expires_date: boleto.due.to_string(),
                barcode_data: issued.barcode.line(),
                barcode_image_url: addresses.slip.clone(),
            }),
            Instructions::Redirect { .. }
            | Instructions::Challenge { .. }
            | Instructions::HostedChallenge { .. }
            | Instructions::QrCode { .. } => None,
        }
    }
}
