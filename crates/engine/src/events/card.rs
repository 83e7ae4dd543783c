//! A card as answers show it (`docs/interface/tokens-and-cards.md#cards`), without the full number and the security
//! code.

use regente_domain::card::ShownBrand;
use regente_domain::card::record::{Card, CardState, CardStatus};
use regente_domain::charge::attempt::{RequestStatus, TransactionRequest};
use regente_domain::id::{CardId, ClientId, CustomerId, ProviderId, TransactionRequestId};
use regente_domain::provider_type::ShownProviderType;
use regente_domain::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::transaction_request::ShownRequestType;

/// A stored card.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CardMembers)]
pub struct CardView {
    id: CardId,
    client_id: ClientId,
    #[schema(required = true)]
    customer_id: Option<CustomerId>,
    /// `pending`: not validated yet, usable meanwhile. `failed`: must not be used.
    #[schema(value_type = CardStatus)]
    status: &'static str,
    #[schema(required = true)]
    status_reason: Option<String>,
    /// Date, time and numeric offset.
    #[schema(example = "2026-06-30 23:59:59 +0000")]
    created_at: String,
    updated_at: Timestamp,
    /// `Unknown` for a number of no known range.
    brand: ShownBrand,
    #[serde(skip_serializing_if = "Option::is_none")]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction_requests: Option<Vec<CheckView>>,
}

/// A zero-dollar check.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CardCheck)]
pub struct CheckView {
    id: TransactionRequestId,
    created_at: Timestamp,
    provider_id: ProviderId,
    provider_type: ShownProviderType,
    request_status: RequestStatus,
    request_type: ShownRequestType,
    #[schema(example = "32ms", required = true)]
    response_ts: Option<String>,
}

impl CardView {
    /// The card in a list.
    pub fn listed(card: &Card, holder_name: Option<String>) -> Self {
        let (status_reason, face) = (status_reason(card), card.face.clone());
        Self {
            id: card.id,
            client_id: card.client_id,
            customer_id: card.link.map(|link| link.customer_id),
            status: card.state.word(),
            status_reason,
            created_at: card.id.created_at().to_offset_form(),
            updated_at: card.updated_at,
            brand: ShownBrand(face.brand),
            card_holder_name: holder_name,
            cvv_checked: card.cvv_checked,
            fingerprint: card.fingerprint,
            first6digits: face.first6digits,
            last4digits: face.last4digits,
            expiration_month: face.expiry.month_text(),
            expiration_year: face.expiry.year_text(),
            tokens: [],
            transaction_requests: None,
        }
    }

    /// The card in the answer to its creation, with its check if one was made.
    pub fn created(card: &Card, holder_name: Option<String>, checks: &[TransactionRequest]) -> Self {
        let transaction_requests = (!checks.is_empty()).then(|| checks.iter().map(CheckView::of).collect());
        Self { transaction_requests, ..Self::listed(card, holder_name) }
    }

    /// The card as a public key reads it, without the customer. A public key may hold an alias obtained with somebody
    /// else's document; the card must not reveal that person (`docs/interface/customers.md#aliases`).
    pub fn read_by_public_key(card: &Card, holder_name: Option<String>) -> Self {
        Self { customer_id: None, ..Self::listed(card, holder_name) }
    }
}

fn status_reason(card: &Card) -> Option<String> {
    match &card.state {
        CardState::Pending(why) => Some(why.word().to_owned()),
        CardState::Failed { reason } => Some(reason.clone()),
        CardState::Active | CardState::Verifying => None,
    }
}

impl CheckView {
    fn of(request: &TransactionRequest) -> Self {
        Self {
            id: request.id,
            created_at: request.id.created_at(),
            provider_id: request.provider_id,
            provider_type: ShownProviderType(request.provider_type),
            request_status: request.status(),
            request_type: ShownRequestType::own(request.request_type),
            response_ts: request.duration.map(|duration| format!("{}ms", duration.as_millis())),
        }
    }
}
