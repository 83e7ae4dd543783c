//! Stories through HTTP, on SQLite and PostgreSQL.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, missing_docs, unreachable_pub)]

mod access_matrix;
mod agreement;
mod auth;
mod backup;
mod canary;
mod cards;
mod charge_bad_input;
mod charge_lists;
mod charges;
mod circuits;
mod cli;
mod config;
mod customers;
mod dev;
mod doctor;
mod drain;
mod explanations;
mod faults;
mod follow_ups;
mod harness;
mod health;
mod http_edges;
mod idempotency;
mod jobs;
mod kill;
mod merchants;
mod metrics;
mod openapi;
mod payers;
mod plumbing_errors;
mod plumbing_fields;
mod plumbing_headers;
mod plumbing_http;
mod plumbing_query;
mod providers;
mod reconcile;
mod sequences;
mod sweep;
mod telemetry;
mod tls;
mod tokens;
mod traces;
mod vault;
mod vault_units;
