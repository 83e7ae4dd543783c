//! Operations that involve both the store and a provider. The API and the jobs call the same functions. Every flow that
//! moves money writes the intent in one batch, calls the provider, and writes the outcome in another batch.

pub mod anti_fraud;
mod asking;
pub mod attempt;
pub mod authentication;
pub mod card_check;
pub mod challenge;
pub mod charge;
pub mod customers;
mod elsewhere;
pub mod finding;
pub mod follow_up;
pub mod notification;
mod observed;
mod orphaned;
pub mod outcome;
pub mod payment_page;
pub mod purchase;
pub mod reconcile;
mod reported;
pub mod reversal;
mod revoked;
pub mod route;
mod schedule;
mod security_code;
pub mod sellers;
pub mod session;
pub mod split;
pub mod staged;
mod step;
mod stored;
pub mod stored_notification;
mod taken_back;
mod underpaid;
pub mod vendors;
