//! How [`deserr`] reports: [`Problems`] collects the error of every field, in the words of
//! `docs/interface/conventions.md#problems`.

use std::borrow::Cow;
use std::convert::Infallible;
use std::ops::ControlFlow;

use deserr::{
    DeserializeError, Deserr, ErrorKind, IntoValue, MergeWithError, Value, ValueKind, ValuePointerRef,
};
use serde_json::{Map, Value as Json};

use super::path::Path;
use crate::problems::Problems;

/// What is wrong with a value, without its path: `must be a string`.
pub type Rule = Cow<'static, str>;

/// What is wrong with a member of an object.
#[derive(Debug)]
pub struct OfMember(pub &'static str, pub Rule);

/// The rule of what must be there.
pub(super) const EMPTY: &str = "should not be empty";

/// Reads a `T` from the members of an object. Members that it does not know are left out.
///
/// # Errors
/// Every problem that was found: in the order of the members as sent, and then what is missing.
pub fn read<T: Deserr<Problems>>(members: Map<String, Json>) -> Result<T, Problems> {
    deserr::deserialize(Json::Object(members))
}

/// Reads two parts of one object, each with members of its own.
///
/// # Errors
/// Every problem of both.
pub fn read_parts<A: Deserr<Problems>, B: Deserr<Problems>>(
    members: &Map<String, Json>,
) -> Result<(A, B), Problems> {
    match (read(members.clone()), read(members.clone())) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (a, b) => {
            let mut problems = a.err().unwrap_or_default();
            problems.extend(b.err().unwrap_or_default());
            Err(problems)
        }
    }
}

/// Reads a `T`, and looks in the same pass for problems between its members as sent; those that are null count as absent.
///
/// # Errors
/// Every problem that was found.
pub fn read_with<T: Deserr<Problems>, V: IntoValue>(
    value: Value<V>,
    location: ValuePointerRef<'_>,
    look: impl FnOnce(&Map<String, Json>, &mut Problems),
) -> Result<T, Problems> {
    let mut value: Json = Deserr::<Problems>::deserialize_from_value(value, location)?;
    let mut problems = Problems::new();
    if let Json::Object(members) = &mut value {
        members.retain(|_, value| !value.is_null());
        look(members, &mut problems);
    }
    match T::deserialize_from_value(value.into_value(), location) {
        Ok(read) => problems.into_result().map(|()| read),
        Err(mut found) => {
            found.extend(problems);
            Err(found)
        }
    }
}

/// The problem of one value.
pub fn refused(location: ValuePointerRef<'_>, rule: impl std::fmt::Display) -> Problems {
    Problems::one(Path(location), rule)
}

/// The rule of a closed list.
pub fn not_among<'n>(names: impl Iterator<Item = &'n str>) -> Rule {
    let names: Vec<&str> = names.collect();
    Rule::Owned(format!("must be one of the following values: {}", names.join(", ")))
}

/// Reads a text with `parse`; what is no text, or not taken by it, breaks `rule`.
pub(crate) fn text_as<T, V: IntoValue>(
    value: Value<V>,
    location: ValuePointerRef<'_>,
    rule: impl FnOnce() -> Rule,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, Problems> {
    match value {
        Value::Null => Err(refused(location, EMPTY)),
        Value::String(text) => parse(&text).ok_or_else(|| refused(location, rule())),
        Value::Boolean(_)
        | Value::Integer(_)
        | Value::NegativeInteger(_)
        | Value::Float(_)
        | Value::Sequence(_)
        | Value::Map(_) => Err(refused(location, rule())),
    }
}

impl MergeWithError<Self> for Problems {
    fn merge(known: Option<Self>, other: Self, _: ValuePointerRef<'_>) -> ControlFlow<Self, Self> {
        let mut problems = known.unwrap_or_default();
        problems.extend(other);
        ControlFlow::Continue(problems)
    }
}

impl MergeWithError<Infallible> for Problems {
    fn merge(known: Option<Self>, other: Infallible, _: ValuePointerRef<'_>) -> ControlFlow<Self, Self> {
        let _ = known;
        match other {}
    }
}

impl MergeWithError<Rule> for Problems {
    fn merge(known: Option<Self>, rule: Rule, location: ValuePointerRef<'_>) -> ControlFlow<Self, Self> {
        Self::merge(known, refused(location, rule), location)
    }
}

impl MergeWithError<OfMember> for Problems {
    fn merge(
        known: Option<Self>,
        OfMember(member, rule): OfMember,
        location: ValuePointerRef<'_>,
    ) -> ControlFlow<Self, Self> {
        Self::merge(known, refused(location.push_key(member), rule), location)
    }
}

impl DeserializeError for Problems {
    fn error<V: IntoValue>(
        known: Option<Self>,
        error: ErrorKind<'_, V>,
        location: ValuePointerRef<'_>,
    ) -> ControlFlow<Self, Self> {
        let problem = match error {
            ErrorKind::IncorrectValueKind { actual: Value::Null, .. } => refused(location, EMPTY),
            ErrorKind::IncorrectValueKind { accepted, .. } => refused(location, must_be(accepted)),
            ErrorKind::MissingField { field } => refused(location.push_key(field), EMPTY),
            ErrorKind::UnknownValue { accepted, .. } | ErrorKind::UnknownKey { accepted, .. } => {
                refused(location, not_among(accepted.iter().copied()))
            }
            ErrorKind::BadSequenceLen { expected, .. } => {
                refused(location, format_args!("must contain {expected} elements"))
            }
            ErrorKind::Unexpected { msg } => refused(location, msg),
        };
        Self::merge(known, problem, location)
    }
}

fn must_be(accepted: &[ValueKind]) -> &'static str {
    match accepted {
        [ValueKind::Map, ..] => "must be an object",
        [ValueKind::Sequence, ..] => "must be an array",
        [ValueKind::Boolean, ..] => "must be a boolean",
        [ValueKind::String, ..] => "must be a string",
        [ValueKind::Null | ValueKind::Integer | ValueKind::NegativeInteger | ValueKind::Float, ..] | [] => {
            "must be a number conforming to the specified constraints"
        }
    }
}
