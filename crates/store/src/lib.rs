//! Holds all SQL of the product. Reads are queries, writes are values ([`Batch`]), on SQLite and PostgreSQL behind
//! one [`Store`].
//!
//! `store`, `sqlite/` and `postgres/` run the statements; every other module is a resource with its statements at the
//! top of the file and its rows as types. No business rules, HTTP, clock or random source here.

pub mod account_clocks;
pub mod accounts;
mod admission;
mod batch;
mod driver;
pub mod due;
mod error;
pub mod expiring;
pub mod flows;
pub mod fold;
#[cfg(feature = "testing")]
mod fuse;
mod group;
mod migrate;
pub mod moving;
mod owners;
mod placement;
mod postgres;
pub mod readable;
mod row;
pub mod spans;
mod sql;
mod sqlite;
#[cfg(feature = "bench-without-storage")]
mod stand_in;
mod store;
mod sums;
#[cfg(feature = "testing")]
pub mod testing;
mod value;

pub use admission::{Admission, Room, WORKER_PLACES};
pub use batch::{Batch, CounterDelta, CounterKey};
pub use driver::{Emptied, StoreSize};
pub use error::{Commit, Refusal, RefusalKind, StoreError};
pub use placement::Placement;
pub use postgres::{Distributing, Layout, PostgresOptions, PostgresStore, Server, Transport};
pub use row::Row;
pub use sql::{DatabaseKind, Sql};
pub use sqlite::{
    BackupError, Contents, Existing, Integrity, Replaced, SqliteOptions, SqliteStore, Staged, Written,
    contents,
};
#[cfg(feature = "bench-without-storage")]
pub use stand_in::DiscardWrites;
pub use store::{Activity, COMMIT_SPANS, Store, StoreOptions};
pub use value::{Args, FromValue, Json, Value};

#[doc(hidden)]
pub use inventory;
#[doc(hidden)]
pub use sql::CatalogEntry;

// One line for each resource.
pub mod audit;
pub mod authentication_setups;
pub mod cards;
pub mod charges;
pub mod clients;
pub mod counters;
pub mod credentials;
pub mod customers;
pub mod data_keys;
pub mod deliveries;
mod document;
pub mod events;
pub mod held_security_codes;
pub mod idempotency;
pub mod jobs;
pub mod ledger;
pub mod listeners;
pub mod members;
pub mod merchants;
pub mod money;
pub mod newest;
pub mod payouts;
pub mod plans;
pub mod prepayments;
pub mod provider_notifications;
pub mod providers;
pub mod purchases;
pub mod rates;
pub mod receipts;
pub mod registration_reviews;
pub mod reports;
pub mod sealed;
pub mod seller_documents;
pub mod sellers;
pub mod sessions;
pub mod settings;
pub mod sign_ins;
pub mod simulated_transfers;
pub mod subscriptions;
pub mod tokens;
pub mod transaction_requests;
pub mod vendors;
pub mod wallet_payments;
pub mod webhooks;
