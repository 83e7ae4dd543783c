//! `POST /v1/charges`: reads the body into an order, whose values are always valid (`docs/interface/charges.md#creating`).

mod authentication;
mod boleto;
mod method;
mod source;
mod wallet;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::References;
use regente_domain::charge::sent::{FraudAnalysis, PaymentFlow};
use regente_domain::currency::Currency;
use regente_domain::problems::Problems;
use regente_domain::text::chars_max;
use regente_engine::anti_fraud::FRAUD_ANALYSIS;
use regente_engine::authentication::THREE_D_SECURE;
use regente_engine::charges::{AuthenticationRule, Buyer, ChargeOrder, CodeRule, Origin, PaidBy};
use regente_engine::transaction_requests::call::SANDBOX_FAULTS;
use regente_providers::authentication::ThreeDSecure;
use regente_providers::request::Mode;
use regente_providers::sandbox;
use serde_json::{Map, Value};

pub(super) use self::authentication::ShiftRule;
pub use self::authentication::parsed_address;
use self::authentication::read_address;
pub(in crate::api) use self::method::NUPAY_RECIPIENTS;
pub(super) use self::method::{DRIP_BROWSER, Method, MethodRead, VOUCHER_CUSTOMER, read_method};
pub(super) use self::source::{SourceType, WALLET_SOURCE};
use self::source::{read_payer, read_source};
use self::wallet::{read_wallet, shown};
use crate::api::fields::{Field, Fields};
use crate::api::split_rules;
use crate::api::vendors::read_named;

/// The most bytes of one free-form JSON member.
const FREE_FORM_BYTES_MAX: usize = 16 * 1024;
/// The member with the payment method.
pub(super) const PAYMENT_METHOD: &str = "paymentMethod";
/// The member with what is in the cart.
const CART_ITEMS: &str = "fraudAnalysis.cart.items";
/// The member of the sealed data with what a wallet has handed out, as answers repeat it.
pub const WALLET: &str = "wallet";

/// How a charge is paid as its body says, and what of that is sealed. A payment of a session says it in the same way.
pub(super) struct SentPayment {
    paid_by: Option<PaidBy>,
    private: Map<String, Value>,
}

impl SentPayment {
    /// Reads what pays by this method.
    pub(super) fn read(fields: &Fields<'_>, method: Option<MethodRead>) -> Self {
        match method {
            Some((method, private)) => Self { paid_by: read_paid_by(fields, method), private },
            None => {
                // Notes the problems of the source as well.
                fields.required("paymentSource").object(|source| read_source(source, CodeRule::Required));
                Self { paid_by: None, private: Map::new() }
            }
        }
    }

    /// Checks that authentication and data for risk analysis go with how it is paid. Answers that, and what is sealed.
    pub(super) fn complete(
        self,
        fields: &Fields<'_>,
        risk_data: Option<Map<String, Value>>,
        authentication: &SentAuthentication,
    ) -> Option<(PaidBy, Map<String, Value>)> {
        let Self { paid_by, mut private } = self;
        if let Some(paid_by) = &paid_by {
            authentication.must_suit(fields, paid_by.authentication_rule());
            if paid_by.needs_cart() && !risk_data.as_ref().is_some_and(has_cart_items) {
                fields.problem(CART_ITEMS, "should not be empty: a nupay shows them to the payer");
            }
        }
        private.extend(risk_data.map(|data| (FRAUD_ANALYSIS.to_owned(), Value::Object(data))));
        if let Some(PaidBy::Wallet(_, wallet)) = &paid_by {
            private.insert(WALLET.to_owned(), shown(wallet));
        }
        Some((paid_by?, private))
    }
}

fn read_paid_by(fields: &Fields<'_>, method: Method) -> Option<PaidBy> {
    let source = fields.required("paymentSource");
    match method {
        Method::Card(method) => {
            let card = source.object(|source| read_source(source, method.code_rule()));
            card.map(|card| PaidBy::Card(method, card))
        }
        Method::Payer(method) => {
            let payer = source.object(|source| read_payer(source, method.address_rule()));
            payer.map(|payer| PaidBy::Payer(method, payer))
        }
        Method::Wallet(method) => {
            let wallet = source.object(|source| read_wallet(source, &method));
            wallet.map(|wallet| PaidBy::Wallet(method, wallet))
        }
    }
}

/// `threeDSecure2` of a body.
pub(super) enum SentAuthentication {
    /// It is not there, or does not count.
    Absent,
    /// Its data; `None` when they are wrong.
    Sent(Option<Box<ThreeDSecure>>),
}

impl SentAuthentication {
    pub(super) fn read(fields: &Fields<'_>, mode: Mode, shift: ShiftRule) -> Self {
        match fields.has(THREE_D_SECURE) {
            true => Self::Sent(
                fields
                    .optional(THREE_D_SECURE)
                    .object(|data| authentication::read(data, mode, shift).map(Box::new)),
            ),
            false => Self::Absent,
        }
    }

    /// The order with these data, if there are any.
    pub(super) fn of(self, order: ChargeOrder) -> ChargeOrder {
        match self {
            Self::Sent(Some(data)) => order.authenticated(data),
            Self::Sent(None) | Self::Absent => order,
        }
    }

    fn must_suit(&self, fields: &Fields<'_>, rule: AuthenticationRule) {
        match (rule, self) {
            (AuthenticationRule::Required, Self::Absent) => {
                fields.problem(THREE_D_SECURE, "should not be empty: a debit card is authenticated");
            }
            (AuthenticationRule::Required, Self::Sent(Some(data))) => must_authenticate(fields, data),
            (AuthenticationRule::Impossible, Self::Sent(_)) => {
                fields.problem(THREE_D_SECURE, "must be absent for this paymentType");
            }
            (AuthenticationRule::Required, Self::Sent(None))
            | (AuthenticationRule::Impossible, Self::Absent)
            | (AuthenticationRule::Optional, Self::Absent | Self::Sent(_)) => {}
        }
    }
}

/// A debit card is authenticated: to share data is not enough, and a result from outside says that it was done.
fn must_authenticate(fields: &Fields<'_>, data: &ThreeDSecure) {
    if data.data_only == Some(true) {
        fields.problem("threeDSecure2.dataOnly", "must be false: a debit card is authenticated");
    }
    if let Some(mpi) = &data.mpi {
        if !mpi.says_authenticated() {
            fields.problem("threeDSecure2.mpi.transStatus", "must be Y or A: a debit card is authenticated");
        }
        if mpi.proof().is_none() && data.requires_liability_shift != Some(true) {
            fields.problem("threeDSecure2.mpi.cavv", "should not be empty: a debit card is authenticated");
        }
    }
}

/// Reads the order; every problem is noted with its path.
pub fn read(fields: &Fields<'_>, mode: Mode) -> Option<ChargeOrder> {
    let merchant_id = fields.required("merchantId").id();
    let amount = fields.required("amount").positive_amount();
    let currency = or_default(fields, "currency", Currency::BRL, |field| field.currency());
    let capture = or_default(fields, "capture", false, |field| field.boolean());
    let order_id = fields.optional("orderId").verbatim().text(chars_max::LINE);
    let customer_id = fields.optional("customerId").id();
    let method = fields.required(PAYMENT_METHOD).object(|method| read_method(method, mode));
    let payment = SentPayment::read(fields, method);
    let split_rules = split_rules::read(fields, amount);
    let references = read_references(fields, mode);
    let vendor = read_named(fields);
    let risk_data = fields.optional(FRAUD_ANALYSIS).object(read_fraud_analysis);
    let authentication = SentAuthentication::read(fields, mode, ShiftRule::AsSent);
    let (paid_by, private) = payment.complete(fields, risk_data, &authentication)?;
    Some(authentication.of(ChargeOrder {
        origin: Origin::Request,
        merchant_id: merchant_id?,
        amount: amount?,
        currency: currency?,
        capture: CaptureMode::from_flag(capture?),
        order_id,
        buyer: customer_id.map(Buyer::Named),
        paid_by,
        authentication: None,
        split_rules: split_rules?,
        references,
        vendor,
        private,
    }))
}

/// Checks the terms of a method that a session offers: those of a charge that is paid by it. Answers what of them a charge
/// keeps sealed.
pub fn check_offer(fields: &Fields<'_>, mode: Mode) -> Option<Map<String, Value>> {
    read_method(fields, mode).map(|(_, private)| private)
}

/// An optional field with a default: absent gives the default, invalid gives `None`.
fn or_default<T>(
    fields: &Fields<'_>,
    name: &str,
    default: T,
    read: impl FnOnce(Field<'_>) -> Option<T>,
) -> Option<T> {
    if fields.has(name) { read(fields.optional(name)) } else { Some(default) }
}

fn read_references(fields: &Fields<'_>, mode: Mode) -> References {
    References {
        description: fields.optional("description").text(chars_max::FREE),
        statement_descriptor: fields.optional("statementDescriptor").text(chars_max::LINE),
        provider_reference_key: fields.optional("providerReferenceKey").verbatim().text(chars_max::LINE),
        flow_metadata: fields.optional("paymentFlow").object(|flow| read_flow_metadata(flow, mode)),
        app_info: fields.optional("appInfo").raw_object(FREE_FORM_BYTES_MAX).map(Value::Object),
    }
}

/// Reads free-form metadata; in the sandbox the simulator overrides in it are checked.
pub fn read_flow_metadata(flow: &Fields<'_>, mode: Mode) -> Option<Value> {
    let metadata = flow.read_as::<PaymentFlow>()?.metadata.into_members();
    if let Some(problems) = wrong_faults(&metadata, mode) {
        flow.problems(problems);
    }
    Some(Value::Object(metadata))
}

/// What is wrong with the simulator overrides in the metadata of a flow. They count in the sandbox alone.
pub fn wrong_faults(metadata: &Map<String, Value>, mode: Mode) -> Option<Problems> {
    let faults = metadata.get(SANDBOX_FAULTS).filter(|_| mode == Mode::Sandbox)?;
    sandbox::validate(faults, &format!("paymentFlow.metadata.{SANDBOX_FAULTS}")).err()
}

/// Whether the data for risk analysis say what is in the cart.
fn has_cart_items(data: &Map<String, Value>) -> bool {
    match data.get("cart").and_then(|cart| cart.get("items")) {
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Object(item)) => !item.is_empty(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => false,
    }
}

/// Reads data for risk analysis.
pub fn read_fraud_analysis(fields: &Fields<'_>) -> Option<Map<String, Value>> {
    fields.read_as().map(|FraudAnalysis(members)| members)
}
