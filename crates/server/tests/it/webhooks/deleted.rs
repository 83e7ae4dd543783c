//! What is on its way to a deleted webhook is dropped in pages, after the webhook was marked.

use regente_store::testing::run_script;
use regente_store::{args, sql};

use crate::support::app::{TestApp, stories};
use crate::support::charges::any_charge;
use crate::support::receiver::{Receiver, Say};
use crate::support::time::MINUTE;
use crate::support::webhooks::webhook;

stories! {
    a_large_backlog_is_dropped_after_the_webhook_is_deleted,
    a_message_that_is_made_while_its_webhook_is_deleted_is_dropped_as_well,
}

sql! {
    PENDING_AND_DROPPED = "
        SELECT SUM(CASE WHEN due_at IS NULL THEN 0 ELSE 1 END) AS pending,
            SUM(CASE WHEN status = 'dropped' THEN 1 ELSE 0 END) AS dropped
        FROM deliveries WHERE client_id = :client_id";
}

async fn pending_and_dropped(app: &TestApp) -> (i64, i64) {
    let client_id = app.client_id();
    let row = app.app.store.row(&PENDING_AND_DROPPED, args! { client_id }).await.unwrap().unwrap();
    (row.get("pending").unwrap(), row.get("dropped").unwrap())
}

/// A webhook whose only message has failed once.
async fn with_a_message_that_waits(app: &TestApp) -> String {
    let receiver = Receiver::start().await;
    receiver.say(&[Say::Status(500)]);
    let id = webhook(app, &receiver, "transaction.authorized", "/").await;
    any_charge(app).await;
    app.run_jobs().await;
    assert_eq!(pending_and_dropped(app).await, (1, 0));
    id
}

/// Adds copies of the message.
async fn copy(app: &TestApp, times: u32) {
    const COLUMNS: &str = "client_id, webhook_id, event_id, event, object_id, object_version, ordinal, api_version, \
                           attempts, tries, updated_at";
    let (id, numbers) = match app.app.store.database_kind() {
        regente_store::DatabaseKind::Sqlite => (
            "randomblob(16)",
            format!(
                "(WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {times})
                  SELECT n FROM numbers)"
            ),
        ),
        regente_store::DatabaseKind::Postgres => ("gen_random_uuid()", format!("generate_series(1, {times})")),
    };
    let script = format!(
        "INSERT INTO deliveries (id, {COLUMNS}, status, due_at)
         SELECT {id}, {COLUMNS}, 'pending', 4000000000000
         FROM {numbers} numbers, (SELECT {COLUMNS} FROM deliveries LIMIT 1) one"
    );
    run_script(&app.app.store, &script).await.unwrap();
}

async fn a_large_backlog_is_dropped_after_the_webhook_is_deleted(app: TestApp) {
    let id = with_a_message_that_waits(&app).await;
    copy(&app, 9_000).await;
    app.delete(&format!("/v1/webhooks/{id}")).await.expect(200);
    assert_eq!(pending_and_dropped(&app).await, (9_001, 0), "the request itself only marks the webhook");
    app.get(&format!("/v1/webhooks/{id}")).await.expect(404);
    app.run_jobs().await;
    assert_eq!(pending_and_dropped(&app).await, (0, 9_001));
}

async fn a_message_that_is_made_while_its_webhook_is_deleted_is_dropped_as_well(app: TestApp) {
    let id = with_a_message_that_waits(&app).await;
    app.delete(&format!("/v1/webhooks/{id}")).await.expect(200);
    app.run_jobs().await;
    assert_eq!(pending_and_dropped(&app).await, (0, 1));
    // A transaction on PostgreSQL that saw the webhook before it was deleted commits after it.
    copy(&app, 1).await;
    app.later(5 * MINUTE).await;
    assert_eq!(pending_and_dropped(&app).await, (0, 2));
}
