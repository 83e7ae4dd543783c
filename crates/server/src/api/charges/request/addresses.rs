//! Addresses to which a browser is led. Which of them count, the mode says, which no struct knows: they are looked at in the members as
//! sent.

use deserr::ValuePointerRef;
use regente_domain::payment_type::PaymentType;
use regente_domain::problems::Problems;
use regente_domain::text::chars_max;
use regente_domain::wire::{CardData, refused};
use regente_engine::authentication::THREE_D_SECURE;
use regente_providers::request::Mode;
use serde_json::{Map, Value};
use url::Url;

use super::PAYMENT_METHOD;

const OF_AUTHENTICATION: [&str; 2] = ["redirectURL", "requestorURL"];

/// Writes the addresses in the body of a charge as the parser does, and notes those that are none.
pub(super) fn settle(members: &mut Map<String, Value>, mode: Mode, problems: &mut Problems) {
    let origin = ValuePointerRef::Origin;
    if let Some(Value::Object(method)) = members.get_mut(PAYMENT_METHOD) {
        settle_method(method, origin.push_key(PAYMENT_METHOD), mode, problems);
    }
    if let Some(Value::Object(data)) = members.get_mut(THREE_D_SECURE) {
        settle_named(data, &OF_AUTHENTICATION, (origin.push_key(THREE_D_SECURE), mode), problems);
    }
}

/// As [`settle`], of one method.
pub fn settle_method(
    method: &mut Map<String, Value>,
    at: ValuePointerRef<'_>,
    mode: Mode,
    problems: &mut Problems,
) {
    let payment_type = method.get("paymentType").and_then(Value::as_str).and_then(PaymentType::parse);
    let names: &[&str] = match payment_type {
        Some(PaymentType::Nupay) => &["orderUrl", "returnUrl", "cancelUrl"],
        Some(PaymentType::Drip) => &["successRedirectUrl", "cancelRedirectUrl"],
        Some(
            PaymentType::Credit
            | PaymentType::Debit
            | PaymentType::Voucher
            | PaymentType::Pix
            | PaymentType::Boleto
            | PaymentType::Picpay
            | PaymentType::ApplePay
            | PaymentType::ClickToPay,
        )
        | None => &[],
    };
    settle_named(method, names, (at, mode), problems);
}

fn settle_named(
    members: &mut Map<String, Value>,
    names: &[&str],
    (at, mode): (ValuePointerRef<'_>, Mode),
    problems: &mut Problems,
) {
    let rule = match mode {
        Mode::Sandbox => "must be an http:// or https:// address",
        Mode::Production => "must be an https:// address",
    };
    for name in names {
        let Some(Value::String(text)) = members.get_mut(*name) else { continue };
        let at = at.push_key(name);
        match parsed_address(text, mode) {
            None => problems.extend(refused(at, rule)),
            Some(address) => {
                let mut found = CardData::default();
                found.look_at(&Value::String(std::mem::replace(text, address)), at);
                problems.extend(found.into_problems());
            }
        }
    }
}

/// An address that a browser is sent to, as the parser writes it: `https`, in the sandbox also `http`, without a user. The parser leaves
/// out ends of lines and blanks and takes `\` for `/`: what was sent may be another address for whoever reads it next.
pub fn parsed_address(text: &str, mode: Mode) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let is_scheme = url.scheme() == "https" || (url.scheme() == "http" && mode == Mode::Sandbox);
    let is_anonymous = url.username().is_empty() && url.password().is_none();
    let is_good = is_scheme && url.has_host() && is_anonymous && url.as_str().len() <= chars_max::FREE;
    is_good.then(|| url.into())
}
