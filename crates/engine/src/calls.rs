//! State of this process about its calls to providers. It is in memory only and lost when the process ends; records
//! never depend on it.

pub mod circuits;
pub mod in_flight;
pub mod learned;
pub mod merchants;
pub mod refusals;
pub mod repeats;
pub mod returns;
pub mod senders;

/// Most providers that are remembered; some hundred bytes each.
const PROVIDERS_MAX: u64 = 100_000;
