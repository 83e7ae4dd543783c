//! Buyers: created, read, changed, listed, deleted (`docs/interface/customers.md`). [`matching`] tests which customer
//! is found instead of created.

mod check_digits;
mod documents;
pub(crate) mod erasure;
mod matching;

use futures_util::future::join_all;
use regente_domain::id::CustomerId;
use regente_store::{args, audit, customers, sql};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::app::{TestApp, stories};
use crate::support::client::{As, Reply};

sql! {
    PRIVATE_DATA = "SELECT private FROM customers WHERE client_id = :client_id AND private IS NOT NULL
        UNION ALL SELECT private FROM customer_aliases WHERE client_id = :client_id AND private IS NOT NULL";
}

stories! {
    a_customer_is_created_and_read,
    blanks_of_the_checkout_are_nothing,
    every_wrong_field_is_named,
    an_address_must_be_complete,
    a_document_must_be_one_of_its_country,
    a_key_gets_its_answer_again,
    a_change_answers_with_the_flat_record,
    email_and_document_cannot_change,
    a_change_that_changes_nothing_writes_nothing,
    changes_at_once_are_all_kept,
    a_deleted_customer_is_gone_and_its_data_erased,
    the_list_is_sorted_and_paged,
    the_list_is_filtered,
    another_clients_customer_does_not_exist,
    personal_data_rests_sealed,
    every_change_leaves_its_trace,
}

const CPF: &str = "97055503019";
const OTHER_CPF: &str = "72912053013";

fn ana() -> Value {
    json!({
        "name": "Ana Souza", "email": "ana@example.com", "phoneNumber": "21988899909",
        "document": { "type": "cpf", "number": CPF, "country": "BR" }, "address": address("Av Geraldo Cardoso")
    })
}

fn address(street: &str) -> Value {
    json!({ "country": "BR", "state": "RJ", "city": "Rio de Janeiro", "district": "Leblon", "zipCode": "25650011",
        "street": street, "streetNumber": "205", "complement": "Apto 203" })
}

fn buyer(name: &str, email: &str, number: &str) -> Value {
    json!({ "name": name, "email": email, "phoneNumber": "1", "document": { "type": "CPF", "number": number } })
}

fn without_document(name: &str, email: &str) -> Value {
    json!({ "name": name, "email": email, "phoneNumber": "1", "document": { "type": "noDocument" } })
}

async fn created(app: &TestApp, customer: Value) -> Value {
    let answer = app.post("/v1/customers", &customer).await;
    assert_eq!(answer.status.as_u16(), 201, "{}", answer.json());
    answer.json()
}

async fn forced(app: &TestApp, customer: &Value) -> Value {
    let answer = app.post("/v1/customers?force=true", &customer.clone()).await;
    assert_eq!(answer.status.as_u16(), 201, "{}", answer.json());
    answer.json()
}

async fn by_public_key(app: &TestApp, customer: &Value) -> Value {
    let public = As::public_key(app, "customers").await;
    let answer = public.post("/v1/customers", &customer.clone()).await;
    assert_eq!(answer.status.as_u16(), 201, "{}", answer.json());
    answer.json()
}

async fn read(app: &TestApp, id: &Value) -> Value {
    let answer = app.get(&format!("/v1/customers/{}", text(id))).await;
    assert_eq!(answer.status.as_u16(), 200, "{}", answer.json());
    answer.json()
}

async fn everybody(app: &TestApp) -> Vec<Value> {
    app.get("/v1/customers?limit=100").await.json()["items"].as_array().unwrap().clone()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn details(answer: &Reply) -> Vec<String> {
    answer.details(answer.status.as_u16())
}

fn without<'a>(value: &Value, members: impl IntoIterator<Item = &'a str>) -> Value {
    let mut value = value.clone();
    for member in members {
        value.as_object_mut().unwrap().remove(member);
    }
    value
}

/// Without `force`: 409 and a sentence for each conflicting field.
async fn refused(app: &TestApp, customer: &Value, clashing: &[&str]) {
    let before = everybody(app).await;
    let answer = app.post("/v1/customers", &customer.clone()).await;
    assert_eq!(answer.status.as_u16(), 409, "{}", answer.json());
    let error = answer.json()["error"].clone();
    assert_eq!((&error["type"], &error["code"]), (&json!("invalid_request_error"), &json!(409)));
    let expected: Vec<String> =
        clashing.iter().map(|name| format!("customer with this {name} already exists")).collect();
    assert_eq!(details(&answer), expected);
    assert_eq!(everybody(app).await, before, "a refused creation changed something");
}

async fn a_customer_is_created_and_read(app: TestApp) {
    let customer = created(&app, ana()).await;
    assert_eq!(without(&customer, ["id", "clientId", "createdAt", "updatedAt"]), ana());
    assert_eq!(customer["clientId"], app.client_id().to_string());
    assert!(text(&customer["createdAt"]).ends_with('Z'));
    assert_eq!(read(&app, &customer["id"]).await, customer);
    assert_eq!(everybody(&app).await, [customer]);
}

async fn blanks_of_the_checkout_are_nothing(app: TestApp) {
    let sent = json!({ "name": "Ana", "email": " ana@example.com ", "phoneNumber": " ", "address": {},
        "billingAddress": { "street": " ", "city": "" }, "deliveryAddress": { "city": "Recife" },
        "document": { "type": "noDocument", "country": " " }, "appInfo": { "name": "checkout" } });
    let customer = created(&app, sent).await;
    assert_eq!(customer["email"], "ana@example.com");
    assert_eq!(customer["document"], json!({ "type": "noDocument", "number": "", "country": "BR" }));
    assert_eq!(customer["deliveryAddress"], json!({ "city": "Recife" }));
    assert!(customer.get("address").is_none() && customer.get("billingAddress").is_none(), "{customer}");
}

async fn every_wrong_field_is_named(app: TestApp) {
    let answer = app.post("/v1/customers", &json!({})).await;
    assert_eq!(answer.status.as_u16(), 400);
    assert_eq!(answer.json()["error"]["type"], "bad_request");
    for name in ["name", "email", "phoneNumber", "document"] {
        assert!(
            details(&answer).contains(&format!("{name} should not be empty")),
            "{name}: {}",
            answer.json()
        );
    }
    let wrong = json!({ "name": 1, "email": "ana", "phoneNumber": "9".repeat(31), "document": { "type": "cpf" },
        "address": [], "billingAddress": { "country": "XX" } });
    let answer = app.post("/v1/customers", &wrong).await;
    assert_eq!(answer.status.as_u16(), 400);
    let details = details(&answer).join("\n");
    for expected in [
        "name must be a string",
        "email must be an email",
        "phoneNumber must be shorter than or equal to 30 characters",
        "document.number should not be empty",
        "address must be an object",
        "billingAddress.country must be one of the following values: AL, ",
    ] {
        assert!(details.contains(expected), "{expected} is not in\n{details}");
    }
    assert_eq!(app.post("/v1/customers?force=maybe", &ana()).await.status, 400);
}

async fn an_address_must_be_complete(app: TestApp) {
    let mut customer = ana();
    customer["address"] = json!({ "complement": "Apto 203" });
    let answer = app.post("/v1/customers", &customer).await;
    assert_eq!(answer.status.as_u16(), 400);
    for name in ["street", "streetNumber", "zipCode", "state", "city", "district"] {
        assert!(
            details(&answer).contains(&format!("address.{name} should not be empty")),
            "{}",
            answer.json()
        );
    }
}

async fn a_document_must_be_one_of_its_country(app: TestApp) {
    for (document, path) in [
        (json!({ "type": "cpf", "number": "123" }), "document.number"),
        (json!({ "type": "rut", "number": "1-9" }), "document.type"),
        (json!({ "type": "cpf", "number": CPF, "country": "ZZ" }), "document.country"),
        (json!({ "type": "cpf", "number": "" }), "document.number"),
        (json!("cpf"), "document"),
    ] {
        let mut customer = ana();
        customer["document"] = document;
        let answer = app.post("/v1/customers", &customer).await;
        assert_eq!(answer.status.as_u16(), 400);
        assert!(details(&answer).iter().all(|detail| detail.starts_with(path)), "{path}: {}", answer.json());
    }
    let chilean = json!({ "name": "A", "email": "a@example.com", "phoneNumber": "1",
        "document": { "type": "RUT", "number": "12.345.678-5", "country": "CL" } });
    assert_eq!(created(&app, chilean.clone()).await["document"], chilean["document"]);
}

async fn a_key_gets_its_answer_again(app: TestApp) {
    let first = app.post_with_key("/v1/customers", "k-1", &ana()).await;
    let second = app.post_with_key("/v1/customers", "k-1", &ana()).await;
    assert_eq!((first.status.as_u16(), first.json()), (second.status.as_u16(), second.json()));
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    assert_eq!(
        app.post_with_key("/v1/customers", "k-1", &buyer("B", "b@example.com", OTHER_CPF)).await.status,
        409
    );
    refused(&app, &ana(), &["email", "document"]).await;
    assert_eq!(app.post_with_key("/v1/customers", "k-2", &ana()).await.status, 409, "refused");
    assert_eq!(app.delete(&format!("/v1/customers/{}", text(&first.json()["id"]))).await.status, 200);
    assert_eq!(app.post_with_key("/v1/customers", "k-2", &ana()).await.status, 201, "a refusal was stored");
}

async fn a_change_answers_with_the_flat_record(app: TestApp) {
    let customer = created(&app, ana()).await;
    let path = format!("/v1/customers/{}", text(&customer["id"]));
    let changed = app.patch(&path, &json!({ "phoneNumber": "21977777777" })).await;
    assert_eq!(changed.status.as_u16(), 200);
    let record = changed.json();
    let nothing = Value::Null;
    for name in ["idempotencyKey", "requestId", "cardId"] {
        assert_eq!(record.get(name), Some(&nothing), "{name}");
    }
    assert_eq!(record["phoneNumber"], "21977777777");
    assert_eq!(
        (text(&record["documentNumber"]), text(&record["documentType"]), text(&record["documentCountry"])),
        (CPF, "cpf", "BR")
    );
    assert_eq!(record["document"], customer["document"]);
    assert_eq!(record["createdAt"], customer["createdAt"]);
    assert!(text(&record["updatedAt"]) > text(&customer["updatedAt"]));
    let stored = &record["address"];
    assert_eq!((stored.get("deletedAt"), stored.get("requestId")), (Some(&nothing), Some(&nothing)));
    assert_eq!(stored["street"], customer["address"]["street"]);
    let moved = app.patch(&path, &json!({ "address": address("Rua Nova") })).await.json();
    assert_eq!(moved["address"]["id"], stored["id"]);
    assert_eq!(moved["address"]["createdAt"], stored["createdAt"]);
    assert!(text(&moved["address"]["updatedAt"]) > text(&stored["updatedAt"]));
    assert_eq!(read(&app, &customer["id"]).await["address"], address("Rua Nova"));
    for (wrong, path_of) in [
        (json!({ "address": { "city": "Recife" } }), "address.street"),
        (json!({ "address": {} }), "address"),
        (json!({ "name": " " }), "name"),
        (json!({ "phoneNumber": 1 }), "phoneNumber"),
    ] {
        let answer = app.patch(&path, &wrong).await;
        assert_eq!(answer.status.as_u16(), 400);
        assert!(details(&answer).iter().any(|detail| detail.starts_with(path_of)), "{}", answer.json());
    }
}

async fn email_and_document_cannot_change(app: TestApp) {
    let customer = created(&app, ana()).await;
    let path = format!("/v1/customers/{}", text(&customer["id"]));
    let sent = json!({ "email": "new@example.com", "document": { "type": "CPF", "number": OTHER_CPF }, "name": null });
    assert_eq!(app.patch(&path, &sent).await.status, 200);
    assert_eq!(read(&app, &customer["id"]).await, customer);
}

async fn a_change_that_changes_nothing_writes_nothing(app: TestApp) {
    let customer = created(&app, ana()).await;
    let path = format!("/v1/customers/{}", text(&customer["id"]));
    let same =
        app.patch(&path, &json!({ "name": "Ana Souza", "address": address("Av Geraldo Cardoso") })).await;
    assert_eq!(same.expect(200)["updatedAt"], customer["updatedAt"]);
}

async fn changes_at_once_are_all_kept(app: TestApp) {
    let customer = created(&app, ana()).await;
    let path = format!("/v1/customers/{}", text(&customer["id"]));
    let changes =
        [json!({ "name": "Ana B." }), json!({ "phoneNumber": "2" }), json!({ "address": address("Rua B") })];
    let answers = join_all(changes.iter().map(|change| app.patch(&path, change))).await;
    assert!(answers.iter().all(|answer| answer.status == 200));
    let customer = read(&app, &customer["id"]).await;
    assert_eq!((text(&customer["name"]), text(&customer["phoneNumber"])), ("Ana B.", "2"));
    assert_eq!(customer["address"], address("Rua B"));
}

async fn a_deleted_customer_is_gone_and_its_data_erased(app: TestApp) {
    let customer = created(&app, ana()).await;
    by_public_key(&app, &buyer("X", "ana@example.com", CPF)).await;
    let path = format!("/v1/customers/{}", text(&customer["id"]));
    let deleted = app.delete(&path).await;
    assert_eq!(deleted.expect(200), Value::Null);
    for answer in [app.get(&path).await, app.patch(&path, &json!({})).await, app.delete(&path).await] {
        assert_eq!(answer.status.as_u16(), 404);
        assert_eq!(answer.json()["error"]["message"], "Resource not found");
    }
    assert!(everybody(&app).await.is_empty());
    let rows = app.app.store.rows(&PRIVATE_DATA, args! { client_id: app.client_id() }).await.unwrap();
    assert!(rows.is_empty(), "personal data outlived the customer");
    assert_ne!(created(&app, ana()).await["id"], customer["id"]);
}

async fn the_list_is_sorted_and_paged(app: TestApp) {
    let mut ids = Vec::new();
    for n in 0..4 {
        let customer = created(&app, without_document("N", &format!("n{n}@example.com"))).await;
        ids.push(text(&customer["id"]).to_owned());
    }
    let listed = async |query: &str| {
        let answer = app.get(&format!("/v1/customers?{query}")).await;
        assert_eq!(answer.status.as_u16(), 200, "{query}: {}", answer.json());
        let body = answer.json();
        let items = body["items"].as_array().unwrap().iter().map(|item| text(&item["id"]).to_owned());
        (items.collect::<Vec<_>>(), body["meta"].clone())
    };
    let (newest_first, meta) = listed("").await;
    assert!(newest_first.iter().rev().eq(&ids));
    let expected =
        json!({ "itemCount": 4, "totalItems": 4, "itemsPerPage": 15, "totalPages": 1, "currentPage": 1 });
    assert_eq!(meta, expected);
    assert_eq!(listed("sort=ASC").await.0, ids);
    assert_eq!(listed("sort=ASC&page=2&limit=3").await.0, ids[3..]);
    assert_eq!(
        listed("page=9").await,
        (
            vec![],
            json!({
        "itemCount": 0, "totalItems": 4, "itemsPerPage": 15, "totalPages": 1, "currentPage": 9 })
        )
    );
    assert_eq!(listed(&format!("sort=ASC&limit=1&page=2&id={},{}", ids[0], ids[2])).await.0, ids[2..3]);
}

async fn the_list_is_filtered(app: TestApp) {
    let ana = created(&app, ana()).await;
    let none = created(&app, without_document("N", "n@example.com")).await;
    let chilean = created(
        &app,
        json!({ "name": "C", "email": "c@example.com", "phoneNumber": "1",
        "document": { "type": "RUT", "number": "12.345.678-5", "country": "CL" } }),
    )
    .await;
    let ids = [&ana, &none, &chilean].map(|customer| text(&customer["id"]));
    for (query, expected) in [
        (format!("id={}", ids[0]), vec![&ana]),
        (format!("id={},{}", ids[0], ids[1]), vec![&none, &ana]),
        ("document.type=cpf".to_owned(), vec![&ana]),
        ("document.type=Cpf,rut".to_owned(), vec![&chilean, &ana]),
        ("document.type=nodocument".to_owned(), vec![&none]),
        ("document.type=cnpj".to_owned(), vec![]),
        ("document.number=970.555.030-19".to_owned(), vec![&ana]),
        (format!("document.number={CPF},123456785"), vec![&chilean, &ana]),
        (format!("document.number={CPF}&document.type=rut"), vec![]),
        (format!("document.number={CPF}&id={}", ids[2]), vec![]),
        (format!("id={}", Uuid::nil()), vec![]),
    ] {
        let answer = app.get(&format!("/v1/customers?{query}")).await;
        assert_eq!(answer.status.as_u16(), 200, "{query}");
        assert_eq!(answer.json()["items"], json!(expected), "{query}");
        assert_eq!(answer.json()["meta"]["totalItems"], expected.len(), "{query}");
    }
    for wrong in
        ["id=1", "document.type=c%20f", "document.number=--", "sort=up", "limit=0", "limit=101", "page=0"]
    {
        let answer = app.get(&format!("/v1/customers?{wrong}")).await;
        assert_eq!(answer.status.as_u16(), 400, "{wrong}");
        assert!(details(&answer)[0].starts_with(wrong.split('=').next().unwrap()), "{}", answer.json());
    }
}

async fn another_clients_customer_does_not_exist(app: TestApp) {
    let ana_here = created(&app, ana()).await;
    let alias = by_public_key(&app, &ana()).await;
    let other = As::another_client(&app).await;
    for id in [text(&ana_here["id"]), text(&alias["id"]), "not-a-uuid"] {
        let path = format!("/v1/customers/{id}");
        assert_eq!(other.get(&path).await.status, 404);
        assert_eq!(other.patch(&path, &json!({ "name": "X" })).await.status, 404);
        assert_eq!(other.delete(&path).await.status, 404);
    }
    let listed = other.get(&format!("/v1/customers?id={}", text(&ana_here["id"]))).await;
    assert_eq!(listed.expect(200)["items"], json!([]));
    assert_ne!(
        other.post("/v1/customers", &ana()).await.expect(201)["id"],
        ana_here["id"],
        "unique within an account, not across"
    );
    assert_eq!(read(&app, &ana_here["id"]).await, ana_here);
}

async fn personal_data_rests_sealed(app: TestApp) {
    created(&app, ana()).await;
    by_public_key(&app, &ana()).await;
    let rows = app.app.store.rows(&PRIVATE_DATA, args! { client_id: app.client_id() }).await.unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        let bytes: &[u8] = row.get("private").unwrap();
        let readable = String::from_utf8_lossy(bytes);
        for secret in ["Ana", "ana@", CPF, "21988899909", "Leblon"] {
            assert!(!readable.contains(secret), "{secret} rests in the clear");
        }
    }
}

async fn every_change_leaves_its_trace(app: TestApp) {
    let customer = created(&app, ana()).await;
    let id: CustomerId = text(&customer["id"]).parse().unwrap();
    let path = format!("/v1/customers/{id}");
    assert_eq!(app.patch(&path, &json!({ "name": "Ana S." })).await.status, 200);
    by_public_key(&app, &ana()).await;
    assert_eq!(app.delete(&path).await.status, 200);
    let store = &app.app.store;
    let entries = audit::of_object(store, app.client_id(), id.uuid(), 10).await.unwrap();
    let actions: Vec<&str> = entries.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(
        actions,
        ["customer.deleted", "customer.alias_created", "customer.updated", "customer.created"]
    );
    assert!(entries[0].actor.starts_with("key:") && entries[1].actor.starts_with("client_token:"));
    assert!(entries.iter().all(|entry| entry.request_id.is_some()));
    assert!(customers::find(store, app.client_id(), id).await.unwrap().is_none());
}
