//! Events on their way to merchants: the outbox becomes deliveries (`dispatch.rs`), with what is said (`payload.rs`), and
//! deliveries are carried out (`courier.rs`), fairly (`endpoints.rs`), each attempt signed anew (`signature.rs`).
//!
//! All of it runs off the request path. What a webhook is, and what may be asked of one, is in `api/webhooks.rs`.

mod attempt;
mod courier;
mod dispatch;
mod endpoints;
mod left;
mod payload;
mod settings;
pub mod signature;

pub use courier::Courier;
pub use settings::{EndpointUse, WebhookSettings};
