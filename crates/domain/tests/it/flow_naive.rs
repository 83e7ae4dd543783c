//! A second, naive evaluator of flow trees, written from the page `docs/interface/flows.md` alone: it reads the JSON of a tree again for
//! every charge, and is slow and plain. What the product's evaluator takes must be what this one takes.

pub(crate) mod trees;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use trees::Before;

/// What a flow may ask about a charge.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// In minor units.
    pub(crate) amount: i64,
    /// Three letters.
    pub(crate) currency: String,
    /// The first six digits of the card; a Pix and a boleto have none.
    pub(crate) card_bin: Option<String>,
    /// The brand of the card.
    pub(crate) brand: Option<String>,
    /// The number of installments; a Pix and a boleto have none.
    pub(crate) installments: Option<i64>,
    /// `paymentFlow.metadata`.
    pub(crate) metadata: Map<String, Value>,
    /// For each balance on the way, in the order of the visits: 0 to 999,999.
    pub(crate) draws: Vec<u32>,
}

/// A node of the branch that a charge takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The provider with this id.
    Provider(String),
    /// The anti-fraud provider with this id.
    AntiFraud(String),
}

/// The branch that the charge takes through `{ "version": …, "root": [ … ] }`, from its first node to its last.
///
/// Nodes of a list that stand after a condition or a balance follow the branch that was taken there.
pub(crate) fn branch(flow: &Value, facts: &Facts) -> Vec<Step> {
    let mut draws = facts.draws.iter().copied();
    let mut steps = Vec::new();
    walk(&flow["root"], facts, &mut draws, &mut steps);
    steps
}

fn walk(list: &Value, facts: &Facts, draws: &mut dyn Iterator<Item = u32>, steps: &mut Vec<Step>) {
    for node in list.as_array().unwrap() {
        let id = || node["id"].as_str().unwrap().to_owned();
        match node["rule"].as_str().unwrap() {
            "provider" => steps.push(Step::Provider(id())),
            "antiFraud" => steps.push(Step::AntiFraud(id())),
            "condition" if holds(&node["when"], facts) => walk(&node["yes"], facts, draws, steps),
            "condition" => walk(&node["no"], facts, draws, steps),
            "balance" => walk(&drawn(node, draws.next().unwrap())["root"], facts, draws, steps),
            other => panic!("no such rule: {other}"),
        }
    }
}

/// The first branch whose whole percentage, together with those before it, is above the draw.
fn drawn(balance: &Value, draw: u32) -> &Value {
    let mut end = 0;
    let branches = balance["branches"].as_array().unwrap();
    let falls_in = |branch: &&Value| {
        end += branch["percentage"].as_u64().unwrap() * 10_000;
        u64::from(draw) < end
    };
    branches.iter().find(falls_in).unwrap()
}

/// One condition, or two of them with `and` or `or`.
fn holds(when: &Value, facts: &Facts) -> bool {
    let Some(conditions) = when["conditions"].as_array() else {
        return one_holds(when, facts);
    };
    let results: Vec<bool> = conditions.iter().map(|condition| one_holds(condition, facts)).collect();
    match when["operator"].as_str().unwrap() {
        "and" => results.iter().all(|holds| *holds),
        "or" => results.iter().any(|holds| *holds),
        other => panic!("no such combination: {other}"),
    }
}

fn one_holds(condition: &Value, facts: &Facts) -> bool {
    let property = condition["property"].as_str().unwrap();
    let operator = condition["operator"].as_str().unwrap();
    let value = &condition["value"];
    if let Some(key) = property.strip_prefix("metadata.") {
        return match (condition["type"].as_str().unwrap(), facts.metadata.get(key)) {
            ("number", Some(Value::Number(fact))) => {
                compare(operator, fact.as_f64().unwrap(), value.as_f64().unwrap())
            }
            ("string", Some(Value::String(fact))) => same(operator, fact == value.as_str().unwrap()),
            ("boolean", Some(Value::Bool(fact))) => same(operator, *fact == value.as_bool().unwrap()),
            // The charge lacks the key, or has a value of another type there.
            _ => condition["default"].as_bool().unwrap(),
        };
    }
    let text = |fact: &Option<String>| {
        fact.as_ref().is_some_and(|fact| same(operator, fact == value.as_str().unwrap()))
    };
    match property {
        "transaction.amount" => compare(operator, facts.amount as f64, value.as_f64().unwrap()),
        "transaction.currency" => same(operator, facts.currency == value.as_str().unwrap()),
        // What a Pix or a boleto lacks makes a condition false, `ne` as well.
        "transaction.cardBin" => text(&facts.card_bin),
        "transaction.brand" => text(&facts.brand),
        "transaction.installments" => {
            facts.installments.is_some_and(|fact| compare(operator, fact as f64, value.as_f64().unwrap()))
        }
        other => panic!("no such property: {other}"),
    }
}

fn compare(operator: &str, fact: f64, value: f64) -> bool {
    match operator {
        "lt" => fact < value,
        "le" => fact <= value,
        "gt" => fact > value,
        "ge" => fact >= value,
        other => same(other, fact == value),
    }
}

fn same(operator: &str, equal: bool) -> bool {
    match operator {
        "eq" => equal,
        "ne" => !equal,
        other => panic!("no such operator: {other}"),
    }
}

fn charge() -> Facts {
    Facts {
        amount: 60_000,
        currency: "BRL".into(),
        card_bin: Some("411111".into()),
        brand: Some("Visa".into()),
        installments: Some(1),
        metadata: Map::new(),
        draws: Vec::new(),
    }
}

fn provider(id: &str) -> Step {
    Step::Provider(id.into())
}

/// The tree of the page.
fn vip_tree() -> Value {
    json!({ "version": "0.0.0", "root": [ { "rule": "condition",
        "when": { "operator": "and", "conditions": [
            { "property": "transaction.amount", "operator": "ge", "value": 50000 },
            { "property": "metadata.vip", "type": "boolean", "operator": "eq", "value": true, "default": false } ] },
        "yes": [ { "rule": "antiFraud", "id": "f" }, { "rule": "provider", "id": "a" }, { "rule": "provider", "id": "b" } ],
        "no": [ { "rule": "balance", "branches": [
            { "percentage": 70, "root": [ { "rule": "provider", "id": "a" } ] },
            { "percentage": 30, "root": [ { "rule": "provider", "id": "b" } ] } ] } ] } ] })
}

#[test]
fn the_tree_of_the_page_is_walked() {
    let vip = |value: Value| Map::from_iter([("vip".to_owned(), value)]);
    let taken = branch(&vip_tree(), &Facts { metadata: vip(json!(true)), ..charge() });
    assert_eq!(taken, [Step::AntiFraud("f".into()), provider("a"), provider("b")]);
    for (amount, metadata) in [
        (49_999, vip(json!(true))),
        (50_000, vip(json!(false))),
        (50_000, vip(json!("true"))),
        (50_000, Map::new()),
    ] {
        let facts = |draw| Facts { amount, metadata: metadata.clone(), draws: vec![draw], ..charge() };
        let taken = [0, 699_999, 700_000, 999_999].map(|draw| branch(&vip_tree(), &facts(draw)).remove(0));
        assert_eq!(taken, [provider("a"), provider("a"), provider("b"), provider("b")]);
    }
}

#[test]
fn a_key_that_is_missing_counts_as_its_default() {
    let asked = |key: &str, default: bool| json!({ "property": format!("metadata.{key}"), "type": "number", "operator": "gt", "value": 3, "default": default });
    let result = |operator: &str, conditions: [Value; 2], facts: &Facts| {
        holds(&json!({ "operator": operator, "conditions": conditions }), facts)
    };
    let nothing = charge();
    let both = || [asked("a", true), asked("b", false)];
    assert_eq!([result("or", both(), &nothing), result("and", both(), &nothing)], [true, false]);
    let metadata = Map::from_iter([("b".to_owned(), json!(3.5)), ("a".to_owned(), json!([4]))]);
    assert!(result("and", both(), &Facts { metadata, ..charge() }));
}

#[test]
fn a_pix_meets_no_condition_about_cards() {
    let pix = Facts { card_bin: None, brand: None, installments: None, ..charge() };
    for (property, value) in
        [("cardBin", json!("411111")), ("brand", json!("Visa")), ("installments", json!(1))]
    {
        for operator in ["eq", "ne"] {
            let condition = json!({ "property": format!("transaction.{property}"), "operator": operator, "value": value });
            assert!(!holds(&condition, &pix));
            assert_eq!(holds(&condition, &charge()), operator == "eq");
        }
    }
}

proptest! {
    /// What the checks of publication demand , seen from a charge.
    #[test]
    fn every_branch_of_a_random_tree_is_one_that_may_be_published(
        tree in prop_oneof![trees::trees(Before::MayStand), trees::trees(Before::Never)], facts in trees::facts()
    ) {
        let taken = branch(&tree, &facts);
        let ids: Vec<&str> = taken.iter().map(|step| match step { Step::Provider(id) | Step::AntiFraud(id) => id.as_str() }).collect();
        let of_fraud = |step: &Step| matches!(step, Step::AntiFraud(_));
        let analyses = taken.iter().filter(|step| of_fraud(step)).count();
        prop_assert!(matches!(taken.last(), Some(Step::Provider(_))), "{:?}", taken);
        prop_assert!(analyses <= 1 && taken.len() - analyses <= 3, "{:?}", taken);
        prop_assert!(ids.iter().enumerate().all(|(at, id)| !ids[..at].contains(id)), "{:?}", taken);
        prop_assert!(trees::nodes(&tree["root"]) <= trees::NODES_MAX && trees::depth(&tree["root"]) <= trees::DEPTH_MAX);
        let first_decision = tree["root"].as_array().unwrap().iter().position(|node| node["id"].is_null());
        prop_assert!(first_decision.is_none_or(|at| at + 1 == tree["root"].as_array().unwrap().len()));
    }
}
