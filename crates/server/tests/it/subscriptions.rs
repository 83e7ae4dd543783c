//! Subscriptions as a merchant makes, reads, lists and previews them (`docs/interface/subscriptions.md`).

mod bad_input;
mod card_links;
mod changes;
mod clock;
mod crashes;
pub(crate) mod cycles;
mod erasure;
mod events;
mod random;
mod series;
mod settings;
mod status;

use std::slice::from_ref;

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::read::{announced, text};
use crate::support::records::Records;
use crate::support::splits::{seller, shop};
use crate::support::subscriptions::{
    Parties, SUBSCRIPTIONS, charges_of, complete_item, day, made, path_of, put, read,
};
use crate::support::vendors::with;

stories! {
    a_subscription_is_made_and_read,
    everything_that_is_sent_of_an_item_is_kept,
    the_older_shape_of_a_payment_is_read,
    a_security_code_is_for_the_first_charge_of_what_begins_today,
    a_trial_comes_before_the_first_charge,
    subscriptions_are_listed_and_filtered,
    a_split_is_kept_with_ids_of_its_own,
    a_preview_shows_the_next_twelve_cycles_and_writes_nothing,
    a_client_token_sees_no_reference_that_looks_like_a_card_number,
}

async fn a_subscription_is_made_and_read(app: TestApp) {
    let parties = Parties::of(&app).await;
    let start = day(&app, 40);
    let body = parties.body(&json!({
        "referenceKey": "SUB-PREMIUM-001",
        "items": [{ "name": "Plan", "amount": 29900, "quantity": 1 }, { "name": "Seat", "amount": 500, "quantity": 3 }],
        "recurrence": { "interval": "weekly", "cycles": 3, "startAt": start },
    }));
    let shown = app.post_with_key(SUBSCRIPTIONS, "one", &body).await.expect(201);
    let expected = json!({
        "id": shown["id"], "name": "Premium", "clientId": app.client.id, "merchantId": parties.merchant,
        "customerId": parties.customer, "referenceKey": "SUB-PREMIUM-001", "currency": "BRL", "items": body["items"],
        "recurrence": { "interval": "weekly", "cycles": 3, "startAt": start, "endAt": day(&app, 54),
            "nextDueDate": start },
        "paymentMethod": { "type": "credit", "card": { "cardId": parties.card }, "installments": 1 },
        "splitRules": [], "status": "created", "amount": 31400, "liveMode": false, "lastCycle": null,
        "cancelAtPeriodEnd": false, "scheduledCancellationAt": null, "scheduledCancellationReason": null,
        "createdAt": shown["createdAt"], "updatedAt": shown["createdAt"],
    });
    assert_eq!(shown, expected);
    assert_eq!(read(&app, &shown).await, expected);
    assert_eq!(announced(&app, text(&shown["id"])).await, ["created"]);

    // The same request again makes nothing.
    assert_eq!(app.post_with_key(SUBSCRIPTIONS, "one", &body).await.expect(201), shown);
    assert_eq!(app.get(SUBSCRIPTIONS).await.expect(200)["meta"]["totalItems"], 1);

    // The least: today, endless.
    let least = made(&app, &parties.body(&json!({}))).await;
    let today = day(&app, 0);
    let recurrence = json!({ "interval": "monthly", "cycles": null, "startAt": today, "endAt": null,
        "nextDueDate": today });
    assert_eq!((&least["recurrence"], &least["referenceKey"]), (&recurrence, &Value::Null));
}

async fn everything_that_is_sent_of_an_item_is_kept(app: TestApp) {
    let parties = Parties::of(&app).await;
    let item = complete_item();
    let shown = made(&app, &parties.body(&json!({ "items": [item] }))).await;
    assert_eq!((&shown["items"], &shown["amount"]), (&json!([item]), &json!(200)));
    assert_eq!(read(&app, &shown).await["items"], json!([item]));
    // What is null or unknown is left out.
    let mut more = item.clone();
    more["tickets"]["quantityEventHouse"] = Value::Null;
    more["location"]["gate"] = json!("B");
    let mut kept = item;
    kept["tickets"].as_object_mut().unwrap().shift_remove("quantityEventHouse");
    assert_eq!(made(&app, &parties.body(&json!({ "items": [more] }))).await["items"], json!([kept]));
}

async fn the_older_shape_of_a_payment_is_read(app: TestApp) {
    let parties = Parties::of(&app).await;
    let body = parties.body(&json!({
        "paymentSource": { "sourceType": "card", "cardId": parties.card },
        "paymentMethod": { "paymentType": "credit", "installments": 12 },
    }));
    let paid = json!({ "type": "credit", "card": { "cardId": parties.card }, "installments": 12 });
    let shown = made(&app, &body).await;
    assert_eq!((&shown["paymentMethod"], shown.get("paymentSource")), (&paid, None));
    // A security code is for the first charge, and shown nowhere.
    let code = json!({ "type": "credit", "card": { "cardId": parties.card, "cvv": "560" } });
    let shown = made(&app, &parties.body(&json!({ "paymentMethod": code }))).await;
    assert!(!shown.to_string().contains("cvv"), "{shown}");
}

async fn a_security_code_is_for_the_first_charge_of_what_begins_today(app: TestApp) {
    let parties = Parties::of(&app).await;
    let with_code = |code: &str, more: Value| {
        let card = json!({ "type": "credit", "card": { "cardId": parties.card, "cvv": code } });
        with(&parties.body(&json!({ "paymentMethod": card })), &more)
    };
    // It is sent with the first charge, which the answer waits for: a wrong one is refused, for good in the simulator.
    let wrong = made(&app, &with_code("561", json!({}))).await;
    assert_eq!(wrong["status"], "created");
    let charges = charges_of(&app, &wrong).await;
    assert_eq!((charges.len(), &charges[0]["status"]), (1, &json!("failed")), "no job was run");
    let refusal = &charges[0]["transactionRequests"][0]["providerError"];
    assert_eq!(refusal["declinedCode"], "invalid_cvv", "{refusal:#}");
    let right = app.post_with_key(SUBSCRIPTIONS, "one", &with_code("560", json!({}))).await.expect(201);
    assert_eq!(
        app.post_with_key(SUBSCRIPTIONS, "one", &with_code("560", json!({}))).await.expect(201),
        right
    );
    // Where it begins later it is dropped: with a wrong code nothing would be paid.
    let tomorrow = json!({ "recurrence": { "interval": "monthly", "startAt": day(&app, 1) } });
    let later = made(&app, &with_code("561", tomorrow)).await;
    let trial = made(&app, &with_code("561", json!({ "trial": { "endAt": day(&app, 1) } }))).await;
    app.later(2 * cycles::DAY).await;
    for (subscription, paid, status) in [
        (&wrong, "failed", "unpaid"),
        (&right, "authorized", "active"),
        (&later, "authorized", "active"),
        (&trial, "authorized", "active"),
    ] {
        let charges = charges_of(&app, subscription).await;
        let statuses: Vec<&str> = charges.iter().map(|charge| text(&charge["status"])).collect();
        assert_eq!(
            (statuses.as_slice(), &read(&app, subscription).await["status"]),
            ([paid].as_slice(), &json!(status))
        );
    }
}

async fn a_trial_comes_before_the_first_charge(app: TestApp) {
    let parties = Parties::of(&app).await;
    let end = day(&app, 14);
    let shown = made(&app, &parties.body(&json!({ "trial": { "endAt": end } }))).await;
    assert_eq!((&shown["status"], &shown["trial"]), (&json!("trialing"), &json!({ "endAt": end })));
    assert_eq!(shown["recurrence"]["startAt"], json!(end), "billing begins at its end");
    assert_eq!(announced(&app, text(&shown["id"])).await, ["trial_started"]);
    let listed = app.get(SUBSCRIPTIONS).await.expect(200)["items"][0].clone();
    assert_eq!(listed["trial"], shown["trial"]);
}

async fn subscriptions_are_listed_and_filtered(app: TestApp) {
    let (one, two) = (Parties::of(&app).await, Parties::of(&app).await);
    let start = json!({ "interval": "yearly", "startAt": day(&app, 3) });
    let first = made(&app, &one.body(&json!({ "referenceKey": "A,1", "recurrence": start }))).await;
    let second = made(&app, &two.body(&json!({ "referenceKey": "B", "recurrence": start }))).await;
    let third = made(&app, &one.body(&json!({ "trial": { "endAt": day(&app, 9) } }))).await;

    let page = app.get(SUBSCRIPTIONS).await.expect(200);
    assert_eq!((&page["meta"]["itemsPerPage"], &page["meta"]["totalItems"]), (&json!(15), &json!(3)));
    let listed = json!({
        "id": second["id"], "name": "Premium", "clientId": app.client.id, "merchantId": two.merchant,
        "customerId": two.customer, "referenceKey": "B", "currency": "BRL", "status": "created", "amount": 29900,
        "liveMode": false, "interval": "yearly", "createdAt": second["createdAt"], "updatedAt": second["updatedAt"],
    });
    assert_eq!(page["items"][1], listed);

    let found = async |query: &str| -> Vec<Value> {
        let page = app.get(&format!("{SUBSCRIPTIONS}?{query}")).await.expect(200);
        page["items"].as_array().unwrap().iter().map(|item| item["id"].clone()).collect()
    };
    let [first, second, third] = [&first, &second, &third].map(|one| one["id"].clone());
    assert_eq!(found("limit=1&page=2").await, from_ref(&second));
    assert_eq!(found("status=trialing").await, from_ref(&third));
    assert_eq!(found("status=trialing,created").await, [third.clone(), second.clone(), first.clone()]);
    assert_eq!(found(&format!("customerId={}", one.customer)).await, [third.clone(), first.clone()]);
    assert_eq!(found(&format!("merchantId={}&status=created", one.merchant)).await, from_ref(&first));
    assert_eq!(found("referenceKey=B").await, [second]);
    assert!(found("status=expired").await.is_empty());
    let wrong = app.get(&format!("{SUBSCRIPTIONS}?status=gone&customerId=x&limit=101")).await.details(400);
    let named = [
        "status must be one of the following values: created, active, paused, canceled, unpaid, expired, trialing",
        "customerId must be a UUID",
        "limit must not be greater than 100",
    ];
    assert_eq!(wrong, named);

    // Another account sees none of them.
    let other = app.another_client().await;
    let theirs = app.call(&other, Method::GET, SUBSCRIPTIONS, &[], None).await.expect(200);
    assert_eq!(theirs["meta"]["totalItems"], 0);
}

async fn a_split_is_kept_with_ids_of_its_own(app: TestApp) {
    let (merchant, sellers) = shop(&app).await;
    let parties = Parties { merchant, ..Parties::of(&app).await };
    let rules = json!([{ "sellerId": sellers[0]["id"], "percentage": 30 }]);
    let later = json!({ "interval": "monthly", "startAt": day(&app, 1) });
    let shown = made(&app, &parties.body(&json!({ "splitRules": rules, "recurrence": later }))).await;
    let rule = &shown["splitRules"][0];
    assert_eq!((&rule["sellerId"], &rule["percentage"]), (&sellers[0]["id"], &json!(30)));
    assert_ne!(rule["id"], "00000000-0000-0000-0000-000000000000");
    assert_eq!(read(&app, &shown).await["splitRules"], shown["splitRules"]);
    // Sent back as it was read, nothing has changed.
    assert_eq!(put(&app, &shown, &shown).await.expect(200), shown);

    let stranger = seller(&app, &Parties::of(&app).await.merchant, 3).await;
    let unknown = json!([{ "sellerId": stranger["id"], "amount": 1 }]);
    let reply = app.post(SUBSCRIPTIONS, &parties.body(&json!({ "splitRules": unknown }))).await;
    assert_eq!(reply.details(400).len(), 1);
    let too_much = json!([{ "sellerId": sellers[0]["id"], "amount": 29901 }]);
    let said = app.post(SUBSCRIPTIONS, &parties.body(&json!({ "splitRules": too_much }))).await.details(400);
    assert_eq!(said, ["splitRules must not give the sellers more than 29900 together"]);
}

async fn a_preview_shows_the_next_twelve_cycles_and_writes_nothing(app: TestApp) {
    let parties = Parties::of(&app).await;
    let path = format!("{SUBSCRIPTIONS}/preview");
    let body = parties.body(&json!({ "recurrence": { "interval": "weekly", "startAt": day(&app, 7) } }));
    let shown = app.post(&path, &body).await.expect(200);
    let facts = json!({ "status": "created", "amount": 29900, "currency": "BRL",
        "recurrence": { "interval": "weekly", "cycles": null, "startAt": day(&app, 7), "endAt": null,
            "nextDueDate": day(&app, 7) }, "cycles": shown["cycles"] });
    assert_eq!(shown, facts);
    let cycles = shown["cycles"].as_array().unwrap();
    assert_eq!(cycles.len(), 12);
    for (number, cycle) in (1..).zip(cycles) {
        let due = day(&app, 7 * number);
        assert_eq!(
            *cycle,
            json!({ "cycle": number, "dueDate": due, "billsAt": cycle["billsAt"], "amount": 29900 })
        );
        assert!(text(&cycle["billsAt"]).starts_with(&due), "{cycle}");
    }
    let few = with(&body, &json!({ "recurrence": { "interval": "yearly", "cycles": 2 } }));
    assert_eq!(app.post(&path, &few).await.expect(200)["cycles"].as_array().unwrap().len(), 2);
    let trial = with(&body, &json!({ "trial": { "endAt": day(&app, 30) } }));
    let shown = app.post(&path, &trial).await.expect(200);
    assert_eq!(
        (&shown["status"], &shown["cycles"][0]["dueDate"]),
        (&json!("trialing"), &json!(day(&app, 30)))
    );

    // The rules are those of a creation.
    let past = with(&body, &json!({ "recurrence": { "interval": "weekly", "startAt": day(&app, -1) } }));
    for path in [&*path, SUBSCRIPTIONS] {
        let said = app.post(path, &past).await.details(400);
        assert_eq!(said, ["recurrence.startAt must not be in the past"], "{path}");
    }
    assert_eq!(app.get(SUBSCRIPTIONS).await.expect(200)["meta"]["totalItems"], 0);
    app.run_jobs().await;
    assert_eq!(app.get("/v1/charges").await.expect(200)["meta"]["totalItems"], 0);
}

async fn a_client_token_sees_no_reference_that_looks_like_a_card_number(app: TestApp) {
    let token = app.client_token(json!("*")).await;
    let records = Records { app: &app, client: &app.client };
    let body = with(&records.subscription_body().await, &json!({ "referenceKey": "4916745120294124" }));
    let shown = made(&app, &body).await;
    assert_eq!(shown["referenceKey"], "4916745120294124");
    let path = path_of(&shown);
    let one = app.call(&token, Method::GET, &path, &[], None).await.expect(200);
    let list = app.call(&token, Method::GET, SUBSCRIPTIONS, &[], None).await.expect(200);
    for reference in [&one["referenceKey"], &list["items"][0]["referenceKey"]] {
        assert_eq!(*reference, "[card 491674…4124]");
    }
}
