//! Refuses card data in texts (`docs/interface/conventions.md#card-numbers-in-texts`): what is read as a text is stored, shown and sent in
//! events as it is.

use regente_domain::card::in_text::{self, CardData};
use serde_json::{Map, Value};

use super::readers::plain;
use super::{Path, ProblemList};

const NUMBER: &str = "must not contain a card number";
const SECURITY_CODE: &str = "must not contain the security code of a card";

/// Whether no text in the value holds card data; each that does is noted with its path.
pub(super) fn is_free(value: &Value, path: Path<'_>, found: &ProblemList) -> bool {
    match value {
        Value::String(text) => is_free_text(text, path, found),
        Value::Number(number) => is_free_text(&plain(number), path, found),
        Value::Array(values) => values.iter().enumerate().fold(true, |is_free_yet, (index, value)| {
            is_free(value, Path::Index(&path, index), found) && is_free_yet
        }),
        Value::Object(members) => are_free(members, path, found),
        Value::Null | Value::Bool(_) => true,
    }
}

/// As [`is_free`], of the members of an object with their names.
pub(super) fn are_free(members: &Map<String, Value>, path: Path<'_>, found: &ProblemList) -> bool {
    members.iter().fold(true, |is_free_yet, (name, value)| {
        let at = Path::Member(&path, name);
        let is_free = if in_text::has_number(name) {
            found.add_once(path, NUMBER);
            false
        } else if is_code(name, value) {
            found.add_once(at, SECURITY_CODE);
            false
        } else {
            is_free(value, at, found)
        };
        is_free && is_free_yet
    })
}

fn is_free_text(text: &str, path: Path<'_>, found: &ProblemList) -> bool {
    let rule = match in_text::card_data(text) {
        None => return true,
        Some(CardData::Number) => NUMBER,
        Some(CardData::SecurityCode) => SECURITY_CODE,
    };
    found.add_once(path, rule);
    false
}

fn is_code(name: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => in_text::is_security_code(name, text),
        Value::Number(number) => in_text::is_security_code(name, &number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}
