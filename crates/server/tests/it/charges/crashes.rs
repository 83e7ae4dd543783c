//! The process stops at each write and around each call while a charge of a payer is made, refunded, or settled by jobs:
//! what the stories of each method share. At the end the charge agrees with the simulator's books.

use std::time::Duration;

use regente_providers::staged::Staged;
use serde_json::{Value, json};

use super::payers::paid;
use super::pix::paid::HOUR;
use crate::support::agreement::nothing_is_open;
use crate::support::app::TestApp;
use crate::support::charges::read;
use crate::support::crashes::{at_each_step, stopped_at, stopped_while};
use crate::support::payers::{PAYS, agrees_with, happens, requests, stored};
use crate::support::read::text;
use crate::support::time::MINUTE;

/// The process stops while a charge is made. Its payer pays, if they were told how.
pub(crate) async fn while_it_is_made(app: TestApp, body: &Value) {
    at_each_step(app, 5, async |app, steps| {
        let key = format!("key {steps}");
        let (app, is_answered) = stopped_at(app, steps, "/v1/charges", &key, body).await;
        app.later(MINUTE).await;
        let charge = app.post_with_key("/v1/charges", &key, body).await.expect(201);
        let now = read(&app, &charge).await;
        let is_waiting = now["status"] == "pending";
        if is_waiting {
            happens(&app, &charge, 0, PAYS).await;
        } else {
            assert_eq!(now["status"], "failed", "it never arrived: {now:#}");
            assert!(!is_answered);
        }
        let after = settled(&app, &charge, 2 * HOUR).await;
        let status = if is_waiting { "authorized" } else { "failed" };
        assert_eq!(after["status"], status, "after {steps} steps: {after:#}");
        let all = app.get("/v1/charges").await.expect(200)["meta"]["totalItems"].as_u64().unwrap();
        assert_eq!(all, steps + 1, "one charge for one key");
        let customers = app.get("/v1/customers").await.expect(200)["meta"]["totalItems"].clone();
        assert_eq!(customers, 1, "one customer for one payer");
        (app, is_answered)
    })
    .await;
}

/// The process stops while 50 of the 150 of a charge are refunded; `void` is the body. `also` looks at what the provider
/// was sent.
pub(crate) async fn while_it_is_refunded(app: TestApp, body: &Value, void: &Value, also: impl Fn(&TestApp)) {
    at_each_step(app, 5, async |app, steps| {
        let charge = paid(&app, body).await;
        let path = format!("/v1/charges/{}/void", text(&charge["id"]));
        let key = format!("void {steps}");
        let (app, is_answered) = stopped_at(app, steps, &path, &key, void).await;
        app.later(HOUR).await;
        let pending = app.post_with_key(&path, &key, void).await.expect(201);
        assert_eq!(pending["status"], "refund_pending", "after {steps} steps: {pending:#}");
        assert_eq!(requests(&pending)[0], ("void", "processing", 50));
        also(&app);
        let place = stored(&app, &charge).await.len() - 1;
        happens(&app, &charge, place, Staged::Refund).await;
        let after = settled(&app, &charge, 24 * HOUR).await;
        assert_eq!((&after["status"], &after["amount"]), (&json!("authorized"), &json!(100)), "{after:#}");
        assert_eq!((count(&after, "void", "processing"), count(&after, "void", "success")), (1, 1));
        let again = app.post_with_key(&path, &key, void).await.expect(201);
        assert_eq!(again, pending, "the key has one answer");
        (app, is_answered)
    })
    .await;
}

/// The process stops in the jobs that find what has happened to a charge. `happening` makes the charge and lets it
/// happen; `outcome` looks at what has become of it after so many steps.
pub(crate) async fn while_jobs_find_it(
    app: TestApp,
    steps_min: u64,
    happening: impl AsyncFn(&TestApp) -> Value,
    outcome: impl AsyncFn(&TestApp, &Value, u64),
) {
    at_each_step(app, steps_min, async |app, steps| {
        let charge = happening(&app).await;
        let (app, is_done) = stopped_while(app, steps, async |app| app.later(4 * MINUTE).await).await;
        outcome(&app, &charge, steps).await;
        (app, is_done)
    })
    .await;
}

/// Lets this time pass, after which nothing is open and the charge agrees with the simulator's books: the charge as it
/// is then.
pub(crate) async fn settled(app: &TestApp, charge: &Value, after: Duration) -> Value {
    app.later(after).await;
    nothing_is_open(app).await;
    let settled = read(app, charge).await;
    agrees_with(app, &settled).await;
    settled
}

/// How many requests of this type and status the charge has.
pub(crate) fn count(charge: &Value, kind: &str, status: &str) -> usize {
    requests(charge)
        .iter()
        .filter(|(own_kind, own_status, _)| (*own_kind, *own_status) == (kind, status))
        .count()
}
