//! A card as the answer to a single read shows it, and the OpenAPI description of cards. The engine shows cards in all
//! other places.

use regente_domain::id::{CardId, ClientId, CustomerId, ProviderId, TransactionRequestId};
use regente_domain::time::Timestamp;
use regente_engine::events::card::CardView;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::customers::CustomerView;
use crate::api::schema::words;

/// A card with its buyer.
#[derive(Clone, Debug, Serialize)]
pub struct CardWithCustomer {
    /// The card.
    #[serde(flatten)]
    pub card: CardView,
    /// The buyer, when the card is linked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub customer: Option<CustomerView>,
}

/// A stored card.
#[derive(ToSchema)]
#[schema(as = Card, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes an answer for the OpenAPI document; the engine writes it")]
pub struct CardSchema {
    #[schema(value_type = Uuid)]
    id: CardId,
    #[schema(value_type = Uuid)]
    client_id: ClientId,
    #[schema(value_type = Option<Uuid>, required = true)]
    customer_id: Option<CustomerId>,
    /// `pending`: not validated yet, usable meanwhile. `failed`: must not be used.
    #[schema(value_type = words::CardStatus, example = "active")]
    status: &'static str,
    #[schema(required = true)]
    status_reason: Option<String>,
    /// Date, time and numeric offset.
    #[schema(example = "2026-06-30 23:59:59 +0000")]
    created_at: String,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    /// `Unknown` for a number of no known range.
    #[schema(value_type = words::CardBrand, example = "Visa")]
    brand: &'static str,
    card_holder_name: Option<String>,
    cvv_checked: bool,
    /// The same for the same number and expiry inside an account.
    fingerprint: Uuid,
    #[schema(example = "491674")]
    first6digits: String,
    #[schema(example = "4124")]
    last4digits: String,
    #[schema(example = "12")]
    expiration_month: String,
    #[schema(example = "2030")]
    expiration_year: String,
    /// Network tokens; always empty until a token provider is connected.
    #[schema(value_type = Vec<Object>)]
    tokens: [(); 0],
    /// The check, only in the answer of a creation that asked for one.
    transaction_requests: Option<Vec<CheckSchema>>,
    /// The buyer, only when one card is read and linked.
    customer: Option<CustomerView>,
}

/// A zero-dollar check.
#[derive(ToSchema)]
#[schema(as = CardCheck, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes an answer for the OpenAPI document; the engine writes it")]
pub struct CheckSchema {
    #[schema(value_type = Uuid)]
    id: TransactionRequestId,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = Uuid)]
    provider_id: ProviderId,
    #[schema(value_type = words::ProviderType, example = "SANDBOX")]
    provider_type: &'static str,
    #[schema(value_type = words::RequestStatus, example = "success")]
    request_status: &'static str,
    #[schema(value_type = words::RequestType, example = "zero_dollar")]
    request_type: &'static str,
    #[schema(example = "32ms", required = true)]
    response_ts: Option<String>,
}
