//! The JSON form of each record, as answers and events show it.

pub mod card;
pub mod instructions;
pub mod purchase;
pub mod registration_review;
pub mod seller;
pub mod session;
pub mod split;
pub mod subscription;
pub mod transaction;
pub mod transaction_request;

use regente_domain::card::in_text;
use serde_json::Value;

/// A word of the merchant as everybody else is shown it: an identifier may look like a card number, and older texts may hold
/// one. Answers to their secret keys show it as they sent it.
pub fn masked(word: Option<&str>) -> Option<String> {
    word.map(|word| in_text::masked(word).into_owned())
}

/// Masks card numbers in all texts of a value.
fn mask_texts(value: &mut Value) {
    match value {
        Value::String(text) => *text = in_text::masked(text).into_owned(),
        Value::Array(values) => values.iter_mut().for_each(mask_texts),
        Value::Object(members) => members.values_mut().for_each(mask_texts),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
