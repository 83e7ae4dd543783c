//! A boleto as its bank has registered it.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::{Barcode, LateCharges};

/// What a payer and their bank need to know of a boleto.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssuedBoleto {
    /// The bar code, with the line to type.
    pub barcode: Barcode,
    /// The name of the bank.
    pub bank_name: String,
    /// The beneficiary's branch and number at the bank, as printed.
    pub beneficiary_code: String,
    /// The bank's number of the boleto, as printed.
    pub our_number: String,
    /// When it falls due.
    pub due: Date,
    /// What is added when it is paid late.
    #[serde(default)]
    pub late_charges: LateCharges,
    /// The code by which it can be paid with Pix instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pix_code: Option<String>,
}
