//! Flows (`docs/interface/flows.md`): publication with its checks, versions, and the charges that follow them.

mod charges;
mod parts;
mod publication;
mod replay;

use crate::support::flows::{FLOWS, Shop, balance, compares, condition};
