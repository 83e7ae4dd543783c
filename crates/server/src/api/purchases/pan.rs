//! Finds card data in the body of a purchase, where none is allowed: purchases refer to stored cards
//! (`docs/interface/purchases.md#creating`).

use std::ops::RangeInclusive;

use regente_domain::card::CardNumber;
use regente_domain::card::in_text::masked;
use serde_json::Value;

use regente_domain::wire::uuid;

/// Names of members that would hold card data.
const NAMES_OF_CARD_DATA: [&str; 4] = ["card", "cardNumber", "number", "pan"];
const PAN_DIGITS: RangeInclusive<usize> = CardNumber::DIGITS_MIN..=CardNumber::DIGITS_MAX;

/// Whether a member of this name would hold card data.
fn is_name_of_card_data(name: &str) -> bool {
    NAMES_OF_CARD_DATA.contains(&name)
}

/// The paths within `payments` that hold card data.
pub(super) fn places(payments: Option<&Value>) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(payments) = payments {
        search(payments, "payments", &mut found);
    }
    found
}

fn search(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                search(item, &format!("{place}[{index}]"), found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                let place = format!("{place}.{}", masked(name));
                if is_name_of_card_data(name) {
                    found.push(place);
                } else {
                    search(member, &place, found);
                }
            }
        }
        Value::String(text) if holds_pan(text) => found.push(place.to_owned()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether the text has as many consecutive digits as a card number; spaces, dots and hyphens between them are skipped.
fn holds_pan(text: &str) -> bool {
    if uuid(text).is_some() {
        return false;
    }
    let text: String = text.chars().filter(|char| !matches!(char, ' ' | '.' | '-')).collect();
    let runs = text.split(|char: char| !char.is_ascii_digit());
    runs.map(str::len).any(|digits| PAN_DIGITS.contains(&digits))
}
