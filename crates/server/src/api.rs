//! The HTTP interface: parses requests and formats answers. The engine's flows call the store and the providers.

pub mod auth;
mod buyer_page;
pub mod cards;
mod challenge;
pub mod charges;
pub mod cors;
pub mod customer_cards;
pub mod customers;
pub mod documents;
mod envelope;
pub mod fields;
pub mod idempotency;
pub mod layers;
pub mod merchants;
pub mod notifications;
pub mod openapi;
pub mod page;
pub mod path;
mod payment_page;
pub mod providers;
pub mod purchases;
pub mod query;
pub mod request_id;
pub mod router;
pub mod schema;
pub mod tokens;
pub mod webhooks;
