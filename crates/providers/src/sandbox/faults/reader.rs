//! Reads JSON values and reports every problem with the path of its member.

use std::fmt::Display;

use regente_domain::problems::Problems;
use serde_json::{Map, Value};

/// The path of a value in the request.
pub(super) struct ValuePath(pub(super) String);

impl ValuePath {
    pub(super) fn of(&self, name: &str) -> Self {
        Self(if self.0.is_empty() { name.to_owned() } else { format!("{}.{name}", self.0) })
    }

    pub(super) fn must(&self, rule: impl Display) -> Problems {
        Problems::one(&self.0, format_args!("must {rule}"))
    }
}

/// Collects all problems instead of stopping at the first one.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) problems: Problems,
}

impl Reader {
    /// Reads one member. Absent, null and invalid members give `None`; an invalid one is also a problem.
    pub(super) fn member<T>(
        &mut self,
        members: &Map<String, Value>,
        at: &ValuePath,
        name: &str,
        read: impl FnOnce(&mut Self, &Value, &ValuePath) -> Result<T, Problems>,
    ) -> Option<T> {
        let value = members.get(name).filter(|value| !value.is_null())?;
        let read = read(self, value, &at.of(name));
        self.note(read)
    }

    /// Reads the elements of an array. Invalid elements are left out and reported as problems.
    pub(super) fn each<T>(
        &mut self,
        values: &[Value],
        at: &ValuePath,
        read: impl Fn(&mut Self, &Value, &ValuePath) -> Result<T, Problems>,
    ) -> Vec<T> {
        let elements = values.iter().enumerate();
        elements
            .filter_map(|(place, value)| {
                let read = read(self, value, &at.of(&place.to_string()));
                self.note(read)
            })
            .collect()
    }

    /// Reports every unknown member.
    pub(super) fn only(&mut self, members: &Map<String, Value>, at: &ValuePath, known: &[&str]) {
        for name in members.keys().filter(|name| !known.contains(&name.as_str())) {
            self.problems.add(&at.of(name).0, "should not exist");
        }
    }

    pub(super) fn note<T>(&mut self, read: Result<T, Problems>) -> Option<T> {
        read.map_err(|problems| self.problems.extend(problems)).ok()
    }
}

pub(super) fn integer<T: TryFrom<u64> + PartialOrd + Display>(
    value: &Value,
    at: &ValuePath,
    min: T,
    max: T,
) -> Result<T, Problems> {
    let number = value.as_u64().and_then(|number| T::try_from(number).ok());
    let fitting = number.filter(|number| (&min..=&max).contains(&number));
    fitting.ok_or_else(|| at.must(format_args!("be an integer from {min} to {max}")))
}

pub(super) fn word<T: Copy>(value: &Value, at: &ValuePath, words: &[(&str, T)]) -> Result<T, Problems> {
    let found = words.iter().find(|(known, _)| value.as_str() == Some(known)).map(|(_, meaning)| *meaning);
    found.ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(known, _)| *known).collect();
        at.must(format_args!("be one of the following values: {}", known.join(", ")))
    })
}

pub(super) fn object<'a>(value: &'a Value, at: &ValuePath) -> Result<&'a Map<String, Value>, Problems> {
    value.as_object().ok_or_else(|| at.must("be an object"))
}
