//! The rules of money: types that cannot hold a wrong value, state machines, routing.
//!
//! Nothing here does I/O, awaits, asks a clock or a random source: time, ids and chance come in as arguments.

pub mod actor;
pub mod backoff;
pub mod card;
pub mod charge;
pub mod circuit;
pub mod country;
pub mod credential;
pub mod currency;
pub mod customer;
pub mod decline;
pub mod id;
pub mod idempotency;
pub mod mcc;
pub mod merchant;
pub mod money;
pub mod problems;
pub mod provider_type;
pub mod purchase;
pub mod routing;
pub mod scope;
pub mod text;
pub mod time;
pub mod token;
pub mod webhook;
