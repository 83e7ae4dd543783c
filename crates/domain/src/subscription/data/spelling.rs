//! The shapes of bodies that are read beside the published one, and the interval that production does not take.

use deserr::Deserr;
use serde_json::{Map, Value};

use crate::problems::Problems;
use crate::subscription::Interval;
use crate::wire::{not_among, read};

const PAYMENT_METHOD: &str = "paymentMethod";
const CARD: &str = "card";
/// The only `sourceType`.
const SOURCE_TYPE: &str = "card";

/// Reads a body in any of its shapes, with what is wrong that cannot be seen in the published one: whoever has more to say adds to it.
///
/// # Errors
/// Every problem that was found, when the body cannot be read.
pub(super) fn read_any<T: Deserr<Problems>>(
    sent: &Map<String, Value>,
    is_live: bool,
) -> Result<(T, Problems), Problems> {
    let (members, problems) = published(sent, is_live);
    match read(members) {
        Ok(body) => Ok((body, problems)),
        Err(mut found) => {
            found.extend(problems);
            Err(found)
        }
    }
}

/// The members in the published shape, and what is wrong that cannot be seen in it.
fn published(sent: &Map<String, Value>, is_live: bool) -> (Map<String, Value>, Problems) {
    let (mut members, mut problems) = (sent.clone(), Problems::new());
    if is_live && interval_of(&members).is_some_and(Interval::is_for_the_sandbox) {
        let of_production = Interval::WORDS.iter().filter(|(_, interval)| !interval.is_for_the_sandbox());
        problems.add("recurrence.interval", not_among(of_production.map(|(word, _)| *word)));
    }
    let source = members.shift_remove("paymentSource").filter(|source| !source.is_null());
    if let Some(Value::Object(method)) = members.get_mut(PAYMENT_METHOD) {
        let word = method.shift_remove("paymentType");
        put_absent(method, "type", word);
    }
    match source {
        None => {}
        Some(Value::Object(source)) => {
            let kind = source.get("sourceType").filter(|kind| !kind.is_null());
            if kind.is_some_and(|kind| kind != SOURCE_TYPE) {
                problems.add("paymentSource.sourceType", not_among([SOURCE_TYPE].into_iter()));
            }
            put_card(&mut members, source);
        }
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Null) => {
            problems.add("paymentSource", "must be an object");
        }
    }
    (members, problems)
}

/// Puts the card of the older shape where the published one has it, unless it has one.
fn put_card(members: &mut Map<String, Value>, mut source: Map<String, Value>) {
    let mut card = Map::new();
    for name in ["cardId", "cvv"] {
        card.extend(source.shift_remove(name).map(|value| (name.to_owned(), value)));
    }
    let method = members.entry(PAYMENT_METHOD).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(method) = method {
        put_absent(method, CARD, Some(Value::Object(card)));
    }
}

fn put_absent(members: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    if members.get(name).is_none_or(Value::is_null)
        && let Some(value) = value
    {
        members.insert(name.to_owned(), value);
    }
}

fn interval_of(members: &Map<String, Value>) -> Option<Interval> {
    Interval::parse(members.get("recurrence")?.get("interval")?.as_str()?)
}
