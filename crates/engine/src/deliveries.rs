//! Delivers events to webhooks: events become deliveries (`dispatch.rs`) with a payload (`payload.rs`), the delivery
//! worker sends them (`delivery_worker.rs`) with a limit for each endpoint (`endpoints.rs`), and each attempt is signed
//! (`signature.rs`) with the keys of its webhook, which can be replaced (`keys.rs`). Deliveries can be replayed
//! (`replay.rs`) and tried with a test event (`ping.rs`), developers can fetch events (`listeners.rs`), lost deliveries raise alerts (`loss.rs`), and those of a
//! deleted webhook are dropped (`deleted.rs`).
//!
//! All of this runs outside of requests. [`crate::webhooks`] has the webhooks themselves.

mod attempt;
pub(crate) mod backoff;
pub mod deleted;
mod delivery_worker;
mod dispatch;
mod endpoints;
pub mod keys;
pub mod listeners;
mod loss;
mod payload;
pub mod ping;
pub mod replay;
pub mod signature;

pub use delivery_worker::DeliveryWorker;
