//! The product without HTTP: charges, captures and voids, purchases, customers, events and their deliveries, jobs, and
//! the vault. The server calls this crate. Of HTTP it knows one number: the status 201 that a kept answer of an
//! idempotency key carries.
//!
//! The modules are in layers; each imports only modules of the layers above it in the list of `tests/it/layers.rs`.

pub mod accounts;
pub mod app;
pub mod apple_pay;
pub mod audit;
pub mod cache;
pub mod caller;
pub mod calls;
pub mod card_data;
pub mod chance;
pub mod charges;
pub mod clock;
pub mod deliveries;
pub mod document_links;
pub mod error;
pub mod events;
pub mod flows;
pub mod idempotency;
pub mod jobs;
pub mod ledger;
pub mod link_settings;
mod links;
pub mod metrics;
pub mod outbound;
pub mod queue;
pub mod races;
pub mod return_address;
pub mod review_links;
pub mod scrub;
pub mod settings;
pub mod spans;
pub mod vault;
