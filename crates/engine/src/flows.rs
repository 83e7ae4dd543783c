//! What crosses the store and a provider. Called by the API and by the worker, so that there is one path for each
//! thing. Every flow that moves money has the same shape: the intent in one batch, the call, the outcome in another.

pub mod attempt;
pub mod card_check;
pub mod charge;
pub mod customers;
pub mod follow_up;
mod observed;
pub mod outcome;
pub mod purchase;
pub mod reconcile;
pub mod route;
pub mod stray;
