//! The engine as a whole: how its modules and those of the server depend on each other.
#![allow(clippy::unwrap_used)]

mod layers;
