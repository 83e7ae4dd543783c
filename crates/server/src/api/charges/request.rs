//! `POST /v1/charges`: parses the body into values that are always valid (`docs/interface/charges.md#creating`).

mod authentication;
mod boleto;
mod method;
mod source;

use regente_domain::charge::{CaptureMode, PaymentType, References};
use regente_domain::currency::Currency;
use regente_domain::id::{CustomerId, MerchantId, TokenId};
use regente_domain::money::Amount;
use regente_domain::text::chars_max;
use regente_engine::flows::attempt::SANDBOX_FAULTS;
use regente_engine::flows::authentication::THREE_D_SECURE;
use regente_providers::authentication::ThreeDSecure;
use regente_providers::request::Mode;
use regente_providers::sandbox;
use serde_json::{Map, Value, json};

pub(super) use self::method::{CardMethod, PayerMethod};
use self::method::{Method, read_method};
pub(super) use self::source::{CardOwner, Payer, Source, SourceType};
pub use self::source::{CodeRule, InlineCard, read_card, read_cvv, read_expiry};
use self::source::{read_payer, read_source};
use crate::api::fields::{Field, Fields};

/// The most bytes of one free-form JSON member.
const FREE_FORM_BYTES_MAX: usize = 16 * 1024;
/// The member with data for risk analysis, also of the sealed data.
pub const FRAUD_ANALYSIS: &str = "fraudAnalysis";
/// Bytes of fraud analysis data.
const FRAUD_ANALYSIS_BYTES_MAX: usize = 64 * 1024;
/// Items of a cart.
const ITEMS_MAX: usize = 1000;

/// A parsed request for a charge.
pub struct ChargeRequest {
    /// The merchant.
    pub merchant_id: MerchantId,
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
    /// Statement text, description and references.
    pub references: References,
    /// Personal data that is sealed: fraud analysis, and the buyer of a voucher.
    pub private: Map<String, Value>,
}

/// How a charge is paid, and with what.
pub enum Paid {
    /// With a card.
    ByCard(CardMethod, Source),
    /// By a payer who follows the instructions of a provider.
    ByPayer(PayerMethod, Payer),
}

impl Paid {
    /// The word of the interface.
    pub const fn payment_type(&self) -> PaymentType {
        match self {
            Self::ByCard(method, _) => method.payment_type(),
            Self::ByPayer(method, _) => method.payment_type(),
        }
    }

    /// Number of installments, 1 where there are none.
    pub const fn installments(&self) -> u8 {
        match self {
            Self::ByCard(method, _) => method.installments(),
            Self::ByPayer(..) => 1,
        }
    }

    /// The card token, when the source is one.
    pub const fn token_id(&self) -> Option<TokenId> {
        match self {
            Self::ByCard(_, source) => source.token_id(),
            Self::ByPayer(..) => None,
        }
    }

    const fn authentication(&self) -> AuthenticationRule {
        match self {
            Self::ByCard(CardMethod::Debit { .. }, _) => AuthenticationRule::Required,
            Self::ByCard(CardMethod::Credit { .. }, _) => AuthenticationRule::Optional,
            Self::ByCard(CardMethod::Voucher { .. }, _) | Self::ByPayer(..) => AuthenticationRule::Impossible,
        }
    }

    fn read(fields: &Fields<'_>, method: Method) -> Option<Self> {
        let source = fields.required("paymentSource");
        match method {
            Method::ByCard(method) => {
                let source = source.object(|source| read_source(source, method.code_rule()));
                source.map(|source| Self::ByCard(method, source))
            }
            Method::ByPayer(method) => source.object(read_payer).map(|payer| Self::ByPayer(method, payer)),
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

/// Members that change the effect of a charge and that this release does not support. They are refused: ignoring them
/// would move money differently than requested.
const NOT_YET: &[&str] = &["splitRules", "vendor"];

/// Parses the body; every problem is noted with its path.
pub fn read(fields: &Fields<'_>, mode: Mode) -> Option<ChargeRequest> {
    let merchant_id = fields.required("merchantId").id();
    let amount = fields.required("amount").positive_amount();
    let currency = or_default(fields, "currency", Currency::BRL, |field| field.currency());
    let capture = or_default(fields, "capture", false, |field| field.boolean());
    let order_id = fields.optional("orderId").text(chars_max::LINE);
    let customer_id = fields.optional("customerId").id();
    let method = fields.required("paymentMethod").object(read_method);
    let (paid, voucher_customer) = match method {
        Some((method, voucher_customer)) => (Paid::read(fields, method), voucher_customer),
        None => {
            // Notes the problems of the source as well.
            fields.required("paymentSource").object(|source| read_source(source, CodeRule::Required));
            (None, None)
        }
    };
    let references = read_references(fields, mode);
    let fraud_analysis = fields.optional(FRAUD_ANALYSIS).object(read_fraud_analysis);
    for name in NOT_YET {
        let is_empty_list = fields.members().get(*name).is_some_and(|value| *value == json!([]));
        if fields.has(name) && !is_empty_list {
            fields.problem(name, "is not available in this release");
        }
    }
    let authentication =
        fields.optional(THREE_D_SECURE).object(|data| authentication::read(data, mode)).map(Box::new);
    match paid.as_ref().map(Paid::authentication) {
        Some(AuthenticationRule::Required) if !fields.has(THREE_D_SECURE) => {
            fields.problem(THREE_D_SECURE, "should not be empty: a debit card is authenticated");
        }
        Some(AuthenticationRule::Impossible) if fields.has(THREE_D_SECURE) => {
            fields.problem(THREE_D_SECURE, "must be absent for this paymentType");
        }
        Some(_) | None => {}
    }
    let mut private = Map::new();
    let data = authentication.as_deref().and_then(|data| serde_json::to_value(data).ok());
    private.extend(data.map(|data| (THREE_D_SECURE.to_owned(), data)));
    private.extend(fraud_analysis.map(|data| (FRAUD_ANALYSIS.to_owned(), Value::Object(data))));
    private.extend(voucher_customer.map(|data| ("voucherCustomer".to_owned(), Value::Object(data))));
    Some(ChargeRequest {
        merchant_id: merchant_id?,
        amount: amount?,
        currency: currency?,
        capture: CaptureMode::from_flag(capture?),
        order_id,
        customer_id,
        paid: paid?,
        authentication,
        references,
        private,
    })
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
        provider_reference_key: fields.optional("providerReferenceKey").text(chars_max::LINE),
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
    Some(fields.members().clone())
}
