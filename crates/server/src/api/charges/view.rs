//! A charge as answers show it (`docs/interface/charges.md#record`).

mod method;
mod redirects;
mod transaction_request;

use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::authentication::newest_answer;
use regente_domain::charge::{CardSource, Charge, PaymentSource, References};
use regente_domain::id::{CardId, ChargeId, ClientId, MerchantId, TokenId};
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use regente_engine::caller::{Authority, Caller};
use regente_engine::document_links::Addresses;
use regente_engine::events::instructions::InstructionsView;
use regente_engine::events::masked;
use regente_engine::events::split::{PlatformFeeView, SplitRuleView};
use regente_engine::events::transaction_request::TransactionRequestView;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use uuid::Uuid;

use self::method::PaymentMethodView;
use self::redirects::DripCheckoutView;
pub use self::transaction_request::{
    FraudAnalysisSchema, ProviderAuthorizationSchema, ProviderErrorSchema, TransactionRequestSchema,
};
use super::request::{DRIP_BROWSER, SourceType, WALLET, WALLET_SOURCE};
use super::{methods, three_d_secure};
use crate::api::schema::words;
use crate::api::split_rules::{PlatformFeeSchema, SplitRuleSchema};

/// A charge.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Charge)]
pub struct ChargeView {
    #[schema(value_type = Uuid)]
    id: ChargeId,
    #[schema(value_type = Uuid)]
    client_id: ClientId,
    #[schema(value_type = Uuid)]
    merchant_id: MerchantId,
    #[schema(required = true)]
    customer_id: Option<Uuid>,
    #[schema(required = true)]
    description: Option<String>,
    #[schema(required = true)]
    order_id: Option<String>,
    #[schema(required = true)]
    provider_reference_key: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    /// What the merchant still keeps, in the minor unit of the currency.
    #[schema(value_type = i64, example = 150)]
    amount: Amount,
    /// What was charged; never changes.
    #[schema(value_type = i64, example = 150)]
    original_amount: Amount,
    #[schema(value_type = words::Currency, example = "BRL")]
    currency: &'static str,
    #[schema(required = true)]
    statement_descriptor: Option<String>,
    capture: bool,
    is_dispute: bool,
    #[schema(value_type = words::ChargeStatus, example = "authorized")]
    status: &'static str,
    /// The provider that handled it; null while none has.
    #[schema(value_type = Option<words::ProviderType>, example = "SANDBOX", required = true)]
    responsible_provider_type: Option<&'static str>,
    #[schema(value_type = methods::PaymentMethod)]
    payment_method: PaymentMethodView,
    #[schema(value_type = methods::PaymentSource)]
    payment_source: PaymentSourceView,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    fraud_analysis_metadata: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    payment_flow: Option<Value>,
    /// The authentication of the cardholder: what was sent, and what was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<super::three_d_secure::ThreeDSecureSchema>)]
    three_d_secure2: Option<Value>,
    /// Every call to a provider, newest first.
    #[schema(value_type = Vec<TransactionRequestSchema>)]
    transaction_requests: Vec<TransactionRequestView>,
    #[schema(value_type = Option<Object>, required = true)]
    app_info: Option<Value>,
    /// How it is divided among sellers; absent where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<SplitRuleSchema>>)]
    split_rules: Option<Vec<SplitRuleView>>,
    /// What the platform keeps; absent where it keeps nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PlatformFeeSchema>)]
    platform_fee: Option<PlatformFeeView>,
}

/// What a charge was paid with; [`methods::PaymentSource`] describes it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentSourceView {
    source_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    card_id: Option<CardId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_id: Option<TokenId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    customer_id: Option<Uuid>,
    /// What a wallet has handed out; empty once it was erased.
    #[serde(flatten)]
    wallet: Map<String, Value>,
}

/// The personal data of a charge, decrypted.
pub type Private = Map<String, Value>;

impl ChargeView {
    /// The charge as `caller` may see it. For a public key, a buyer that it named appears under the alias it was given.
    /// `requests` are those of this version, oldest first.
    pub fn of(
        charge: &Charge,
        private: &Private,
        addresses: &Addresses,
        requests: &[TransactionRequest],
        caller: &Caller,
    ) -> Self {
        let References { description, statement_descriptor, provider_reference_key, flow_metadata, app_info } =
            &*charge.references;
        let shown = usize::try_from(charge.requests).unwrap_or(usize::MAX);
        let requests = &requests[..shown.min(requests.len())];
        let newest_first = requests.iter().rev();
        let instructions =
            newest_first.clone().find_map(|request| InstructionsView::of(&charge.method, request, addresses));
        let checkout = DripCheckoutView::of(charge, requests, addresses);
        let answer = newest_answer(requests);
        let view = |request| {
            let shown = TransactionRequestView::of(request, charge, addresses);
            shown.with_browser(private.get(DRIP_BROWSER)).after(request, answer)
        };
        Self {
            id: charge.id,
            client_id: charge.client_id,
            merchant_id: charge.merchant_id,
            customer_id: shown_customer(charge, caller),
            description: description.clone(),
            order_id: shown_identifier(charge.order_id.as_deref(), caller),
            provider_reference_key: shown_identifier(provider_reference_key.as_deref(), caller),
            created_at: charge.id.created_at(),
            updated_at: charge.updated_at,
            amount: charge.amount,
            original_amount: charge.original_amount,
            currency: charge.currency.code(),
            statement_descriptor: statement_descriptor.clone(),
            capture: charge.capture.flag(),
            is_dispute: charge.is_disputed(requests),
            status: charge.state.status().word(),
            responsible_provider_type: charge.state.responsible().map(|provider| provider.shown()),
            payment_method: PaymentMethodView::of(charge, private, instructions, checkout, caller),
            payment_source: PaymentSourceView::of(charge, private, caller),
            fraud_analysis_metadata: private.get("fraudAnalysis").map(fraud_analysis_metadata),
            payment_flow: flow_metadata.as_ref().map(|metadata| json!({ "metadata": metadata })),
            three_d_secure2: three_d_secure::shown(charge, private, requests),
            transaction_requests: newest_first.map(view).collect(),
            app_info: app_info.clone(),
            split_rules: charge
                .split
                .as_deref()
                .map(|split| split.rules.iter().map(SplitRuleView::of).collect()),
            platform_fee: PlatformFeeView::of(charge),
        }
    }
}

impl ChargeView {
    /// Adds the token of the request. Only the answer to that request can show it, since the id is not stored.
    pub fn echoing(mut self, token_id: Option<TokenId>) -> Self {
        self.payment_source.token_id = token_id;
        self
    }
}

/// As the merchant sent it; a public key is in the hands of buyers.
fn shown_identifier(identifier: Option<&str>, caller: &Caller) -> Option<String> {
    if caller.is_public_key() { masked(identifier) } else { identifier.map(str::to_owned) }
}

fn shown_customer(charge: &Charge, caller: &Caller) -> Option<Uuid> {
    let real = charge.customer_id.map(|id| id.uuid());
    match caller.authority {
        Authority::SecretKey => real,
        Authority::ClientToken { .. } | Authority::SessionKey { .. } => {
            charge.customer_alias.map(|alias| alias.uuid()).or(real)
        }
    }
}

impl PaymentSourceView {
    fn of(charge: &Charge, private: &Private, caller: &Caller) -> Self {
        match charge.method.source() {
            PaymentSource::Card(source) => Self::of_card(source, charge, caller),
            PaymentSource::Payer(_) => Self::of_customer(charge, caller),
            PaymentSource::Wallet => {
                let wallet = private.get(WALLET).and_then(Value::as_object).cloned();
                Self { wallet: wallet.unwrap_or_default(), ..Self::bare(WALLET_SOURCE) }
            }
        }
    }

    fn of_card(source: &CardSource, charge: &Charge, caller: &Caller) -> Self {
        match source {
            CardSource::Card { card_id } => {
                Self { card_id: Some(*card_id), ..Self::bare(SourceType::Card.word()) }
            }
            CardSource::Customer { .. } => Self::of_customer(charge, caller),
        }
    }

    fn of_customer(charge: &Charge, caller: &Caller) -> Self {
        Self { customer_id: shown_customer(charge, caller), ..Self::bare(SourceType::Customer.word()) }
    }

    fn bare(source_type: &'static str) -> Self {
        Self { source_type, card_id: None, token_id: None, customer_id: None, wallet: Map::new() }
    }
}

/// Members of `fraudAnalysis` that answers repeat; a member that was not sent is null
/// (`docs/interface/charges.md#fraud-analysis`).
fn fraud_analysis_metadata(sent: &Value) -> Value {
    const MEMBERS: &[&str] = &["sla", "cart", "orderOrigin", "operationalSystem", "country"];
    const CUSTOMER_MEMBERS: &[&str] = &[
        "name",
        "identity",
        "identityType",
        "birthdate",
        "phone",
        "email",
        "billingAddress",
        "deliveryAddress",
    ];
    let mut shown = pick(sent, MEMBERS);
    let customer =
        sent.get("customer").map_or(Value::Null, |customer| pick(customer, CUSTOMER_MEMBERS).into());
    shown.insert("customer".to_owned(), customer);
    shown.into()
}

fn pick(from: &Value, members: &[&str]) -> Map<String, Value> {
    members.iter().map(|name| ((*name).to_owned(), from.get(name).cloned().unwrap_or(Value::Null))).collect()
}
