//! Events on their way to merchants: the outbox becomes deliveries (`dispatch.rs`), with what is said (`payload.rs`), and
//! deliveries are carried out (`delivery_worker.rs`), fairly (`endpoints.rs`), each attempt signed anew (`signature.rs`) with the
//! keys of its webhook, which can be replaced (`keys.rs`). What was sent can be sent again (`replay.rs`); developers can
//! fetch what others are sent (`listeners.rs`). What no attempt could hand over is told of (`loss.rs`).
//!
//! All of it runs off the request path. What a webhook is, and what may be asked of one, is in `api/webhooks.rs`.

mod attempt;
mod backoff;
mod delivery_worker;
mod dispatch;
mod endpoints;
pub mod keys;
pub mod listeners;
mod loss;
mod payload;
pub mod replay;
pub mod signature;

pub use delivery_worker::DeliveryWorker;
