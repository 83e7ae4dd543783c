//! The engine as a whole, how its modules and those of the server depend on each other; and what no story through HTTP can show.
#![allow(clippy::unwrap_used)]

mod layers;
mod pace;
mod scrub;
mod totp;
