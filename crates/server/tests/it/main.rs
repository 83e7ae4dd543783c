//! Stories through HTTP, on SQLite and PostgreSQL.

// A story awaits a request, which awaits its handler, and so on down to the database: each is a level of one type.
#![recursion_limit = "256"]
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, missing_docs, unreachable_pub)]

use tikv_jemallocator::Jemalloc;

/// The allocator of the service: with that of the system the tests take 3 % more processor time.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

mod access_matrix;
mod account_time;
mod anti_fraud;
mod auth;
mod awaiting;
mod backup;
mod bodies;
mod browser_library;
mod browsers;
mod canary;
mod card_data_in_texts;
mod card_testing;
mod cards;
mod charge_bad_input;
mod charge_lists;
mod charges;
mod checkout;
mod circuits;
mod cli;
mod clocks;
mod config;
mod customers;
mod dashboard;
mod demo;
mod dev;
mod disputes;
mod docs_page;
mod doctor;
mod documents;
mod drain;
mod dry_run;
mod explanations;
mod faults;
mod filters;
mod flows;
mod follow_ups;
mod health;
mod http_edges;
mod idempotency;
mod jobs;
mod kill;
mod ledger;
mod merchants;
mod method_table;
mod metrics;
mod moments;
mod moving;
mod notifications;
mod openapi;
mod own_provider;
mod payers;
mod payouts;
mod plans;
mod platform_fees;
mod plumbing_errors;
mod plumbing_fields;
mod plumbing_headers;
mod plumbing_http;
mod plumbing_peer;
mod plumbing_query;
mod prepayments;
mod production;
mod providers;
mod purchases;
mod races;
mod rates;
mod real_providers;
mod receipts;
mod reconcile;
mod reports;
mod sandbox_clock;
mod sellers;
mod sequences;
mod sessions;
mod settings;
mod settlement;
mod simulator;
mod splits;
mod subscriptions;
mod support;
mod sweep;
mod telemetry;
mod three_d_secure;
mod tls;
mod tokens;
mod tools;
mod traces;
mod unknowns;
mod vault;
mod vault_units;
mod vendors;
mod versions;
mod webhooks;
mod wrong_keys;
