//! What this process remembers of its calls to providers, for all of them together: no record, no truth. Lost with the
//! process.

pub mod circuits;
pub mod in_flight;
pub mod merchants;
pub mod repeats;
