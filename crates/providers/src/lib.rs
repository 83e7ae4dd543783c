//! Calls to payment and anti-fraud providers and to 3DS servers: requests, answers, notifications, one adapter for
//! each provider, and the SANDBOX simulator. The crate does not use the product's database or its HTTP interface, and
//! it does not choose the provider: routing is in the domain.

pub mod adyen;
pub mod anti_fraud;
pub mod authentication;
pub mod division;
pub mod http_client;
pub mod notification;
pub mod outcome;
pub mod own_provider;
pub mod pagarme_v5;
pub mod provider;
pub mod request;
pub mod sandbox;
pub mod seller;
mod shown_text;
pub mod staged;
pub mod stripe;
