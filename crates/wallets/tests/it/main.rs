//! Tokens are made as devices make them, then one thing about them is changed.
#![allow(missing_docs)]

mod certificates;
mod content;
mod keys;
mod support;
mod tokens;
