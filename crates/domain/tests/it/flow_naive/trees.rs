//! Random flow trees that may be published, as JSON, and random charges for them.
//!
//! A tree is drawn as a shape without limits and then written down within them, so that it shrinks well.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::Facts;

/// The most nodes of a tree.
pub(crate) const NODES_MAX: usize = 100;
/// The deepest node: one in the root has depth 1.
pub(crate) const DEPTH_MAX: usize = 10;
/// The payment providers of a branch.
const PROVIDERS_MAX: usize = 3;
/// Payment providers that a tree chooses from.
const PROVIDERS: u128 = 5;
/// Ids of anti-fraud providers begin here.
const ANTI_FRAUD: u128 = 100;
const CURRENCIES: [&str; 3] = ["BRL", "USD", "JPY"];
const BINS: [&str; 4] = ["411111", "555555", "650000", "003412"];
const BRANDS: [&str; 3] = ["Visa", "Mastercard", "Elo"];
const AMOUNTS: std::ops::RangeInclusive<i64> = 1..=20;
const NUMBERS: std::ops::RangeInclusive<i64> = -4..=4;
const WORDS: [&str; 3] = ["", "web", "app"];
const KEYS: [&str; 4] = ["vip", "score", "channel", "age_group"];
const NUMERIC: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];
const EQUALITY: [&str; 2] = ["eq", "ne"];

/// Whether providers may stand before a condition or a balance of the same list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// They may: all branches below begin with them.
    MayStand,
    /// A list is either providers, or one condition or balance.
    Never,
}

/// The id of a payment provider: 0 to 4.
pub(crate) fn provider_id(number: u128) -> String {
    Uuid::from_u128(number % PROVIDERS + 1).to_string()
}

/// The id of an anti-fraud provider: 0 or 1.
pub(crate) fn anti_fraud_id(number: u128) -> String {
    Uuid::from_u128(number % 2 + ANTI_FRAUD).to_string()
}

/// The nodes of a list and of all below it.
pub(crate) fn nodes(list: &Value) -> usize {
    let below = |node: &Value| 1 + lists_below(node).into_iter().map(nodes).sum::<usize>();
    list.as_array().unwrap().iter().map(below).sum()
}

/// How deep the deepest node of a list is: 1 when it has no condition and no balance.
pub(crate) fn depth(list: &Value) -> usize {
    let below = |node: &Value| lists_below(node).into_iter().map(depth).max().unwrap_or(0);
    1 + list.as_array().unwrap().iter().map(below).max().unwrap_or(0)
}

fn lists_below(node: &Value) -> Vec<&Value> {
    let branches = node["branches"].as_array().into_iter().flatten().map(|branch| &branch["root"]);
    ["yes", "no"].iter().filter_map(|name| node.get(name)).chain(branches).collect()
}

/// Trees: `{ "version": "0.0.0", "root": [ … ] }`.
pub(crate) fn trees(before: Before) -> impl Strategy<Value = Value> {
    shapes().prop_map(move |shape| {
        let mut room = NODES_MAX - 1;
        let root = written(&shape, before, Way::default(), &mut room);
        json!({ "version": "0.0.0", "root": root })
    })
}

/// Charges whose values meet those of the trees often, with enough draws for any of them.
pub(crate) fn facts() -> impl Strategy<Value = Facts> {
    let card = prop::option::weighted(0.8, (select(&BINS[..]), select(&BRANDS[..]), 1..=12_i64));
    let metadata = prop::collection::vec((select(&KEYS[..]), metadata_values()), 0..=KEYS.len());
    let draws = prop::collection::vec(draw(), DEPTH_MAX);
    (AMOUNTS, select(&CURRENCIES[..]), card, metadata, draws).prop_map(
        |(amount, currency, card, metadata, draws)| Facts {
            amount,
            currency: currency.to_owned(),
            card_bin: card.map(|(bin, _, _)| bin.to_owned()),
            brand: card.map(|(_, brand, _)| brand.to_owned()),
            installments: card.map(|(_, _, installments)| installments),
            metadata: metadata.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>(),
            draws,
        },
    )
}

/// Any draw, and more often one at the edge of a whole percent.
fn draw() -> impl Strategy<Value = u32> {
    let edge = (0..=99_u32, 0..=1_u32).prop_map(|(percent, off)| (percent * 10_000).saturating_sub(off));
    prop_oneof![0..1_000_000_u32, edge]
}

fn metadata_values() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => NUMBERS.prop_map(Value::from),
        1 => select(&[-0.5, 0.5, 2.0, 2.5][..]).prop_map(Value::from),
        3 => select(&WORDS[..]).prop_map(Value::from),
        3 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => Just(json!([1])),
        1 => Just(json!({ "a": 1 })),
    ]
}

/// A list without limits: its leaves, and what decides after them.
#[derive(Clone, Debug)]
struct Shape {
    leaves: Vec<Leaf>,
    then: Option<Box<Decision>>,
}

#[derive(Clone, Copy, Debug)]
enum Leaf {
    Provider(u128),
    AntiFraud(u128),
}

#[derive(Clone, Debug)]
enum Decision {
    Condition { when: Value, yes: Shape, no: Shape },
    Balance { percent: u32, first: Shape, second: Shape },
}

fn shapes() -> impl Strategy<Value = Shape> {
    let leaves = || prop::collection::vec(leaf(), 0..=4);
    leaves().prop_map(|leaves| Shape { leaves, then: None }).prop_recursive(
        u32::try_from(DEPTH_MAX).unwrap() + 2,
        u32::try_from(NODES_MAX).unwrap(),
        2,
        move |below| {
            let condition = (when(), below.clone(), below.clone())
                .prop_map(|(when, yes, no)| Decision::Condition { when, yes, no });
            let balance = (0..=100_u32, below.clone(), below)
                .prop_map(|(percent, first, second)| Decision::Balance { percent, first, second });
            (leaves(), prop_oneof![3 => condition.boxed(), 1 => balance.boxed()])
                .prop_map(|(leaves, decision)| Shape { leaves, then: Some(Box::new(decision)) })
        },
    )
}

fn leaf() -> impl Strategy<Value = Leaf> {
    prop_oneof![
        3 => (0..PROVIDERS).prop_map(Leaf::Provider),
        1 => (0..2_u128).prop_map(Leaf::AntiFraud),
    ]
}

/// What stands on the way from the root to a list.
#[derive(Clone, Default)]
struct Way {
    providers: Vec<String>,
    analysed: bool,
    decisions: usize,
}

/// Writes a list within the limits. `room` is how many nodes the tree may have beside the one that each list ends with.
fn written(shape: &Shape, before: Before, mut way: Way, room: &mut usize) -> Vec<Value> {
    // A decision puts one node more, and a list more to end.
    let then = shape.then.as_deref().filter(|_| way.decisions + 1 < DEPTH_MAX && *room >= 2);
    if then.is_some() {
        *room -= 2;
    }
    let mut list = Vec::new();
    for leaf in shape.leaves.iter().filter(|_| then.is_none() || before == Before::MayStand) {
        // The last provider is kept for the end of the branch.
        let has_room = *room > 0 && way.providers.len() + 1 < PROVIDERS_MAX;
        match *leaf {
            Leaf::Provider(number) if has_room && !way.providers.contains(&provider_id(number)) => {
                way.providers.push(provider_id(number));
                list.push(json!({ "rule": "provider", "id": provider_id(number) }));
                *room -= 1;
            }
            Leaf::AntiFraud(number) if *room > 0 && !way.analysed => {
                way.analysed = true;
                list.push(json!({ "rule": "antiFraud", "id": anti_fraud_id(number) }));
                *room -= 1;
            }
            Leaf::Provider(_) | Leaf::AntiFraud(_) => {}
        }
    }
    way.decisions += 1;
    let mut below = |shape: &Shape| written(shape, before, way.clone(), room);
    list.push(match then {
        Some(Decision::Condition { when, yes, no }) => {
            json!({ "rule": "condition", "when": when, "yes": below(yes), "no": below(no) })
        }
        Some(Decision::Balance { percent, first, second }) => json!({ "rule": "balance", "branches": [
            { "percentage": percent, "root": below(first) },
            { "percentage": 100 - percent, "root": below(second) },
        ] }),
        None => {
            let unused = (0..PROVIDERS).map(provider_id).find(|id| !way.providers.contains(id));
            json!({ "rule": "provider", "id": unused.unwrap() })
        }
    });
    list
}

/// One condition, or two of them: of different properties, or a range of one.
fn when() -> impl Strategy<Value = Value> {
    let two = (select(&["and", "or"][..]), condition(), condition()).prop_map(|(operator, first, second)| {
        if operator == "and" && first["property"] == second["property"] {
            return first;
        }
        json!({ "operator": operator, "conditions": [first, second] })
    });
    let range = (AMOUNTS, 2..=10_i64, select(&["gt", "ge"][..]), select(&["lt", "le"][..])).prop_map(
        |(least, wide, lower, upper)| {
            json!({ "operator": "and", "conditions": [
                { "property": "transaction.amount", "operator": lower, "value": least },
                { "property": "transaction.amount", "operator": upper, "value": least + wide },
            ] })
        },
    );
    prop_oneof![4 => condition().boxed(), 4 => two.boxed(), 1 => range.boxed()]
}

fn condition() -> impl Strategy<Value = Value> {
    let of = |name: &'static str, operators: &'static [&'static str], values: BoxedStrategy<Value>| {
        (select(operators), values).prop_map(move |(operator, value)| {
            json!({ "property": format!("transaction.{name}"), "operator": operator, "value": value })
        })
    };
    let texts = |texts: &'static [&'static str]| select(texts).prop_map(Value::from).boxed();
    let metadata =
        (select(&KEYS[..]), typed(), any::<bool>()).prop_map(|(key, (kind, operator, value), default)| {
            json!({ "property": format!("metadata.{key}"), "type": kind, "operator": operator, "value": value,
                "default": default })
        });
    prop_oneof![
        of("amount", &NUMERIC, AMOUNTS.prop_map(Value::from).boxed()),
        of("currency", &EQUALITY, texts(&CURRENCIES)),
        of("cardBin", &EQUALITY, texts(&BINS)),
        of("brand", &EQUALITY, texts(&BRANDS)),
        of("installments", &NUMERIC, (1..=12_i64).prop_map(Value::from).boxed()),
        metadata,
    ]
}

/// The type of a metadata condition, an operator of that type and a value.
fn typed() -> impl Strategy<Value = (&'static str, &'static str, Value)> {
    let numbers =
        (select(&NUMERIC[..]), NUMBERS).prop_map(|(operator, value)| ("number", operator, json!(value)));
    let texts = (select(&EQUALITY[..]), select(&WORDS[..]))
        .prop_map(|(operator, value)| ("string", operator, json!(value)));
    let booleans = (select(&EQUALITY[..]), any::<bool>())
        .prop_map(|(operator, value)| ("boolean", operator, json!(value)));
    prop_oneof![numbers, texts, booleans]
}
