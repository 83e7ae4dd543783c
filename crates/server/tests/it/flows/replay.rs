//! Charges of the past under another flow, as `regente flows replay` asks (`docs/flow-replay.md`).

use std::time::Duration;

use regente::admin::{Answer, Command, CommandError, FlowReplayCommand, FlowReplayPart};
use regente_domain::flow_replay::Prediction;
use regente_domain::time::Timestamp;
use serde_json::{Value, json};

use super::{FLOWS, Shop, balance};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::charges::charged;
use crate::support::providers::sandbox;
use crate::support::read::text;
use crate::support::unknowns::ask;

stories! {
    a_replay_foretells_what_a_second_provider_recovers,
    a_replay_follows_what_was_drawn_and_what_can_serve,
    a_replay_of_a_flow_that_cannot_be_published_is_refused,
}

/// In the same band as the amount of the other charges.
const DECLINED_BY_BOTH: i64 = 160;
const HOUR: Duration = Duration::from_secs(60 * 60);

/// A provider that passes these charges on.
fn passing_on(name: &str, priority: i64, when: Value) -> Value {
    let mut provider = sandbox(name, priority);
    provider["options"] = json!({ "type": "SANDBOX", "faults": [
        { "when": when, "then": { "decline": "try_again" } }] });
    provider
}

fn question(flow: &Value, (from, to): (Timestamp, Timestamp)) -> FlowReplayCommand {
    let flow = flow.as_object().unwrap().clone();
    FlowReplayCommand { client_id: None, flow, merchant_id: None, from, to, after: None }
}

async fn asked(app: &TestApp, command: FlowReplayCommand) -> Result<FlowReplayPart, CommandError> {
    let answer = ask(app, Command::FlowReplay(Box::new(command))).await?;
    let Answer::FlowReplayPart(part) = answer else { panic!("another answer") };
    Ok(*part)
}

async fn replayed(app: &TestApp, flow: &Value, period: (Timestamp, Timestamp)) -> Prediction {
    let part = asked(app, question(flow, period)).await.map_err(|error| error.to_string()).unwrap();
    assert_eq!(part.next, None, "these few are one part");
    part.tally.prediction(&[])
}

/// So many charges, of ten four in installments and one of those of another amount; how many are approved.
async fn approved_of(app: &TestApp, shop: &Shop, charges: u64) -> u64 {
    let mut approved = 0;
    for number in 0..charges {
        let mut body = charge_body(&shop.merchant, APPROVED);
        if number % 10 < 4 {
            body["paymentMethod"]["installments"] = json!(2);
        }
        if number % 10 == 0 {
            body["amount"] = json!(DECLINED_BY_BOTH);
        }
        approved += u64::from(charged(app, &body).await["status"] == "authorized");
    }
    approved
}

async fn a_replay_foretells_what_a_second_provider_recovers(app: TestApp) {
    const CHARGES: u64 = 150;
    let in_installments = passing_on("A", 1, json!({ "installments": 2 }));
    let of_an_amount = passing_on("B", 2, json!({ "amount": DECLINED_BY_BOTH }));
    let providers = [in_installments, of_an_amount, sandbox("C", 3)];
    let shop = Shop::with(&app, providers).await;
    let (alone, both) = (json!([shop.node("A")]), json!([shop.node("A"), shop.node("B")]));
    shop.publish(&app, json!([balance([json!(30), json!(70)], [alone, both.clone()])])).await;
    let begin = app.clock.deployment();
    let before = approved_of(&app, &shop, CHARGES).await;
    app.later(HOUR).await;
    let middle = app.clock.deployment();

    let entries = app.books.entries().await.unwrap().len();
    let flow = shop.flow(both.clone());
    let said = replayed(&app, &flow, (begin, middle)).await;
    assert_eq!(app.books.entries().await.unwrap().len(), entries, "nobody was asked");
    assert_eq!((said.charges, said.approvals.recorded, said.moved), (CHARGES, before, 0));
    assert_eq!((said.untold.charges(), said.unserved), (0.0, 0), "{said:?}");
    assert!(said.estimated > 5 && said.approvals.low > before as f64, "{said:?}");
    let listed = app.get(FLOWS).await.expect(200);
    assert_eq!(listed["meta"]["totalItems"], 1, "nothing is published");

    shop.publish(&app, both).await;
    let after = approved_of(&app, &shop, CHARGES).await;
    let (low, high) = (said.approvals.low, said.approvals.high);
    assert_eq!(after, CHARGES / 10 * 9, "the same charges again");
    assert!(after > before && (low..=high).contains(&(after as f64)), "{after} of {CHARGES}: {said:?}");

    // The flow that they have followed says what became of them.
    app.later(HOUR).await;
    let now = app.clock.deployment();
    let told = replayed(&app, &flow, (middle, now)).await;
    assert_eq!((told.charges, told.approvals.recorded, told.estimated), (CHARGES, after, 0));
    assert_eq!((told.approvals.expected, told.approvals.low), (after as f64, after as f64));
    // Both periods are all of them, and a part goes on after the last charge of the one before.
    assert_eq!(replayed(&app, &flow, (begin, now)).await.charges, 2 * CHARGES);
    let page = app.get("/v1/charges?limit=100").await.expect(200);
    let hundredth = text(&page["items"][99]["id"]).parse().unwrap();
    let rest = FlowReplayCommand { after: Some(hundredth), ..question(&flow, (begin, now)) };
    assert_eq!(asked(&app, rest).await.ok().unwrap().tally.charges, 99);
}

async fn a_replay_follows_what_was_drawn_and_what_can_serve(app: TestApp) {
    let mut only_usd = sandbox("C", 3);
    only_usd["options"] = json!({ "type": "SANDBOX", "supports": { "currencies": ["USD"] } });
    let shop = Shop::with(&app, [sandbox("A", 1), sandbox("B", 2), only_usd]).await;
    let halves = |share: i64, second: &str| {
        let roots = [json!([shop.node("A")]), json!([shop.node(second)])];
        json!([balance([json!(share), json!(100 - share)], roots)])
    };
    shop.publish(&app, halves(50, "B")).await;
    let begin = app.clock.deployment();
    approved_of(&app, &shop, 40).await;
    // By other methods, and of another merchant.
    app.post("/v1/charges", &pix_body(&shop.merchant, described(jose()))).await.expect(201);
    let stranger = Shop::new(&app).await;
    charged(&app, &charge_body(&stranger.merchant, APPROVED)).await;
    app.later(HOUR).await;
    let period = (begin, app.clock.deployment());

    let same = replayed(&app, &shop.flow(halves(50, "B")), period).await;
    assert_eq!((same.charges, same.moved, same.estimated), (40, 0, 0), "the draws are those of the charges");
    let more = replayed(&app, &shop.flow(halves(80, "B")), period).await;
    let to_first = |prediction: &Prediction| {
        let of_second = |id: &Option<_>| {
            id.is_some_and(|id: regente_domain::id::ProviderId| id.to_string() == shop.id("B"))
        };
        let moves = prediction.moves.iter();
        moves.filter(|(from, to, _)| of_second(from) && !of_second(to)).map(|(_, _, n)| n).sum::<u64>()
    };
    assert!(more.moved > 0 && more.moved == to_first(&more), "only from B to A: {more:?}");
    // C takes no reais.
    let served = replayed(&app, &shop.flow(halves(50, "C")), period).await;
    assert!(served.unserved > 0 && served.unserved == served.moved, "{served:?}");
    let untold = replayed(&app, &shop.flow(json!([shop.node("B"), shop.node("A")])), period).await;
    assert_eq!(untold.untold.no_rate.len(), 1, "fewer than 30 have come to B first: {untold:?}");

    let pix = json!({ "merchantId": shop.merchant, "paymentMethod": "pix",
        "flow": { "version": "0.0.0", "root": [shop.node("A")] } });
    assert_eq!(replayed(&app, &pix, period).await.charges, 1);
    let none = (period.1, period.1 + HOUR);
    assert_eq!(replayed(&app, &pix, none).await.charges, 0);
}

async fn a_replay_of_a_flow_that_cannot_be_published_is_refused(app: TestApp) {
    let (shop, stranger) = (Shop::new(&app).await, Shop::new(&app).await);
    let period = (app.clock.deployment(), app.clock.deployment() + HOUR);
    let refused = async |command| asked(&app, command).await.err().unwrap().to_string();
    let flow = shop.flow(json!([shop.node("A")]));
    let of_stranger = FlowReplayCommand {
        merchant_id: Some(stranger.merchant.parse().unwrap()),
        ..question(&flow, period)
    };
    assert!(refused(of_stranger).await.contains("flow.root[0] must be a provider of the merchant"));
    let unknown = FlowReplayCommand {
        merchant_id: Some("72cc1ff1-5f6e-4eb2-9cc5-6a3a85525e4b".parse().unwrap()),
        ..question(&flow, period)
    };
    assert!(refused(unknown).await.contains("merchantId"));
    let empty = refused(question(&shop.flow(json!([])), period)).await;
    assert!(empty.contains("must have a payment provider"), "{empty}");
    let strange = refused(question(&json!({ "merchantId": shop.merchant }), period)).await;
    assert!(strange.contains("paymentMethod"), "{strange}");
}
