//! The product without HTTP: charges, captures and voids, purchases, customers, events and their deliveries, jobs, and
//! the vault. The server calls this crate. Of HTTP it knows one number: the status 201 that a kept answer of an
//! idempotency key carries.
//!
//! The modules are in layers; each imports only modules of the layers above it in the list of `tests/it/layers.rs`.

pub mod account_clocks;
pub mod accounts;
mod announce;
pub mod anti_fraud;
pub mod app;
pub mod apple_pay;
pub mod audit;
pub mod authentication;
pub mod cache;
pub mod caller;
pub mod calls;
pub mod captures_and_voids;
pub mod card_checks;
pub mod card_data;
pub mod cards;
pub mod chance;
pub mod charges;
pub mod clock;
pub mod credentials;
pub mod customers;
pub mod deliveries;
pub mod disputes;
pub mod document_links;
pub mod error;
pub mod events;
pub mod flow_replay;
pub mod flows;
pub mod idempotency;
pub mod jobs;
pub mod learned;
pub mod ledger;
pub mod link_settings;
mod links;
pub mod mail;
pub mod merchants;
pub mod metrics;
pub mod notifications;
pub mod outbound;
pub mod plans;
pub mod platform_fees;
pub mod providers;
pub mod purchases;
pub mod queue;
pub mod races;
pub mod rates;
pub mod report_files;
pub mod report_links;
pub mod reports;
pub mod return_address;
pub mod review_links;
pub mod scrub;
pub mod sellers;
pub mod sessions;
pub mod settings;
pub mod settlement;
pub mod simulator;
pub mod spans;
pub mod subscriptions;
pub mod tokens;
pub mod transaction_requests;
pub mod vault;
pub mod vendors;
pub mod webhooks;
