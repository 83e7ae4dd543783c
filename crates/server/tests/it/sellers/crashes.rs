//! The process stops at each step while a seller is made and registered, while it is reviewed, and while its files are on
//! their way.

use std::time::Duration;

use axum::http::Method;
use regente_domain::time::Timestamp;
use regente_engine::queue::sellers::About;
use regente_engine::sellers::{documents as files, registration, reviews};
use regente_providers::staged::Staged;
use regente_store::events;
use serde_json::{Value, json};

use super::documents::kept;
use super::registrations::{links, staged};
use super::reviews::kept_answers;
use crate::support::app::{TestApp, stories};
use crate::support::charges::single_merchant;
use crate::support::crashes::{stopped_at, stopped_while};
use crate::support::forms::png;
use crate::support::read::text;
use crate::support::reviews::{answered, place};
use crate::support::sellers;
use crate::support::sellers::{SELLERS, deleted, made, path, read, selfie, seller_body};

stories! {
    while_a_seller_is_registered,
    while_a_seller_is_reviewed,
    while_files_are_on_their_way,
}

/// Everything is due by then.
const LATER: Duration = Duration::from_secs(2 * 60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a review is open: shorter than a key is kept.
const OPEN_FOR: Duration = Duration::from_secs(12 * 60 * 60);
/// More steps than any of these flows has.
const STEPS_MAX: u64 = 40;

async fn while_a_seller_is_registered(mut app: TestApp) {
    for steps in 0..STEPS_MAX {
        let body = seller_body(&single_merchant(&app).await);
        let key = format!("seller {steps}");
        let is_answered;
        (app, is_answered) = stopped_at(app, steps, SELLERS, &key, &body).await;
        app.later(LATER).await;
        let seller = app.post_with_key(SELLERS, &key, &body).await.expect(201);
        app.later(LATER).await;
        let query = format!("{SELLERS}?merchantId={}", text(&body["merchantId"]));
        let list = app.get(&query).await.expect(200);
        assert_eq!(list["meta"]["totalItems"], 1, "after {steps} steps");
        let now = &list["items"][0];
        assert_eq!((&now["id"], &now["status"]), (&seller["id"], &json!("active")), "after {steps} steps");
        let link = links(&app, &seller).await.remove(0);
        let external_id = format!("sandbox_seller_{}", link.key.simple());
        assert_eq!(link.external_id, Some(external_id), "after {steps} steps");
        let id = text(&seller["id"]).parse().unwrap();
        let events = events::of_object(&app.app.store, app.client_id(), id).await.unwrap();
        let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, ["pending", "active"], "after {steps} steps");
        if is_answered {
            assert!(steps >= 4, "the flow has {steps} steps: writes and calls are missing from the sweep");
            return;
        }
    }
    panic!("the flow does not end");
}

async fn while_a_seller_is_reviewed(mut app: TestApp) {
    for steps in 0..STEPS_MAX {
        let seller = made(&app, &seller_body(&single_merchant(&app).await)).await;
        staged(&app, &seller, Staged::ReviewOpened).await;
        let (key, deadline_at) = (format!("review {steps}"), app.clock.deployment() + OPEN_FOR);
        let is_done;
        (app, is_done) =
            stopped_while(app, steps, async |app| goes_its_way(app, &seller, &key, deadline_at).await).await;
        // Jobs do what was left: also the review that the provider has asked for is opened, at its next look.
        let review = opened(&app, &seller, &key, deadline_at).await;
        app.later(DAY * 3).await;
        if app.get(&place(&review)).await.expect(200)["status"] == "expired" {
            assert_eq!(read(&app, &seller).await["status"], "blocked", "after {steps} steps");
            answered(&app, &review, &answer()).await;
        }
        app.later(LATER).await;
        let id = text(&review["id"]).parse().unwrap();
        assert_eq!(app.get(&place(&review)).await.expect(200)["status"], "approved", "after {steps} steps");
        let ends: Vec<String> =
            names(&app, id).await.into_iter().filter(|name| !name.ends_with("reminder")).collect();
        let expected = ["opened", "expired", "submitted", "approved"];
        assert_eq!(ends, expected.map(|name| format!("registration_review.{name}")), "after {steps} steps");
        let now = read(&app, &seller).await;
        assert_eq!((&now["status"], &now["owner"]["phoneNumber"]), (&json!("active"), &json!("21977777777")));
        let seller_id = text(&seller["id"]).parse().unwrap();
        let expected = ["pending", "active", "blocked", "active"];
        assert_eq!(names(&app, seller_id).await, expected, "after {steps} steps");
        let list = app.get(&format!("{}/registration-reviews?status=open", path(&seller))).await.expect(200);
        assert_eq!(list["meta"]["totalItems"], 1, "after {steps} steps: the provider has asked once");
        assert_eq!(kept_answers(&app).await, 0);
        deleted(&app, &seller).await;
        if is_done {
            assert!(steps >= 8, "the flow has {steps} steps: writes and calls are missing from the sweep");
            return;
        }
    }
    panic!("the flow does not end");
}

/// The provider asks; another review is opened, its deadline passes, and the seller answers late.
async fn goes_its_way(app: &TestApp, seller: &Value, key: &str, deadline_at: Timestamp) {
    let client_id = app.client_id();
    let (seller_id, provider_id) =
        (text(&seller["id"]).parse().unwrap(), links(app, seller).await[0].provider_id);
    registration::look(&app.app, client_id, About { seller_id, provider_id }).await.unwrap();
    let review = opened(app, seller, key, deadline_at).await;
    let id = text(&review["id"]).parse().unwrap();
    app.clock.advance(OPEN_FOR);
    reviews::look(&app.app, client_id, id).await.unwrap();
    answered(app, &review, &answer()).await;
    reviews::look(&app.app, client_id, id).await.unwrap();
}

async fn opened(app: &TestApp, seller: &Value, key: &str, deadline_at: Timestamp) -> Value {
    let body = json!({ "fields": ["owner.phoneNumber"], "deadlineAt": deadline_at });
    app.post_with_key(&format!("{}/registration-reviews", path(seller)), key, &body).await.expect(201)
}

fn answer() -> Value {
    json!({ "owner.phoneNumber": "21977777777" })
}

/// The names of what was announced of an object, in order.
async fn names(app: &TestApp, id: uuid::Uuid) -> Vec<String> {
    let events = events::of_object(&app.app.store, app.client_id(), id).await.unwrap();
    events.iter().map(|event| event.name.as_str().to_owned()).collect()
}

async fn while_files_are_on_their_way(mut app: TestApp) {
    for steps in 0..STEPS_MAX {
        let merchant = single_merchant(&app).await;
        let is_done;
        (app, is_done) = stopped_while(app, steps, async |app| files_go(app, &merchant, steps).await).await;
        let (file, seller) = given(&app, &merchant, steps).await;
        app.later(DAY * 8).await;
        let place = format!("{}/{}", sellers::DOCUMENTS, text(&file["id"]));
        assert_eq!(app.get(&place).await.expect(200)["status"], "sent", "after {steps} steps");
        assert_eq!(kept(&app).await, 1, "after {steps} steps: the file that nobody wanted is deleted");
        deleted(&app, &seller).await;
        assert_eq!(kept(&app).await, 0, "after {steps} steps");
        if is_done {
            assert!(steps >= 8, "the flow has {steps} steps: writes and calls are missing from the sweep");
            return;
        }
    }
    panic!("the flow does not end");
}

/// A file comes to its end, and another one goes to its seller's provider.
async fn files_go(app: &TestApp, merchant: &str, steps: u64) {
    let unwanted = uploaded(app, &format!("unwanted {steps}")).await;
    app.clock.advance(DAY * 7);
    files::end(&app.app, app.client_id(), text(&unwanted["id"]).parse().unwrap()).await.unwrap();
    given(app, merchant, steps).await;
}

/// A file, and the seller that has it.
async fn given(app: &TestApp, merchant: &str, steps: u64) -> (Value, Value) {
    let file = uploaded(app, &format!("file {steps}")).await;
    let mut body = seller_body(merchant);
    body["documentIds"] = json!([file["id"]]);
    let seller = app.post_with_key(SELLERS, &format!("seller {steps}"), &body).await.expect(201);
    (file, seller)
}

async fn uploaded(app: &TestApp, key: &str) -> Value {
    let mut request = selfie(&png().bytes).request_to(&app.client, Method::POST, sellers::DOCUMENTS);
    request.headers_mut().insert("X-Idempotency-Key", key.parse().unwrap());
    app.send(request).await.expect(201)
}
