//! Changes of JSON that leave it JSON, so that what is behind its syntax is reached.

use std::sync::LazyLock;

use libfuzzer_sys::fuzzer_mutate;
use serde_json::{Map, Number, Value, json};

/// The names of members and the words of lists in all bodies, from the OpenAPI document.
static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut words = Vec::new();
    if let Ok(document) = serde_json::from_str(include_str!("../../openapi.json")) {
        collect(&document, &mut words);
    }
    words.sort();
    words.dedup();
    words
});

/// Values at which something begins or ends.
static EDGES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let values = json!([
        null,
        true,
        false,
        0,
        1,
        -1,
        100,
        9007199254740991_i64,
        9007199254740992_i64,
        i64::MAX,
        i64::MIN,
        u64::MAX,
        0.5,
        1.005,
        -0.01,
        1e21,
        1e-7,
        "",
        " ",
        "0",
        "1",
        "-1",
        "BRL",
        "JPY",
        "BR",
        "2026-02-30",
        "2026-01-01",
        "9999-12-31T23:59:59.999Z",
        "0000-01-01T00:00:00Z",
        "2026-01-01T10:00:00-03:00",
        "1d",
        "4916745120294124",
        "12/2030",
        "560",
        "97055503019",
        "7f8870a2-71c9-4ef0-a531-82000e00b7e1",
        "https://shop.example/a",
        "ana@example.com",
        "Ação\u{200d}\u{301}",
        "\u{ff14}",
        [],
        {},
        [[]],
        [{}]
    ]);
    match values {
        Value::Array(values) => values,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => Vec::new(),
    }
});

fn collect(value: &Value, words: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if let ("properties", Some(properties)) = (name.as_str(), value.as_object()) {
                    words.extend(properties.keys().cloned());
                }
                if let ("enum", Some(named)) = (name.as_str(), value.as_array()) {
                    words.extend(named.iter().filter_map(Value::as_str).map(str::to_owned));
                }
                collect(value, words);
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| collect(element, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Changes the input of a target that reads JSON behind `prefix` bytes; returns its new length. Of what is no JSON, and now and
/// then of what is, single bytes are changed.
pub fn mutate(data: &mut [u8], size: usize, size_max: usize, seed: u32, prefix: usize) -> usize {
    let mut chance = Chance(u64::from(seed));
    let sent = data.get(prefix..size).and_then(|json| serde_json::from_slice::<Value>(json).ok());
    if let Some(mut value) = sent.filter(|_| chance.below(4) != 0) {
        for _ in 0..=chance.below(3) {
            change(&mut value, &mut chance);
        }
        let text = value.to_string();
        if let Some(room) =
            data.get_mut(prefix..prefix + text.len()).filter(|_| prefix + text.len() <= size_max)
        {
            room.copy_from_slice(text.as_bytes());
            return prefix + text.len();
        }
    }
    fuzzer_mutate(data, size, size_max)
}

/// As `splitmix64`.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end.max(1) as u64) as usize
    }

    fn of<T: Clone>(&mut self, values: &[T]) -> Option<T> {
        values.get(self.below(values.len())).cloned()
    }
}

fn change(value: &mut Value, chance: &mut Chance) {
    let goes_on = chance.below(6) != 0;
    match value {
        Value::Object(members) if goes_on && !members.is_empty() => {
            let place = chance.below(members.len());
            if let Some((_, member)) = members.iter_mut().nth(place) {
                change(member, chance);
            }
        }
        Value::Array(elements) if goes_on && !elements.is_empty() => {
            let place = chance.below(elements.len());
            change(&mut elements[place], chance);
        }
        Value::Object(members) => change_members(members, chance),
        Value::Array(elements) => match (chance.of(elements), chance.below(3)) {
            (Some(element), 0) => elements.push(element),
            (Some(_), 1) => {
                elements.pop();
            }
            (_, _) => elements.extend(chance.of(&EDGES)),
        },
        Value::Number(number) if goes_on => *number = changed_number(number, chance),
        Value::String(text) if goes_on => change_text(text, chance),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            *value = chance.of(&EDGES).unwrap_or_default();
        }
    }
}

fn change_members(members: &mut Map<String, Value>, chance: &mut Chance) {
    let place = chance.below(members.len());
    let named = members.keys().nth(place).cloned();
    match (named, chance.below(3)) {
        (Some(name), 0) => {
            members.shift_remove(&name);
        }
        (Some(name), 1) => {
            if let (Some(value), Some(word)) = (members.get(&name).cloned(), chance.of(&WORDS)) {
                members.insert(word, value);
            }
        }
        (_, _) => {
            if let (Some(word), Some(value)) = (chance.of(&WORDS), chance.of(&EDGES)) {
                members.insert(word, value);
            }
        }
    }
}

fn changed_number(number: &Number, chance: &mut Chance) -> Number {
    let whole = number.as_i64().unwrap_or(1);
    Number::from(match chance.below(6) {
        0 => whole.wrapping_add(1),
        1 => whole.wrapping_sub(1),
        2 => whole.wrapping_neg(),
        3 => whole.wrapping_mul(10),
        4 => whole / 10,
        _ => whole.wrapping_mul(1_000_000_007),
    })
}

fn change_text(text: &mut String, chance: &mut Chance) {
    match chance.below(6) {
        0 => {
            text.pop();
        }
        1 => text.push(char::from(b' ' + chance.below(95) as u8)),
        2 => text.insert(0, char::from(b'0' + chance.below(10) as u8)),
        3 => *text = text.repeat(2 + chance.below(40)),
        4 => *text = chance.of(&WORDS).unwrap_or_default(),
        _ => *text = text.chars().map(|sign| if sign.is_ascii_digit() { '9' } else { sign }).collect(),
    }
}
