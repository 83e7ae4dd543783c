//! What is asked for with `POST /v1/receipts`.

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde_json::Value as Json;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::{ReceiptLanguage, ReceiptType};
use crate::id::ChargeId;
use crate::problems::Problems;
use crate::wire::{not_among, read_with, refused};

const TYPE: &str = "type";

/// A document that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewReceipt {
    /// The charge whose refunds it proves.
    pub charge_id: ChargeId,
    /// Which document.
    pub receipt_type: ReceiptType,
    /// Its language.
    pub language: ReceiptLanguage,
}

/// The same as it is sent.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewReceipt, rename_all = "camelCase", example = json!({
    "chargeId": "148d5db0-f1c3-439f-902d-f1f268086e1d", "type": "refund_receipt"
}))]
struct SentReceipt {
    /// The charge whose refunds the document proves.
    charge_id: ChargeId,
    /// Which document.
    #[deserr(rename = "type", default)]
    #[schema(rename = "type", required = true, value_type = ReceiptType)]
    receipt_type: Option<ReceiptType>,
    /// Its language, `pt-BR` by default.
    #[deserr(default)]
    language: Option<ReceiptLanguage>,
}

impl Deserr<Problems> for NewReceipt {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let sent: SentReceipt = read_with(value, location, |members, problems| {
            if members.get(TYPE).is_none_or(Json::is_null) {
                let rule = not_among(ReceiptType::WORDS.iter().map(|(word, _)| *word));
                problems.extend(refused(location.push_key(TYPE), rule));
            }
        })?;
        Ok(Self {
            charge_id: sent.charge_id,
            receipt_type: sent.receipt_type.unwrap_or(ReceiptType::RefundReceipt),
            language: sent.language.unwrap_or(ReceiptLanguage::PtBr),
        })
    }
}

impl PartialSchema for NewReceipt {
    fn schema() -> RefOr<Schema> {
        SentReceipt::schema()
    }
}

impl ToSchema for NewReceipt {
    fn name() -> Cow<'static, str> {
        SentReceipt::name()
    }

    fn schemas(found: &mut Vec<(String, RefOr<Schema>)>) {
        SentReceipt::schemas(found);
    }
}
