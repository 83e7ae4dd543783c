//! Outbound calls to payment providers: what is asked, the three answers, one adapter for each provider, and the
//! SANDBOX simulator. Never here: the product's database, its HTTP interface, and which provider is asked (that is
//! routing, in the domain).

pub mod outcome;
pub mod provider;
pub mod request;
pub mod sandbox;
