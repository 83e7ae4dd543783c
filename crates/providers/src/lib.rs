//! Calls to payment providers and to risk analysis: what is asked, what can be answered, what providers send by
//! themselves, one adapter for each provider, and the SANDBOX simulator. Never here: the product's database, its HTTP
//! interface, and which provider is asked (that is routing, in the domain).

pub mod anti_fraud;
pub mod notification;
pub mod outcome;
pub mod provider;
pub mod request;
pub mod sandbox;
