//! A card as answers show it (`docs/interface/tokens-and-cards.md#cards`), without the full number and the security
//! code.

use regente_domain::card::Brand;
use regente_domain::card::record::{Card, CardState};
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::id::{CardId, ClientId, CustomerId, ProviderId, TransactionRequestId};
use regente_domain::time::Timestamp;
use serde::Serialize;
use uuid::Uuid;

/// A stored card.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CardView {
    id: CardId,
    client_id: ClientId,
    customer_id: Option<CustomerId>,
    /// `pending`: not validated yet, but usable. `failed`: must not be used.
    status: &'static str,
    status_reason: Option<String>,
    /// RFC 3339 with a numeric offset.
    created_at: String,
    updated_at: Timestamp,
    brand: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    card_holder_name: Option<String>,
    cvv_checked: bool,
    /// The same for the same number and expiry within an account.
    fingerprint: Uuid,
    first6digits: String,
    last4digits: String,
    expiration_month: String,
    expiration_year: String,
    /// Network tokens; always empty until a token provider is connected.
    tokens: [(); 0],
    /// The zero-dollar check, only in the answer to the creation that requested it.
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction_requests: Option<Vec<CheckView>>,
}

/// A zero-dollar check.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckView {
    id: TransactionRequestId,
    created_at: Timestamp,
    provider_id: ProviderId,
    provider_type: &'static str,
    request_status: &'static str,
    request_type: &'static str,
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
            brand: face.brand.map_or(Brand::UNKNOWN, Brand::name),
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
            provider_type: request.provider_type.shown(),
            request_status: request.status().word(),
            request_type: request.request_type.word(),
            response_ts: request.duration.map(|duration| format!("{}ms", duration.as_millis())),
        }
    }
}
