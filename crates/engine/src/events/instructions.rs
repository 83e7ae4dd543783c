//! What a payer is told to do and what a provider says of a payment, as answers and events show it
//! (`docs/interface/charges.md#awaiting-the-payer`): one member for each payment method that has one of its own.

use regente_domain::charge::attempt::{Outcome, PaidAs, RequestGroup, TransactionRequest};
use regente_domain::charge::instructions::Instructions;
use regente_domain::charge::{Boleto, Drip, FollowUpKind, Nupay, PaymentMethod, Pix, expiry};
use regente_domain::time::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::document_links::Addresses;

/// The member of a transaction request with what belongs to its payment method alone.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum InstructionsView {
    /// Of a Pix.
    Pix(PixView),
    /// Of a boleto.
    Boleto(BoletoView),
    /// Of a NuPay.
    Nupay(NupayView),
    /// Of a Drip.
    Drip(DripView),
    /// Of a PicPay.
    Picpay(PicpayView),
}

/// The page where the payer of a Drip agrees to the installments.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DripView {
    /// The page.
    pub payment_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Value>,
    /// The browser of the payer, for whoever may open it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    success_redirect_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancel_redirect_url: Option<String>,
}

/// The code that the payer of a PicPay scans.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PicpayView {
    /// In seconds since 1970.
    expires_in: i64,
    /// The code itself.
    #[serde(flatten)]
    code: QrCodeView,
}

/// A step of a NuPay.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum NupayView {
    /// The payer goes to a page.
    #[serde(rename_all = "camelCase")]
    Instructed {
        /// After how many minutes it is canceled.
        expires_in: u32,
        /// The page.
        payment_url: String,
    },
    /// They have paid.
    Paid(PaidAs),
    /// The money is given back.
    #[serde(rename_all = "camelCase")]
    Refunded {
        /// The provider's id of that.
        refund_id: String,
    },
}

/// The code that a payer scans or copies.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PixView {
    expires_in: u32,
    /// The code itself.
    #[serde(flatten)]
    pub code: QrCodeView,
}

/// A QR code.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QrCodeView {
    qr_code_data: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    qr_code_image_url: Option<String>,
}

/// What a payer of a boleto needs.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BoletoView {
    expires_date: String,
    /// The bar code.
    #[serde(flatten)]
    pub barcode: BarcodeView,
}

/// The bar code of a boleto: the line to type, and the slip.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BarcodeView {
    barcode_data: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    barcode_image_url: Option<String>,
}

impl InstructionsView {
    /// What a request says of its payment method; `None` when it says nothing.
    pub fn of(method: &PaymentMethod, request: &TransactionRequest, addresses: &Addresses) -> Option<Self> {
        let instructions = request.pending().map(|pending| &pending.instructions);
        match method {
            PaymentMethod::Pix(pix) => PixView::of(pix, instructions?, addresses).map(Self::Pix),
            PaymentMethod::Boleto(boleto) => {
                BoletoView::of(boleto, instructions?, addresses).map(Self::Boleto)
            }
            PaymentMethod::Nupay(nupay) => NupayView::of(nupay, request).map(Self::Nupay),
            PaymentMethod::Drip(drip) => DripView::of(drip, instructions?).map(Self::Drip),
            PaymentMethod::Picpay(_) => {
                PicpayView::of(expiry(request), instructions?, addresses).map(Self::Picpay)
            }
            PaymentMethod::Credit(_)
            | PaymentMethod::Debit(_)
            | PaymentMethod::Voucher(_)
            | PaymentMethod::ApplePay(_)
            | PaymentMethod::ClickToPay(_) => None,
        }
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
        let code = QrCodeView::of(instructions, addresses)?;
        Some(Self { expires_in: expires_at.as_millis().div_euclid(1000), code })
    }
}

impl InstructionsView {
    /// The code of a Pix.
    pub fn qr_code(self) -> Option<QrCodeView> {
        match self {
            Self::Pix(pix) => Some(pix.code),
            Self::Boleto(_) | Self::Nupay(_) | Self::Drip(_) | Self::Picpay(_) => None,
        }
    }

    /// The bar code of a boleto.
    pub fn barcode(self) -> Option<BarcodeView> {
        match self {
            Self::Boleto(boleto) => Some(boleto.barcode),
            Self::Pix(_) | Self::Nupay(_) | Self::Drip(_) | Self::Picpay(_) => None,
        }
    }
}

impl PixView {
    fn of(pix: &Pix, instructions: &Instructions, addresses: &Addresses) -> Option<Self> {
        let code = QrCodeView::of(instructions, addresses)?;
        Some(Self { expires_in: pix.expires_in, code })
    }
}

impl NupayView {
    fn of(nupay: &Nupay, request: &TransactionRequest) -> Option<Self> {
        match &request.outcome {
            Outcome::Pending(pending) => {
                let payment_url = page(&pending.instructions)?.to_owned();
                Some(Self::Instructed { expires_in: nupay.delay_to_auto_cancel, payment_url })
            }
            Outcome::Accepted(reference) | Outcome::Approved(reference) => match request.request_type.group()
            {
                RequestGroup::Authorization(_) => reference.paid_as.as_deref().cloned().map(Self::Paid),
                RequestGroup::FollowUp(FollowUpKind::Void) => {
                    reference.transaction_id.clone().map(|refund_id| Self::Refunded { refund_id })
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

impl QrCodeView {
    fn of(instructions: &Instructions, addresses: &Addresses) -> Option<Self> {
        match instructions {
            Instructions::QrCode { data } => {
                let qr_code_image_url = addresses.qr_code.clone();
                Some(Self { qr_code_data: data.clone(), qr_code_image_url })
            }
            Instructions::Redirect { .. }
            | Instructions::Challenge { .. }
            | Instructions::HostedChallenge { .. }
            | Instructions::Boleto(_) => None,
        }
    }
}

impl BoletoView {
    fn of(boleto: &Boleto, instructions: &Instructions, addresses: &Addresses) -> Option<Self> {
        let barcode = BarcodeView::of(instructions, addresses)?;
        Some(Self { expires_date: boleto.due.to_string(), barcode })
    }
}

impl BarcodeView {
    fn of(instructions: &Instructions, addresses: &Addresses) -> Option<Self> {
        match instructions {
            Instructions::Boleto(issued) => {
                let barcode_image_url = addresses.slip.clone();
                Some(Self { barcode_data: issued.barcode.line(), barcode_image_url })
            }
            Instructions::Redirect { .. }
            | Instructions::Challenge { .. }
            | Instructions::HostedChallenge { .. }
            | Instructions::QrCode { .. } => None,
        }
    }
}
