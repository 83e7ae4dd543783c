//! A release without the adapter of a provider, as after going back to an earlier one: what another release has sent
//! stays unknown until a release with the adapter runs again.

use std::time::Duration;

use regente_store::{Batch, Commit, transaction_requests};
use serde_json::{Value, json};

use crate::support::agreement::{agree_on_all, all_charges};
use crate::support::app::{Adapters, TestApp, stories};
use crate::support::bodies::{APPROVED, Charge};
use crate::support::read::{newest, text};

stories! {
    an_authorization_stays_unknown_without_the_adapter,
    a_capture_stays_unknown_without_the_adapter,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const MINUTES: Duration = Duration::from_secs(10 * 60);

async fn read(app: &TestApp, charge: &Value) -> Value {
    app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200)
}

/// A charge with these faults.
async fn charge(app: &TestApp, capture: bool, faults: Value) -> Value {
    let body = Charge::by_card(&app.merchant().await, APPROVED)
        .with("capture", capture)
        .with("paymentFlow", json!({ "metadata": { "sandboxFaults": faults } }))
        .body();
    app.post("/v1/charges", &body).await.expect(201)
}

async fn an_authorization_stays_unknown_without_the_adapter(app: TestApp) {
    let faults = json!([
        { "when": { "operation": "authorization" }, "then": { "reset": "after_effect" } },
        { "when": { "operation": "probe" }, "then": { "server_error": "before_effect" }, "sequence": [1] },
    ]);
    let pending = charge(&app, true, faults).await;
    assert_eq!(pending["status"], "pending");
    let app = app.with_adapters(Adapters::Missing).await;
    app.later(MINUTES).await;
    assert_eq!(read(&app, &pending).await, pending, "nothing is guessed");
    let unknown = transaction_requests::unknown(&app.app.store, app.clock.deployment()).await.unwrap();
    assert_eq!((unknown.open, unknown.given_up), (1, 0));
    app.later(5 * DAY).await;
    assert_eq!(read(&app, &pending).await, pending, "nothing is guessed at the end of the schedule");
    let given_up = transaction_requests::given_up(&app.app.store, 10).await.unwrap().remove(0);

    let app = app.with_adapters(Adapters::Simulator).await;
    let mut batch = Batch::new(app.client_id());
    transaction_requests::resume(&mut batch, &given_up.request, app.clock.deployment());
    assert_eq!(app.app.store.apply(batch).await.unwrap(), Commit::Applied);
    app.later(MINUTES).await;
    assert_eq!(read(&app, &pending).await["status"], "authorized");
    agree_on_all(&app.books, &all_charges(&app).await).await;
}

async fn a_capture_stays_unknown_without_the_adapter(app: TestApp) {
    let faults = json!([
        { "when": { "operation": "capture" }, "then": { "reset": "after_effect" }, "sequence": [1, 2] },
    ]);
    let reserved = charge(&app, false, faults).await;
    let path = format!("/v1/charges/{}/capture", text(&reserved["id"]));
    let pending = app.post(&path, &json!({})).await.expect(201);
    assert_eq!(pending["status"], "capture_pending");
    let app = app.with_adapters(Adapters::Missing).await;
    app.later(MINUTES).await;
    let still = read(&app, &pending).await;
    let request = newest(&still);
    assert_eq!((&still["status"], &request["requestStatus"]), (&json!("capture_pending"), &json!("running")));

    let app = app.with_adapters(Adapters::Simulator).await;
    app.later(DAY).await;
    assert_eq!(read(&app, &pending).await["status"], "authorized");
    agree_on_all(&app.books, &all_charges(&app).await).await;
}
