//! What a payer is told to do, as answers and events show it (`docs/interface/charges.md#awaiting-the-payer`): one
//! member for each payment method that has instructions of its own.

use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::instructions::Instructions;
use regente_domain::charge::{Boleto, PaymentMethod, Pix};
use serde::Serialize;

use crate::document_links::Addresses;

/// The member of a transaction request with the instructions.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum InstructionsView {
    /// Of a Pix.
    Pix(PixView),
    /// Of a boleto.
    Boleto(BoletoView),
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
    /// The instructions that a request gave the payer; `None` when it gave none, or none with a member of their own.
    pub fn of(method: &PaymentMethod, request: &TransactionRequest, addresses: &Addresses) -> Option<Self> {
        let instructions = &request.pending()?.instructions;
        match method {
            PaymentMethod::Pix(pix) => PixView::of(pix, instructions, addresses).map(Self::Pix),
            PaymentMethod::Boleto(boleto) => {
                BoletoView::of(boleto, instructions, addresses).map(Self::Boleto)
            }
            PaymentMethod::Credit(_) | PaymentMethod::Debit(_) | PaymentMethod::Voucher(_) => None,
        }
    }
}

impl InstructionsView {
    /// The code of a Pix.
    pub fn qr_code(self) -> Option<QrCodeView> {
        match self {
            Self::Pix(pix) => Some(pix.code),
            Self::Boleto(_) => None,
        }
    }

    /// The bar code of a boleto.
    pub fn barcode(self) -> Option<BarcodeView> {
        match self {
            Self::Boleto(boleto) => Some(boleto.barcode),
            Self::Pix(_) => None,
        }
    }
}

impl PixView {
    fn of(pix: &Pix, instructions: &Instructions, addresses: &Addresses) -> Option<Self> {
        let code = QrCodeView::of(instructions, addresses)?;
        Some(Self { expires_in: pix.expires_in, code })
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
