//! Tests of the calls to providers and of the simulator.
#![allow(clippy::unwrap_used)]

mod adyen;
mod anti_fraud;
mod cards;
mod crash;
mod documents;
mod faults;
mod follow_ups;
mod notifications;
mod options;
mod outbox;
mod pagarme_v5;
mod providers;
mod rules;
mod spoiled;
mod stripe;
mod support;
mod transaction_log;
