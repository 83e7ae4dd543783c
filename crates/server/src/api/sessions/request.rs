//! Reads the bodies of sessions (`docs/interface/sessions.md#creating`).

use std::time::Duration;

use deserr::Deserr;
use regente_domain::currency::Currency;
use regente_domain::id::Id;
use regente_domain::local_day::end_of;
use regente_domain::money::Amount;
use regente_domain::payment_type::{INSTALLMENTS_MAX, PaymentType};
use regente_domain::problems::Problems;
use regente_domain::session::{Capacity, Item, OfferedMethod, Patch, Terms};
use regente_domain::text::chars_max;
use regente_domain::time::{Timestamp, parse_date};
use regente_domain::wire::{Integer, Text};
use regente_engine::sessions::create::NewSession;
use regente_engine::sessions::opened::Private;
use regente_engine::subscriptions::card_links::NewCardLink;
use regente_providers::request::Mode;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use uuid::Uuid;

use super::methods::{ChosenMethod, OfferedMethod as OfferedMethodSchema, OfferedThreeDs};
use crate::api::charges::methods::NewPaymentSource;
use crate::api::charges::request::{NUPAY_RECIPIENTS, check_offer, parsed_address};
use crate::api::charges::three_d_secure::NewThreeDSecure;
use crate::api::fields::{Field, Fields};
use crate::api::split_rules::{self, NewSplitRule, SPLIT_RULES};
use crate::api::vendors::{NamedVendorBody, read_named};

/// Items of a session.
const ITEMS_MAX: usize = 1000;
/// The fewest characters of a text on a statement.
const STATEMENT_CHARS_MIN: usize = 3;
const DUE_DATE: &str = "dueDate";
const MAX_PAYMENTS: &str = "maxPayments";

/// What a session is made of.
#[derive(ToSchema)]
#[schema(as = NewSession, rename_all = "camelCase", example = json!({
    "name": "Order 77", "merchantId": "7f8870a2-71c9-4ef0-a531-82000e00b7e1", "amount": 10000,
    "dueDate": "2030-10-25T09:28:45.000Z", "createLink": true,
    "paymentMethods": [{ "paymentType": "pix", "expiresIn": 3600 }, { "paymentType": "credit", "installments": 6 }],
    "items": [{ "name": "Shoe", "description": "Blue", "unitPrice": 10000, "quantity": 1, "tangible": true }]
}))]
#[expect(
    dead_code,
    reason = "describes the body for the OpenAPI document; the body itself is read field by field"
)]
pub struct NewSessionBody {
    /// The merchant whose providers process its charges.
    merchant_id: Uuid,
    /// How it can be paid; one entry for each method.
    #[schema(min_items = 1)]
    payment_methods: Vec<OfferedMethodSchema>,
    /// What is sold.
    #[schema(min_items = 1, max_items = 1000)]
    items: Vec<NewItemBody>,
    /// What a buyer pays, in the minor unit of the currency; by default the sum of the items.
    #[schema(minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    amount: Option<i64>,
    #[schema(value_type = Option<Currency>, default = "BRL")]
    currency: Option<String>,
    #[schema(max_length = 256)]
    name: Option<String>,
    #[schema(max_length = 2048)]
    description: Option<String>,
    /// The merchant's own reference; not unique.
    #[schema(max_length = 255)]
    order_id: Option<String>,
    /// Reference handed to the provider.
    #[schema(max_length = 255)]
    provider_reference_key: Option<String>,
    /// Text on the buyer's statement.
    #[schema(min_length = 3, max_length = 255)]
    statement_descriptor: Option<String>,
    /// Whether the amount is captured at once; otherwise it is only reserved.
    #[schema(default = true)]
    capture: Option<bool>,
    #[schema(default = true)]
    is_active: Option<bool>,
    /// When it can be paid no longer: from tomorrow on, by the days of São Paulo. A day means its end.
    due_date: Option<String>,
    /// Whether the answer has a `paymentLink`.
    #[schema(default = false)]
    create_link: Option<bool>,
    #[schema(default = false)]
    captcha_enabled: Option<bool>,
    /// How often it can be paid: once where it is absent, without limit at -1. Above 1 not with Pix or boleto.
    #[schema(minimum = -1, maximum = 99_999)]
    max_payments: Option<i64>,
    /// How its charges are divided among sellers; the rest is the merchant's.
    #[schema(max_items = 100)]
    split_rules: Option<Vec<NewSplitRule>>,
    /// In whose name its charges are taken.
    vendor: Option<NamedVendorBody>,
}

/// An item of a new session.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewSessionItem, rename_all = "camelCase")]
pub struct NewItemBody {
    name: Text<1, 256>,
    /// In the minor unit of the currency.
    unit_price: Amount,
    quantity: Integer<1, 1_000_000>,
    #[deserr(default)]
    description: Option<Text<0, 2048>>,
    #[deserr(default)]
    tangible: Option<bool>,
    #[deserr(default)]
    category_id: Option<Text<0, 255>>,
}

impl From<NewItemBody> for Item {
    fn from(new: NewItemBody) -> Self {
        Self {
            id: Id::new(Uuid::nil()),
            name: new.name.to_string(),
            description: new.description.as_deref().map(str::to_owned),
            unit_price: new.unit_price,
            quantity: new.quantity.get(),
            tangible: new.tangible,
            category_id: new.category_id.as_deref().map(str::to_owned),
        }
    }
}

/// What a merchant changes of a session.
#[derive(ToSchema)]
#[schema(as = SessionChanges, rename_all = "camelCase", example = json!({ "isActive": false }))]
#[expect(
    dead_code,
    reason = "describes the body for the OpenAPI document; the body itself is read field by field"
)]
pub struct SessionChangesBody {
    is_active: bool,
    /// From today on, by the days of São Paulo; null removes it.
    due_date: Option<String>,
    /// Of a session that can be paid several times.
    #[schema(minimum = -1, maximum = 99_999)]
    max_payments: Option<i64>,
    /// How later charges are divided among sellers; null or an empty list for no division.
    #[schema(max_items = 100)]
    split_rules: Option<Vec<NewSplitRule>>,
}

/// With what a buyer pays. Members that the session gives are ignored.
#[derive(ToSchema)]
#[schema(as = SessionPayment, rename_all = "camelCase", example = json!({
    "paymentMethod": { "paymentType": "credit", "installments": 2 },
    "paymentSource": { "sourceType": "token", "tokenId": "cc0b1e41-2936-45c5-947f-93995ffcdc00" }
}))]
#[expect(
    dead_code,
    reason = "describes the body for the OpenAPI document; the body itself is read field by field"
)]
pub struct PaymentBody {
    payment_method: ChosenMethod,
    payment_source: NewPaymentSource,
    /// The buyer, or an alias of one.
    customer_id: Option<Uuid>,
    /// Data for risk analysis; stored sealed.
    #[schema(value_type = Option<Object>)]
    fraud_analysis: Option<()>,
    /// Used where the session authenticates cardholders.
    three_d_secure2: Option<NewThreeDSecure>,
    /// Values for the conditions of smart flows.
    #[schema(value_type = Option<Object>)]
    payment_flow: Option<()>,
}

/// Parses the body; every problem is noted with its path.
pub(super) fn read(fields: &Fields<'_>, mode: Mode) -> Option<NewSession> {
    let merchant_id = fields.required("merchantId").id();
    let methods = fields
        .required("paymentMethods")
        .array(1..=OfferedMethod::TYPES.len(), |field| field.object(|method| read_offer(method, mode)));
    let methods = methods.map(|offers| {
        let (methods, private): (Vec<_>, Vec<_>) = offers.into_iter().unzip();
        refuse_repetitions(fields, &methods);
        (methods, Private { nupay_recipients: private.into_iter().flatten().next() })
    });
    let items =
        fields.required("items").array(1..=ITEMS_MAX, |item| item.read_as::<NewItemBody>().map(Item::from));
    let amount = match fields.has("amount") {
        true => fields.optional("amount").amount(),
        false => items.as_deref().and_then(|items| sum_of(fields, items)),
    };
    let currency = match fields.has("currency") {
        true => fields.optional("currency").currency(),
        false => Some(Currency::BRL),
    };
    let flag = |name: &str, default: bool| match fields.has(name) {
        true => fields.optional(name).boolean(),
        false => Some(default),
    };
    let (capture, is_active) = (flag("capture", true), flag("isActive", true));
    let (create_link, captcha_enabled) = (flag("createLink", false), flag("captchaEnabled", false));
    let text = |name: &str, most| fields.optional(name).text(most);
    let (name, description) = (text("name", chars_max::NAME), text("description", chars_max::FREE));
    let identifier = |name: &str| fields.optional(name).verbatim().text(chars_max::LINE);
    let (order_id, reference) = (identifier("orderId"), identifier("providerReferenceKey"));
    let statement_descriptor = text("statementDescriptor", chars_max::LINE);
    if statement_descriptor.as_ref().is_some_and(|text| text.chars().count() < STATEMENT_CHARS_MIN) {
        let rule = format!("must be longer than or equal to {STATEMENT_CHARS_MIN} characters");
        fields.problem("statementDescriptor", rule);
    }
    let due_at = read_due_date(fields.optional(DUE_DATE));
    let capacity = read_capacity(fields);
    let split_rules = split_rules::read(fields, amount);
    let vendor = read_named(fields);
    let (methods, private) = methods?;
    Some(NewSession {
        merchant_id: merchant_id?,
        amount: amount?,
        currency: currency?,
        order_id,
        is_active: is_active?,
        due_at,
        capacity: capacity?,
        terms: Terms {
            name,
            description,
            statement_descriptor,
            provider_reference_key: reference,
            capture: capture?,
            captcha_enabled: captcha_enabled?,
            create_link: create_link?,
            vendor,
            items: items?,
            methods,
            split_rules: split_rules?,
        },
        private,
    })
}

/// Parses a change.
pub(super) fn read_changes(fields: &Fields<'_>) -> Option<Patch> {
    let is_active = fields.required("isActive").boolean();
    let due_at = match fields.is_null(DUE_DATE) {
        true => Some(None),
        false => read_due_date(fields.optional(DUE_DATE)).map(Some),
    };
    let capacity = match fields.has(MAX_PAYMENTS) {
        true => Some(read_capacity(fields)?),
        false => None,
    };
    let split_rules = match fields.members().contains_key(SPLIT_RULES) {
        true => Some(split_rules::read(fields, None)?),
        false => None,
    };
    Some(Patch { is_active: is_active?, due_at, capacity, split_rules })
}

/// Parses the body of a link at which a buyer gives another card.
pub fn read_card_link(fields: &Fields<'_>) -> Option<NewCardLink> {
    let due_at = match fields.has(DUE_DATE) {
        true => Some(read_due_date(fields.optional(DUE_DATE))?),
        false => None,
    };
    let captcha_enabled = match fields.has("captchaEnabled") {
        true => fields.optional("captchaEnabled").boolean()?,
        false => false,
    };
    Some(NewCardLink { due_at, captcha_enabled })
}

/// A point in time, or a day of São Paulo, which means its last second.
fn read_due_date(field: Field<'_>) -> Option<Timestamp> {
    field.text_as("must be a valid ISO 8601 date string", |text| match parse_date(text) {
        Some(day) => Some(end_of(day) - Duration::from_secs(1)),
        None => Timestamp::parse(text),
    })
}

fn read_capacity(fields: &Fields<'_>) -> Option<Capacity> {
    let most = i64::from(Capacity::PAYMENTS_MAX);
    let number = fields.optional(MAX_PAYMENTS).integer(Capacity::UNLIMITED..=most);
    if fields.has(MAX_PAYMENTS) && number.is_none() {
        return None;
    }
    let capacity = Capacity::of(number);
    if capacity.is_none() {
        fields.problem(MAX_PAYMENTS, "must not be 0");
    }
    capacity
}

fn sum_of(fields: &Fields<'_>, items: &[Item]) -> Option<Amount> {
    let add = |sum: Amount, item: &Item| {
        let of_item = item.unit_price.minor_units().checked_mul(item.quantity)?;
        sum.plus(Amount::new(of_item)?)
    };
    let sum = items.iter().try_fold(Amount::ZERO, add);
    if sum.is_none() {
        fields.problem("items", format!("must not be worth more than {}", Amount::MINOR_UNITS_MAX));
    }
    sum
}

/// The methods that a session offers, with the terms of each.
const OFFERS: [(&str, (PaymentType, &[&str])); 6] = [
    (PaymentType::Credit.word(), (PaymentType::Credit, &["installments", "recurrence"])),
    (PaymentType::Pix.word(), (PaymentType::Pix, &["expiresIn"])),
    (PaymentType::Boleto.word(), (PaymentType::Boleto, &["expiresDate", "instructions", "interest", "fine"])),
    (PaymentType::Drip.word(), (PaymentType::Drip, &["successRedirectUrl", "cancelRedirectUrl"])),
    (
        PaymentType::Nupay.word(),
        (PaymentType::Nupay, &["orderUrl", "delayToAutoCancel", "returnUrl", "cancelUrl", "taxValue"]),
    ),
    (PaymentType::ClickToPay.word(), (PaymentType::ClickToPay, &["installments"])),
];

/// An offered method, and the recipients of a NuPay.
fn read_offer(fields: &Fields<'_>, mode: Mode) -> Option<(OfferedMethod, Option<Value>)> {
    let (payment_type, names) = fields.required("paymentType").one_of(&OFFERS)?;
    let recipients = check_offer(fields, mode)?.shift_remove(NUPAY_RECIPIENTS);
    let has_installments = names.contains(&"installments");
    if has_installments {
        fields.required("installments").integer(1..=i64::from(INSTALLMENTS_MAX))?;
    }
    let sent = |name: &&str| {
        let value = fields.members().get(*name)?;
        let address = value.as_str().filter(|_| OfferedMethod::is_address(name));
        let parsed = address.map(|text| parsed_address(text, mode).map_or(Value::Null, Value::String));
        Some(((*name).to_owned(), parsed.unwrap_or_else(|| value.clone())))
    };
    let mut terms: Map<String, Value> = names.iter().filter_map(sent).collect();
    terms.retain(|_, value| !value.is_null());
    if payment_type == PaymentType::Credit {
        let three_ds = fields.optional("threeDS").read_as::<OfferedThreeDs>().map(|demand| {
            let must_shift = demand.liability_shift_required.unwrap_or(true);
            json!({ "enabled": demand.enabled.unwrap_or(false), "liabilityShiftRequired": must_shift })
        });
        terms.extend(three_ds.map(|demand| ("threeDS".to_owned(), demand)));
    }
    Some((OfferedMethod { payment_type, terms }, recipients))
}

fn refuse_repetitions(fields: &Fields<'_>, methods: &[OfferedMethod]) {
    for (index, method) in methods.iter().enumerate() {
        if methods.iter().take(index).any(|earlier| earlier.payment_type == method.payment_type) {
            fields.problem(&format!("paymentMethods[{index}].paymentType"), "must not be there twice");
        }
    }
}
