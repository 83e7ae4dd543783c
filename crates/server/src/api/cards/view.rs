//! A card as the answer to a single read shows it. The engine shows cards in all other places.

use regente_engine::events::card::CardView;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::customers::CustomerView;

/// A stored card.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Card)]
pub struct CardWithCustomer {
    /// The card.
    #[serde(flatten)]
    pub card: CardView,
    /// The buyer, only when one card is read and linked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub customer: Option<CustomerView>,
}
