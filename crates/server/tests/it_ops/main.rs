#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, missing_docs, unreachable_pub)]
mod cli;
mod config;
mod dev;
mod health;
mod telemetry;
