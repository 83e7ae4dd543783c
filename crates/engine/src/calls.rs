//! State of this process about its calls to providers. It is in memory only and lost when the process ends; records
//! never depend on it.

pub mod circuits;
pub mod in_flight;
pub mod learned;
pub mod merchants;
pub mod refusals;
pub mod repeats;
pub mod returns;
