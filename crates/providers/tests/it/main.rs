//! Tests of the calls to providers and of the simulator.
#![allow(clippy::unwrap_used)]

mod books;
mod cards;
mod crash;
mod faults;
mod follow_ups;
mod providers;
mod rules;
mod spoiled;
mod support;
