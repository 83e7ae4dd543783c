//! The methods whose payer is sent to a page or to an application, as they are sent.

use regente_domain::charge::{
    DELAY_TO_AUTO_CANCEL_MINUTES, DELAY_TO_AUTO_CANCEL_MINUTES_MAX, Nupay, PayerSource, PaymentMethod,
};
use regente_domain::money::Amount;
use regente_domain::text::chars_max;
use regente_providers::request::Mode;
use serde_json::{Value, json};

use super::super::{or_default, read_address};
use super::{Method, MethodRead, PayerMethod};
use crate::api::fields::Fields;

/// The sealed recipients of a NuPay.
pub(in crate::api::charges) const NUPAY_RECIPIENTS: &str = "nupayRecipients";
/// Recipients of a NuPay.
const RECIPIENTS_MAX: usize = 100;

/// What a merchant says of a NuPay.
pub struct NupayTerms {
    delay_to_auto_cancel: u32,
    order_url: Option<String>,
    return_url: Option<String>,
    cancel_url: Option<String>,
    tax_value: Option<Amount>,
}

impl NupayTerms {
    /// The method with its resolved payer.
    pub(super) fn paid_by(self, source: PayerSource) -> PaymentMethod {
        let Self { delay_to_auto_cancel, order_url, return_url, cancel_url, tax_value } = self;
        PaymentMethod::Nupay(Box::new(Nupay {
            source,
            delay_to_auto_cancel,
            order_url,
            return_url,
            cancel_url,
            tax_value,
        }))
    }
}

pub(super) fn read_nupay(fields: &Fields<'_>, mode: Mode) -> Option<MethodRead> {
    let minutes = or_default(fields, "delayToAutoCancel", DELAY_TO_AUTO_CANCEL_MINUTES, |field| {
        let minutes = field.integer(1..=i64::from(DELAY_TO_AUTO_CANCEL_MINUTES_MAX))?;
        u32::try_from(minutes).ok()
    });
    let address = |name| read_address(fields.optional(name), mode);
    let (order_url, return_url, cancel_url) =
        (address("orderUrl"), address("returnUrl"), address("cancelUrl"));
    let tax_value = fields.optional("taxValue").amount();
    let recipients =
        fields.optional("recipients").array(0..=RECIPIENTS_MAX, |field| field.object(read_recipient));
    let recipients = recipients.map(|recipients| (NUPAY_RECIPIENTS.to_owned(), Value::Array(recipients)));
    let terms = NupayTerms { delay_to_auto_cancel: minutes?, order_url, return_url, cancel_url, tax_value };
    Some((Method::ByPayer(PayerMethod::Nupay(terms)), recipients.into_iter().collect()))
}

/// Who gets a part of the money.
fn read_recipient(fields: &Fields<'_>) -> Option<Value> {
    let text = |name| fields.required(name).non_empty_text(chars_max::LINE);
    let (reference_id, name, document) = (text("referenceId"), text("name"), text("document"));
    let amount = fields.required("amount").positive_amount();
    Some(json!({ "referenceId": reference_id?, "name": name?, "document": document?, "amount": amount? }))
}
