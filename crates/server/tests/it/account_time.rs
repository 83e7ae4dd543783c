//! Business time belongs to the account: two accounts of one deployment whose clocks differ.

use std::time::Duration;

use regente_domain::time::Timestamp;
use regente_store::events::Event;
use regente_store::{args, events, sql};
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body, token_body};
use crate::support::charges::reserved;
use crate::support::client::Client;
use crate::support::providers::books::FileBooks;
use crate::support::purchases;
use crate::support::read::text;
use crate::support::receiver::{Receiver, Say};

stories! {
    what_is_made_carries_the_time_of_its_account,
    a_token_expires_by_the_time_of_its_account,
    a_public_key_ends_by_the_time_of_its_account,
    tokens_of_an_account_that_is_behind_are_kept,
    a_reservation_is_let_go_by_the_time_of_its_account,
    an_account_that_is_behind_waits_for_its_own_time,
    a_webhook_is_tried_again_by_the_time_of_its_account,
    an_idempotency_key_is_kept_by_the_time_of_its_account,
    an_unknown_outcome_is_asked_for_by_the_time_of_its_account,
}

sql! {
    TOKENS_OF = "SELECT COUNT(*) AS n FROM tokens WHERE client_id = :client_id";
    KEYS_OF = "SELECT COUNT(*) AS n FROM idempotency WHERE client_id = :client_id";
    CREDENTIALS_OF = "
        SELECT COUNT(*) AS n FROM credentials WHERE client_id = :client_id AND expires_at IS NOT NULL";
}

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Longer than the pause between two runs of a housekeeping job.
const NEXT_PURGE: Duration = Duration::from_secs(11 * 60);

/// Two accounts: one on the deployment's time and one whose clock a test moves. What is asked for is asked by `app.client`.
struct Two {
    app: TestApp,
    common: Client,
    other: Client,
}

impl Two {
    async fn of(app: TestApp) -> Self {
        let (common, other) = (app.client.clone(), app.another_client().await);
        Self { app, common, other }
    }

    /// The application as the account on the deployment's time uses it.
    fn common(&mut self) -> &TestApp {
        self.app.client = self.common.clone();
        &self.app
    }

    /// The application as the account with a clock of its own uses it.
    fn other(&mut self) -> &TestApp {
        self.app.client = self.other.clone();
        &self.app
    }

    /// Moves the clock of the other account, and only that, so far ahead of the deployment's.
    fn move_ahead(&mut self, by: Duration) {
        let at = self.app.clock.deployment() + by;
        self.app.clock.set_of(self.other.id.parse().unwrap(), at);
    }

    /// The same backwards.
    fn move_behind(&mut self, by: Duration) {
        let at = self.app.clock.deployment() - by;
        self.app.clock.set_of(self.other.id.parse().unwrap(), at);
    }
}

/// The time of the account that asks.
fn now(app: &TestApp) -> Timestamp {
    app.clock.of(app.client_id())
}

async fn token(app: &TestApp) -> String {
    app.card_token(APPROVED).await
}

async fn use_token(app: &TestApp, token: &str) -> u16 {
    app.post("/v1/cards", &json!({ "tokenId": token })).await.status.as_u16()
}

async fn count(app: &TestApp, sql: &'static regente_store::Sql) -> i64 {
    let client_id = app.client_id();
    app.app.store.row(sql, args! { client_id }).await.unwrap().unwrap().get("n").unwrap()
}

async fn status(app: &TestApp, id: &str) -> String {
    text(&app.get(&format!("/v1/charges/{id}")).await.expect(200)["status"]).to_owned()
}

async fn events_of(app: &TestApp, id: &str) -> Vec<Event> {
    events::of_object(&app.app.store, app.client_id(), id.parse().unwrap()).await.unwrap()
}

/// Whether it is all of that time. Each change of a record moves `updatedAt` on by a millisecond at least.
fn are_of(times: &[Timestamp], now: Timestamp) -> bool {
    times.iter().all(|time| *time >= now && time.since(now) < Duration::from_secs(1))
}

/// Every time that an answer carries.
fn times(answer: &Value) -> Vec<Timestamp> {
    match answer {
        Value::Object(members) => members
            .iter()
            .flat_map(|(name, value)| match name.as_str() {
                "createdAt" | "updatedAt" => vec![Timestamp::parse(text(value)).unwrap()],
                _ => times(value),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(times).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

async fn what_is_made_carries_the_time_of_its_account(app: TestApp) {
    let mut two = Two::of(app).await;
    two.move_ahead(MONTH);
    let receiver = Receiver::start().await;
    assert_eq!(now(two.other()).since(now(two.common())), MONTH);
    // In turns, so that ids of both are made one after the other.
    for _ in 0..3 {
        for app in [0, 1] {
            let app = if app == 0 { two.common() } else { two.other() };
            let now = now(app);
            let hook =
                json!({ "event": "*", "endpoint": receiver.url(&format!("/{}", uuid::Uuid::new_v4())) });
            let webhook = app.post("/v1/webhooks", &hook).await.expect(201);
            let merchant = app.merchant().await;
            let merchant = app.get(&format!("/v1/merchants/{merchant}")).await.expect(200);
            let charge =
                app.post("/v1/charges", &charge_body(text(&merchant["id"]), APPROVED)).await.expect(201);
            let voided =
                app.post(&format!("/v1/charges/{}/void", text(&charge["id"])), &json!({})).await.expect(201);
            let order = purchases::accepted(app, text(&merchant["id"]), &[APPROVED, APPROVED], true).await;
            app.run_jobs().await;
            let order = purchases::read(app, &order).await;
            for answer in [&webhook, &merchant, &charge, &voided, &order] {
                let carried = times(answer);
                assert!(!carried.is_empty() && are_of(&carried, now), "{now}: {answer}");
            }
            let events = events_of(app, text(&charge["id"])).await;
            assert_eq!(events.len(), 3);
            assert!(events.iter().all(|event| event.id.created_at() == now), "{now}: {events:?}");
            assert!(events.is_sorted_by_key(|event| event.id), "{events:?}");
            let path = format!("/v1/webhooks/{}/deliveries", text(&webhook["id"]));
            let deliveries = app.get(&path).await.expect(200);
            let carried = times(&deliveries["items"]);
            assert!(carried.len() > 3 && are_of(&carried, now), "{now}: {deliveries}");
        }
    }
}

async fn a_token_expires_by_the_time_of_its_account(app: TestApp) {
    let mut two = Two::of(app).await;
    two.app.run_jobs().await;
    let (used, of_other) = (token(two.common()).await, token(two.other()).await);
    two.move_ahead(2 * HOUR);
    assert_eq!(use_token(two.other(), &of_other).await, 400, "two hours are over for this account");
    two.app.later(NEXT_PURGE).await;
    assert_eq!((count(two.other(), &TOKENS_OF).await, count(two.common(), &TOKENS_OF).await), (0, 1));
    assert_eq!(use_token(two.common(), &used).await, 201, "not for this one");
}

async fn a_public_key_ends_by_the_time_of_its_account(app: TestApp) {
    let mut two = Two::of(app).await;
    two.app.run_jobs().await;
    let of_common = two.common().client_token(json!(["tokens"])).await;
    let of_other = two.other().client_token(json!(["tokens"])).await;
    let body = token_body(APPROVED);
    two.move_ahead(DAY * 2);
    for (client, expected) in [(&of_common, 201), (&of_other, 403)] {
        let reply = two.app.call(client, axum::http::Method::POST, "/v1/tokens", &[], Some(&body)).await;
        assert_eq!(reply.status.as_u16(), expected);
    }
    two.app.later(NEXT_PURGE).await;
    assert_eq!(
        (count(two.other(), &CREDENTIALS_OF).await, count(two.common(), &CREDENTIALS_OF).await),
        (0, 1)
    );
}

async fn tokens_of_an_account_that_is_behind_are_kept(app: TestApp) {
    let mut two = Two::of(app).await;
    two.move_behind(DAY);
    let (of_common, of_other) = (token(two.common()).await, token(two.other()).await);
    two.app.clock.advance(HOUR);
    two.app.later(NEXT_PURGE).await;
    assert_eq!(use_token(two.other(), &of_other).await, 201);
    assert_eq!(use_token(two.common(), &of_common).await, 201);
}

async fn a_reservation_is_let_go_by_the_time_of_its_account(app: TestApp) {
    let mut two = Two::of(app).await;
    two.move_ahead(MONTH);
    let (of_common, of_other) = (reserved(two.common()).await, reserved(two.other()).await);
    two.app.run_jobs().await;
    two.move_ahead(MONTH + DAY * 6);
    two.app.run_jobs().await;
    assert_eq!(status(two.other(), &of_other).await, "pre_authorized");
    two.move_ahead(MONTH + DAY * 8);
    two.app.run_jobs().await;
    assert_eq!(status(two.other(), &of_other).await, "canceled");
    assert_eq!(status(two.common(), &of_common).await, "pre_authorized");
    two.app.later(DAY * 8).await;
    assert_eq!(status(two.common(), &of_common).await, "canceled");
}

async fn an_account_that_is_behind_waits_for_its_own_time(app: TestApp) {
    let mut two = Two::of(app).await;
    two.move_behind(MONTH);
    let of_other = reserved(two.other()).await;
    // For the deployment a week after that is long over: nothing is done early, and nobody looks for ever.
    two.app.run_jobs().await;
    two.app.later(DAY * 6).await;
    assert_eq!(status(two.other(), &of_other).await, "pre_authorized");
    two.app.later(DAY * 2).await;
    assert_eq!(status(two.other(), &of_other).await, "canceled");
}

async fn a_webhook_is_tried_again_by_the_time_of_its_account(app: TestApp) {
    let mut two = Two::of(app).await;
    two.move_ahead(MONTH);
    let receiver = Receiver::start().await;
    receiver.always(Say::Status(503));
    let mut webhooks = Vec::new();
    for is_other in [false, true] {
        let app = if is_other { two.other() } else { two.common() };
        let path = if is_other { "/other" } else { "/common" };
        let body = json!({ "event": "transaction.authorized", "endpoint": receiver.url(path) });
        webhooks.push(text(&app.post("/v1/webhooks", &body).await.expect(201)["id"]).to_owned());
        let merchant = app.merchant().await;
        app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
    }
    let sent = |path: &str| receiver.received().iter().filter(|got| got.path == path).count();
    two.app.run_jobs().await;
    assert_eq!((sent("/common"), sent("/other")), (1, 1));
    let delivery = async |app: &TestApp, id: &str| {
        let list = app.get(&format!("/v1/webhooks/{id}/deliveries")).await.expect(200);
        list["items"][0].clone()
    };
    let next = delivery(two.other(), &webhooks[1]).await["nextAttemptAt"].clone();
    let wait = Timestamp::parse(text(&next)).unwrap().since(now(two.other()));
    assert!(wait > Duration::from_secs(60) && wait < HOUR, "{wait:?}");

    two.move_ahead(MONTH + HOUR);
    two.app.run_jobs().await;
    assert_eq!((sent("/common"), sent("/other")), (1, 2), "only for the one whose time has come");
    for days in 1..=10 {
        two.move_ahead(MONTH + DAY * 3 * days);
        two.app.run_jobs().await;
    }
    assert_eq!(delivery(two.other(), &webhooks[1]).await["status"], "lost");
    assert_eq!(delivery(two.common(), &webhooks[0]).await["status"], "pending");
    assert_eq!((sent("/common"), sent("/other")), (1, 7));
    two.app.later(DAY * 10).await;
    assert_eq!(delivery(two.common(), &webhooks[0]).await["status"], "lost");
}

async fn an_idempotency_key_is_kept_by_the_time_of_its_account(app: TestApp) {
    const KEY: &str = "the-same-key";
    let mut two = Two::of(app).await;
    two.app.run_jobs().await;
    let body = token_body(APPROVED);
    let first_of_common = two.common().post_with_key("/v1/tokens", KEY, &body).await.expect(201);
    let first_of_other = two.other().post_with_key("/v1/tokens", KEY, &body).await.expect(201);
    two.move_ahead(DAY);
    let again = two.other().post_with_key("/v1/tokens", KEY, &body).await.expect(201);
    assert_ne!(again, first_of_other, "a day is over for this account");
    two.move_ahead(DAY * 2);
    two.app.later(NEXT_PURGE).await;
    assert_eq!((count(two.other(), &KEYS_OF).await, count(two.common(), &KEYS_OF).await), (0, 1));
    assert_eq!(two.common().post_with_key("/v1/tokens", KEY, &body).await.expect(201), first_of_common);

    // Behind: what is over for the deployment is kept for as long as the account counts.
    let kept = two.other().post_with_key("/v1/tokens", KEY, &body).await.expect(201);
    two.move_behind(DAY * 2);
    two.app.clock.advance(DAY * 3);
    two.app.later(NEXT_PURGE).await;
    assert_eq!((count(two.other(), &KEYS_OF).await, count(two.common(), &KEYS_OF).await), (1, 0));
    assert_eq!(two.other().post_with_key("/v1/tokens", KEY, &body).await.expect(201), kept);
}

async fn an_unknown_outcome_is_asked_for_by_the_time_of_its_account(app: TestApp) {
    let file = FileBooks::new();
    let app = app.with_sandbox_deadline(Duration::from_secs(5)).await.with_books(file.books.clone()).await;
    let mut two = Two::of(app).await;
    two.move_ahead(MONTH);
    let mut charges = Vec::new();
    for is_other in [false, true] {
        let app = if is_other { two.other() } else { two.common() };
        let body = charge_body(&app.merchant().await, APPROVED);
        if charges.is_empty() {
            file.lose();
        }
        let charge = app.post("/v1/charges", &body).await.expect(201);
        assert_eq!(charge["status"], "pending");
        charges.push(text(&charge["id"]).to_owned());
    }
    file.find();
    two.move_ahead(MONTH + HOUR);
    two.app.run_jobs().await;
    assert_eq!(status(two.other(), &charges[1]).await, "failed", "nothing was in the books");
    assert_eq!(status(two.common(), &charges[0]).await, "pending", "nobody has asked for this one yet");
    two.app.later(HOUR).await;
    assert_eq!(status(two.common(), &charges[0]).await, "failed");
}
