//! Refuses card data in texts (`docs/interface/conventions.md#card-numbers-in-texts`): what is read as a text is stored, shown and sent in
//! events as it is.

use deserr::ValuePointerRef;
use serde_json::{Map, Value};

use super::number::plain;
use super::path::Path;
use crate::card::in_text;
use crate::problems::Problems;

const NUMBER: &str = "must not contain a card number";
const SECURITY_CODE: &str = "must not contain the security code of a card";

/// The texts that hold card data.
#[derive(Debug, Default)]
pub struct CardData(Problems);

impl CardData {
    /// What was found, each text once.
    pub fn into_problems(self) -> Problems {
        self.0
    }

    /// Looks at every text in a value and at the names of its members, until as many were found as one answer holds.
    pub fn look_at(&mut self, value: &Value, location: ValuePointerRef<'_>) {
        if self.0.is_full() {
            return;
        }
        match value {
            Value::String(text) => self.look_at_text(text, location),
            Value::Number(number) => self.look_at_text(&plain(number), location),
            Value::Array(values) => {
                for (index, value) in values.iter().enumerate() {
                    self.look_at(value, location.push_index(index));
                }
            }
            Value::Object(members) => self.look_at_members(members, location),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// As [`CardData::look_at`], of the members of an object with their names.
    pub fn look_at_members(&mut self, members: &Map<String, Value>, location: ValuePointerRef<'_>) {
        for (name, value) in members {
            let at = location.push_key(name);
            if in_text::has_number(name) {
                self.add_once(location, NUMBER);
            } else if is_code(name, value) {
                self.add_once(at, SECURITY_CODE);
            } else {
                self.look_at(value, at);
            }
        }
    }

    pub(super) fn look_at_text(&mut self, text: &str, location: ValuePointerRef<'_>) {
        match in_text::card_data(text) {
            Some(in_text::CardData::Number) => self.add_once(location, NUMBER),
            Some(in_text::CardData::SecurityCode) => self.add_once(location, SECURITY_CODE),
            None => {}
        }
    }

    fn add_once(&mut self, location: ValuePointerRef<'_>, rule: &'static str) {
        self.0.add_once(format!("{} {rule}", Path(location)));
    }
}

fn is_code(name: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => in_text::is_security_code(name, text),
        Value::Number(number) => in_text::is_security_code(name, &number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}
