//! Requests to providers that are stored before they are sent: the call itself ([`call`]), and what is done while the outcome
//! is unknown ([`reconcile`]).

pub mod call;
pub(crate) mod look_up_schedule;
pub mod reconcile;
pub(crate) mod telemetry;
