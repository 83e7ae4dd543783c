//! Charges that follow a flow.

use std::time::Duration;

use regente::metrics::Endpoint;
use regente_domain::charge::sent::FlowMetadata;
use serde_json::{Value, json};

use super::{FLOWS, Shop, balance, compares, condition};
use crate::support::anti_fraud::{APPROVED_RISK, analysed};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::bodies::{APPROVED, Charge, WRONG_CVV, charge_body};
use crate::support::charges::charged;
use crate::support::metrics::metric;
use crate::support::providers::sandbox;
use crate::support::read::text;
use crate::support::sessions::{by_card, create, pay, session_body};

stories! {
    a_charge_is_sent_where_its_conditions_say,
    metadata_decide_and_their_default_where_they_lack,
    names_of_facts_are_not_taken_as_metadata,
    a_refusal_goes_on_in_the_branch_and_ends_with_it,
    a_balance_draws_once_and_a_key_keeps_its_draw,
    a_balance_that_learns_follows_approvals_within_its_bounds,
    a_charge_ends_with_the_version_with_which_it_began,
    a_branch_that_cannot_serve_is_a_400_and_leaves_nothing,
    an_analysis_is_where_the_flow_has_it,
    pix_and_sessions_follow_flows_and_debit_does_not,
    public_keys_are_not_told_of_the_flow,
}

/// A provider that refuses every authorization so that another one may be asked.
fn declining(name: &str, priority: i64) -> Value {
    let mut provider = sandbox(name, priority);
    provider["options"] = json!({ "type": "SANDBOX", "faults": [
        { "when": { "operation": "authorization" }, "then": { "decline": "try_again" } }] });
    provider
}

async fn explained(app: &TestApp, charge: &Value) -> Value {
    app.get(&format!("/v1/charges/{}/explanation", text(&charge["id"]))).await.expect(200)
}

async fn a_charge_is_sent_where_its_conditions_say(app: TestApp) {
    let shop = Shop::new(&app).await;
    let before = charged(&app, &charge_body(&shop.merchant, APPROVED)).await;
    assert_eq!((shop.asked(&before), before.get("paymentFlow")), (vec!["A"], None), "by priority");

    let brand_and_bin = json!({ "operator": "and", "conditions": [
        compares("brand", "eq", "Visa"), compares("cardBin", "eq", "491674")] });
    let root = json!([condition(
        compares("amount", "ge", 50_000),
        json!([shop.node("C"), shop.node("A")]),
        json!([condition(brand_and_bin, json!([shop.node("B")]), json!([shop.node("C")]))]),
    )]);
    let flow = shop.publish(&app, root.clone()).await;
    let small = charged(&app, &charge_body(&shop.merchant, APPROVED)).await;
    assert_eq!((shop.asked(&small), &small["paymentFlow"]), (vec!["B"], &json!({ "id": flow["id"] })));
    let large = charged(&app, &Charge::by_card(&shop.merchant, APPROVED).amount(50_000).body()).await;
    assert_eq!(shop.asked(&large), ["C"]);

    let told = explained(&app, &small).await;
    assert_eq!(
        told["flow"],
        json!({ "id": flow["id"], "name": null, "nodes": [
            { "node": "root[0]", "rule": "condition", "when": root[0]["when"], "taken": "no" },
            { "node": "root[0].no[0]", "rule": "condition", "when": root[0]["no"][0]["when"], "taken": "yes" },
            { "node": "root[0].no[0].yes[0]", "rule": "provider", "providerId": shop.id("B") },
        ] })
    );
    let names = |told: &Value| -> Vec<String> {
        told["providers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| text(&one["provider"]["name"]).to_owned())
            .collect()
    };
    assert_eq!(names(&told), ["B"]);
    assert_eq!(names(&explained(&app, &large).await), ["C", "A"]);
    let sentence = format!("The flow {} chose the order: root[0] no, root[0].no[0] yes.", text(&flow["id"]));
    assert!(text(&told["text"]).ends_with(&sentence), "{}", told["text"]);
    assert_eq!(explained(&app, &before).await["flow"], Value::Null);

    app.delete(&format!("{FLOWS}/{}", text(&flow["id"]))).await.expect(204);
    assert_eq!(shop.asked(&charged(&app, &charge_body(&shop.merchant, APPROVED)).await), ["A"]);
}

async fn metadata_decide_and_their_default_where_they_lack(app: TestApp) {
    let shop = Shop::new(&app).await;
    let vip = |default: bool| json!({ "property": "metadata.vip", "type": "boolean", "operator": "eq", "value": true, "default": default });
    let score = json!({ "property": "metadata.score", "type": "number", "operator": "gt", "value": 0.5,
        "default": false });
    let either = json!({ "operator": "or", "conditions": [vip(false), score] });
    shop.publish(&app, json!([condition(either, json!([shop.node("B")]), json!([shop.node("C")]))])).await;
    for (metadata, provider) in [
        (json!({ "vip": true }), "B"),
        (json!({ "vip": false, "score": 0.75 }), "B"),
        (json!({ "vip": false, "score": 0.5 }), "C"),
        // A value of another type counts as absent.
        (json!({ "vip": "true", "score": "1" }), "C"),
        (json!({}), "C"),
    ] {
        let body = Charge::by_card(&shop.merchant, APPROVED)
            .with("paymentFlow", json!({ "metadata": metadata }))
            .body();
        assert_eq!(shop.asked(&charged(&app, &body).await), [provider], "{metadata}");
    }
    shop.publish(&app, json!([condition(vip(true), json!([shop.node("B")]), json!([shop.node("C")]))])).await;
    let plain = charged(&app, &charge_body(&shop.merchant, APPROVED)).await;
    assert_eq!(shop.asked(&plain), ["B"], "without metadata the default decides");
}

async fn names_of_facts_are_not_taken_as_metadata(app: TestApp) {
    let shop = Shop::new(&app).await;
    let mut body = charge_body(&shop.merchant, APPROVED);
    for name in FlowMetadata::RESERVED {
        body["paymentFlow"] = json!({ "metadata": { "vip": true, name: "1" } });
        let details = app.post("/v1/charges", &body).await.details(400);
        let rule = "must not be used: conditions know it as `transaction.*`";
        assert_eq!(details, [format!("paymentFlow.metadata.{name} {rule}")]);
    }
    body["paymentFlow"] = json!({ "metadata": { "Amount": 1, "note": { "amount": 1 } } });
    charged(&app, &body).await;
}

async fn a_refusal_goes_on_in_the_branch_and_ends_with_it(app: TestApp) {
    let shop = Shop::with(&app, [sandbox("A", 1), declining("B", 2), declining("C", 3)]).await;
    shop.publish(&app, json!([shop.node("C"), shop.node("B"), shop.node("A")])).await;
    let recovered = charged(&app, &charge_body(&shop.merchant, APPROVED)).await;
    assert_eq!((shop.asked(&recovered), &recovered["status"]), (vec!["C", "B", "A"], &json!("authorized")));
    // A is not in the branch, so it is not asked, although its priority is the first.
    shop.publish(&app, json!([shop.node("C"), shop.node("B")])).await;
    let lost = charged(&app, &charge_body(&shop.merchant, APPROVED)).await;
    assert_eq!((shop.asked(&lost), &lost["status"]), (vec!["C", "B"], &json!("failed")));
    assert_eq!(explained(&app, &lost).await["stopped"], "no_provider_left");
    shop.publish(&app, json!([shop.node("A"), shop.node("B")])).await;
    let refused = charged(&app, &charge_body(&shop.merchant, WRONG_CVV)).await;
    assert_eq!((shop.asked(&refused), &refused["status"]), (vec!["A"], &json!("failed")));
}

async fn a_balance_draws_once_and_a_key_keeps_its_draw(app: TestApp) {
    let shop = Shop::new(&app).await;
    let ways = [json!([shop.node("A")]), json!([shop.node("B")])];
    shop.publish(&app, json!([balance([json!(62.5), json!(37.5)], ways.clone())])).await;
    let mut taken = [0, 0];
    for number in 0..12 {
        let charge = app
            .post_with_key("/v1/charges", &format!("key {number}"), &charge_body(&shop.merchant, APPROVED))
            .await
            .expect(201);
        let told = explained(&app, &charge).await;
        let node = &told["flow"]["nodes"][0];
        let draw = node["draw"].as_u64().unwrap();
        let side = usize::from(draw >= 625_000);
        assert_eq!(node["taken"], format!("branches[{side}]"));
        assert_eq!(shop.asked(&charge), [["A", "B"][side]]);
        taken[side] += 1;
    }
    assert!(taken[0] > 0 && taken[1] > 0, "{taken:?}: with this seed both ways are taken");

    // A request that was refused draws the same under its key when it comes again: nothing of it was stored.
    let unable = Shop::with(&app, [sandbox("A", 1), sandbox("B", 2), sandbox("C", 3)]).await;
    let ways = [json!([unable.node("A")]), json!([unable.node("B")])];
    let first = unable.publish(&app, json!([balance([json!(50), json!(50)], ways.clone())])).await;
    let second = unable.publish(&app, json!([balance([json!(50), json!(50)], ways)])).await;
    assert_eq!(second["parentId"], first["id"]);
    let none = unable
        .publish(
            &app,
            json!([balance([json!(0), json!(100)], [json!([unable.node("A")]), json!([unable.node("B")])])]),
        )
        .await;
    let charge = charged(&app, &charge_body(&unable.merchant, APPROVED)).await;
    assert_eq!(
        (unable.asked(&charge), &charge["paymentFlow"]["id"]),
        (vec!["B"], &none["id"]),
        "0 % is never"
    );
}

async fn a_balance_that_learns_follows_approvals_within_its_bounds(app: TestApp) {
    let shop = Shop::with(&app, [sandbox("A", 1), declining("B", 2), sandbox("C", 3)]).await;
    let root = json!([{ "rule": "balance", "strategy": "learned", "branches": [
        { "bounds": { "max": 90 }, "root": [shop.node("A")] },
        { "root": [shop.node("B"), shop.node("C")] } ] }]);
    shop.publish(&app, root).await;
    let balance_of = async |charge: &Value| explained(&app, charge).await["flow"]["nodes"][0].clone();

    let mut taken = [0_i64; 2];
    for _ in 0..12 {
        let charge = charged(&app, &charge_body(&shop.merchant, APPROVED)).await;
        let node = balance_of(&charge).await;
        let even = json!({ "share": 50.0, "approvalRate": 50.0, "charges": 0 });
        assert_eq!(node["shares"], json!([even, even]), "nothing is known in the first hour");
        let first = node["draw"].as_u64().unwrap() < 500_000;
        assert_eq!(node["taken"], if first { "branches[0]" } else { "branches[1]" });
        assert_eq!(shop.asked(&charge), if first { vec!["A"] } else { vec!["B", "C"] });
        taken[usize::from(!first)] += 1;
    }
    assert!(taken.iter().all(|taken| *taken > 1), "{taken:?}");

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::open(listener, app.app.clone()).unwrap();
    let moved = async || {
        let moved = metric(endpoint.address(), "regente_learned_shares_moved_total").await;
        moved.to_string().parse::<usize>().unwrap()
    };
    let before = moved().await;
    app.later(Duration::from_secs(60 * 60)).await;
    let body = charge_body(&shop.merchant, APPROVED);
    let charge = app.post_with_key("/v1/charges", "learned", &body).await.expect(201);
    assert!(moved().await > before, "from 50 to 90 % within an hour is reported");
    let node = balance_of(&charge).await;
    let [shares, counted] =
        ["share", "charges"].map(|name| json!([node["shares"][0][name], node["shares"][1][name]]));
    assert_eq!(shares, json!([90.0, 10.0]), "{node:#}");
    assert_eq!(counted, json!(taken), "C was asked after a refusal, which says nothing about it");
    assert_eq!(
        node["taken"],
        if node["draw"].as_u64().unwrap() < 900_000 { "branches[0]" } else { "branches[1]" }
    );
    let text = explained(&app, &charge).await["text"].as_str().unwrap().to_owned();
    assert!(text.contains("90.0 % by a rate of ") && text.contains(" of 1000000 was drawn"), "{text}");

    // Sent again, it is the same charge. The same key draws the same, also in another hour.
    let again = app.post_with_key("/v1/charges", "learned", &body).await.expect(201);
    assert_eq!(again["id"], charge["id"]);
    assert_eq!(balance_of(&again).await, node);
}

async fn a_charge_ends_with_the_version_with_which_it_began(app: TestApp) {
    let mut slow = sandbox("A", 1);
    slow["options"] = json!({ "type": "SANDBOX", "faults": [
        { "when": { "operation": "probe" }, "then": { "reset": "before_effect" } },
        { "when": { "operation": "authorization" }, "then": { "reset": "before_effect" } }] });
    let shop = Shop::with(&app, [slow, sandbox("B", 2), sandbox("C", 3)]).await;
    let first = shop.publish(&app, json!([shop.node("A"), shop.node("B")])).await;
    let charge = charged(&app, &charge_body(&shop.merchant, APPROVED)).await;
    assert_eq!(charge["status"], "pending", "its first provider has not answered");
    let second = shop.publish(&app, json!([shop.node("C")])).await;
    let read = app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200);
    assert_eq!(read["paymentFlow"]["id"], first["id"]);
    let told = explained(&app, &charge).await;
    assert_eq!(told["flow"]["id"], first["id"]);
    assert_eq!(told["providers"].as_array().unwrap().len(), 2);
    let later = charged(&app, &charge_body(&shop.merchant, APPROVED)).await;
    assert_eq!((shop.asked(&later), &later["paymentFlow"]["id"]), (vec!["C"], &second["id"]));
}

async fn a_branch_that_cannot_serve_is_a_400_and_leaves_nothing(app: TestApp) {
    let mut only_usd = sandbox("B", 2);
    only_usd["options"] = json!({ "type": "SANDBOX", "supports": { "currencies": ["USD"] } });
    let shop = Shop::with(&app, [sandbox("A", 1), only_usd, sandbox("C", 3)]).await;
    shop.publish(&app, json!([shop.node("B")])).await;
    let refused = app.post("/v1/charges", &charge_body(&shop.merchant, APPROVED)).await.expect(400);
    assert_eq!(refused["error"]["message"], "no provider available for paymentType credit");
    assert_eq!(app.get("/v1/charges").await.expect(200)["meta"]["totalItems"], 0);
}

async fn an_analysis_is_where_the_flow_has_it(app: TestApp) {
    let analyst = json!({ "name": "C", "priority": 3,
        "credentials": { "type": "SANDBOX_ANTIFRAUD", "apiKey": "any-api-key-1234" } });
    let shop = Shop::with(&app, [sandbox("A", 1), sandbox("B", 2), analyst]).await;
    let analysis = json!({ "rule": "antiFraud", "id": shop.id("C") });
    let root = json!([condition(
        compares("amount", "gt", 1000),
        json!([analysis, shop.node("B")]),
        json!([shop.node("A")]),
    )]);
    shop.publish(&app, root).await;
    let body = |amount: i64| {
        let mut body = analysed(&shop.merchant, APPROVED_RISK, true);
        body["amount"] = json!(amount);
        body
    };
    let types = |charge: &Value| -> Vec<String> {
        let requests = charge["transactionRequests"].as_array().unwrap();
        requests.iter().map(|request| text(&request["requestType"]).to_owned()).collect()
    };
    let small = charged(&app, &body(1000)).await;
    assert_eq!((shop.asked(&small), &small["status"]), (vec!["A"], &json!("authorized")));
    assert!(!types(&small).contains(&"anti_fraud".to_owned()), "{:?}", types(&small));
    let large = charged(&app, &body(1001)).await;
    assert!(types(&large).contains(&"anti_fraud".to_owned()), "{:?}", types(&large));
    assert!(shop.asked(&large).contains(&"B") && shop.asked(&large).contains(&"C"));
}

async fn pix_and_sessions_follow_flows_and_debit_does_not(app: TestApp) {
    let shop = Shop::new(&app).await;
    let mut pix = shop.flow(json!([condition(
        compares("brand", "ne", "Visa"),
        json!([shop.node("B")]),
        json!([shop.node("C")])
    )]));
    pix["paymentMethod"] = json!("pix");
    let pix = app.post(FLOWS, &pix).await.expect(201);
    // A Pix has no card, so a condition on its brand does not hold, not even that it is another one.
    let charge = charged(&app, &pix_body(&shop.merchant, described(jose()))).await;
    assert_eq!((shop.asked(&charge), &charge["paymentFlow"]["id"]), (vec!["C"], &pix["id"]));
    let credit = charged(&app, &charge_body(&shop.merchant, APPROVED)).await;
    assert_eq!((shop.asked(&credit), credit.get("paymentFlow")), (vec!["A"], None), "credit has no flow yet");

    let flow = shop.publish(&app, json!([shop.node("B")])).await;
    let session = create(&app, &session_body(&shop.merchant)).await;
    let paid = pay(&app, &session, &by_card(APPROVED)).await.expect(201);
    assert_eq!((shop.asked(&paid), &paid["paymentFlow"]["id"]), (vec!["B"], &flow["id"]));
}

async fn public_keys_are_not_told_of_the_flow(app: TestApp) {
    let shop = Shop::new(&app).await;
    shop.publish(&app, json!([shop.node("B")])).await;
    let charge = charged(&app, &charge_body(&shop.merchant, APPROVED)).await;
    let token = app.client_token(json!(["charges"])).await;
    let path = format!("/v1/charges/{}/explanation", text(&charge["id"]));
    let told = app.call(&token, axum::http::Method::GET, &path, &[], None).await.expect(200);
    assert_eq!(told["flow"], Value::Null);
    assert!(!text(&told["text"]).contains("flow"));
}
