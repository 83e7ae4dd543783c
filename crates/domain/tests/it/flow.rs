//! Flows: the evaluator against a second one, and what holds of every flow that is published.

use proptest::prelude::*;
use regente_domain::card::Brand;
use regente_domain::currency::Currency;
use regente_domain::flow::{
    Choice, CountedHour, Draws, Facts, Flow, FlowMethod, FlowProblem, Group, Leaf, Member, WHOLE, visited,
};
use regente_domain::id::Id;
use regente_domain::provider_type::ProviderType;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::flow_naive::trees::{self, Before};
use crate::flow_naive::{self as naive, Step};

fn tree(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap()
}

fn facts(of: &naive::Facts) -> Facts<'_> {
    Facts {
        amount: of.amount,
        currency: Currency::parse(&of.currency).unwrap(),
        installments: of.installments.map(|number| u8::try_from(number).unwrap()),
        bin: of.card_bin.as_deref(),
        brand: of.brand.as_deref().and_then(Brand::parse),
        metadata: Some(&of.metadata),
    }
}

fn steps(choice: &Choice) -> Vec<Step> {
    let step = |leaf: &Leaf| match leaf {
        Leaf::Provider(id) => Step::Provider(id.to_string()),
        Leaf::AntiFraud(id) => Step::AntiFraud(id.to_string()),
    };
    choice.leaves.iter().map(step).collect()
}

/// The providers that random trees name.
fn members() -> Vec<Member> {
    let member = |id: String, provider_type| Member {
        id: Id::new(Uuid::parse_str(&id).unwrap()),
        provider_type,
        takes_method: true,
    };
    let analyst = ProviderType::parse("SANDBOX_ANTIFRAUD").unwrap();
    let payment = ProviderType::parse("SANDBOX").unwrap();
    let payments = (0..5).map(|number| member(trees::provider_id(number), payment));
    payments.chain((0..2).map(|number| member(trees::anti_fraud_id(number), analyst))).collect()
}

fn publish(root: Value) -> Result<Flow, Vec<FlowProblem>> {
    let sent = json!({ "version": "0.0.0", "root": root });
    Flow::publish(tree(&sent), FlowMethod::Credit, &members())
}

proptest! {
    // 100,000 with PROPTEST_CASES.
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn the_evaluator_takes_what_a_naive_one_takes(
        sent in prop_oneof![trees::trees(Before::MayStand), trees::trees(Before::Never)],
        charge in trees::facts(),
        seed in any::<u64>(),
    ) {
        let flow = Flow::published(tree(&sent));
        let choice = flow.choose(&facts(&charge), Draws::seeded(seed));
        let draws = choice.turns.iter().filter_map(|turn| turn.draw).collect();
        let expected = naive::branch(&sent, &naive::Facts { draws, ..charge });
        prop_assert_eq!(steps(&choice), &expected[..]);
        // By its turns alone, the way of a charge is found again.
        prop_assert_eq!(flow.retrace(&choice.turns), choice.clone());
        let named: Vec<String> = visited(tree(&sent), &choice.turns)
            .iter()
            .filter_map(|node| Some(node.node.get("id")?.as_str()?.to_owned()))
            .collect();
        let ids: Vec<String> =
            expected.iter().map(|step| match step { Step::Provider(id) | Step::AntiFraud(id) => id.clone() }).collect();
        prop_assert_eq!(named, ids);
    }

    #[test]
    fn whatever_is_published_ends_in_a_provider(
        sent in prop_oneof![trees::trees(Before::MayStand), trees::trees(Before::Never)],
        charge in trees::facts(),
        seed in any::<u64>(),
    ) {
        if let Ok(flow) = Flow::publish(tree(&sent), FlowMethod::Credit, &members()) {
            let choice = flow.choose(&facts(&charge), Draws::seeded(seed));
            prop_assert!(matches!(choice.leaves.last(), Some(Leaf::Provider(_))), "{:?}", choice);
            let providers: Vec<_> = choice.providers().collect();
            prop_assert!((1..=3).contains(&providers.len()));
            prop_assert!(providers.iter().all(|id| flow.providers().contains(id)));
        }
    }
}

fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2000)
}

#[test]
fn random_trees_are_published_often_enough_to_tell_something() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let published = (0..500).filter(|_| {
        let sent = trees::trees(Before::MayStand).new_tree(&mut runner).unwrap().current();
        Flow::publish(tree(&sent), FlowMethod::Credit, &members()).is_ok()
    });
    let share = published.count();
    assert!(share > 50, "{share} of 500");
}

#[test]
fn a_balance_has_its_percentages_and_each_balance_its_own_draw() {
    const CHARGES: u32 = 200_000;
    let provider = |number| json!([{ "rule": "provider", "id": trees::provider_id(number) }]);
    let below = json!([{ "rule": "balance", "branches": [
        { "percentage": 50, "root": provider(1) }, { "percentage": 50, "root": provider(2) } ] }]);
    let flow = publish(json!([{ "rule": "balance", "branches": [
        { "percentage": 12.34, "root": provider(0) }, { "percentage": 87.66, "root": below } ] }]))
    .unwrap();
    let charge = naive::Facts {
        amount: 1,
        currency: "BRL".to_owned(),
        card_bin: None,
        brand: None,
        installments: None,
        metadata: Map::new(),
        draws: Vec::new(),
    };
    let mut taken = [0_u32; 3];
    for seed in 0..u64::from(CHARGES) {
        let choice = flow.choose(&facts(&charge), Draws::seeded(seed));
        assert_eq!(choice, flow.choose(&facts(&charge), Draws::seeded(seed)), "the same seed draws the same");
        assert!(choice.turns.iter().filter_map(|turn| turn.draw).all(|draw| draw < WHOLE));
        let id = choice.providers().next().unwrap().to_string();
        taken[(0..3).find(|number| trees::provider_id(*number) == id).unwrap() as usize] += 1;
    }
    // Five standard deviations: sqrt(n p (1 - p)) is 147 and 222.
    let near =
        |taken: u32, expected: f64, deviation: f64| (f64::from(taken) - expected).abs() < 5.0 * deviation;
    let all = f64::from(CHARGES);
    assert!(near(taken[0], all * 0.1234, 147.0), "{taken:?}");
    for half in &taken[1..] {
        assert!(near(*half, all * 0.4383, 222.0), "{taken:?}");
    }
}

fn learned(extra: Value, branches: [Value; 2]) -> Value {
    let mut node = json!({ "rule": "balance", "strategy": "learned", "branches": branches });
    node.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    json!([node])
}

fn provider(number: u128) -> Value {
    json!({ "rule": "provider", "id": trees::provider_id(number) })
}

#[test]
fn a_balance_that_learns_is_checked() {
    let way = |number| json!({ "root": [provider(number)] });
    let bounded = |min: i64, max: i64| json!({ "bounds": { "min": min, "max": max }, "root": [provider(1)] });
    let fork = json!({ "rule": "balance", "branches": [
        { "percentage": 50, "root": [provider(1)] }, { "percentage": 50, "root": [provider(2)] } ] });
    publish(learned(json!({ "floor": 0.5, "halfLifeHours": 6 }), [way(0), bounded(10, 90)])).unwrap();
    let none = || json!({});
    for (root, path) in [
        (learned(none(), [way(0), way(0)]), "flow.root[0].branches"),
        (learned(none(), [way(0), json!({ "root": [] })]), "flow.root[0].branches[1].root"),
        (learned(none(), [way(0), json!({ "root": [fork] })]), "flow.root[0].branches[1].root"),
        (
            learned(none(), [way(0), json!({ "percentage": 50, "root": [provider(1)] })]),
            "flow.root[0].branches[1].percentage",
        ),
        (learned(none(), [way(0), bounded(90, 10)]), "flow.root[0].branches[1].bounds"),
        (
            learned(none(), [bounded(0, 40), json!({ "bounds": { "max": 50 }, "root": [provider(2)] })]),
            "flow.root[0].branches",
        ),
        (learned(none(), [way(0), bounded(-1, 10)]), "flow.root[0].branches[1].bounds.min"),
        (learned(json!({ "halfLifeHours": 0 }), [way(0), way(1)]), "flow.root[0].halfLifeHours"),
        (learned(json!({ "halfLifeHours": 169 }), [way(0), way(1)]), "flow.root[0].halfLifeHours"),
        (learned(json!({ "floor": 51 }), [way(0), way(1)]), "flow.root[0].branches"),
        (learned(json!({ "strategy": "guessed" }), [way(0), way(1)]), "flow.root[0].strategy"),
        (json!([provider(2), learned(none(), [way(0), way(1)])[0]]), "flow.root[1]"),
    ] {
        let problems = publish(root.clone()).unwrap_err();
        let found: Vec<(&str, &str)> =
            problems.iter().map(|problem| (problem.code.word(), problem.path.as_str())).collect();
        assert!(found.contains(&("flow_invalid", path)), "{path}: {problems:#?}");
    }
}

/// The share of the first branch is where draws are divided, whatever the shares are; and only first tries before the hour count.
#[test]
fn a_balance_that_learns_takes_the_shares_that_it_is_given() {
    let flow =
        publish(learned(json!({}), [json!({ "root": [provider(0)] }), json!({ "root": [provider(1)] })]))
            .unwrap();
    let [node] = flow.learned()[..] else { panic!("one balance") };
    let charge = naive::Facts {
        amount: 5000,
        currency: "BRL".to_owned(),
        card_bin: None,
        brand: Some("Visa".to_owned()),
        installments: None,
        metadata: Map::new(),
        draws: Vec::new(),
    };
    let group = Group { brand: "Visa".to_owned(), currency: "BRL".to_owned(), band: 6 };
    let counted = |number: usize, hour, approved| CountedHour {
        provider_id: node.leads[number],
        hour,
        group: group.clone(),
        approved,
        ended: 100,
    };
    let known = [counted(0, 9, 90), counted(1, 9, 80), counted(1, 10, 100), counted(1, -300, 100)];
    let shares = node.shares(&node.evidence(&known, 10), &group);
    let [first, second] = shares.branches() else { panic!("two branches") };
    assert!(first.share.get() > 900_000, "{shares:?}");
    assert_eq!((first.charges, second.charges), (97, 97), "an hour old; the present hour is not known yet");
    // Of another brand only what holds of all charges is known.
    let other = Group { brand: "Elo".to_owned(), ..group.clone() };
    let elsewhere = node.shares(&node.evidence(&known, 10), &other);
    let [elsewhere, _] = elsewhere.branches() else { panic!("two branches") };
    assert!(elsewhere.charges == 0 && elsewhere.share.get() > 900_000, "{elsewhere:?}");
    for seed in 0..2_000 {
        let choice = flow.choose_by(&facts(&charge), Draws::seeded(seed), &|_| Some(shares.clone()));
        let [turn] = choice.turns[..] else { panic!("one turn") };
        assert_eq!(turn.way == 0, turn.draw.unwrap() < first.share.get());
        assert_eq!(turn.shares, Some([*first, *second]));
        assert_eq!(flow.retrace(&choice.turns), choice);
        let unknown = flow.choose(&facts(&charge), Draws::seeded(seed)).turns[0];
        assert_eq!((unknown.draw, unknown.way == 0), (turn.draw, turn.draw.unwrap() < 500_000));
    }
}
