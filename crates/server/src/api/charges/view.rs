//! A charge as answers show it (`docs/interface/charges.md#record`).

pub(super) mod method;
pub(super) mod redirects;

use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::authentication::newest_answer;
use regente_domain::charge::{self, Charge, ChargeStatus, PaymentSource, References};
use regente_domain::currency::Currency;
use regente_domain::id::{CardId, ChargeId, ClientId, MerchantId, SubscriptionId, TokenId};
use regente_domain::money::Amount;
use regente_domain::provider_type::ShownProviderType;
use regente_domain::routing::explanation::Taken;
use regente_domain::time::Timestamp;
use regente_engine::caller::{Authority, Caller};
use regente_engine::charges::sent::{DRIP_BROWSER, WALLET};
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
use self::redirects::DripPayment;
use super::methods;
use super::three_d_secure::ThreeDSecureView;

/// A charge.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Charge)]
pub struct ChargeView {
    id: ChargeId,
    client_id: ClientId,
    merchant_id: MerchantId,
    #[schema(required = true)]
    customer_id: Option<Uuid>,
    /// The subscription of which it is an attempt to charge a cycle; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    subscription_id: Option<SubscriptionId>,
    #[schema(required = true)]
    description: Option<String>,
    #[schema(required = true)]
    order_id: Option<String>,
    #[schema(required = true)]
    provider_reference_key: Option<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// What the merchant still keeps, in the minor unit of the currency.
    #[schema(value_type = i64, example = 150)]
    amount: Amount,
    /// What was charged; never changes.
    #[schema(value_type = i64, example = 150)]
    original_amount: Amount,
    currency: Currency,
    #[schema(required = true)]
    statement_descriptor: Option<String>,
    capture: bool,
    is_dispute: bool,
    status: ChargeStatus,
    /// The provider that handled it; null while none has.
    #[schema(required = true)]
    responsible_provider_type: Option<ShownProviderType>,
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
    three_d_secure2: Option<Box<ThreeDSecureView>>,
    /// Every call to a provider, newest first.
    transaction_requests: Vec<TransactionRequestView>,
    #[schema(value_type = Option<Object>, required = true)]
    app_info: Option<Value>,
    /// How it is divided among sellers; absent where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    split_rules: Option<Vec<SplitRuleView>>,
    /// What the platform keeps; absent where it keeps nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    platform_fee: Option<PlatformFeeView>,
}

/// What a charge was paid with; [`methods::PaymentSource`] describes it.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "sourceType", rename_all = "snake_case")]
enum PaymentSourceView {
    Card(CardSource),
    Customer(CustomerSource),
    /// What a wallet has handed out; empty once it was erased.
    Wallet(Map<String, Value>),
}

/// A stored card.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CardSource {
    card_id: CardId,
    /// The token that was sent; only in the answer to that request.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_id: Option<TokenId>,
}

/// A customer: their default card, or themselves.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CustomerSource {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Uuid, required = true)]
    customer_id: Option<Uuid>,
}

/// The flow that a charge follows, and what was sent for its conditions; absent without either.
fn flow_view(taken: Option<&Taken>, metadata: Option<&Value>) -> Option<Value> {
    let id = taken.map(|taken| ("id".to_owned(), json!(taken.id)));
    let metadata = metadata.map(|metadata| ("metadata".to_owned(), metadata.clone()));
    let members: Map<String, Value> = id.into_iter().chain(metadata).collect();
    (!members.is_empty()).then(|| Value::Object(members))
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
        let checkout = DripPayment::checkout(charge, requests, addresses);
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
            subscription_id: charge.subscription_id,
            description: description.clone(),
            order_id: shown_identifier(charge.order_id.as_deref(), caller),
            provider_reference_key: shown_identifier(provider_reference_key.as_deref(), caller),
            created_at: charge.id.created_at(),
            updated_at: charge.updated_at,
            amount: charge.amount,
            original_amount: charge.original_amount,
            currency: charge.currency,
            statement_descriptor: statement_descriptor.clone(),
            capture: charge.capture.flag(),
            is_dispute: charge.is_disputed(requests),
            status: charge.state.status(),
            responsible_provider_type: charge.state.responsible().map(ShownProviderType),
            payment_method: PaymentMethodView::of(charge, private, instructions, checkout, caller),
            payment_source: PaymentSourceView::of(charge, private, caller),
            fraud_analysis_metadata: private.get("fraudAnalysis").map(fraud_analysis_metadata),
            payment_flow: flow_view(charge.explanation.flow.as_deref(), flow_metadata.as_ref()),
            three_d_secure2: ThreeDSecureView::of(charge, private, requests).map(Box::new),
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
        if let PaymentSourceView::Card(source) = &mut self.payment_source {
            source.token_id = token_id;
        }
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
        Authority::SecretKey | Authority::Member { .. } => real,
        Authority::ClientToken { .. } | Authority::SessionKey { .. } => {
            charge.customer_alias.map(|alias| alias.uuid()).or(real)
        }
    }
}

impl PaymentSourceView {
    fn of(charge: &Charge, private: &Private, caller: &Caller) -> Self {
        match charge.method.source() {
            PaymentSource::Card(charge::CardSource::Card { card_id }) => {
                Self::Card(CardSource { card_id: *card_id, token_id: None })
            }
            PaymentSource::Card(charge::CardSource::Customer { .. }) | PaymentSource::Payer(_) => {
                Self::Customer(CustomerSource { customer_id: shown_customer(charge, caller) })
            }
            PaymentSource::Wallet => {
                let wallet = private.get(WALLET).and_then(Value::as_object).cloned();
                Self::Wallet(wallet.unwrap_or_default())
            }
        }
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
