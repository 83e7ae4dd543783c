//! Which customer is found, created or updated: every row of `docs/interface/customers.md#matching`, with `force`,
//! without it, and with a public key; and which of several concurrent requests succeeds.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{
    CPF, OTHER_CPF, address, ana, buyer, by_public_key, created, everybody, forced, read, refused, text,
    without, without_document,
};
use crate::support::app::{TestApp, stories};
use crate::support::client::As;

stories! {
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
    a_customer_forced_64_times_at_once_is_one,
    identical_creations_at_once_make_one_customer,
    identical_creations_by_public_keys_make_one_customer,
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
    assert_eq!(public.patch(&path, &json!({ "name": "Y" })).await.status, 404);
    assert_eq!(public.delete(&path).await.status, 404);
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

async fn a_customer_forced_64_times_at_once_is_one(app: TestApp) {
    let public = As::public_key(&app, "customers").await;
    let ana = ana();
    let forced = join_all((0..32).map(|_| forced(&app, &ana)));
    let by_public_keys = join_all((0..32).map(|_| public.post("/v1/customers", &ana)));
    let (forced, aliases) = futures_util::join!(forced, by_public_keys);
    assert!(aliases.iter().all(|answer| answer.status == 201));
    let ids: BTreeSet<&str> = forced.iter().map(|body| text(&body["id"])).collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(everybody(&app).await.len(), 1);
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
