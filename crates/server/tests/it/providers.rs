//! `PATCH /v1/providers/{id}` (`docs/interface/merchants-and-providers.md#masks`): a masked value in a change keeps the
//! secret.

use futures_util::future::join_all;
use regente_domain::id::ProviderId;
use regente_engine::providers::open_credentials;
use regente_store::{audit, providers};
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::client::{As, Reply};

stories! {
    a_provider_is_changed,
    masks_are_no_secrets,
    the_type_never_changes,
    required_credentials_stay,
    options_and_acquirer_are_replaced_or_removed,
    every_wrong_field_is_named,
    changes_at_once_are_all_kept,
    another_clients_provider_does_not_exist,
    a_scope_opens_it,
    every_change_leaves_its_trace,
}

const TOKEN: &str = "1B2B32530CA24641324AB63843240F5633";

async fn merchant(app: &TestApp) -> Value {
    let sent = json!({ "mcc": "5812", "providers": [
        { "name": "PagSeguro", "priority": 2,
            "credentials": { "type": "PAGSEGURO", "token": TOKEN, "email": "pay@example.com" } },
        { "name": "Main", "priority": 1, "credentials": { "type": "SANDBOX", "apiKey": "any" } },
    ] });
    let answer = app.post("/v1/merchants", &sent).await;
    assert_eq!(answer.status.as_u16(), 201, "{}", answer.json());
    answer.json()
}

fn path(merchant: &Value, index: usize) -> String {
    format!("/v1/providers/{}", merchant["providers"][index]["id"].as_str().unwrap())
}

async fn shown(app: &TestApp, merchant: &Value, index: usize) -> Value {
    let answer = app.get(&format!("/v1/merchants/{}", merchant["id"].as_str().unwrap())).await;
    answer.json()["providers"][index].clone()
}

async fn secrets(app: &TestApp, merchant: &Value, index: usize) -> Value {
    let id: ProviderId = merchant["providers"][index]["id"].as_str().unwrap().parse().unwrap();
    let provider = providers::find_live(&app.app.store, app.client_id(), id).await.unwrap().unwrap();
    Value::Object(open_credentials(&app.app, &provider).await.unwrap())
}

async fn changed(app: &TestApp, path: &str, change: Value) {
    let answer = app.patch(path, &change).await;
    assert_eq!(answer.expect(200), Value::Null, "200 with an empty body");
}

fn assert_named(answer: &Reply, paths: &[&str]) {
    let details = answer.details(400);
    for path in paths {
        let path = format!("{path} ");
        assert!(details.iter().any(|detail| detail.starts_with(&path)), "{path}in {details:#?}");
    }
    assert_eq!(details.len(), paths.len(), "{details:#?}");
}

async fn a_provider_is_changed(app: TestApp) {
    let merchant = merchant(&app).await;
    let change = json!({ "name": "PagSeguro main", "priority": 7,
        "credentials": { "type": "PAGSEGURO", "token": "NEWTOKEN1", "email": "new@example.com" } });
    changed(&app, &path(&merchant, 0), change).await;
    let provider = shown(&app, &merchant, 0).await;
    assert_eq!((provider["name"].as_str(), provider["priority"].as_i64()), (Some("PagSeguro main"), Some(7)));
    let expected = json!({ "type": "PAGSEGURO", "token": "****KEN1", "email": "new@example.com" });
    assert_eq!(provider["credentials"], expected);
    assert_eq!(secrets(&app, &merchant, 0).await["token"], "NEWTOKEN1");
    assert!(provider["updatedAt"].as_str() > merchant["providers"][0]["updatedAt"].as_str());
    assert_eq!(provider["createdAt"], merchant["providers"][0]["createdAt"]);
    assert_eq!(shown(&app, &merchant, 1).await, merchant["providers"][1], "its neighbour was touched");
}

async fn masks_are_no_secrets(app: TestApp) {
    let merchant = merchant(&app).await;
    let before = secrets(&app, &merchant, 0).await;
    let as_shown = merchant["providers"][0].clone();
    changed(&app, &path(&merchant, 0), as_shown.clone()).await;
    assert_eq!(secrets(&app, &merchant, 0).await, before);
    assert_eq!(shown(&app, &merchant, 0).await, as_shown, "what was shown came back: nothing changes");
    let partly = json!({ "credentials": { "token": "****5633", "email": "new@example.com" } });
    changed(&app, &path(&merchant, 0), partly).await;
    let after = secrets(&app, &merchant, 0).await;
    assert_eq!((after["token"].as_str(), after["email"].as_str()), (Some(TOKEN), Some("new@example.com")));
    changed(&app, &path(&merchant, 1), json!({ "credentials": { "type": "SANDBOX", "apiKey": "****" } }))
        .await;
    assert_eq!(secrets(&app, &merchant, 1).await["apiKey"], "any");
}

async fn the_type_never_changes(app: TestApp) {
    let merchant = merchant(&app).await;
    let other_type = json!({ "credentials": { "type": "SANDBOX", "apiKey": "x" } });
    assert_named(&app.patch(&path(&merchant, 0), &other_type).await, &["credentials.type"]);
    let no_type = json!({ "credentials": { "token": "WITHOUT-A-TYPE" } });
    changed(&app, &path(&merchant, 0), no_type).await;
    let secrets = secrets(&app, &merchant, 0).await;
    assert_eq!(
        (secrets["type"].as_str(), secrets["token"].as_str()),
        (Some("PAGSEGURO"), Some("WITHOUT-A-TYPE"))
    );
}

async fn required_credentials_stay(app: TestApp) {
    let merchant = merchant(&app).await;
    let removed = json!({ "credentials": { "token": null } });
    assert_named(&app.patch(&path(&merchant, 0), &removed).await, &["credentials.token"]);
    let emptied = json!({ "credentials": { "token": "" } });
    assert_named(&app.patch(&path(&merchant, 0), &emptied).await, &["credentials.token"]);
    assert_eq!(secrets(&app, &merchant, 0).await["token"], TOKEN);
    changed(&app, &path(&merchant, 1), json!({ "credentials": { "apiKey": null, "unlisted": "kept" } }))
        .await;
    assert_eq!(secrets(&app, &merchant, 1).await, json!({ "type": "SANDBOX", "unlisted": "kept" }));
}

async fn options_and_acquirer_are_replaced_or_removed(app: TestApp) {
    let merchant = merchant(&app).await;
    let options = json!({ "type": "SANDBOX", "faults": [{ "then": { "decline": "generic" } }] });
    let acquirer = json!({ "merchantId": "22" });
    changed(&app, &path(&merchant, 1), json!({ "options": options, "acquirer": acquirer })).await;
    let provider = shown(&app, &merchant, 1).await;
    assert_eq!((&provider["options"], &provider["acquirer"]), (&options, &acquirer));
    changed(&app, &path(&merchant, 1), json!({ "name": "Main" })).await;
    assert_eq!(shown(&app, &merchant, 1).await, provider, "what is absent stays");
    changed(&app, &path(&merchant, 1), json!({ "options": null, "acquirer": null })).await;
    let provider = shown(&app, &merchant, 1).await;
    assert!(provider.get("options").is_none() && provider.get("acquirer").is_none(), "{provider}");
}

async fn every_wrong_field_is_named(app: TestApp) {
    let merchant = merchant(&app).await;
    let wrong = json!({ "name": " ", "priority": "1", "credentials": { "token": 1 }, "acquirer": 1,
        "options": { "type": "SANDBOX" } });
    assert_named(
        &app.patch(&path(&merchant, 0), &wrong).await,
        &["name", "priority", "credentials.token", "acquirer", "options"],
    );
    let faults = json!({ "options": { "type": "SANDBOX", "faults": "all" } });
    assert_named(&app.patch(&path(&merchant, 1), &faults).await, &["options.faults"]);
    assert_eq!(shown(&app, &merchant, 0).await, merchant["providers"][0]);
}

async fn changes_at_once_are_all_kept(app: TestApp) {
    let merchant = merchant(&app).await;
    let at = path(&merchant, 0);
    let changes = [
        json!({ "name": "B" }),
        json!({ "priority": 9 }),
        json!({ "credentials": { "token": "CHANGED-AT-ONCE" } }),
        json!({ "credentials": { "email": "b@example.com" } }),
    ];
    let answers = join_all(changes.iter().map(|change| app.patch(&at, change))).await;
    assert!(answers.iter().all(|answer| answer.status == 200), "{:?}", answers[0].json());
    let provider = shown(&app, &merchant, 0).await;
    assert_eq!((provider["name"].as_str(), provider["priority"].as_i64()), (Some("B"), Some(9)));
    let secrets = secrets(&app, &merchant, 0).await;
    assert_eq!(secrets, json!({ "type": "PAGSEGURO", "token": "CHANGED-AT-ONCE", "email": "b@example.com" }));
}

async fn another_clients_provider_does_not_exist(app: TestApp) {
    let merchant = merchant(&app).await;
    let other = As::another_client(&app).await;
    assert_eq!(other.patch(&path(&merchant, 0), &json!({ "name": "X" })).await.status, 404);
    assert_eq!(app.patch("/v1/providers/not-a-uuid", &json!({ "name": "X" })).await.status, 404);
    assert_eq!(
        app.patch(&path(&merchant, 0).replace("/v1/providers/0", "/v1/providers/1"), &json!({})).await.status,
        404
    );
    assert_eq!(shown(&app, &merchant, 0).await, merchant["providers"][0]);
}

async fn a_scope_opens_it(app: TestApp) {
    let merchant = merchant(&app).await;
    let without = As::public_key(&app, "customers").await;
    assert_eq!(without.patch(&path(&merchant, 0), &json!({ "name": "X" })).await.status, 403);
    let with = As::public_key(&app, "providers").await;
    assert_eq!(with.patch(&path(&merchant, 0), &json!({ "name": "X" })).await.status, 200);
}

async fn every_change_leaves_its_trace(app: TestApp) {
    let merchant = merchant(&app).await;
    changed(&app, &path(&merchant, 0), json!({ "name": "X" })).await;
    changed(&app, &path(&merchant, 0), json!({ "name": "X" })).await;
    let id = merchant["providers"][0]["id"].as_str().unwrap().parse().unwrap();
    let entries = audit::of_object(&app.app.store, app.client_id(), id, 10).await.unwrap();
    let actions: Vec<&str> = entries.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(actions, ["provider.updated", "provider.created"], "a change of nothing is no change");
}
