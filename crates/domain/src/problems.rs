//! What is wrong with a request: all of it together, each problem with the path of the field it is about.

use std::fmt;

/// The problems found in one body or query, in the order of the fields. The wording follows
/// `docs/interface/conventions.md#problems`: `<path> must be a string`, `<path> should not be empty`, …
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<String>);

impl Problems {
    /// No problem yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One problem alone: the field at `path` and what it must be, for example `("amount", "must be greater than 0")`.
    pub fn one(path: impl fmt::Display, rule: impl fmt::Display) -> Self {
        let mut problems = Self::new();
        problems.add(path, rule);
        problems
    }

    /// Adds one problem.
    pub fn add(&mut self, path: impl fmt::Display, rule: impl fmt::Display) {
        self.0.push(format!("{path} {rule}"));
    }

    /// Adds what another part of the same request found.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Whether everything is right so far.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `Ok` when nothing was found.
    pub fn into_result(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }

    /// The sentences, for the `details` of an error.
    pub fn into_details(self) -> Vec<String> {
        self.0
    }

    /// The sentences, for a look.
    pub fn details(&self) -> &[String] {
        &self.0
    }
}
