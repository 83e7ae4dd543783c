//! `POST /v1/charges`: parses the body into values that are always valid (`docs/interface/charges.md#creating`).

mod authentication;
mod boleto;
mod method;
mod source;
mod wallet;

use regente_domain::charge::{CaptureMode, PaymentType, References};
use regente_domain::currency::Currency;
use regente_domain::id::{CustomerId, MerchantId, SessionId, TokenId};
use regente_domain::money::Amount;
use regente_domain::split::SplitRule;
use regente_domain::text::chars_max;
use regente_domain::vendor::NamedVendor;
use regente_engine::card_data::wallets::Wallet;
use regente_engine::flows::attempt::SANDBOX_FAULTS;
use regente_engine::flows::authentication::THREE_D_SECURE;
use regente_providers::authentication::ThreeDSecure;
use regente_providers::request::Mode;
use regente_providers::sandbox;
use serde_json::{Map, Value};

pub use self::authentication::parsed_address;
use self::authentication::read_address;
pub(in crate::api) use self::method::NUPAY_RECIPIENTS;
pub(super) use self::method::{CardMethod, DRIP_BROWSER, PayerMethod, VOUCHER_CUSTOMER, WalletMethod};
use self::method::{Method, read_method};
pub(super) use self::source::{AddressRule, CardOwner, Payer, Source, SourceType, WALLET_SOURCE};
pub use self::source::{CodeRule, InlineCard, read_card, read_cvv, read_expiry};
use self::source::{read_payer, read_source};
use self::wallet::{read_wallet, shown};
use crate::api::fields::{Field, Fields};
use crate::api::split_rules;
use crate::api::vendors::read_named;

/// The most bytes of one free-form JSON member.
const FREE_FORM_BYTES_MAX: usize = 16 * 1024;
/// The member with data for risk analysis, also of the sealed data.
pub const FRAUD_ANALYSIS: &str = "fraudAnalysis";
/// The member with what is in the cart.
const CART_ITEMS: &str = "fraudAnalysis.cart.items";
/// The member of the sealed data with what a wallet has handed out, as answers repeat it.
pub const WALLET: &str = "wallet";
/// Bytes of fraud analysis data.
pub(super) const FRAUD_ANALYSIS_BYTES_MAX: usize = 64 * 1024;
/// Items of a cart.
const ITEMS_MAX: usize = 1000;

/// A parsed request for a charge.
pub struct ChargeRequest {
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The session that it pays.
    pub session_id: Option<SessionId>,
    /// The amount to charge.
    pub amount: Amount,
    /// The currency of the amount.
    pub currency: Currency,
    /// Whether the amount is captured at once.
    pub capture: CaptureMode,
    /// The merchant's reference.
    pub order_id: Option<String>,
    /// The buyer.
    pub customer_id: Option<CustomerId>,
    /// How it is paid, and with what.
    pub paid: Paid,
    /// The authentication of the cardholder.
    pub authentication: Option<Box<ThreeDSecure>>,
    /// How it is divided among sellers, without ids.
    pub split_rules: Vec<SplitRule>,
    /// Statement text, description and references.
    pub references: References,
    /// In whose name it is taken.
    pub vendor: Option<Box<NamedVendor>>,
    /// Personal data that is sealed: fraud analysis, the buyer of a voucher, what a wallet has handed out.
    pub private: Map<String, Value>,
}

impl ChargeRequest {
    /// The same request, whose cardholder is authenticated.
    pub(super) fn authenticated(mut self, data: ThreeDSecure) -> Self {
        let sealed = serde_json::to_value(&data).ok();
        self.private.extend(sealed.map(|sealed| (THREE_D_SECURE.to_owned(), sealed)));
        self.authentication = Some(Box::new(data));
        self
    }
}

/// How a charge is paid, and with what.
pub enum Paid {
    /// With a card.
    ByCard(CardMethod, Source),
    /// By a payer who follows the instructions of a provider.
    ByPayer(PayerMethod, Payer),
    /// With what a wallet has handed out.
    ByWallet(WalletMethod, Wallet),
}

impl Paid {
    /// The word of the interface.
    pub const fn payment_type(&self) -> PaymentType {
        match self {
            Self::ByCard(method, _) => method.payment_type(),
            Self::ByPayer(method, _) => method.payment_type(),
            Self::ByWallet(method, _) => method.payment_type(),
        }
    }

    /// Number of installments, 1 where there are none.
    pub const fn installments(&self) -> u8 {
        match self {
            Self::ByCard(method, _) => method.installments(),
            Self::ByPayer(..) => 1,
            Self::ByWallet(method, _) => method.installments(),
        }
    }

    /// The card token, when the source is one.
    pub const fn token_id(&self) -> Option<TokenId> {
        match self {
            Self::ByCard(_, source) => source.token_id(),
            Self::ByPayer(..) | Self::ByWallet(..) => None,
        }
    }

    /// Whether the provider must be told what is in the cart.
    const fn needs_cart(&self) -> bool {
        match self {
            Self::ByPayer(PayerMethod::Nupay(_), _) => true,
            Self::ByPayer(
                PayerMethod::Pix { .. } | PayerMethod::Boleto(_) | PayerMethod::Drip(_) | PayerMethod::Picpay,
                _,
            )
            | Self::ByCard(..)
            | Self::ByWallet(..) => false,
        }
    }

    const fn authentication(&self) -> AuthenticationRule {
        match self {
            Self::ByCard(CardMethod::Debit { .. }, _) => AuthenticationRule::Required,
            Self::ByCard(CardMethod::Credit { .. }, _) => AuthenticationRule::Optional,
            Self::ByCard(CardMethod::Voucher { .. }, _) | Self::ByPayer(..) | Self::ByWallet(..) => {
                AuthenticationRule::Impossible
            }
        }
    }

    fn read(fields: &Fields<'_>, method: Method) -> Option<Self> {
        let source = fields.required("paymentSource");
        match method {
            Method::Card(method) => {
                let source = source.object(|source| read_source(source, method.code_rule()));
                source.map(|source| Self::ByCard(method, source))
            }
            Method::Payer(method) => {
                let payer = source.object(|source| read_payer(source, method.address_rule()));
                payer.map(|payer| Self::ByPayer(method, payer))
            }
            Method::Wallet(method) => {
                let wallet = source.object(|source| read_wallet(source, &method));
                wallet.map(|wallet| Self::ByWallet(method, wallet))
            }
        }
    }
}

/// Whether the cardholder of a charge is authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AuthenticationRule {
    /// He is.
    Required,
    /// He is when the merchant wants it.
    Optional,
    /// There is no way to do it.
    Impossible,
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

/// Parses the body; every problem is noted with its path.
pub fn read(fields: &Fields<'_>, mode: Mode) -> Option<ChargeRequest> {
    let merchant_id = fields.required("merchantId").id();
    let amount = fields.required("amount").positive_amount();
    let currency = or_default(fields, "currency", Currency::BRL, |field| field.currency());
    let capture = or_default(fields, "capture", false, |field| field.boolean());
    let order_id = fields.optional("orderId").verbatim().text(chars_max::LINE);
    let customer_id = fields.optional("customerId").id();
    let method = fields.required("paymentMethod").object(|method| read_method(method, mode));
    let (paid, mut private) = match method {
        Some((method, private)) => (Paid::read(fields, method), private),
        None => {
            // Notes the problems of the source as well.
            fields.required("paymentSource").object(|source| read_source(source, CodeRule::Required));
            (None, Map::new())
        }
    };
    let split_rules = split_rules::read(fields, amount);
    let references = read_references(fields, mode);
    let vendor = read_named(fields);
    let fraud_analysis = fields.optional(FRAUD_ANALYSIS).object(read_fraud_analysis);
    let authentication = fields.optional(THREE_D_SECURE).object(|data| authentication::read(data, mode));
    match paid.as_ref().map(Paid::authentication) {
        Some(AuthenticationRule::Required) if !fields.has(THREE_D_SECURE) => {
            fields.problem(THREE_D_SECURE, "should not be empty: a debit card is authenticated");
        }
        Some(AuthenticationRule::Required) => {
            if let Some(data) = &authentication {
                must_authenticate(fields, data);
            }
        }
        Some(AuthenticationRule::Impossible) if fields.has(THREE_D_SECURE) => {
            fields.problem(THREE_D_SECURE, "must be absent for this paymentType");
        }
        Some(_) | None => {}
    }
    let has_cart = fraud_analysis.as_ref().is_some_and(has_cart_items);
    if paid.as_ref().is_some_and(Paid::needs_cart) && !has_cart {
        fields.problem(CART_ITEMS, "should not be empty: a nupay shows them to the payer");
    }
    private.extend(fraud_analysis.map(|data| (FRAUD_ANALYSIS.to_owned(), Value::Object(data))));
    if let Some(Paid::ByWallet(_, wallet)) = &paid {
        private.insert(WALLET.to_owned(), shown(wallet));
    }
    let request = ChargeRequest {
        merchant_id: merchant_id?,
        session_id: None,
        amount: amount?,
        currency: currency?,
        capture: CaptureMode::from_flag(capture?),
        order_id,
        customer_id,
        paid: paid?,
        authentication: None,
        split_rules: split_rules?,
        references,
        vendor,
        private,
    };
    Some(match authentication {
        Some(data) => request.authenticated(data),
        None => request,
    })
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
    let metadata = flow.required("metadata").raw_object(FREE_FORM_BYTES_MAX)?;
    if let (Mode::Sandbox, Some(faults)) = (mode, metadata.get(SANDBOX_FAULTS)) {
        let path = format!("paymentFlow.metadata.{SANDBOX_FAULTS}");
        if let Err(problems) = sandbox::validate(faults, &path) {
            flow.problems(problems);
        }
    }
    Some(Value::Object(metadata))
}

/// Whether the data for risk analysis say what is in the cart.
fn has_cart_items(data: &Map<String, Value>) -> bool {
    match data.get("cart").and_then(|cart| cart.get("items")) {
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Object(item)) => !item.is_empty(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => false,
    }
}

/// Reads data for risk analysis: free-form, but known members are checked.
pub fn read_fraud_analysis(fields: &Fields<'_>) -> Option<Map<String, Value>> {
    fields.optional("sla").integer(0..=i64::from(i32::MAX));
    fields.optional("customer").raw_object(FRAUD_ANALYSIS_BYTES_MAX);
    fields.optional("cart").object(|cart| {
        cart.optional("items").one_or_many(0..=ITEMS_MAX, |item| item.raw_object(FREE_FORM_BYTES_MAX));
        Some(())
    });
    if serde_json::to_string(fields.members()).map_or(0, |text| text.len()) > FRAUD_ANALYSIS_BYTES_MAX {
        fields.problem_here(format!("must not be larger than {FRAUD_ANALYSIS_BYTES_MAX} bytes"));
    }
    Some(fields.taken())
}
