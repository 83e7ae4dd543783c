//! What the product does, without HTTP: charges and what follows them, purchases, customers, events and their
//! deliveries, jobs, the vault. Whoever serves an interface calls this crate; nothing here knows one.
//!
//! The modules stand in layers, and each imports only what stands above it: `tests/it/layers.rs` holds the list.

pub mod app;
pub mod audit;
pub mod cache;
pub mod caller;
pub mod calls;
pub mod card_data;
pub mod chance;
pub mod clock;
pub mod deliveries;
pub mod error;
pub mod events;
pub mod flows;
pub mod idempotency;
pub mod jobs;
pub mod metrics;
pub mod outbound;
pub mod queue;
pub mod scrub;
pub mod settings;
pub mod spans;
pub mod vault;
