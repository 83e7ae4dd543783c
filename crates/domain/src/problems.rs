//! Collects all errors of a request, each with the path of its field.

use std::fmt;

/// The errors of one body or query, in the order of the fields. The wording follows
/// `docs/interface/conventions.md#problems`: `<path> must be a string`, `<path> should not be empty`, …
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<String>);

impl Problems {
    /// The most in one answer.
    pub const MAX: usize = 100;

    /// No errors yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A single error: the field at `path` and its rule, for example `("amount", "must be greater than 0")`.
    pub fn one(path: impl fmt::Display, rule: impl fmt::Display) -> Self {
        let mut problems = Self::new();
        problems.add(path, rule);
        problems
    }

    /// Adds an error, up to [`Self::MAX`].
    pub fn add(&mut self, path: impl fmt::Display, rule: impl fmt::Display) {
        if !self.is_full() {
            self.0.push(format!("{path} {rule}"));
        }
    }

    /// Adds an error that is a whole sentence, unless it is known.
    pub fn add_once(&mut self, sentence: String) {
        if !self.is_full() && !self.0.contains(&sentence) {
            self.0.push(sentence);
        }
    }

    /// Whether there are as many as one answer holds.
    pub fn is_full(&self) -> bool {
        self.0.len() >= Self::MAX
    }

    /// Adds the errors of another part of the same request, up to [`Self::MAX`].
    pub fn extend(&mut self, other: Self) {
        let room = Self::MAX.saturating_sub(self.0.len());
        self.0.extend(other.0.into_iter().take(room));
    }

    /// What was read, unless there are errors: those of the reading, and then these.
    pub fn beside<T>(self, read: Result<T, Self>) -> Result<T, Self> {
        match read {
            Ok(read) => self.into_result().map(|()| read),
            Err(mut found) => {
                found.extend(self);
                Err(found)
            }
        }
    }

    /// Whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `Ok` when there are no errors.
    pub fn into_result(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }

    /// The sentences, for the `details` of an error.
    pub fn into_details(self) -> Vec<String> {
        self.0
    }

    /// The sentences, borrowed.
    pub fn details(&self) -> &[String] {
        &self.0
    }
}
