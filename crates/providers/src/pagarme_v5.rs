//! The adapter of `PAGARME_V5`: the orders interface of a Brazilian provider.

pub mod ask;
mod declines;
pub mod reference;
pub mod tell;
pub mod wire;
