//! Tokens are made as devices make them, then one thing about them is changed.
#![allow(clippy::unwrap_used)]

mod certificates;
mod content;
mod keys;
mod support;
mod tokens;
