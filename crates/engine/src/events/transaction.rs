//! A charge as events show it (`docs/interface/webhooks.md#payloads`).

use std::borrow::Cow;

use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::{Charge, ChargeStatus};
use regente_domain::currency::Currency;
use regente_domain::id::{ChargeId, ClientId, CustomerId, MerchantId, SessionId, SubscriptionId};
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use regente_domain::wire::whole;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::masked;
use super::transaction_request::TransactionRequestView;
use crate::document_links::Addresses;

/// A charge at the version of an event.
#[derive(Debug)]
pub struct ChargeVersion {
    /// The charge, at that version or beside it.
    pub charge: Charge,
    /// Its status.
    pub status: ChargeStatus,
    /// Whether a provider was being asked.
    pub is_processing: bool,
    /// What the merchant still kept.
    pub amount: Amount,
    /// The number of its requests.
    pub requests: usize,
    /// When it came about.
    pub at: Timestamp,
}

/// A charge as events show it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TransactionSnapshot)]
pub struct TransactionView {
    id: ChargeId,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// Always null.
    #[schema(value_type = Option<uuid::Uuid>, required = true)]
    idempotency_key: (),
    /// Always null.
    #[schema(value_type = Option<String>, required = true)]
    request_id: (),
    /// What the merchant still keeps, in the minor unit of the currency.
    #[schema(value_type = i64, example = 150)]
    amount: Amount,
    /// What was charged; never changes.
    #[schema(value_type = i64, example = 150)]
    original_amount: Amount,
    currency: Currency,
    #[schema(example = 1)]
    installments: u8,
    client_id: ClientId,
    merchant_id: MerchantId,
    #[schema(required = true)]
    customer_id: Option<CustomerId>,
    #[schema(required = true)]
    order_id: Option<String>,
    #[schema(required = true)]
    description: Option<String>,
    #[schema(required = true)]
    statement_descriptor: Option<String>,
    status: ChargeStatus,
    capture: bool,
    is_dispute: bool,
    /// Whether a provider is being asked.
    is_processing: bool,
    /// Always null.
    #[schema(value_type = Option<i64>, required = true)]
    fee: (),
    /// Always null.
    #[schema(value_type = Option<i64>, required = true)]
    fee_amount: (),
    /// Always null.
    #[schema(value_type = Option<String>, required = true)]
    transaction_error: (),
    /// Every call to a provider, newest first; of very many the oldest are left out.
    transaction_requests: Vec<RequestSnapshot>,
    /// The session that it pays; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<SessionId>,
    /// The subscription of which it is an attempt to charge a cycle; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    subscription_id: Option<SubscriptionId>,
}

impl TransactionView {
    /// Of `version`, with its `requests`, oldest first.
    ///
    /// # Errors
    /// A request is no JSON.
    pub fn of(
        version: &ChargeVersion,
        addresses: &Addresses,
        requests: &[TransactionRequest],
        is_dispute: bool,
    ) -> serde_json::Result<Self> {
        let charge = &version.charge;
        let view = |request| RequestSnapshot::of(request, charge, addresses);
        Ok(Self {
            id: charge.id,
            created_at: charge.id.created_at(),
            updated_at: version.at,
            idempotency_key: (),
            request_id: (),
            amount: version.amount,
            original_amount: charge.original_amount,
            currency: charge.currency,
            installments: charge.method.installments(),
            client_id: charge.client_id,
            merchant_id: charge.merchant_id,
            customer_id: charge.customer_id,
            order_id: masked(charge.order_id.as_deref()),
            description: masked(charge.references.description.as_deref()),
            statement_descriptor: masked(charge.references.statement_descriptor.as_deref()),
            status: version.status,
            capture: charge.capture.flag(),
            is_dispute,
            is_processing: version.is_processing,
            fee: (),
            fee_amount: (),
            transaction_error: (),
            transaction_requests: requests.iter().rev().map(view).collect::<Result<_, _>>()?,
            session_id: charge.session_id,
            subscription_id: charge.subscription_id,
        })
    }
}

/// Members of a transaction request that are null instead of absent when empty.
const UNUSED_AS_NULL: [&str; 5] =
    ["pix", "boleto", "providerError", "providerAuthorization", "fraudAnalysis"];

/// A [`TransactionRequestView`] with these nulls.
#[derive(Debug, Serialize)]
struct RequestSnapshot(Map<String, Value>);

impl RequestSnapshot {
    fn of(request: &TransactionRequest, charge: &Charge, addresses: &Addresses) -> serde_json::Result<Self> {
        let view = serde_json::to_value(TransactionRequestView::of(request, charge, addresses))?;
        let mut members: Map<String, Value> = serde_json::from_value(view)?;
        for name in UNUSED_AS_NULL {
            members.entry(name).or_insert(Value::Null);
        }
        Ok(Self(members))
    }
}

impl PartialSchema for RequestSnapshot {
    fn schema() -> RefOr<Schema> {
        let mut schema = whole::<TransactionRequestView>();
        schema.description = Some("One call to a provider as events show it.".to_owned());
        schema.required.extend(UNUSED_AS_NULL.map(str::to_owned));
        schema.into()
    }
}

impl ToSchema for RequestSnapshot {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("TransactionRequestSnapshot")
    }

    fn schemas(found: &mut Vec<(String, RefOr<Schema>)>) {
        TransactionRequestView::schemas(found);
    }
}
