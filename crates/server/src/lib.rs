//! Regente: a payment orchestration service in one binary.

pub mod access;
pub mod admin;
pub mod api;
pub mod app;
pub mod bootstrap;
mod chain;
pub mod cli;
pub mod config;
pub mod dashboard;
pub mod demo;
pub mod health;
pub mod http;
pub mod human_check;
pub mod metrics;
pub mod sandbox_provider;
pub mod serve;
pub mod settlement;
pub mod telemetry;
mod terminal;
