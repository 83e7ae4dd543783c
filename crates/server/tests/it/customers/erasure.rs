//! A person is erased by the operator: nowhere is anything left of them, and no payment changes.

use std::time::Duration;

use axum::http::Method;
use regente_domain::id::ClientId;
use regente_engine::settings::Settings;
use regente_engine::vault::{Binding, Purpose};
use regente_store::sealed::Sealed;
use regente_store::testing::TestDatabase;
use regente_store::{Sql, args, audit, sql};
use serde_json::{Value, json};

use super::{buyer, created, everybody, text};
use crate::support::app::{START, TestApp, stories};
use crate::support::bodies::payers::nupay_body;
use crate::support::bodies::{APPROVED, Charge, charge_body, token_body};
use crate::support::canary::places::Disk;
use crate::support::charges::single_merchant;
use crate::support::client;
use crate::support::client::As;
use crate::support::crashes::stopped_while;
use crate::support::customers::{ask, erase};
use crate::support::notifications::{message, request_of, send};
use crate::support::payers::set;
use crate::support::server::{Server, run_on};
use crate::support::{purchases, sessions};

stories! {
    payments_stay_as_they_are,
    repeating_finds_nothing_more,
    a_payment_under_way_comes_first,
    an_alias_names_the_person_too,
    a_deleted_customer_can_still_be_erased,
    others_are_left_alone,
    what_others_buy_stays,
    a_notification_under_way_is_erased_when_it_is_settled,
    a_kept_answer_no_longer_shows_the_person,
    a_crash_in_between_is_made_good,
}

const NAME: &str = "Quirina Zambujal";
const EMAIL: &str = "quirina@zambujal.example";
const PHONE: &str = "5547991827364";
const CPF: &str = "39053344705";
const STREET: &str = "Rua do Canario Amarelo";
/// Whatever is searched for; in lower case, as the search compares.
const TRACES: [&str; 5] = ["zambujal", PHONE, CPF, "390.533.447-05", "canario amarelo"];

/// Longer than any job of an erasure waits.
const LATER: Duration = Duration::from_secs(11 * 60);
/// Longer than any test takes.
const HELD_MAX: Duration = Duration::from_secs(120);

sql! {
    SEALED_CUSTOMERS = "SELECT id, private AS sealed, key_id FROM customers
        WHERE client_id = :client_id AND private IS NOT NULL";
    SEALED_ALIASES = "SELECT id, private AS sealed, key_id FROM customer_aliases
        WHERE client_id = :client_id AND private IS NOT NULL";
    SEALED_HOLDERS = "SELECT id, private AS sealed, key_id FROM cards
        WHERE client_id = :client_id AND private IS NOT NULL";
    SEALED_NUMBERS = "SELECT id, pan AS sealed, key_id FROM cards WHERE client_id = :client_id AND pan IS NOT NULL";
    SEALED_CHARGES = "SELECT id, private AS sealed, key_id FROM charges
        WHERE client_id = :client_id AND private IS NOT NULL";
    SEALED_PURCHASES = "SELECT id, private AS sealed, key_id FROM purchases
        WHERE client_id = :client_id AND private IS NOT NULL";
    SEALED_SESSIONS = "SELECT id, private AS sealed, key_id FROM sessions
        WHERE client_id = :client_id AND private IS NOT NULL";
    SEALED_NOTIFICATIONS = "SELECT id, body AS sealed, key_id FROM provider_notifications
        WHERE client_id = :client_id";
    SEALED_ANSWERS = "SELECT digest AS id, body AS sealed, key_id FROM idempotency
        WHERE client_id = :client_id AND body IS NOT NULL";
}

/// Every sealed column that may hold something personal.
const SEALED: [(&str, &Sql, Purpose); 9] = [
    ("customers", &SEALED_CUSTOMERS, Purpose::CustomerData),
    ("aliases", &SEALED_ALIASES, Purpose::CustomerAliasData),
    ("card holders", &SEALED_HOLDERS, Purpose::CardHolder),
    ("card numbers", &SEALED_NUMBERS, Purpose::CardNumber),
    ("charges", &SEALED_CHARGES, Purpose::ChargeData),
    ("purchases", &SEALED_PURCHASES, Purpose::PurchaseData),
    ("sessions", &SEALED_SESSIONS, Purpose::SessionData),
    ("notifications", &SEALED_NOTIFICATIONS, Purpose::ProviderNotification),
    ("kept answers", &SEALED_ANSWERS, Purpose::AnswerBody),
];

fn is_trace(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).to_lowercase();
    TRACES.iter().any(|trace| text.contains(trace))
}

/// Where something of the person is found: in what the vault opens, and in what answers show.
async fn traces(app: &TestApp) -> Vec<&'static str> {
    let client_id = app.client_id();
    let mut found = Vec::new();
    for (place, sql, purpose) in SEALED {
        for row in app.app.store.rows(sql, args! { client_id }).await.unwrap() {
            let id: uuid::Uuid = row.get("id").unwrap();
            let sealed = Sealed { key_id: row.get("key_id").unwrap(), bytes: row.get("sealed").unwrap() };
            let opened = app.app.vault.open(Binding::new(purpose, client_id, id), &sealed).await.unwrap();
            let is_his_card = purpose == Purpose::CardNumber && opened.as_slice() == APPROVED.0.as_bytes();
            if (is_trace(&opened) || is_his_card) && !found.contains(&place) {
                found.push(place);
            }
        }
    }
    for (place, path) in [
        ("the list of customers", "/v1/customers?limit=100"),
        ("the list of cards", "/v1/cards?limit=100"),
        ("the list of charges", "/v1/charges?limit=100"),
        ("the list of sessions", "/v1/sessions?limit=100"),
    ] {
        if is_trace(&app.get(path).await.bytes) {
            found.push(place);
        }
    }
    found
}

fn person() -> Value {
    json!({ "name": NAME, "email": EMAIL, "phoneNumber": PHONE,
        "document": { "type": "CPF", "number": "390.533.447-05", "country": "BR" },
        "address": { "country": "BR", "state": "SC", "city": "Joinville", "district": "Centro",
            "zipCode": "89201000", "street": STREET, "streetNumber": "7" },
        "deliveryAddress": { "street": STREET } })
}

/// The person and what was paid.
struct Story {
    customer: String,
    charges: Vec<String>,
    purchase: String,
}

/// A card of the person's.
async fn card(app: &TestApp, key: &str) -> String {
    let mut body = token_body(APPROVED);
    body["cardHolderName"] = json!(NAME.to_uppercase());
    let token = app.post("/v1/tokens", &body).await.expect(201);
    let card = app.post_with_key("/v1/cards", key, &json!({ "tokenId": token["tokenId"] })).await.expect(201);
    text(&card["id"]).to_owned()
}

/// Somebody who has paid in every way that leaves something of them.
async fn lived(app: &TestApp) -> Story {
    let merchant = app.merchant().await;
    let customer = app.post_with_key("/v1/customers", "made", &person()).await.expect(201);
    let customer = text(&customer["id"]).to_owned();
    let public = As::public_key(app, "customers").await;
    public.post("/v1/customers", &person()).await.expect(201);
    let linked = card(app, "card").await;
    app.post(&format!("/v1/customers/{customer}/cards"), &json!({ "cardId": linked })).await.expect(204);
    let mut charges = Vec::new();
    let mut charge = async |change: &dyn Fn(&mut Value)| {
        let mut body = charge_body(&merchant, APPROVED);
        body["paymentSource"]["card"]["cardHolderName"] = json!(NAME);
        change(&mut body);
        let charge = app.post("/v1/charges", &body).await.expect(201);
        assert_eq!(charge["status"], "authorized");
        let id = text(&charge["id"]).to_owned();
        charges.push(id.clone());
        id
    };
    charge(&|body| {
        body["paymentSource"] = json!({ "sourceType": "card", "cardId": linked });
        body["customerId"] = json!(customer);
        body["description"] = json!(format!("A gift of {NAME}"));
        body["paymentFlow"] = json!({ "metadata": { "buyer": EMAIL } });
        body["fraudAnalysis"] = json!({ "customer": { "name": NAME, "phone": PHONE } });
    })
    .await;
    let refunded = charge(&|body| {
        body["customerId"] = json!(customer);
        body["appInfo"] = json!({ "platform": { "user": EMAIL } });
        body["paymentMethod"] = json!({ "paymentType": "voucher", "items": [{ "for": NAME }],
            "customer": { "name": NAME, "document": CPF } });
    })
    .await;
    app.post(&format!("/v1/charges/{refunded}/void"), &json!({ "amount": 50 })).await.expect(201);
    charge(&|body| body["fraudAnalysis"] = json!({ "customer": { "email": EMAIL.to_uppercase() } })).await;
    let mut body = purchases::body(app, &merchant, &[APPROVED, APPROVED], true).await;
    body["customerId"] = json!(customer);
    body["description"] = json!(format!("Order of {NAME}"));
    body["metadata"] = json!({ "greeting": NAME });
    body["fraudAnalysis"] = json!({ "customer": { "document": CPF } });
    let purchase = app.post_with_key("/v1/purchases", "purchase", &body).await.expect(202);
    app.later(Duration::from_secs(1)).await;
    let purchase = text(&purchase["id"]).to_owned();
    assert_eq!(purchases::read(app, &purchase).await["status"], "paid");
    Story { customer, charges, purchase }
}

/// An order of the person's with their name in every text; one that others may pay, and they have; and one that they get a part of.
struct Sold {
    order: Value,
    link: Value,
    shared: Value,
    /// A NuPay of somebody else, of which they get a part.
    of_another: Value,
}

/// What a merchant sells to the person by sessions, and to others. The deployment is reachable.
async fn sold(app: &TestApp) -> Sold {
    let merchant = single_merchant(app).await;
    let hook =
        json!({ "event": "*", "endpoint": "https://shop.example/hooks", "version": "1.1", "status": true });
    app.post("/v1/webhooks", &hook).await.expect(201);
    let mut body = sessions::session_body(&merchant);
    body["name"] = json!(format!("Order of {NAME}"));
    body["description"] = json!(format!("For {EMAIL}"));
    body["items"][0]["name"] = json!(format!("A shoe for {NAME}"));
    body["paymentMethods"][1] = json!({ "paymentType": "boleto", "instructions": format!("{NAME} pays") });
    let order = app.post_with_key("/v1/sessions", "order", &body).await.expect(200);
    body["maxPayments"] = json!(-1);
    body["items"][0]["description"] = json!("Blue");
    body["description"] = json!("Shoes");
    let link = sessions::create(app, &body).await;
    let pays = json!({ "sourceType": "customer", "customer": person() });
    for session in [&order, &link] {
        let body = json!({ "paymentMethod": { "paymentType": "boleto" }, "paymentSource": pays });
        let charge = sessions::pay(app, session, &body).await.expect(201);
        set(app, &charge, "authorized").await.expect(200);
        let asked = request_of(app, text(&charge["id"])).await;
        let paid = json!({ "paid": [{ "reference": { "transactionId": "E7" }, "amount": 150 }] });
        let mut told = message(&asked, text(&charge["id"]), "payment.outcome", &paid);
        told["holder"] = json!(NAME);
        assert_eq!(send(app, &asked, &told, "any-api-key-1234").await, 200);
    }
    app.run_jobs().await;
    let recipients = json!([
        { "referenceId": "1", "name": NAME, "document": CPF, "amount": 1 },
        { "referenceId": "2", "name": "Ana", "document": "97055503019", "amount": 2 },
    ]);
    let mut shared = sessions::session_body(&merchant);
    shared["paymentMethods"] = json!([{ "paymentType": "nupay", "recipients": recipients }]);
    let shared = sessions::create(app, &shared).await;
    let mut body = nupay_body(&merchant);
    body["paymentMethod"]["recipients"] = recipients;
    let of_another = app.post("/v1/charges", &body).await.expect(201);
    Sold { order, link, shared, of_another }
}

#[tokio::test]
async fn nothing_of_the_person_is_left_on_sqlite() {
    nothing_of_the_person_is_left(TestDatabase::fresh_sqlite()).await;
}

#[tokio::test]
async fn nothing_of_the_person_is_left_on_postgres() {
    nothing_of_the_person_is_left(TestDatabase::fresh_postgres().await).await;
}

async fn nothing_of_the_person_is_left(database: TestDatabase) {
    let disk = Disk::of(&database);
    let app = TestApp::on(database, Settings::default()).await.reachable().await;
    let story = lived(&app).await;
    sold(&app).await;
    // What is searched is full of them before.
    let before = traces(&app).await;
    for (place, ..) in SEALED {
        assert!(before.contains(&place), "{place} is not in {before:?}");
    }
    assert!(
        before.contains(&"the list of customers") && before.contains(&"the list of charges"),
        "{before:?}"
    );
    assert!(is_trace(&disk.values()));
    let erased = erase(&app, &story.customer).await;
    assert_eq!(traces(&app).await, [""; 0]);
    assert!(!is_trace(&disk.values()), "in a value of a table");
    if let Disk::Sqlite(_) = &disk {
        for (path, bytes) in disk.files() {
            assert!(!is_trace(&bytes), "in {}", path.display());
        }
    }
    // Two of the charges pay sessions, and one is another's.
    assert_eq!((erased.cards, erased.charges, erased.purchases), (1, 8, 1));
    assert_eq!((erased.sessions, erased.notifications), (3, 2));
    assert!(erased.answers >= 3, "customer, card, purchase: {}", erased.answers);
    assert!(erased.charges_left.is_empty() && erased.purchases_left.is_empty());
    let beyond = erased.beyond_reach.join("\n");
    for named in ["Backups", "webhooks", "payment providers", "Tokens"] {
        assert!(beyond.contains(named), "{beyond}");
    }
    let trail = audit::of_object(&app.app.store, app.client_id(), story.customer.parse().unwrap(), 10);
    let trail = trail.await.unwrap();
    assert_eq!((trail[0].action.as_str(), trail[0].actor.as_str()), ("customer.erased", "operator"));
    app.later(LATER).await;
    assert_eq!(traces(&app).await, [""; 0]);
}

async fn what_others_buy_stays(app: TestApp) {
    let app = app.reachable().await;
    let story = lived(&app).await;
    let Sold { order, link, shared, of_another } = sold(&app).await;
    erase(&app, &story.customer).await;

    let after = sessions::read(&app, &order).await;
    assert_eq!(
        (&after["name"], &after["description"], &after["items"][0]["name"]),
        (&json!(null), &json!(null), &json!(""))
    );
    assert_eq!(after["paymentMethods"][1], json!({ "paymentType": "boleto" }));
    for name in ["id", "amount", "orderId", "merchantId", "createdAt"] {
        assert_eq!(after[name], order[name], "{name}");
    }
    assert_eq!((&after["status"], &after["items"][0]["unitPrice"]), (&json!("paid"), &json!(75)));
    let again = app.post_with_key("/v1/sessions", "order", &json!({})).await;
    assert_ne!(again.status, 200, "another body");

    let after = sessions::read(&app, &link).await;
    assert_eq!(
        (&after["name"], &after["items"][0]["name"]),
        (&json!(null), &json!("")),
        "they have his name"
    );
    assert_eq!((&after["description"], &after["items"][0]["description"]), (&json!("Shoes"), &json!("Blue")));
    let by_bob = sessions::pay(&app, &link, &sessions::by_card(APPROVED)).await.expect(201);
    assert_eq!(by_bob["status"], "authorized", "others pay on");

    let others = json!([{ "referenceId": "2", "name": "Ana", "document": "97055503019", "amount": 2 }]);
    let after = sessions::read(&app, &shared).await;
    assert_eq!(after["paymentMethods"][0]["recipients"], others);
    assert_eq!(after["name"], shared["name"]);
    let after = app.get(&format!("/v1/charges/{}", text(&of_another["id"]))).await.expect(200);
    assert_eq!(after["paymentMethod"]["recipients"], others);
    let mut before = of_another.clone();
    before["paymentMethod"]["recipients"] = others;
    assert_eq!(after, before, "nothing else of it");
    set(&app, &after, "authorized").await.expect(200);
}

async fn a_notification_under_way_is_erased_when_it_is_settled(app: TestApp) {
    let app = app.reachable().await;
    let merchant = single_merchant(&app).await;
    let customer = text(&created(&app, person()).await["id"]).to_owned();
    let body = Charge::by_card(&merchant, APPROVED).with("customerId", json!(customer)).body();
    let charge = app.post("/v1/charges", &body).await.expect(201);
    let asked = request_of(&app, text(&charge["id"])).await;
    // A dispute is won that nobody has heard of.
    let mut told = message(&asked, "early", "dispute.won", &json!({ "id": "c-1", "amount": 150 }));
    told["holder"] = json!(NAME);
    assert_eq!(send(&app, &asked, &told, "any-api-key-1234").await, 200);
    app.run_jobs().await;
    let erased = erase(&app, &customer).await;
    assert_eq!((erased.notifications, erased.notifications_left), (0, 1));
    assert_eq!(traces(&app).await, ["notifications"], "he himself is gone");
    let opened = message(&asked, "first", "dispute.opened", &json!({ "id": "c-1", "amount": 150 }));
    assert_eq!(send(&app, &asked, &opened, "any-api-key-1234").await, 200);
    app.later(Duration::from_secs(3 * 60 * 60)).await;
    assert_eq!(traces(&app).await, [""; 0]);
}

/// A charge without what callers may write into it.
async fn money(app: &TestApp, id: &str) -> Value {
    let mut charge = app.get(&format!("/v1/charges/{id}")).await.expect(200);
    for name in ["description", "paymentFlow", "appInfo", "fraudAnalysisMetadata"] {
        charge.as_object_mut().unwrap().remove(name);
    }
    if let Some(method) = charge["paymentMethod"].as_object_mut() {
        method.remove("items");
        method.remove("customer");
    }
    charge
}

async fn payments_stay_as_they_are(app: TestApp) {
    let story = lived(&app).await;
    let mut before = Vec::new();
    for id in &story.charges {
        before.push(money(&app, id).await);
    }
    let purchase = purchases::read(&app, &story.purchase).await;
    let total = app.get("/v1/charges").await.json()["meta"]["totalItems"].clone();
    erase(&app, &story.customer).await;
    for (id, before) in story.charges.iter().zip(&before) {
        assert_eq!(&money(&app, id).await, before);
    }
    let after = purchases::read(&app, &story.purchase).await;
    for name in
        ["id", "status", "amount", "originalAmount", "customerId", "payments", "createdAt", "updatedAt"]
    {
        assert_eq!(after[name], purchase[name], "{name}");
    }
    assert_eq!(app.get("/v1/charges").await.json()["meta"]["totalItems"], total);
    let refund = app.post(&format!("/v1/charges/{}/void", story.charges[0]), &json!({})).await;
    assert_eq!(refund.expect(201)["status"], "voided", "money can still be given back");
}

async fn repeating_finds_nothing_more(app: TestApp) {
    let story = lived(&app).await;
    erase(&app, &story.customer).await;
    let versions = app.get("/v1/charges").await.json();
    let again = erase(&app, &story.customer).await;
    assert_eq!((again.charges, again.purchases, again.answers), (0, 0, 0));
    assert_eq!(app.get("/v1/charges").await.json(), versions);
    let nobody = "0f0f0f0f-1111-7222-8333-444444444444";
    let refused = ask(&app, app.client_id(), nobody).await.unwrap_err();
    assert!(refused.contains(nobody), "{refused}");
    let stranger = As::another_client(&app).await;
    let other: ClientId = stranger.client.id.parse().unwrap();
    assert!(ask(&app, other, &story.customer).await.is_err(), "of another account");
}

async fn a_payment_under_way_comes_first(app: TestApp) {
    // The provider is held; on a busy machine its time limit would pass meanwhile.
    let app = app.with_sandbox_deadline(HELD_MAX).await;
    let merchant = app.merchant().await;
    let customer = text(&created(&app, person()).await["id"]).to_owned();
    let mut body = purchases::body(&app, &merchant, &[APPROVED, APPROVED], true).await;
    body["customerId"] = json!(customer);
    let purchase = purchases::send(&app, "/v1/purchases", &body).await.expect(202);
    let refused = ask(&app, app.client_id(), &customer).await.unwrap_err();
    assert!(refused.contains(text(&purchase["id"])), "{refused}");
    assert_eq!(everybody(&app).await.len(), 1, "nothing was changed");
    app.later(Duration::from_secs(1)).await;
    erase(&app, &customer).await;
    // A charge whose provider does not answer.
    app.wire.hold();
    let customer = text(&created(&app, person()).await["id"]).to_owned();
    let body = Charge::by_card(&merchant, APPROVED).with("customerId", json!(customer)).body();
    let pending = app.begin(client::request(&app.client, Method::POST, "/v1/charges", &[], Some(&body)));
    let charge = loop {
        let listed = app.get("/v1/charges?status=pending").await.json();
        if let Some(charge) = listed["items"].get(0) {
            break charge.clone();
        }
        tokio::task::yield_now().await;
    };
    let refused = ask(&app, app.client_id(), &customer).await.unwrap_err();
    assert!(refused.contains(&format!("charge {} is under way", text(&charge["id"]))), "{refused}");
    app.wire.let_go();
    pending.await.unwrap().expect(201);
    app.later(Duration::from_secs(60 * 60)).await;
    erase(&app, &customer).await;
    assert_eq!(traces(&app).await, [""; 0]);
}

async fn an_alias_names_the_person_too(app: TestApp) {
    let customer = text(&created(&app, person()).await["id"]).to_owned();
    let public = As::public_key(&app, "customers").await;
    let alias = public.post("/v1/customers", &person()).await.expect(201);
    let erased = erase(&app, text(&alias["id"])).await;
    assert_eq!(erased.customer_id.to_string(), customer);
    assert_eq!(app.get(&format!("/v1/customers/{customer}")).await.status, 404);
    assert_ne!(text(&created(&app, person()).await["id"]), customer, "his e-mail address is free again");
}

async fn a_deleted_customer_can_still_be_erased(app: TestApp) {
    let story = lived(&app).await;
    app.delete(&format!("/v1/customers/{}", story.customer)).await.expect(200);
    let erased = erase(&app, &story.customer).await;
    assert_eq!((erased.cards, erased.charges, erased.purchases), (1, 4, 1), "all but what had no buyer");
    let left = traces(&app).await;
    assert!(left.contains(&"charges"), "nothing says whose it is: {left:?}");
    for place in ["customers", "aliases", "purchases", "kept answers", "the list of customers"] {
        assert!(!left.contains(&place), "{place}");
    }
}

async fn others_are_left_alone(app: TestApp) {
    let story = lived(&app).await;
    let merchant = app.merchant().await;
    let other = created(&app, buyer("Bob", "bob@example.com", "72912053013")).await;
    let bobs = app.card(("5214254988499590", "220")).await;
    app.post(&format!("/v1/customers/{}/cards", text(&other["id"])), &json!({ "cardId": bobs }))
        .await
        .expect(204);
    let body = Charge::by_source(&merchant, json!({ "sourceType": "card", "cardId": bobs }))
        .with("customerId", other["id"].clone())
        .with("description", "Order of Bob")
        .body();
    let charge = app.post_with_key("/v1/charges", "of bob", &body).await.expect(201);
    erase(&app, &story.customer).await;
    assert_eq!(app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200), charge);
    assert_eq!(app.post_with_key("/v1/charges", "of bob", &body).await.expect(201), charge, "its key");
    assert_eq!(everybody(&app).await, std::slice::from_ref(&other));
    let cards = app.get(&format!("/v1/customers/{}/cards", text(&other["id"]))).await.expect(200);
    assert_eq!(cards[0]["id"], bobs);
    app.post("/v1/charges", &body).await.expect(201);
}

async fn a_kept_answer_no_longer_shows_the_person(app: TestApp) {
    let story = lived(&app).await;
    erase(&app, &story.customer).await;
    let customer = app.post_with_key("/v1/customers", "made", &person()).await;
    assert_eq!(customer.status, 404, "the key is used: he is not made anew by a repetition");
    assert!(!is_trace(&customer.bytes));
    assert!(everybody(&app).await.is_empty());
}

async fn a_crash_in_between_is_made_good(mut app: TestApp) {
    let mut steps = 0;
    loop {
        let customer = text(&created(&app, person()).await["id"]).to_owned();
        let merchant = app.merchant().await;
        let linked = card(&app, &format!("card {steps}")).await;
        app.post(&format!("/v1/customers/{customer}/cards"), &json!({ "cardId": linked })).await.expect(204);
        let body = Charge::by_source(&merchant, json!({ "sourceType": "card", "cardId": linked }))
            .with("customerId", json!(customer))
            .with("description", json!(NAME))
            .body();
        app.post("/v1/charges", &body).await.expect(201);
        let has_ended;
        (app, has_ended) = stopped_while(app, steps, async |app| {
            let _ = ask(app, app.client_id(), &customer).await;
        })
        .await;
        let is_begun = app.get(&format!("/v1/customers/{customer}")).await.status == 404;
        if !is_begun {
            // The crash came before the first batch: the operator asks again.
            erase(&app, &customer).await;
        }
        app.later(LATER).await;
        assert_eq!(traces(&app).await, [""; 0], "after a crash at step {steps}");
        if has_ended {
            break;
        }
        steps += 1;
        assert!(steps < 60, "it does not end");
    }
    assert!(steps > 3, "{steps} steps: hidden, charge, answers, the rest");
    assert!(app.clock.deployment() > regente_domain::time::Timestamp::parse(START).unwrap());
}

#[tokio::test]
async fn the_command_reaches_a_running_server_and_works_without_one() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let client = server.value("REGENTE_CLIENT_ID").to_owned();
    let make = async |number: &str| {
        let body = buyer(NAME, &format!("{number}@zambujal.example"), number);
        let customer: Value = server.post("/v1/customers", &body).send().await.unwrap().json().await.unwrap();
        text(&customer["id"]).to_owned()
    };
    let (first, second) = (make("97055503019").await, make("72912053013").await);
    let ran = run_on(folder.path(), &["customers", "erase", &client, &first]).await;
    assert!(ran.text().starts_with(&format!("Customer {first} is erased")), "{}", ran.text());
    assert!(ran.text().contains("* Backups made before"), "{}", ran.text());
    let gone = server.get(&format!("/v1/customers/{first}")).send().await.unwrap();
    assert_eq!(gone.status().as_u16(), 404);
    server.stop().await;
    let erased = run_on(folder.path(), &["customers", "erase", &client, &second, "--json"]).await.json();
    assert_eq!(erased["customer_id"], second);
    let nobody = run_on(folder.path(), &["customers", "erase", &client, &client]).await;
    assert!(nobody.complaint().contains(&format!("has no customer {client}")), "{}", nobody.stderr);
}
