//! The rules of payments: types that reject invalid values, state machines, routing.
//!
//! Pure: no I/O, no async, no clock and no random source. Time, ids and chance come in as arguments.

pub mod account_clock;
pub mod actor;
pub mod backoff;
pub mod boleto;
pub mod br_code;
pub mod business_days;
pub mod capture_mode;
pub mod card;
pub mod charge;
pub mod check_digits;
pub mod circuit;
pub mod country;
pub mod credential;
pub mod currency;
pub mod customer;
pub mod decline;
pub mod id;
pub mod idempotency;
pub mod ledger;
pub mod local_day;
pub mod mcc;
pub mod merchant;
pub mod money;
pub mod payment_type;
pub mod percentage;
pub mod platform_fee;
pub mod problems;
pub mod provider_type;
pub mod purchase;
pub mod routing;
pub mod scope;
pub mod seller;
pub mod session;
pub mod settings;
pub mod settlement;
pub mod split;
pub mod subscription;
pub mod text;
pub mod time;
pub mod token;
pub mod utc_day;
pub mod vendor;
pub mod webhook;
pub mod wire;
mod words;
