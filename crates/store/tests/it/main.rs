//! The engine of the store: one suite for both databases, and what is each one's own.
#![allow(clippy::unwrap_used)]

mod catalog;
mod conformance;
mod distributed;
mod distribution;
mod migrations;
mod moving;
mod postgres;
mod spans;
mod sqlite;
mod things;
mod translation;
mod waiting;
