//! Stories through HTTP, on SQLite and PostgreSQL.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, missing_docs, unreachable_pub)]

mod charges;
mod harness;
mod openapi;
mod plumbing_errors;
mod plumbing_fields;
mod plumbing_headers;
mod plumbing_http;
mod plumbing_query;
