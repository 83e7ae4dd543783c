//! Reads the methods whose payer is sent to a page or to an application.

use regente_domain::charge::{
    DELAY_TO_AUTO_CANCEL_MINUTES, DELAY_TO_AUTO_CANCEL_MINUTES_MAX, DripTerms, MINUTES_TO_EXPIRE_MAX,
};
use regente_domain::payment_type::INSTALLMENTS_MAX;
use regente_domain::percentage::Percentage;
use regente_domain::text::chars_max;
use regente_engine::charges::{DripBody, NupayTerms, PayerMethod};
use regente_providers::request::Mode;
use serde_json::{Map, Value, json};

use super::super::{or_default, read_address};
use super::{Method, MethodRead, read_items};
use crate::api::fields::Fields;

/// The sealed recipients of a NuPay.
pub(in crate::api) const NUPAY_RECIPIENTS: &str = "nupayRecipients";
/// The sealed browser of the payer of a Drip.
pub(in crate::api::charges) const DRIP_BROWSER: &str = "dripBrowser";
/// Recipients of a NuPay.
const RECIPIENTS_MAX: usize = 100;

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
    Some((Method::Payer(PayerMethod::Nupay(terms)), recipients.into_iter().collect()))
}

/// Who gets a part of the money.
fn read_recipient(fields: &Fields<'_>) -> Option<Value> {
    let identifier = |name| fields.required(name).verbatim().non_empty_text(chars_max::LINE);
    let (reference_id, document) = (identifier("referenceId"), identifier("document"));
    let name = fields.required("name").non_empty_text(chars_max::LINE);
    let amount = fields.required("amount").positive_amount();
    Some(json!({ "referenceId": reference_id?, "name": name?, "document": document?, "amount": amount? }))
}

pub(super) fn read_drip(fields: &Fields<'_>, mode: Mode) -> Option<MethodRead> {
    let installments = |name| {
        let number = fields.optional(name).integer(1..=i64::from(INSTALLMENTS_MAX));
        number.and_then(|number| u8::try_from(number).ok())
    };
    let percentage = |name| {
        let hundredths = fields.optional(name).hundredths(0..=i64::from(Percentage::HUNDRED.hundredths()));
        hundredths.and_then(|number| u32::try_from(number).ok()).map(Percentage::from_hundredths)
    };
    let terms = DripTerms {
        max_installments: installments("maxInstallments"),
        total_installments: installments("totalInstallments"),
        first_installments_date: fields.optional("firstInstallmentsDate").date().map(|date| date.to_string()),
        fine_percentage: percentage("finePercentage"),
        interest_percentage: percentage("interestPercentage"),
        cancellation_fee_percentage: percentage("cancellationFeePercentage"),
    };
    let minutes = fields.optional("minutesToExpire").integer(1..=i64::from(MINUTES_TO_EXPIRE_MAX));
    let browser = fields.optional("browser").object(read_browser);
    let body = DripBody {
        terms,
        minutes_to_expire: minutes.and_then(|minutes| u32::try_from(minutes).ok()),
        items: read_items(fields.optional("items")),
        success_redirect_url: read_address(fields.optional("successRedirectUrl"), mode),
        cancel_redirect_url: read_address(fields.optional("cancelRedirectUrl"), mode),
    };
    let browser = browser.map(|browser| (DRIP_BROWSER.to_owned(), Value::Object(browser)));
    Some((Method::Payer(PayerMethod::Drip(Box::new(body))), browser.into_iter().collect()))
}

/// The browser of the payer.
fn read_browser(fields: &Fields<'_>) -> Option<Map<String, Value>> {
    let text = |name: &str| {
        let text = fields.optional(name).text(chars_max::LINE);
        text.map(|text| (name.to_owned(), Value::String(text)))
    };
    Some(["ipAddress", "browserFingerprint"].into_iter().filter_map(text).collect())
}
