//! Regente: a payment orchestration service in one binary.

pub mod access;
pub mod admin;
pub mod api;
pub mod app;
pub mod audit;
pub mod bootstrap;
pub mod card_data;
pub mod chance;
pub mod cli;
pub mod clock;
pub mod config;
pub mod flows;
pub mod health;
pub mod metrics;
pub mod outbound;
pub mod remembered;
pub mod sandbox_provider;
pub mod serve;
pub mod settings;
pub mod telemetry;
pub mod vault;
pub mod webhooks;
pub mod work;
