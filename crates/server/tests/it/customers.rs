//! Buyers: no two equal ones, found by force, hidden from public keys (contract 10).

use std::collections::BTreeSet;

use axum::http::Method;
use futures_util::future::join_all;
use regente::access::{Authority, Caller};
use regente::flows::customers::{NewCustomer, find_or_create};
use regente_domain::country::Country;
use regente_domain::customer::Document;
use regente_domain::id::{CustomerId, Id};
use regente_domain::scope::Scopes;
use regente_domain::time::Timestamp;
use regente_store::{args, audit, customers, sql};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::{Client, Reply, TestApp, stories};

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
    two_spellings_are_one_customer,
    case_1_the_document_is_the_customers_own,
    case_1_the_document_is_one_persons_and_the_email_anothers,
    case_1_an_empty_email_is_filled_when_it_is_free,
    case_2_no_document_was_sent,
    case_2_the_stored_customer_has_no_document,
    case_3_the_email_is_taken,
    case_4_nobody_holds_either,
    force_changes_only_what_was_sent,
    a_public_key_learns_nothing,
    a_public_key_changes_nothing,
    an_alias_serves_the_secret_key_alone,
    identical_creations_at_once_make_one_customer,
    identical_creations_by_public_keys_make_one_customer,
    the_buyer_of_a_charge_is_found_and_never_changed,
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

/// The same deployment, called with another key.
pub(crate) struct As<'a> {
    pub(crate) app: &'a TestApp,
    pub(crate) client: Client,
}

impl<'a> As<'a> {
    /// A client token of the same account.
    pub(crate) async fn public_key(app: &'a TestApp, scope: &str) -> Self {
        Self { app, client: app.client_token(json!([scope])).await }
    }

    /// Another account.
    pub(crate) async fn another_client(app: &'a TestApp) -> Self {
        Self { app, client: app.another_client().await }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.app.call(&self.client, Method::GET, path, &[], None).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Reply {
        self.app.call(&self.client, Method::POST, path, &[], Some(body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Reply {
        self.app.call(&self.client, Method::PATCH, path, &[], Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        self.app.call(&self.client, Method::DELETE, path, &[], None).await
    }
}

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
    let public = As::public_key(&app, "customers").await;
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

/// Without `force`: 409, and the sentences of the fields that clash.
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

async fn two_spellings_are_one_customer(app: TestApp) {
    created(&app, ana()).await;
    refused(&app, &buyer("B", "ANA@Example.com", OTHER_CPF), &["email"]).await;
    refused(&app, &buyer("B", "b@example.com", "970.555.030-19"), &["document"]).await;
}

async fn case_1_the_document_is_the_customers_own(app: TestApp) {
    let ana = created(&app, ana()).await;
    for email in ["ana@example.com", "free@example.com"] {
        let again = buyer("Ana S.", email, CPF);
        let clashing: &[&str] = if email.starts_with("ana") { &["email", "document"] } else { &["document"] };
        refused(&app, &again, clashing).await;
        let found = forced(&app, &again).await;
        assert_eq!(found["id"], ana["id"]);
        assert_eq!((text(&found["name"]), text(&found["email"])), ("Ana S.", "ana@example.com"));
        assert_eq!(read(&app, &ana["id"]).await, found);
        let alias = by_public_key(&app, &again).await;
        assert_eq!(read(&app, &alias["id"]).await["id"], ana["id"]);
    }
    assert_eq!(everybody(&app).await.len(), 1);
}

async fn case_1_the_document_is_one_persons_and_the_email_anothers(app: TestApp) {
    let ana = created(&app, ana()).await;
    let bob = created(&app, buyer("Bob", "bob@example.com", OTHER_CPF)).await;
    let mixed = buyer("Ana with Bob's address", "bob@example.com", CPF);
    refused(&app, &mixed, &["email", "document"]).await;
    let found = forced(&app, &mixed).await;
    assert_eq!((&found["id"], text(&found["email"])), (&ana["id"], "ana@example.com"));
    assert_eq!(read(&app, &bob["id"]).await, bob, "the owner of the e-mail address was touched");
    let alias = by_public_key(&app, &mixed).await;
    assert_eq!(read(&app, &alias["id"]).await["id"], ana["id"]);
}

async fn case_1_an_empty_email_is_filled_when_it_is_free(app: TestApp) {
    let ana = created(&app, ana()).await;
    let contact = forced(&app, &buyer("Carl", "ana@example.com", OTHER_CPF)).await;
    assert_eq!(contact["email"], Value::Null);
    let still = forced(&app, &buyer("Carl", "ana@example.com", OTHER_CPF)).await;
    assert_eq!((&still["id"], &still["email"]), (&contact["id"], &Value::Null), "Ana keeps her address");
    let filled = forced(&app, &buyer("Carl", "carl@example.com", OTHER_CPF)).await;
    assert_eq!((&filled["id"], text(&filled["email"])), (&contact["id"], "carl@example.com"));
    assert!(filled.get("contactEmail").is_none());
    refused(&app, &without_document("X", "carl@example.com"), &["email"]).await;
    assert_eq!(read(&app, &ana["id"]).await["email"], "ana@example.com");
}

async fn case_2_no_document_was_sent(app: TestApp) {
    let ana = created(&app, ana()).await;
    let again = without_document("Ana S.", "ana@example.com");
    refused(&app, &again, &["email"]).await;
    let found = forced(&app, &again).await;
    assert_eq!(
        (&found["id"], &found["document"]["number"]),
        (&ana["id"], &json!(CPF)),
        "a document is never replaced"
    );
    assert_eq!(found["name"], "Ana S.");
    let alias = by_public_key(&app, &again).await;
    assert_eq!(read(&app, &alias["id"]).await["id"], ana["id"]);
}

async fn case_2_the_stored_customer_has_no_document(app: TestApp) {
    let ana = created(&app, without_document("Ana", "ana@example.com")).await;
    let with_document = buyer("Ana", "ana@example.com", CPF);
    refused(&app, &with_document, &["email"]).await;
    let alias = by_public_key(&app, &with_document).await;
    assert_eq!(read(&app, &alias["id"]).await, ana, "a public key filled a document");
    let found = forced(&app, &with_document).await;
    assert_eq!((&found["id"], &found["document"]["number"]), (&ana["id"], &json!(CPF)));
    refused(&app, &buyer("B", "b@example.com", CPF), &["document"]).await;
}

async fn case_3_the_email_is_taken(app: TestApp) {
    let ana = created(&app, ana()).await;
    let bob = buyer("Bob", "ana@example.com", OTHER_CPF);
    refused(&app, &bob, &["email"]).await;
    let alias = by_public_key(&app, &bob).await;
    assert_eq!(alias["email"], "ana@example.com", "the answer would tell that the address is taken");
    let made = read(&app, &alias["id"]).await;
    assert_eq!((&made["email"], text(&made["contactEmail"])), (&Value::Null, "ana@example.com"));
    assert_eq!(made["document"]["number"], OTHER_CPF);
    assert_ne!(made["id"], ana["id"]);
    let found = forced(&app, &bob).await;
    assert_eq!((&found["id"], &found["email"]), (&made["id"], &Value::Null));
    assert_eq!(read(&app, &ana["id"]).await, ana, "the owner of the address was touched");
    assert_eq!(everybody(&app).await.len(), 2);
}

async fn case_4_nobody_holds_either(app: TestApp) {
    let forced = forced(&app, &ana()).await;
    assert_eq!(without(&forced, ["id", "clientId", "createdAt", "updatedAt"]), ana());
    let alias = by_public_key(&app, &buyer("Bob", "bob@example.com", OTHER_CPF)).await;
    let bob = read(&app, &alias["id"]).await;
    assert_ne!(bob["id"], alias["id"]);
    assert_eq!((text(&bob["email"]), text(&bob["name"])), ("bob@example.com", "Bob"));
    assert_eq!(everybody(&app).await, [bob, forced]);
}

async fn force_changes_only_what_was_sent(app: TestApp) {
    let ana = created(&app, ana()).await;
    let sent = json!({ "name": "Ana", "email": "ana@example.com", "phoneNumber": " ", "address": {},
        "document": { "type": "CPF", "number": CPF }, "billingAddress": { "city": "Recife" } });
    let found = forced(&app, &sent).await;
    assert_eq!(found["name"], "Ana");
    assert_eq!(found["phoneNumber"], ana["phoneNumber"]);
    assert_eq!(found["address"], ana["address"]);
    assert_eq!(found["document"], ana["document"], "also its spelling stays");
    assert_eq!(found["billingAddress"], json!({ "city": "Recife" }));
    assert!(text(&found["updatedAt"]) > text(&ana["updatedAt"]));
    assert_eq!(forced(&app, &sent).await, found, "nothing new was sent, yet something changed");
}

async fn a_public_key_learns_nothing(app: TestApp) {
    let ana = created(&app, ana()).await;
    let known = by_public_key(&app, &buyer("X", "ana@example.com", CPF)).await;
    let unknown = by_public_key(&app, &buyer("X", "new@example.com", OTHER_CPF)).await;
    let members = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(members(&known), members(&unknown));
    assert_eq!(members(&known), ["id", "clientId", "name", "email", "phoneNumber", "document"]);
    assert_eq!((text(&known["name"]), text(&known["phoneNumber"])), ("X", "1"));
    assert_ne!(known["id"], ana["id"]);
    let again = by_public_key(&app, &buyer("X", "ana@example.com", CPF)).await;
    assert_ne!(again["id"], known["id"], "equal aliases would tell that both are one customer");
}

async fn a_public_key_changes_nothing(app: TestApp) {
    created(&app, ana()).await;
    let before = everybody(&app).await;
    let public = As::public_key(&app, "customers").await;
    for path in ["/v1/customers", "/v1/customers?force=true", "/v1/customers?force=false"] {
        let mut sent = buyer("Mallory", "ana@example.com", CPF);
        sent["address"] = address("Elsewhere");
        assert_eq!(public.post(path, &sent).await.status, 201);
    }
    assert_eq!(everybody(&app).await, before);
}

async fn an_alias_serves_the_secret_key_alone(app: TestApp) {
    let ana = created(&app, ana()).await;
    let public = As::public_key(&app, "customers").await;
    let alias = public.post("/v1/customers", &buyer("X", "ana@example.com", CPF)).await.json();
    let path = format!("/v1/customers/{}", text(&alias["id"]));
    assert_eq!(public.get(&path).await.status, 404);
    assert_eq!(public.patch(&path, &json!({ "name": "Y" })).await.status, 403);
    assert_eq!(public.delete(&path).await.status, 403);
    let own = format!("/v1/customers/{}", text(&ana["id"]));
    assert_eq!(public.get(&own).await.json(), ana);
    assert_eq!(app.get(&path).await.json(), ana);
    let filtered = app.get(&format!("/v1/customers?id={}", text(&alias["id"]))).await.json();
    assert_eq!(filtered["items"], json!([ana]));
    let all_scopes = As::public_key(&app, "*").await;
    let filtered = all_scopes.get(&format!("/v1/customers?id={}", text(&alias["id"]))).await;
    assert_eq!(filtered.expect(200)["items"], json!([]));
    let changed = app.patch(&path, &json!({ "name": "Ana S." })).await;
    assert_eq!(changed.expect(200)["id"], ana["id"]);
    assert_eq!(app.delete(&path).await.status, 200);
    assert_eq!(app.get(&own).await.status, 404);
    assert_eq!(app.get(&path).await.status, 404, "an alias outlived its customer");
}

async fn identical_creations_at_once_make_one_customer(app: TestApp) {
    let ana = ana();
    let answers = join_all((0..8).map(|_| app.post("/v1/customers", &ana))).await;
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status.as_u16()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [201, 409].contains(status)), "{statuses:?}");
    let bob = buyer("Bob", "bob@example.com", OTHER_CPF);
    let answers = join_all((0..8).map(|_| forced(&app, &bob))).await;
    let ids: BTreeSet<&str> = answers.iter().map(|body| text(&body["id"])).collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(everybody(&app).await.len(), 2);
}

async fn identical_creations_by_public_keys_make_one_customer(app: TestApp) {
    let public = As::public_key(&app, "customers").await;
    let ana = ana();
    let answers = join_all((0..8).map(|_| public.post("/v1/customers", &ana))).await;
    assert!(answers.iter().all(|answer| answer.status == 201));
    let aliases: BTreeSet<String> = answers.iter().map(|answer| answer.json()["id"].to_string()).collect();
    assert_eq!(aliases.len(), 8);
    assert_eq!(everybody(&app).await.len(), 1);
}

async fn the_buyer_of_a_charge_is_found_and_never_changed(app: TestApp) {
    let ana = created(&app, ana()).await;
    let buyer = |number: &str| NewCustomer {
        name: String::new(),
        email: "ana@example.com".to_owned(),
        phone_number: " ".to_owned(),
        document: Document { kind: "CPF".to_owned(), number: number.to_owned(), country: Country::BR },
        address: None,
        billing_address: None,
        delivery_address: None,
    };
    let merchant = Caller {
        client_id: app.client_id(),
        credential_id: Id::new(Uuid::nil()),
        authority: Authority::SecretKey,
    };
    let found = find_or_create(&app.app, &merchant, "r", &buyer(CPF)).await.unwrap();
    assert_eq!((found.shown_id().to_string().as_str(), found.alias), (text(&ana["id"]), None));
    let (other, page) = (buyer(OTHER_CPF), Caller { authority: public_authority(), ..merchant.clone() });
    let found = join_all((0..8).map(|_| find_or_create(&app.app, &page, "r", &other))).await;
    let found: Vec<_> = found.into_iter().map(Result::unwrap).collect();
    let real: BTreeSet<_> = found.iter().map(|found| found.customer.id()).collect();
    let shown: BTreeSet<_> = found.iter().map(|found| found.shown_id()).collect();
    assert_eq!((real.len(), shown.len()), (1, 8), "one buyer, each time under another alias");
    assert!(shown.is_disjoint(&real));
    assert_eq!(everybody(&app).await.len(), 2);
    assert_eq!(read(&app, &ana["id"]).await, ana, "a charge changed its buyer");
}

fn public_authority() -> Authority {
    Authority::ClientToken { scopes: Scopes::All, expires_at: Timestamp::from_millis(i64::MAX) }
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
