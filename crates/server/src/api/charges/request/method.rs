//! Reads the payment methods of a charge (`docs/interface/charges.md#payment-methods`). [`super::source`] reads what they
//! are paid with.

mod redirects;

use regente_domain::charge::{AdditionalInfo, EXPIRES_IN_SECONDS_MAX, Recurrence, WalletPayment};
use regente_domain::payment_type::{INSTALLMENTS_MAX, PaymentType};
use regente_domain::text::chars_max;
use regente_engine::charges::{CardMethod, PayerMethod, WalletMethod};
use regente_providers::request::Mode;
use serde_json::{Map, Value};

pub(in crate::api::charges) use self::redirects::DRIP_BROWSER;
pub(in crate::api) use self::redirects::NUPAY_RECIPIENTS;
use super::boleto::read_boleto;
use super::{FREE_FORM_BYTES_MAX, or_default};
use crate::api::fields::{Field, Fields};

/// The sealed buyer of a voucher.
pub(in crate::api::charges) const VOUCHER_CUSTOMER: &str = "voucherCustomer";

/// Items of a charge.
const ITEMS_MAX: usize = 1000;
/// Texts that the payer's bank shows.
const ADDITIONAL_INFO_MAX: usize = 50;

/// A payment method before its source is resolved.
pub(in crate::api::charges) enum Method {
    /// Paid by card.
    Card(CardMethod),
    /// Paid by a payer who follows the instructions of a provider.
    Payer(PayerMethod),
    /// Paid with what a wallet has handed out.
    Wallet(WalletMethod),
}

/// The payment methods of this release.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Credit,
    Debit,
    Voucher,
    Pix,
    Nupay,
    Drip,
    Picpay,
    ApplePay,
    ClickToPay,
    Boleto,
}

/// The methods by their words.
const METHODS: &[(&str, Word)] = &[
    (PaymentType::Credit.word(), Word::Credit),
    (PaymentType::Debit.word(), Word::Debit),
    (PaymentType::Voucher.word(), Word::Voucher),
    (PaymentType::Pix.word(), Word::Pix),
    (PaymentType::Nupay.word(), Word::Nupay),
    (PaymentType::Drip.word(), Word::Drip),
    (PaymentType::Picpay.word(), Word::Picpay),
    (PaymentType::ApplePay.word(), Word::ApplePay),
    (PaymentType::ClickToPay.word(), Word::ClickToPay),
    (PaymentType::Boleto.word(), Word::Boleto),
];

/// A method, with its members that name people: they are sealed, under these names.
pub(in crate::api::charges) type MethodRead = (Method, Map<String, Value>);

/// Reads the method, and its members that name people.
pub(in crate::api::charges) fn read_method(fields: &Fields<'_>, mode: Mode) -> Option<MethodRead> {
    match fields.required("paymentType").one_of(METHODS)? {
        Word::Credit => read_credit(fields).map(|method| (Method::Card(method), Map::new())),
        Word::Debit => {
            let installments = read_installments(fields);
            installments.map(|installments| (Method::Card(CardMethod::Debit { installments }), Map::new()))
        }
        Word::Voucher => read_voucher(fields),
        Word::Pix => read_pix(fields).map(|method| (Method::Payer(method), Map::new())),
        Word::Boleto => {
            read_boleto(fields).map(|boleto| (Method::Payer(PayerMethod::Boleto(boleto)), Map::new()))
        }
        Word::Nupay => redirects::read_nupay(fields, mode),
        Word::Drip => redirects::read_drip(fields, mode),
        Word::Picpay => Some((Method::Payer(PayerMethod::Picpay), Map::new())),
        Word::ApplePay => by_wallet(fields, WalletMethod::ApplePay),
        Word::ClickToPay => by_wallet(fields, WalletMethod::ClickToPay),
    }
}

fn by_wallet(fields: &Fields<'_>, method: fn(WalletPayment) -> WalletMethod) -> Option<MethodRead> {
    let installments = read_installments(fields)?;
    Some((Method::Wallet(method(WalletPayment { installments })), Map::new()))
}

fn read_credit(fields: &Fields<'_>) -> Option<CardMethod> {
    let installments = read_installments(fields);
    let recurrence = fields.optional("recurrence").one_of(Recurrence::WORDS);
    Some(CardMethod::Credit { installments: installments?, recurrence })
}

fn read_voucher(fields: &Fields<'_>) -> Option<MethodRead> {
    let installments = read_installments(fields);
    fields.optional("recurrence").one_of(Recurrence::WORDS);
    let items = read_free_items(fields.optional("items"));
    let customer = fields.optional("customer").object(check_buyer);
    let private = customer.map(|data| (VOUCHER_CUSTOMER.to_owned(), Value::Object(data)));
    installments.map(|_| (Method::Card(CardMethod::Voucher { items }), private.into_iter().collect()))
}

/// Checks the members of a voucher's buyer that are known, and keeps all as sent.
fn check_buyer(fields: &Fields<'_>) -> Option<Map<String, Value>> {
    for name in ["name", "email", "phone", "identityType", "identity"] {
        fields.optional(name).text(chars_max::NAME);
    }
    fields.optional("billingAddress").raw_object(FREE_FORM_BYTES_MAX);
    if serde_json::to_string(fields.members()).map_or(0, |text| text.len()) > FREE_FORM_BYTES_MAX {
        fields.problem_here(format!("must not be larger than {FREE_FORM_BYTES_MAX} bytes"));
    }
    Some(fields.taken())
}

fn read_pix(fields: &Fields<'_>) -> Option<PayerMethod> {
    let expires_in = fields.required("expiresIn").number(1..=i64::from(EXPIRES_IN_SECONDS_MAX));
    let additional_info =
        fields.optional("additionalInfo").array(0..=ADDITIONAL_INFO_MAX, |info| info.object(read_info));
    let items = read_items(fields.optional("items"));
    Some(PayerMethod::Pix {
        expires_in: u32::try_from(expires_in?).ok()?,
        additional_info: additional_info.unwrap_or_default(),
        items,
    })
}

fn read_info(fields: &Fields<'_>) -> Option<AdditionalInfo> {
    let name = fields.required("name").text(chars_max::LINE);
    let value = fields.required("value").text(chars_max::LINE);
    Some(AdditionalInfo { name: name?, value: value? })
}

fn read_installments(fields: &Fields<'_>) -> Option<u8> {
    or_default(fields, "installments", 1, |field| {
        field.integer(1..=i64::from(INSTALLMENTS_MAX)).and_then(|number| u8::try_from(number).ok())
    })
}

fn read_free_items(field: Field<'_>) -> Option<Value> {
    field
        .array(0..=ITEMS_MAX, |item| item.raw_object(FREE_FORM_BYTES_MAX).map(Value::Object))
        .map(Value::Array)
}

/// Reads items whose members are known: checked, and kept as sent. Some clients send numbers as texts.
fn read_items(field: Field<'_>) -> Option<Value> {
    field.array(0..=ITEMS_MAX, read_item).map(Value::Array)
}

/// As [`read_items`]; a single item may stand without an array.
pub(super) fn read_item_or_items(field: Field<'_>) -> Option<Value> {
    field.one_or_many(0..=ITEMS_MAX, read_item).map(Value::Array)
}

fn read_item(field: Field<'_>) -> Option<Value> {
    field.object(|item| {
        item.optional("id").text(chars_max::LINE);
        item.optional("title").text(chars_max::LINE);
        item.optional("unitPrice").read(number);
        item.optional("quantity").read(number);
        Some(Value::Object(item.taken()))
    })
}

/// A number of 0 or more, or its text.
fn number(value: &Value) -> Result<(), &'static str> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => String::new(),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, "0"));
    let is_digits = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    if is_digits(whole) && is_digits(fraction) { Ok(()) } else { Err("must be a number of 0 or more") }
}
