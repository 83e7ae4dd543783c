//! The rules of the domain as tables and properties.
#![allow(clippy::unwrap_used)]

mod card;
mod circuit;
mod country;
mod currency;
mod customer;
mod decline;
mod id;
mod mcc;
mod money;
mod provider_type;
mod purchase;
mod references;
mod routing;
mod scope;
mod story;
mod time;
mod webhook;
