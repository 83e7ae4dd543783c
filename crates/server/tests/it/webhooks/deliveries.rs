//! Deliveries: from the change of a charge to the merchant's server, with retries.

use std::time::Duration;

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regente_engine::settings::WebhookSettings;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::charges::any_charge;
use crate::support::receiver::{Got, Receiver, Say};
use crate::support::records::put;
use crate::support::time::MINUTE;
use crate::support::webhooks::webhook;

stories! {
    a_charge_is_announced_once_to_each_webhook_that_asks_for_it,
    what_is_sent_can_be_verified_both_ways,
    a_snapshot_shows_the_charge_as_it_was_then,
    a_delivery_is_tried_by_the_schedule_and_then_lost,
    only_200_and_201_are_success,
    the_status_counts_whatever_becomes_of_the_body,
    no_card_number_is_kept_of_an_answer,
    later_events_of_a_charge_wait_for_one_retry,
    a_hanging_endpoint_delays_nobody_else,
    an_endpoint_that_has_answered_gets_several_at_once,
    an_event_of_a_clock_behind_is_announced,
    a_webhook_that_is_off_or_gone_gets_nothing,
    a_process_that_dies_in_the_middle_loses_nothing,
    two_nodes_deliver_each_event_once,
    a_webhook_says_what_a_partial_refund_sends,
    a_ping_arrives_whatever_is_asked_for,
    too_many_losses_switch_a_webhook_off_where_that_is_wanted,
}

pub async fn deliveries(app: &TestApp, webhook: &str) -> Vec<Value> {
    let list = app.get(&format!("/v1/webhooks/{webhook}/deliveries?limit=100")).await.expect(200);
    list["items"].as_array().unwrap().clone()
}

async fn a_charge_is_announced_once_to_each_webhook_that_asks_for_it(app: TestApp) {
    let receiver = Receiver::start().await;
    any_charge(&app).await;
    let all = webhook(&app, &receiver, "*", "/all").await;
    webhook(&app, &receiver, "transaction.authorized", "/authorized").await;
    webhook(&app, &receiver, "transaction.failed", "/failed").await;
    webhook(&app, &receiver, "purchase.paid", "/purchases").await;
    let stranger = app.another_client().await;
    let theirs = json!({ "event": "*", "endpoint": receiver.url("/theirs") });
    app.call(&stranger, axum::http::Method::POST, "/v1/webhooks", &[], Some(&theirs)).await.expect(201);
    let charged = any_charge(&app).await;
    app.run_jobs().await;

    let mut got: Vec<(String, String)> =
        receiver.received().iter().map(|got| (got.path.clone(), got.event())).collect();
    got.sort();
    let expected = [
        ("/all", "transaction.authorized"),
        ("/all", "transaction.pending"),
        ("/authorized", "transaction.authorized"),
    ];
    assert_eq!(got, expected.map(|(path, event)| (path.to_owned(), event.to_owned())));
    let to_all: Vec<Got> = receiver.received().into_iter().filter(|got| got.path == "/all").collect();
    assert_eq!(to_all[0].event(), "transaction.pending", "in the order in which it happened");
    assert!(to_all.iter().all(|got| got.json()["data"]["id"] == charged["id"]), "nothing from before");

    let listed = deliveries(&app, &all).await;
    assert_eq!(listed.len(), 2);
    for delivery in &listed {
        assert_eq!((&delivery["status"], &delivery["nextAttemptAt"]), (&json!("delivered"), &json!(null)));
        let attempt = &delivery["attempts"][0];
        assert_eq!((&attempt["httpStatus"], &attempt["answer"]), (&json!(200), &json!("thanks")));
        assert_eq!(delivery["objectId"], charged["id"]);
    }
    app.run_jobs().await;
    app.later(24 * 60 * MINUTE).await;
    assert_eq!(receiver.received().len(), 3, "once");
}

pub(super) fn public_key(pem: &Value) -> Vec<u8> {
    let line = pem.as_str().unwrap().lines().nth(1).unwrap();
    STANDARD.decode(line).unwrap()[12..].to_vec()
}

async fn what_is_sent_can_be_verified_both_ways(app: TestApp) {
    let receiver = Receiver::start().await;
    receiver.say(&[Say::Status(500)]);
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    let made = app.get(&format!("/v1/webhooks/{id}")).await.expect(200);
    let key = public_key(&made["publicKey"]);
    any_charge(&app).await;
    app.run_jobs().await;
    app.later(6 * MINUTE).await;
    let got = receiver.received();
    assert_eq!(got.len(), 2);
    for got in &got {
        let verify = |message: &[u8], signature: &[u8]| {
            UnparsedPublicKey::new(&ED25519, &key).verify(message, signature).is_ok()
        };
        let (date, body) = (got.header("x-plug-date").unwrap(), got.body.as_slice());
        let signature = hex::decode(got.header("x-plug-signature").unwrap()).unwrap();
        assert!(verify(&[date.as_bytes(), b"\n", body].concat(), &signature));
        assert!(!verify(&[date.as_bytes(), b"\n", body, b" "].concat(), &signature), "another body");
        assert!(!verify(&[b"1", date.as_bytes(), b"\n", body].concat(), &signature), "another date");
        let standard = got.header("webhook-signature").unwrap().strip_prefix("v1a,").unwrap();
        let head =
            format!("{}.{}.", got.header("webhook-id").unwrap(), got.header("webhook-timestamp").unwrap());
        assert!(verify(&[head.as_bytes(), body].concat(), &STANDARD.decode(standard).unwrap()));
        let event = got.json();
        assert_eq!(got.header("x-idempotency-key"), event["id"].as_str());
        assert_eq!(got.header("webhook-id"), event["id"].as_str());
        assert_eq!(got.header("content-type"), Some("application/json"));
        assert_eq!(got.header("accept"), Some("application/json, text/plain, */*"));
        assert!(got.header("user-agent").unwrap().starts_with("Regente/"));
    }
    assert_eq!(got[0].body, got[1].body, "the same bytes in all attempts");
    let date = |got: &Got| got.header("x-plug-date").unwrap().parse::<i64>().unwrap();
    assert!(date(&got[1]) - date(&got[0]) >= 270_000, "a new date for each");
    assert_ne!(got[0].header("x-plug-signature"), got[1].header("x-plug-signature"));

    let former =
        json!({ "event": "transaction.pending", "endpoint": receiver.url("/former"), "version": "1.0" });
    app.post("/v1/webhooks", &former).await.expect(201);
    any_charge(&app).await;
    app.run_jobs().await;
    let got = receiver.received().into_iter().find(|got| got.path == "/former").unwrap();
    assert_eq!(got.json()["apiVersion"], "1.0");
    for name in ["x-plug-date", "x-plug-signature", "webhook-signature"] {
        assert_eq!(got.header(name), None, "the former version is not signed");
    }
}

async fn a_snapshot_shows_the_charge_as_it_was_then(app: TestApp) {
    let receiver = Receiver::start().await;
    webhook(&app, &receiver, "*", "/").await;
    let merchant = app.fallback_merchant().await;
    let body = put(put(charge_body(&merchant, APPROVED), "orderId", "order-7"), "amount", 1500);
    let charged = app.post("/v1/charges", &body).await.expect(201);
    let path = format!("/v1/charges/{}/void", charged["id"].as_str().unwrap());
    app.clock.advance(MINUTE);
    let voided = app.post(&path, &json!({})).await.expect(201);
    app.run_jobs().await;
    let got: Vec<Value> = receiver.received().iter().map(Got::json).collect();
    let events: Vec<&str> = got.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["pending", "authorized", "voided"]);

    let (pending, authorized) = (&got[0]["data"], &got[1]["data"]);
    assert_eq!((&pending["status"], &pending["isProcessing"]), (&json!("pending"), &json!(true)));
    assert_eq!((&pending["amount"], &pending["updatedAt"]), (&json!(1500), &pending["createdAt"]));
    let requests = pending["transactionRequests"].as_array().unwrap();
    assert_eq!(requests.len(), 1, "as it was before the second provider was asked");
    assert_eq!(requests[0]["requestStatus"], "running");

    assert_eq!((&authorized["status"], &authorized["isProcessing"]), (&json!("authorized"), &json!(false)));
    for member in [
        "id",
        "clientId",
        "merchantId",
        "amount",
        "originalAmount",
        "currency",
        "orderId",
        "createdAt",
        "updatedAt",
        "capture",
        "statementDescriptor",
    ] {
        assert_eq!(authorized[member], charged[member], "{member}");
    }
    let requests = authorized["transactionRequests"].as_array().unwrap();
    let statuses: Vec<&str> =
        requests.iter().map(|request| request["requestStatus"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["success", "failed"], "newest first, as in answers");
    for (sent, answered) in requests.iter().zip(charged["transactionRequests"].as_array().unwrap()) {
        for (name, value) in answered.as_object().unwrap() {
            assert_eq!(&sent[name], value, "{name}");
        }
        for unused in ["pix", "boleto", "fraudAnalysis"] {
            assert_eq!(sent.get(unused), Some(&json!(null)), "{unused}");
        }
    }
    assert_eq!(got[2]["data"]["status"], voided["status"]);
    for event in &got {
        assert_eq!(event["object"], "transaction");
        assert_eq!(event["apiVersion"], "1.1");
        assert!(event["data"].get("paymentSource").is_none());
    }
}

async fn a_delivery_is_tried_by_the_schedule_and_then_lost(app: TestApp) {
    let receiver = Receiver::start().await;
    receiver.always(Say::Status(503));
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    any_charge(&app).await;
    app.run_jobs().await;
    app.later(Duration::from_secs(10 * 24 * 60 * 60)).await;
    let delivery = deliveries(&app, &id).await.remove(0);
    assert_eq!((&delivery["status"], &delivery["nextAttemptAt"]), (&json!("lost"), &json!(null)));
    let attempts = delivery["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 7);
    let at = |attempt: &Value| {
        regente_domain::time::Timestamp::parse(attempt["createdAt"].as_str().unwrap()).unwrap()
    };
    let waits = WebhookSettings::default().waits;
    for (pair, wait) in attempts.windows(2).zip(&waits) {
        let waited = at(&pair[1]).since(at(&pair[0]));
        assert!(
            *wait * 9 / 10 <= waited && waited <= *wait * 11 / 10 + Duration::from_secs(1),
            "{waited:?} {wait:?}"
        );
    }
    assert!(attempts.iter().all(|attempt| attempt["failure"] == "unexpected_status"));
    assert_eq!(
        app.get(&format!("/v1/webhooks/{id}")).await.expect(200)["status"],
        true,
        "switched off by nobody"
    );
}

async fn only_200_and_201_are_success(app: TestApp) {
    let receiver = Receiver::start().await;
    let elsewhere = Receiver::start().await;
    let location: &'static str = elsewhere.url("/").leak();
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    for (say, status, succeeds) in [
        (Say::Status(200), 200, true),
        (Say::Status(201), 201, true),
        (Say::Status(202), 202, false),
        (Say::Status(204), 204, false),
        (Say::With(302, "location", location), 302, false),
        (Say::With(307, "location", location), 307, false),
        (Say::Status(404), 404, false),
        (Say::Status(500), 500, false),
    ] {
        receiver.say(&[say]);
        any_charge(&app).await;
        app.run_jobs().await;
        let delivery = deliveries(&app, &id).await.remove(0);
        assert_eq!(delivery["status"], if succeeds { "delivered" } else { "pending" }, "{status}");
        assert_eq!(delivery["attempts"][0]["httpStatus"], status);
    }
    assert!(elsewhere.received().is_empty(), "no redirect is followed");
}

async fn the_status_counts_whatever_becomes_of_the_body(app: TestApp) {
    let quickly = Duration::from_millis(1_500);
    let app = app.with_settings(|settings| settings.webhooks.first_answer_max = quickly).await;
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    for (status, becomes) in [(200, "delivered"), (500, "pending")] {
        receiver.say(&[Say::Half(status, "and then")]);
        any_charge(&app).await;
        app.run_jobs().await;
        let delivery = deliveries(&app, &id).await.remove(0);
        assert_eq!(delivery["status"], becomes);
        let attempt = &delivery["attempts"][0];
        assert_eq!((&attempt["httpStatus"], &attempt["answer"]), (&json!(status), &json!("and then")));
        let took = attempt["durationMs"].as_u64().map(Duration::from_millis);
        assert!(took >= Some(quickly), "{attempt}");
    }
    assert_eq!(receiver.received().len(), 2, "what was taken is not sent again");
}

async fn no_card_number_is_kept_of_an_answer(app: TestApp) {
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    let (number, cut) = (APPROVED.0, "[card 491674…4124]");
    let padded = |before: usize| format!("{}{number} and more", "x".repeat(before));
    for (words, kept) in [
        (format!("{{\"pan\":\"{number}\"}}"), format!("{{\"pan\":\"{cut}\"}}")),
        ("4916 7451 2029 4124!".to_owned(), format!("{cut}!")),
        (padded(1000), format!("{}{cut} and", "x".repeat(1000))),
        // Cut in the middle it would not look like a card number, yet show too much of one.
        (padded(1010), format!("{}[card 491674", "x".repeat(1010))),
        ("ç".repeat(1000), "ç".repeat(512)),
    ] {
        receiver.say(&[Say::Words(200, words)]);
        any_charge(&app).await;
        app.run_jobs().await;
        let answer = deliveries(&app, &id).await.remove(0)["attempts"][0]["answer"].clone();
        let answer = answer.as_str().unwrap();
        assert!(answer.starts_with(kept.trim_end_matches(" and")), "{answer}");
        assert!(answer.len() <= 1024 && !answer.contains(&number[..10]), "{answer}");
    }
}

async fn later_events_of_a_charge_wait_for_one_retry(app: TestApp) {
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "*", "/").await;
    receiver.say(&[Say::Status(500)]);
    any_charge(&app).await;
    app.run_jobs().await;
    assert_eq!(receiver.events(), ["transaction.pending"], "the second waits for the first");
    let waiting = deliveries(&app, &id).await;
    assert_eq!(waiting[0]["nextAttemptAt"], waiting[1]["nextAttemptAt"], "nobody looks at it meanwhile");
    any_charge(&app).await;
    app.run_jobs().await;
    assert_eq!(receiver.received().len(), 3, "another charge waits for nobody");
    app.later(6 * MINUTE).await;
    assert_eq!(receiver.events()[3..], ["transaction.pending", "transaction.authorized"]);

    // An endpoint that fails twice no longer delays others.
    receiver.say(&[Say::Status(500), Say::Status(500)]);
    any_charge(&app).await;
    app.run_jobs().await;
    app.later(6 * MINUTE).await;
    assert_eq!(
        receiver.events()[5..],
        ["transaction.pending", "transaction.pending", "transaction.authorized"]
    );
}

async fn a_hanging_endpoint_delays_nobody_else(app: TestApp) {
    let app = app
        .with_settings(|settings| {
            settings.webhooks.first_answer_max = Duration::from_secs(20);
            settings.webhooks.concurrent_per_endpoint_max = 2;
        })
        .await;
    let (hanging, quick) = (Receiver::start().await, Receiver::start().await);
    hanging.always(Say::Nothing);
    webhook(&app, &hanging, "transaction.authorized", "/").await;
    webhook(&app, &quick, "transaction.authorized", "/").await;
    let running = start_delivery_worker(&app);
    for _ in 0..8 {
        any_charge(&app).await;
    }
    until(|| quick.received().len() == 8).await;
    assert_eq!(hanging.received().len(), 1, "one that has never answered has one at a time");
    running.abort();
}

pub(super) fn start_delivery_worker(app: &TestApp) -> tokio::task::JoinHandle<()> {
    tokio::spawn(
        regente_engine::deliveries::DeliveryWorker::new(app.app.engine.clone())
            .run_until(std::future::pending()),
    )
}

pub(super) async fn until(mut is_so: impl FnMut() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting).await.expect("it comes");
}

async fn an_endpoint_that_has_answered_gets_several_at_once(app: TestApp) {
    let app = app.with_settings(|settings| settings.webhooks.concurrent_per_endpoint_max = 3).await;
    let receiver = Receiver::start().await;
    webhook(&app, &receiver, "transaction.authorized", "/").await;
    let running = start_delivery_worker(&app);
    any_charge(&app).await;
    until(|| receiver.received().len() == 1).await;
    receiver.always(Say::Nothing);
    for _ in 0..6 {
        any_charge(&app).await;
    }
    until(|| receiver.received().len() == 4).await;
    // Another endpoint is served in later rounds; this one gets nothing more.
    let other = Receiver::start().await;
    webhook(&app, &other, "transaction.authorized", "/other").await;
    any_charge(&app).await;
    until(|| other.received().len() == 1).await;
    assert_eq!(receiver.received().len(), 4, "and no more than that");
    running.abort();
}

async fn a_webhook_that_is_off_or_gone_gets_nothing(app: TestApp) {
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    let path = format!("/v1/webhooks/{id}");
    app.patch(&path, &json!({ "status": false })).await.expect(200);
    any_charge(&app).await;
    app.run_jobs().await;
    app.patch(&path, &json!({ "status": true })).await.expect(200);
    app.run_jobs().await;
    assert!(receiver.received().is_empty(), "what happened meanwhile is not made up for");
    receiver.say(&[Say::Status(500)]);
    any_charge(&app).await;
    app.run_jobs().await;
    app.delete(&path).await.expect(200);
    app.later(24 * 60 * MINUTE).await;
    any_charge(&app).await;
    app.run_jobs().await;
    assert_eq!(receiver.received().len(), 1, "what was on its way is dropped");
}

async fn a_process_that_dies_in_the_middle_loses_nothing(app: TestApp) {
    let receiver = Receiver::start().await;
    receiver.say(&[Say::Nothing]);
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    any_charge(&app).await;
    let worker = app.worker.clone();
    let running = tokio::spawn(async move { worker.round().await.map(|_| ()) });
    while receiver.received().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    running.abort();
    let app = app.restart().await;
    let delivery = deliveries(&app, &id).await.remove(0);
    assert_eq!((&delivery["status"], &delivery["attempts"]), (&json!("pending"), &json!([])));
    app.later(2 * MINUTE).await;
    let delivery = deliveries(&app, &id).await.remove(0);
    assert_eq!(delivery["status"], "delivered");
    let got = receiver.received();
    assert_eq!((got.len(), &got[0].body), (2, &got[1].body));
    let failures: Vec<&Value> =
        delivery["attempts"].as_array().unwrap().iter().map(|attempt| &attempt["failure"]).collect();
    assert_eq!(failures, [&json!("interrupted"), &json!(null)]);
}

async fn an_event_of_a_clock_behind_is_announced(app: TestApp) {
    let receiver = Receiver::start().await;
    app.clock.advance(MINUTE);
    webhook(&app, &receiver, "transaction.authorized", "/").await;
    // Another node makes the charge.
    app.clock.set(app.clock.deployment() - MINUTE / 2);
    any_charge(&app).await;
    app.run_jobs().await;
    assert_eq!(receiver.received().len(), 1);
}

async fn two_nodes_deliver_each_event_once(app: TestApp) {
    if app.app.store.database_kind() == regente_store::DatabaseKind::Sqlite {
        return;
    }
    let receiver = Receiver::start().await;
    webhook(&app, &receiver, "*", "/").await;
    let other = app.another_worker().await;
    for _ in 0..20 {
        any_charge(&app).await;
    }
    for _ in 0..200 {
        let (one, two) = tokio::join!(app.worker.round(), other.round());
        if one.unwrap().delivered + two.unwrap().delivered == 0 && receiver.received().len() >= 40 {
            break;
        }
        // The second worker leaves the webhook to the first one for a while.
        app.clock.advance_machine(Duration::from_secs(1));
    }
    let mut ids: Vec<String> = receiver.received().iter().map(|got| got.json()["id"].to_string()).collect();
    assert_eq!(ids.len(), 40);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 40, "each once");
}

async fn a_ping_arrives_whatever_is_asked_for(app: TestApp) {
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "transaction.failed", "/").await;
    let ping = app.post(&format!("/v1/webhooks/{id}/ping"), &json!({})).await.expect(202);
    assert_eq!((&ping["event"], &ping["status"]), (&json!("ping"), &json!("pending")));
    app.run_jobs().await;
    let got = receiver.received().remove(0);
    let body = got.json();
    assert_eq!(
        (&body["object"], &body["event"], &body["data"]),
        (&json!("webhook"), &json!("ping"), &json!({}))
    );
    assert_eq!(body["id"], ping["eventId"]);
    assert!(got.header("x-plug-signature").is_some());

    let path = format!("/v1/webhooks/{id}/ping");
    let first = app.post_with_key(&path, "once", &json!({})).await;
    let again = app.post_with_key(&path, "once", &json!({})).await;
    first.expect(202);
    assert_eq!((&again.bytes, again.header("Idempotent-Replayed")), (&first.bytes, Some("true")));
    app.run_jobs().await;
    assert_eq!(receiver.received().len(), 2);
}

async fn too_many_losses_switch_a_webhook_off_where_that_is_wanted(app: TestApp) {
    let app = app
        .with_settings(|settings| {
            settings.webhooks.waits = vec![MINUTE];
            settings.webhooks.disable_after = std::num::NonZeroU32::new(2);
        })
        .await;
    let receiver = Receiver::start().await;
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    let is_on = async || app.get(&format!("/v1/webhooks/{id}")).await.expect(200)["status"].clone();
    let lose = async || {
        receiver.say(&[Say::Status(500), Say::Status(500)]);
        any_charge(&app).await;
        app.run_jobs().await;
        app.later(2 * MINUTE).await;
    };
    lose().await;
    any_charge(&app).await;
    app.run_jobs().await;
    lose().await;
    assert_eq!(is_on().await, true, "one was taken in between");
    lose().await;
    assert_eq!(is_on().await, false);
    let webhook: uuid::Uuid = id.parse().unwrap();
    let told = regente_store::audit::of_object(&app.app.store, app.client_id(), webhook, 1).await.unwrap();
    assert_eq!((told[0].action.as_str(), told[0].actor.as_str()), ("webhook.disabled", "job:deliveries"));
    app.patch(&format!("/v1/webhooks/{id}"), &json!({ "status": true })).await.expect(200);
    lose().await;
    assert_eq!(is_on().await, true, "the count begins anew");
}

async fn a_webhook_says_what_a_partial_refund_sends(app: TestApp) {
    let receiver = Receiver::start().await;
    let by_default = webhook(&app, &receiver, "*", "/default").await;
    let made = app.get(&format!("/v1/webhooks/{by_default}")).await.expect(200);
    assert_eq!(made["partialRefundEvent"], "transaction.voided");
    for (setting, path) in [("transaction.authorized", "/authorized"), ("none", "/none")] {
        let body = json!({ "event": "*", "endpoint": receiver.url(path), "partialRefundEvent": setting });
        let made = app.post("/v1/webhooks", &body).await.expect(201);
        assert_eq!(made["partialRefundEvent"], setting);
    }
    let wrong = json!({ "event": "*", "endpoint": receiver.url("/wrong"), "partialRefundEvent": "voided" });
    assert!(
        app.post("/v1/webhooks", &wrong).await.details(400)[0]
            .starts_with("partialRefundEvent must be one of")
    );
    let refund = async |charge: &Value, amount: Option<i64>| {
        let path = format!("/v1/charges/{}/void", charge["id"].as_str().unwrap());
        let body = amount.map_or_else(|| json!({}), |amount| json!({ "amount": amount }));
        let refunded = app.post(&path, &body).await.expect(201);
        app.run_jobs().await;
        refunded
    };
    let sent = |path: &str| {
        let got = receiver.received().into_iter().filter(|got| got.path == path);
        got.skip(2).map(|got| (got.event(), got.json()["data"]["amount"].clone())).collect::<Vec<_>>()
    };
    let charged = any_charge(&app).await;
    app.run_jobs().await;
    assert_eq!(refund(&charged, Some(50)).await["status"], "authorized");
    let voided = |amount: i64| ("transaction.voided".to_owned(), json!(amount));
    assert_eq!(sent("/default"), [voided(100)]);
    assert_eq!(sent("/authorized"), [("transaction.authorized".to_owned(), json!(100))]);
    assert_eq!(sent("/none"), []);

    app.patch(&format!("/v1/webhooks/{by_default}"), &json!({ "partialRefundEvent": "none" }))
        .await
        .expect(200);
    refund(&charged, Some(30)).await;
    assert_eq!(refund(&charged, None).await["status"], "voided");
    assert_eq!(sent("/default"), [voided(100), voided(0)]);
    assert_eq!(sent("/authorized").last(), Some(&voided(0)), "a refund of everything is voided for all");
    assert_eq!(sent("/none"), [voided(0)]);
}
