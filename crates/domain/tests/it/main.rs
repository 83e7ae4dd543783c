//! The rules of the domain as tables and properties.
#![allow(clippy::unwrap_used)]

mod backoff;
mod bodies;
mod boleto;
mod br_code;
mod business_days;
mod card;
mod card_in_text;
mod charge;
mod circuit;
mod country;
mod currency;
mod customer;
mod decline;
mod id;
mod ledger;
mod mcc;
mod money;
mod payment_bodies;
mod percentage;
mod platform_fee;
mod provider_type;
mod purchase;
mod reconciliation;
mod references;
mod registration_review;
mod routing;
mod scope;
mod settlement;
mod split;
mod subscription;
mod time;
mod timeline;
mod webhook;
mod wire;
