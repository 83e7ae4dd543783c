//! Merchants with their providers (`docs/interface/merchants-and-providers.md`).

use futures_util::future::join_all;
use regente_domain::id::MerchantId;
use regente_engine::providers::open_credentials;
use regente_engine::vault::{Binding, Purpose};
use regente_store::{Batch, Commit, audit, merchants, providers};
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::client::{As, Reply};

stories! {
    a_merchant_is_created_as_documented,
    credentials_are_masked_everywhere_and_stored_whole,
    spellings_of_requests_are_accepted,
    credentials_of_older_descriptions_are_accepted,
    credentials_that_an_earlier_release_has_stored_can_be_changed,
    the_platforms_own_provider_is_registered,
    every_wrong_field_is_named,
    options_are_checked_by_type,
    acquirers_are_checked,
    a_key_gets_its_answer_again,
    a_merchant_is_changed,
    a_provider_is_added_by_a_change,
    changes_at_once_are_all_kept,
    the_list_is_paged,
    a_deleted_merchant_is_gone,
    a_deleted_merchant_takes_no_charges,
    another_clients_merchant_does_not_exist,
    client_tokens_cannot_touch_merchants,
    every_change_leaves_its_trace,
}

fn sandbox(name: &str) -> Value {
    json!({ "name": name, "priority": 1, "credentials": { "type": "SANDBOX", "apiKey": "any" } })
}

fn shop() -> Value {
    json!({ "mcc": "5812", "name": "Loja Centro", "providers": [sandbox("Main")] })
}

async fn created(app: &TestApp, merchant: Value) -> Value {
    let answer = app.post("/v1/merchants", &merchant).await;
    assert_eq!(answer.status.as_u16(), 201, "{}", answer.json());
    answer.json()
}

async fn read(app: &TestApp, merchant: &Value) -> Value {
    let answer = app.get(&path(merchant)).await;
    assert_eq!(answer.status.as_u16(), 200, "{}", answer.json());
    answer.json()
}

fn path(merchant: &Value) -> String {
    format!("/v1/merchants/{}", text(&merchant["id"]))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn assert_named(answer: &Reply, paths: &[&str]) {
    let details = answer.details(400);
    for path in paths {
        let path = format!("{path} ");
        assert!(details.iter().any(|detail| detail.starts_with(&path)), "{path}is not in {details:#?}");
    }
    assert_eq!(details.len(), paths.len(), "{details:#?}");
}

async fn a_merchant_is_created_as_documented(app: TestApp) {
    let options = json!({ "type": "ANTIFRAUD", "productType": "SYNC", "captureOnApproved": true,
        "refundOnReproved": true, "runBeforeCharge": false });
    let acquirer =
        json!({ "bin": [{ "brand": "Mastercard", "value": "550259", "merchantId": "2222222222" }] });
    let merchant = created(&app, json!({
        "mcc": "5812", "name": "Loja Centro", "status": true,
        "providers": [
            { "name": "Main", "priority": 1, "credentials": { "type": "SANDBOX", "apiKey": "any" } },
            { "name": "PagSeguro", "priority": 2, "acquirer": acquirer, "credentials": { "type": "PAGSEGURO",
                "token": "1B2B32530CA24641324AB63843240F5633", "email": "pay@example.com" } },
            { "name": "Risk", "priority": 3, "options": options,
                "credentials": { "type": "CLEARSALE", "name": "u", "password": "p" } },
        ],
    })).await;
    let (now, nothing) = (&merchant["createdAt"], Value::Null);
    let provider = |index: usize, name: &str, credentials: Value| {
        json!({ "id": merchant["providers"][index]["id"], "createdAt": now, "updatedAt": now, "deletedAt": nothing,
            "idempotencyKey": nothing, "requestId": nothing, "name": name, "priority": index + 1,
            "credentials": credentials })
    };
    let mut providers = [
        provider(0, "Main", json!({ "type": "SANDBOX", "apiKey": "****" })),
        provider(
            1,
            "PagSeguro",
            json!({ "type": "PAGSEGURO", "token": "****5633", "email": "pay@example.com" }),
        ),
        provider(2, "Risk", json!({ "type": "CLEARSALE", "name": "****", "password": "****" })),
    ];
    providers[1]["acquirer"] = acquirer;
    providers[2]["options"] = options;
    assert_eq!(
        merchant,
        json!({
            "id": merchant["id"], "clientId": app.client_id(), "createdAt": now, "updatedAt": now, "mcc": "5812",
            "name": "Loja Centro", "merchantName": null, "merchantUrl": null, "status": "active", "providers": providers,
            "platformFeeEnabled": false, "platformFees": [],
        })
    );
    let ids: Vec<&Value> = providers.iter().map(|provider| &provider["id"]).collect();
    assert!(ids.is_sorted_by_key(|id| text(id)) && ids[0] != ids[1]);
    assert_eq!(read(&app, &merchant).await, merchant);
}

async fn credentials_are_masked_everywhere_and_stored_whole(app: TestApp) {
    let secret = "sk_live_0123456789abcdef";
    let sent = json!({ "mcc": 1, "providers": { "name": "S", "priority": 1,
        "credentials": { "type": "STRIPE", "secretKey": secret, "later": "unlisted-value" } } });
    let merchant = created(&app, sent).await;
    let listed = app.get("/v1/merchants").await.json();
    for shown in [&merchant, &read(&app, &merchant).await, &listed["items"][0]] {
        let expected = json!({ "type": "STRIPE", "secretKey": "****cdef", "later": "****alue" });
        assert_eq!(shown["providers"][0]["credentials"], expected);
        assert!(!shown.to_string().contains(secret));
    }
    let id: MerchantId = text(&merchant["id"]).parse().unwrap();
    let stored = merchants::with_providers(&app.app.store, app.client_id(), id).await.unwrap().unwrap();
    let sealed = &stored.providers[0].credentials.bytes;
    assert!(!String::from_utf8_lossy(sealed).contains("sk_live"), "a secret rests in the clear");
    let opened = open_credentials(&app.app, &stored.providers[0]).await.unwrap();
    assert_eq!(Value::Object(opened)["secretKey"], secret);
}

async fn spellings_of_requests_are_accepted(app: TestApp) {
    let one = created(&app, json!({ "mcc": 5812, "providers": sandbox("Alone") })).await;
    assert_eq!((text(&one["mcc"]), one["providers"].as_array().unwrap().len()), ("5812", 1));
    assert_eq!(one["name"], Value::Null);
    let outside_of_the_list = created(&app, json!({ "mcc": "4040", "providers": [sandbox("A")] })).await;
    assert_eq!(outside_of_the_list["mcc"], "4040");
    let alias = json!({ "name": "G", "priority": 1, "credentials": { "type": "GETNETSEP", "clientApiKey": "a",
        "clientSecret": "b", "sellerId": "c" } });
    let alias = created(&app, json!({ "mcc": "1", "providers": [alias] })).await;
    assert_eq!(alias["providers"][0]["credentials"]["type"], "GETNET_SEP");
    let twice = [created(&app, shop()).await, created(&app, shop()).await];
    assert_ne!(twice[0]["id"], twice[1]["id"], "sub-accounts may repeat themselves");
}

async fn credentials_of_older_descriptions_are_accepted(app: TestApp) {
    let with = |credentials: Value| json!({ "mcc": "1", "providers": [{ "name": "A", "priority": 1, "credentials": credentials }] });
    let misspelled = json!({ "type": "KLAP", "apiKey": "a", "CommerceId": "c1", "keyComponent1": "k",
        "keyComponent2": "l" });
    let merchant = created(&app, with(misspelled)).await;
    let shown = json!({ "type": "KLAP", "apiKey": "****", "keyComponent1": "****", "keyComponent2": "****",
        "commerceId": "c1" });
    assert_eq!(merchant["providers"][0]["credentials"], shown);
    let provider = format!("/v1/providers/{}", text(&merchant["providers"][0]["id"]));
    app.patch(&provider, &json!({ "credentials": { "CommerceId": "c2" } })).await.expect(200);
    let changed = read(&app, &merchant).await["providers"][0]["credentials"].clone();
    assert_eq!((&changed["commerceId"], changed.get("CommerceId")), (&json!("c2"), None));

    created(&app, with(json!({ "type": "VR", "affiliationId": "a" }))).await;
}

async fn credentials_that_an_earlier_release_has_stored_can_be_changed(app: TestApp) {
    let mut zoop = json!({ "type": "ZOOP", "marketplaceId": "m", "sellerId": "s", "apiKey": "a" });
    let body = |credentials: &Value| json!({ "mcc": "1", "providers": [{ "name": "A", "priority": 1, "credentials": credentials }] });
    let refused = app.post("/v1/merchants", &body(&zoop)).await.details(400);
    let missing = ["xApiKeyToken", "privateKey", "publicKey"];
    let path = "providers[0].credentials";
    assert_eq!(refused, missing.map(|name| format!("{path}.{name} should not be empty")));
    for name in missing {
        zoop[name] = json!("key");
    }
    let merchant = created(&app, body(&zoop)).await;
    let id = text(&merchant["providers"][0]["id"]);
    for name in missing {
        zoop.as_object_mut().unwrap().remove(name);
    }
    let found = providers::find_live(&app.app.store, app.client_id(), id.parse().unwrap()).await.unwrap();
    let mut provider = found.unwrap();
    let binding = Binding::new(Purpose::ProviderCredentials, app.client_id(), provider.id.uuid());
    provider.credentials = app.app.vault.seal(binding, zoop.to_string().as_bytes());
    let mut batch = Batch::new(app.client_id());
    providers::update(&mut batch, &provider).unwrap();
    assert_eq!(app.app.store.apply(batch).await.unwrap(), Commit::Applied);

    let path = format!("/v1/providers/{id}");
    app.patch(&path, &json!({ "credentials": { "apiKey": "the next one" } })).await.expect(200);
    let shown = read(&app, &merchant).await["providers"][0]["credentials"].clone();
    assert_eq!((&shown["apiKey"], shown.get("publicKey")), (&json!("**** one"), None));
    let refused = app.patch(&path, &json!({ "credentials": { "apiKey": null } })).await.details(400);
    assert_eq!(refused, ["credentials.apiKey should not be empty"]);
}

async fn the_platforms_own_provider_is_registered(app: TestApp) {
    let own = json!({ "name": "Own", "priority": 1, "credentials": { "type": "PLATFORM", "apiKey": "any" } });
    let merchant = created(
        &app,
        json!({ "mcc": "1", "providers": [own, { "name": "Spare", "priority": 2,
        "credentials": { "type": "SANDBOX" } }] }),
    )
    .await;
    assert_eq!(read(&app, &merchant).await["providers"][0]["credentials"]["type"], "PLATFORM");
}

async fn every_wrong_field_is_named(app: TestApp) {
    let path = "/v1/merchants";
    assert_named(&app.post(path, &json!({})).await, &["mcc", "providers"]);
    assert_named(&app.post(path, &json!({ "mcc": "58120", "providers": [] })).await, &["mcc", "providers"]);
    let wrong = json!({ "mcc": 1.5, "name": 1, "merchantName": {}, "merchantUrl": [], "providers": [
        "SANDBOX",
        {},
        { "name": "", "priority": "first", "credentials": { "type": "NOBODY" } },
        { "name": "A", "priority": 1, "credentials": { "type": "PAGSEGURO", "token": 1 } },
        { "name": "A", "priority": 1, "credentials": { "apiKey": "any" } },
        sandbox("right"),
    ] });
    assert_named(
        &app.post(path, &wrong).await,
        &[
            "mcc",
            "name",
            "merchantName",
            "merchantUrl",
            "providers[0]",
            "providers[1].name",
            "providers[1].priority",
            "providers[1].credentials",
            "providers[2].name",
            "providers[2].priority",
            "providers[2].credentials.type",
            "providers[3].credentials.email",
            "providers[3].credentials.token",
            "providers[4].credentials.type",
        ],
    );
    assert_named(
        &app.post(path, &json!({ "mcc": "1", "providers": {} })).await,
        &["providers.name", "providers.priority", "providers.credentials"],
    );
    assert_eq!(app.get(path).await.json()["items"], json!([]), "something wrong was stored");
}

async fn options_are_checked_by_type(app: TestApp) {
    let with = |kind: &str, options: Value| {
        let credentials =
            json!({ "type": kind, "name": "u", "password": "p", "apiKey": "a", "tokenApi": "t" });
        json!({ "mcc": "1", "providers":
            [{ "name": "A", "priority": 1, "credentials": credentials, "options": options }] })
    };
    let at = "/v1/merchants";
    let both = json!({ "type": "ANTIFRAUD", "captureOnError": true, "refundOnError": true });
    assert_named(&app.post(at, &with("CLEARSALE", both)).await, &["providers[0].options.captureOnError"]);
    let too_late = json!({ "type": "ANTIFRAUD", "runBeforeCharge": true, "productType": "ASYNC" });
    assert_named(
        &app.post(at, &with("CLEARSALE", too_late)).await,
        &["providers[0].options.runBeforeCharge"],
    );
    assert_named(
        &app.post(at, &with("BARTE", json!({ "type": "BARTE" }))).await,
        &["providers[0].options.paymentMethod"],
    );
    let faults =
        json!({ "faults": [{ "when": { "lastDigit": 10 }, "then": { "decline": "no such code" } }] });
    assert_named(
        &app.post(at, &with("SANDBOX", faults)).await,
        &[
            "providers[0].options.type",
            "providers[0].options.faults.0.when.lastDigit",
            "providers[0].options.faults.0.then.decline",
        ],
    );
    let faults = json!({ "type": "SANDBOX", "zebra": 1, "faults":
        [{ "when": { "amount": 100 }, "then": { "decline": "insufficient_funds" }, "probability": 0.5 }],
        "alpha": 2 });
    let merchant = created(&app, with("SANDBOX", faults.clone())).await;
    let options = read(&app, &merchant).await["providers"][0]["options"].to_string();
    assert_eq!(options, faults.to_string(), "options are kept as sent, also their order");
    let prose = json!({ "type": "ANTIFRAUD", "captureOnApprove": true });
    let merchant = created(&app, with("CLEARSALE", prose)).await;
    assert_eq!(
        merchant["providers"][0]["options"],
        json!({ "type": "ANTIFRAUD", "captureOnApproved": true })
    );
}

async fn acquirers_are_checked(app: TestApp) {
    let with = |acquirer: Value| {
        let mut provider = sandbox("A");
        provider["acquirer"] = acquirer;
        json!({ "mcc": "1", "providers": [provider] })
    };
    let entry = |members: Value| json!({ "bin": [members] });
    let at = "/v1/merchants";
    assert_named(&app.post(at, &with(json!({}))).await, &["providers[0].acquirer.bin"]);
    assert_named(&app.post(at, &with(json!("x"))).await, &["providers[0].acquirer"]);
    assert_named(
        &app.post(at, &with(entry(json!({ "brand": "Visa" })))).await,
        &["providers[0].acquirer.bin[0].merchantId"],
    );
    assert_named(
        &app.post(at, &with(json!({ "merchantId": 1 }))).await,
        &["providers[0].acquirer.merchantId"],
    );
    for right in [
        json!({ "merchantId": "1" }),
        json!({ "merchantId": "1", "bin": [{ "brand": "Visa", "value": "4" }] }),
        json!({ "merchantId": "1", "bin": [{ "brand": "Visa", "value": "4", "merchantId": "2" }] }),
        entry(json!({ "merchantId": "2", "brand": "Visa", "value": "4" })),
    ] {
        assert_eq!(created(&app, with(right.clone())).await["providers"][0]["acquirer"], right);
    }
}

async fn a_key_gets_its_answer_again(app: TestApp) {
    let first = app.post_with_key("/v1/merchants", "k", &shop()).await;
    let second = app.post_with_key("/v1/merchants", "k", &shop()).await;
    assert_eq!((first.status.as_u16(), first.json()), (201, second.json()));
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    assert_eq!(app.get("/v1/merchants").await.json()["meta"]["totalItems"], 1);
}

async fn a_merchant_is_changed(app: TestApp) {
    let merchant = created(&app, shop()).await;
    let answer = app.patch(&path(&merchant), &json!({ "name": "Loja Norte" })).await;
    assert_eq!(answer.status.as_u16(), 200);
    let mut expected = merchant.clone();
    expected["name"] = json!("Loja Norte");
    expected["updatedAt"] = answer.json()["updatedAt"].clone();
    assert_eq!(answer.json(), expected);
    assert!(text(&expected["updatedAt"]) > text(&merchant["updatedAt"]));
    assert_eq!(read(&app, &merchant).await, expected);
    let all =
        json!({ "mcc": 742, "name": null, "merchantName": "LOJA", "merchantUrl": "https://loja.example" });
    let changed = app.patch(&path(&merchant), &all).await.json();
    assert_eq!((text(&changed["mcc"]), &changed["name"]), ("742", &Value::Null));
    assert_eq!(
        (text(&changed["merchantName"]), text(&changed["merchantUrl"])),
        ("LOJA", "https://loja.example")
    );
    let same = app.patch(&path(&merchant), &json!({ "mcc": "742", "unknown": 1 })).await.json();
    assert_eq!(same, changed, "a change of nothing is no change");
    let wrong = json!({ "mcc": null, "name": 1, "providers": [{ "name": "A" }] });
    assert_named(
        &app.patch(&path(&merchant), &wrong).await,
        &["mcc", "name", "providers[0].priority", "providers[0].credentials"],
    );
}

async fn a_provider_is_added_by_a_change(app: TestApp) {
    let merchant = created(&app, shop()).await;
    let mut known = merchant["providers"][0].clone();
    known["name"] = json!("another name");
    let sent = json!({ "providers": [known, sandbox("Second")] });
    let changed = app.patch(&path(&merchant), &sent).await;
    assert_eq!(changed.status.as_u16(), 200, "{}", changed.json());
    let body = changed.json();
    let names: Vec<&str> =
        body["providers"].as_array().unwrap().iter().map(|provider| text(&provider["name"])).collect();
    assert_eq!(names, ["Main", "Second"], "an entry with an id is left as it is");
    assert_eq!(read(&app, &merchant).await, changed.json());
    let many: Vec<Value> = (0..49).map(|n| sandbox(&n.to_string())).collect();
    let too_many = app.patch(&path(&merchant), &json!({ "providers": many })).await;
    assert_named(&too_many, &["providers"]);
    assert_eq!(read(&app, &merchant).await, changed.json());
}

async fn changes_at_once_are_all_kept(app: TestApp) {
    let merchant = created(&app, shop()).await;
    let changes =
        [json!({ "name": "B" }), json!({ "merchantName": "C" }), json!({ "providers": [sandbox("Second")] })];
    let at = path(&merchant);
    let answers = join_all(changes.iter().map(|change| app.patch(&at, change))).await;
    assert!(answers.iter().all(|answer| answer.status == 200));
    let merchant = read(&app, &merchant).await;
    assert_eq!((text(&merchant["name"]), text(&merchant["merchantName"])), ("B", "C"));
    assert_eq!(merchant["providers"].as_array().unwrap().len(), 2);
}

async fn the_list_is_paged(app: TestApp) {
    let mut merchants = Vec::new();
    for count in 1..=3 {
        let providers: Vec<Value> = (0..count).map(|n| sandbox(&n.to_string())).collect();
        merchants.insert(0, created(&app, json!({ "mcc": "1", "providers": providers })).await);
    }
    let all = app.get("/v1/merchants").await.json();
    assert_eq!(all["items"], json!(merchants), "newest first, each with its own providers");
    let page = app.get("/v1/merchants?page=2&limit=2").await.json();
    assert_eq!(page["items"], json!(merchants[2..]));
    assert_eq!(
        page["meta"],
        json!({
        "itemCount": 1, "totalItems": 3, "itemsPerPage": 2, "totalPages": 2, "currentPage": 2 })
    );
    assert_named(&app.get("/v1/merchants?page=0&limit=101").await, &["page", "limit"]);
}

async fn a_deleted_merchant_is_gone(app: TestApp) {
    let kept = created(&app, shop()).await;
    let merchant = created(&app, shop()).await;
    let deleted = app.delete(&path(&merchant)).await;
    assert_eq!(deleted.expect(204), Value::Null);
    for answer in [
        app.get(&path(&merchant)).await,
        app.patch(&path(&merchant), &json!({ "name": "X" })).await,
        app.delete(&path(&merchant)).await,
        app.patch(
            &format!("/v1/providers/{}", text(&merchant["providers"][0]["id"])),
            &json!({ "name": "X" }),
        )
        .await,
    ] {
        assert_eq!(answer.status.as_u16(), 404);
        assert_eq!(
            answer.json(),
            json!({ "error": { "type": "invalid_request_error", "code": 404,
            "message": "Resource not found", "details": [] } })
        );
    }
    assert_eq!(app.get("/v1/merchants").await.json()["items"], json!([kept]));
    let id = text(&merchant["providers"][0]["id"]).parse().unwrap();
    let provider = regente_store::providers::find(&app.app.store, app.client_id(), id).await.unwrap();
    assert!(provider.is_some(), "the outcome of a charge under way could not be asked for");
}

async fn a_deleted_merchant_takes_no_charges(app: TestApp) {
    let merchant = app.merchant().await;
    let body = charge_body(&merchant, APPROVED);
    let charge = app.post("/v1/charges", &body).await.expect(201);
    app.delete(&format!("/v1/merchants/{merchant}")).await.expect(204);
    app.post("/v1/charges", &body).await.expect(404);
    let read = app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200);
    assert_eq!(read, charge, "its charges stay readable");
}

async fn another_clients_merchant_does_not_exist(app: TestApp) {
    let merchant = created(&app, shop()).await;
    let other = As::another_client(&app).await;
    for at in [path(&merchant), "/v1/merchants/not-a-uuid".to_owned()] {
        assert_eq!(other.get(&at).await.status, 404);
        assert_eq!(other.patch(&at, &json!({ "name": "X" })).await.status, 404);
        assert_eq!(other.delete(&at).await.status, 404);
    }
    assert_eq!(other.get("/v1/merchants").await.json()["items"], json!([]));
    assert_eq!(read(&app, &merchant).await, merchant);
}

async fn client_tokens_cannot_touch_merchants(app: TestApp) {
    let merchant = created(&app, shop()).await;
    let public = As::public_key(&app, "*").await;
    assert_eq!(public.get(&path(&merchant)).await.status, 403);
    assert_eq!(public.post("/v1/merchants", &shop()).await.status, 403);
    assert_eq!(public.delete(&path(&merchant)).await.status, 403);
}

async fn every_change_leaves_its_trace(app: TestApp) {
    let merchant = created(&app, shop()).await;
    app.patch(&path(&merchant), &json!({ "name": "B" })).await;
    app.delete(&path(&merchant)).await;
    let actions = async |id: &Value| -> Vec<String> {
        let id = text(id).parse().unwrap();
        let entries = audit::of_object(&app.app.store, app.client_id(), id, 10).await.unwrap();
        entries.into_iter().map(|entry| entry.action).collect()
    };
    assert_eq!(actions(&merchant["id"]).await, ["merchant.deleted", "merchant.updated", "merchant.created"]);
    assert_eq!(actions(&merchant["providers"][0]["id"]).await, ["provider.created"]);
}
