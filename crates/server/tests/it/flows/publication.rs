//! What is published, and what is not.

use axum::http::Method;
use serde_json::{Value, json};

use super::{FLOWS, Shop, balance, compares, condition};
use crate::support::app::{TestApp, stories};
use crate::support::providers::sandbox;
use crate::support::read::text;

stories! {
    a_flow_is_published_replaced_restored_and_withdrawn,
    every_reason_against_a_flow_is_told,
    a_wrong_body_is_a_400,
    nobody_sees_the_flows_of_another_account,
    two_publications_at_once_leave_one_active,
}

async fn a_flow_is_published_replaced_restored_and_withdrawn(app: TestApp) {
    let shop = Shop::new(&app).await;
    let mut body = shop.flow(json!([shop.node("B")]));
    body["name"] = json!("Credit default");
    let first = app.post_with_key(FLOWS, "one", &body).await.expect(201);
    let shown = json!({
        "id": first["id"], "paymentMethod": "credit", "clientId": app.client_id(),
        "merchants": [{ "merchantId": shop.merchant }], "parentId": null, "restoredFrom": null,
        "createdAt": first["createdAt"], "flow": body["flow"], "name": "Credit default", "status": "active",
    });
    assert_eq!(first, shown);
    assert_eq!(app.post_with_key(FLOWS, "one", &body).await.expect(201), first, "the key is answered again");

    // `merchants` is the published spelling.
    let mut listed = body.clone();
    listed.as_object_mut().unwrap().remove("merchantId");
    listed["merchants"] = json!([{ "merchantId": shop.merchant }]);
    let second = app.post(FLOWS, &listed).await.expect(201);
    assert_eq!((&second["parentId"], &second["status"]), (&first["id"], &json!("active")));
    let path = format!("{FLOWS}/{}", text(&first["id"]));
    assert_eq!(app.get(&path).await.expect(200)["status"], "archived");

    let restore = format!("{path}/restore");
    let third = app.post(&restore, &json!({ "merchantId": shop.merchant })).await.expect(201);
    assert_eq!(
        (&third["restoredFrom"], &third["parentId"], &third["flow"], &third["name"]),
        (&first["id"], &second["id"], &first["flow"], &first["name"])
    );
    let other = app.merchant_with(json!([sandbox("A", 1)])).await;
    let said = app.post(&restore, &json!({ "merchantId": other })).await.details(400);
    assert_eq!(said, ["merchantId must be the merchant of the flow"]);

    let mut pix = shop.flow(json!([shop.node("C")]));
    pix["paymentMethod"] = json!("pix");
    let pix = app.post(FLOWS, &pix).await.expect(201);
    let ids = |page: &Value| -> Vec<Value> {
        page["items"].as_array().unwrap().iter().map(|item| item["id"].clone()).collect()
    };
    let all = app.get(&format!("{FLOWS}?merchantId={}", shop.merchant)).await.expect(200);
    assert_eq!(ids(&all), [&pix, &third, &second, &first].map(|flow| flow["id"].clone()));
    assert_eq!(all["meta"]["itemsPerPage"], 15);
    let credit = app.get(&format!("{FLOWS}?paymentMethod=credit&limit=1")).await.expect(200);
    assert_eq!((ids(&credit), &credit["meta"]["totalItems"]), (vec![third["id"].clone()], &json!(3)));
    assert_eq!(ids(&app.get(&format!("{FLOWS}?merchantId={other}")).await.expect(200)), Vec::<Value>::new());
    assert_eq!(
        ids(&app.get(&format!("{FLOWS}?paymentMethod=boleto")).await.expect(200)),
        Vec::<Value>::new()
    );

    // Only the active version can be withdrawn.
    assert_eq!(app.delete(&path).await.status, 400);
    let active = format!("{FLOWS}/{}", text(&third["id"]));
    app.delete(&active).await.expect(204);
    assert_eq!(app.get(&active).await.expect(200)["status"], "archived");
    assert_eq!(app.delete(&active).await.status, 400);
    let fourth = app.post(FLOWS, &body).await.expect(201);
    assert_eq!(fourth["parentId"], Value::Null, "no version was active");
}

async fn every_reason_against_a_flow_is_told(app: TestApp) {
    let analyst = json!({ "name": "C", "priority": 3,
        "credentials": { "type": "SANDBOX_ANTIFRAUD", "apiKey": "any-api-key-1234" } });
    let shop = Shop::with(&app, [sandbox("A", 1), sandbox("B", 2), analyst]).await;
    let (a, b) = (shop.node("A"), shop.node("B"));
    let analysis = json!({ "rule": "antiFraud", "id": shop.id("C") });
    let metadata = |condition: Value| {
        let mut when = json!({ "property": "metadata.vip", "type": "boolean", "operator": "eq", "value": true,
            "default": false });
        when.as_object_mut().unwrap().extend(condition.as_object().unwrap().clone());
        when
    };
    let when = |when: Value| json!([condition(when, json!([a.clone()]), json!([b.clone()]))]);
    let both =
        |join: &str, one: Value, other: Value| when(json!({ "operator": join, "conditions": [one, other] }));
    let missing = json!({ "property": "metadata.vip", "type": "boolean", "operator": "eq", "value": true });
    let foreign = json!({ "rule": "provider", "id": "72cc1ff1-5f6e-4eb2-9cc5-6a3a85525e4b" });
    let deep = (0..10).fold(json!([a.clone()]), |below, _| {
        json!([condition(compares("amount", "gt", 1), below, json!([b.clone()]))])
    });
    let cases = [
        (json!([]), "flow_provider_required", "flow.root must have a payment provider"),
        (
            json!([condition(compares("amount", "gt", 1), json!([a.clone()]), json!([]))]),
            "flow_provider_required",
            "flow.root[0].no must have a payment provider",
        ),
        (
            json!([b.clone(), a.clone(), b.clone()]),
            "flow_invalid",
            "flow.root must not have the same provider twice",
        ),
        (
            json!([analysis.clone(), a.clone(), analysis.clone()]),
            "flow_invalid",
            "flow.root must have its antiFraud node before its payment providers",
        ),
        (
            json!([analysis.clone(), analysis.clone(), a.clone()]),
            "flow_antifraud_duplicated",
            "flow.root must not have two antiFraud nodes",
        ),
        (
            json!([foreign]),
            "flow_provider_not_in_merchant",
            "flow.root[0] must be a provider of the merchant",
        ),
        (
            json!([{ "rule": "provider", "id": shop.id("C") }]),
            "flow_invalid",
            "flow.root[0] must be a provider that takes credit",
        ),
        (
            json!([{ "rule": "antiFraud", "id": shop.id("A") }, b.clone()]),
            "flow_invalid",
            "flow.root[0] must be a provider that analyses risk",
        ),
        (when(missing), "flow_metadata_default_required", "flow.root[0].when.default must be true or false"),
        (
            when(metadata(json!({ "property": "metadata.amount" }))),
            "flow_invalid",
            "flow.root[0].when.property must not be a reserved key",
        ),
        (
            when(metadata(json!({ "operator": "gt" }))),
            "flow_invalid",
            "flow.root[0].when.operator must be eq or ne for what is not a number",
        ),
        (
            when(metadata(json!({ "value": "true" }))),
            "flow_invalid",
            "flow.root[0].when.value must be a boolean",
        ),
        (
            when(compares("cardBin", "eq", "41111")),
            "flow_invalid",
            "flow.root[0].when.value must be a string of 6 digits",
        ),
        (
            when(compares("amount", "ge", 1.5)),
            "flow_invalid",
            "flow.root[0].when.value must be a whole number of minor units",
        ),
        (
            both("and", compares("brand", "eq", "Visa"), compares("brand", "eq", "Elo")),
            "flow_invalid",
            "flow.root[0].when.conditions must be able to hold together",
        ),
        (
            both("and", compares("amount", "gt", 5), compares("amount", "lt", 6)),
            "flow_invalid",
            "flow.root[0].when.conditions must be able to hold together",
        ),
        (
            json!([balance([json!(60), json!(39)], [json!([a.clone()]), json!([b.clone()])])]),
            "flow_invalid",
            "flow.root[0].branches must have percentages that add up to 100",
        ),
        (
            json!([balance([json!(110), json!(-10)], [json!([a.clone()]), json!([b.clone()])])]),
            "flow_invalid",
            "flow.root[0].branches[0].percentage must be a number from 0 to 100 with at most two decimals",
        ),
        (
            json!([
                condition(compares("amount", "gt", 1), json!([a.clone()]), json!([b.clone()])),
                a.clone()
            ]),
            "flow_invalid",
            "flow.root[1] must not follow a condition or a balance, which end their list",
        ),
        (
            json!([{ "rule": "provider", "idd": shop.id("A") }]),
            "flow_invalid",
            "flow.root[0].idd should not exist",
        ),
        (
            deep,
            "flow_invalid",
            "flow.root[0].yes[0].yes[0].yes[0].yes[0].yes[0].yes[0].yes[0].yes[0].yes[0].yes must not be deeper than 10 nodes",
        ),
    ];
    for (root, code, sentence) in cases {
        let refused = app.post(FLOWS, &shop.flow(root.clone())).await;
        let body = refused.expect(422);
        let error = &body["error"];
        let details: Vec<&str> = error["details"].as_array().unwrap().iter().map(text).collect();
        assert!(details.contains(&sentence), "{sentence} is missing in {details:?}");
        assert_eq!(error["businessCode"], code, "{details:?}");
        let checked = app.post("/v1/flows/validate", &shop.flow(root)).await.expect(200);
        assert_eq!(checked["valid"], false);
        let said = |problem: &Value| format!("{} {}", text(&problem["path"]), text(&problem["message"]));
        let errors = checked["errors"].as_array().unwrap();
        assert_eq!(errors.iter().map(said).collect::<Vec<_>>(), details);
        assert_eq!(errors[0]["code"], code);
    }
    // An analysis at the end has the reasons of both rules.
    let alone = app.post("/v1/flows/validate", &shop.flow(json!([analysis.clone()]))).await.expect(200);
    let codes: Vec<&str> =
        alone["errors"].as_array().unwrap().iter().map(|error| text(&error["code"])).collect();
    assert_eq!(codes, ["flow_provider_required", "flow_provider_after_antifraud_required"]);
    // Only credit cards are analysed.
    let mut pix = shop.flow(json!([analysis.clone(), a.clone()]));
    pix["paymentMethod"] = json!("pix");
    let checked = app.post("/v1/flows/validate", &pix).await.expect(200);
    assert_eq!(checked["errors"][0]["message"], "must not be there: only credit cards are analysed");
    let good = shop.flow(json!([analysis, a, b]));
    assert_eq!(
        app.post("/v1/flows/validate", &good).await.expect(200),
        json!({ "valid": true, "errors": [] })
    );
    assert_eq!(app.get(FLOWS).await.expect(200)["meta"]["totalItems"], 0, "nothing was published");
}

async fn a_wrong_body_is_a_400(app: TestApp) {
    let shop = Shop::new(&app).await;
    let said = app.post(FLOWS, &json!({})).await.details(400);
    for field in ["merchantId", "paymentMethod", "flow"] {
        assert!(said.contains(&format!("{field} should not be empty")), "{said:?}");
    }
    let with = |member: &str, value: Value| {
        let mut body = shop.flow(json!([shop.node("A")]));
        body[member] = value;
        body
    };
    for (member, value, sentence) in [
        (
            "paymentMethod",
            json!("voucher"),
            "paymentMethod must be one of the following values: credit, boleto, pix",
        ),
        ("flow", json!([]), "flow must be an object"),
        ("merchants", json!([]), "merchants must contain exactly one merchant, the one of merchantId"),
        ("name", json!("4111111111111111"), "name must not contain a card number"),
    ] {
        assert_eq!(app.post(FLOWS, &with(member, value)).await.details(400), [sentence]);
    }
    let nobody = json!("72cc1ff1-5f6e-4eb2-9cc5-6a3a85525e4b");
    assert_eq!(app.post(FLOWS, &with("merchantId", nobody.clone())).await.status, 404);
    assert_eq!(app.post(FLOWS, &with("parentId", nobody)).await.status, 404);
}

async fn nobody_sees_the_flows_of_another_account(app: TestApp) {
    let shop = Shop::new(&app).await;
    let flow = shop.publish(&app, json!([shop.node("A")])).await;
    let other = app.another_client().await;
    let path = format!("{FLOWS}/{}", text(&flow["id"]));
    let restore = json!({ "merchantId": shop.merchant });
    for (method, path, body) in [
        (Method::GET, path.clone(), None),
        (Method::DELETE, path.clone(), None),
        (Method::POST, format!("{path}/restore"), Some(&restore)),
        (Method::POST, FLOWS.to_owned(), Some(&shop.flow(json!([shop.node("A")])))),
        (Method::POST, format!("{FLOWS}/validate"), Some(&shop.flow(json!([shop.node("A")])))),
    ] {
        let reply = app.call(&other, method.clone(), &path, &[], body).await;
        assert_eq!(reply.status, 404, "{method} {path}");
    }
    let page = app.call(&other, Method::GET, FLOWS, &[], None).await.expect(200);
    assert_eq!(page["meta"]["totalItems"], 0);
    assert_eq!(app.get(&path).await.expect(200)["status"], "active");
}

async fn two_publications_at_once_leave_one_active(app: TestApp) {
    let shop = Shop::new(&app).await;
    let (a, b) = (shop.flow(json!([shop.node("A")])), shop.flow(json!([shop.node("B")])));
    let (one, other) = tokio::join!(app.post(FLOWS, &a), app.post(FLOWS, &b));
    let (one, other) = (one.expect(201), other.expect(201));
    let page = app.get(FLOWS).await.expect(200);
    let active: Vec<&Value> =
        page["items"].as_array().unwrap().iter().filter(|flow| flow["status"] == "active").collect();
    assert_eq!(active.len(), 1, "{page}");
    let (last, first) = if active[0]["id"] == one["id"] { (&one, &other) } else { (&other, &one) };
    assert_eq!((&last["parentId"], &first["parentId"]), (&first["id"], &Value::Null));
}
