//! The adapter of `PAGARME_V5`: the orders interface of a Brazilian provider.

pub mod ask;
pub mod reference;
pub mod wire;
