//! Changes that others keep coming before.

use regente::metrics::Endpoint;
use regente_engine::races::TRIES_MAX;
use regente_store::DatabaseKind;
use regente_store::testing::run_script;
use serde_json::json;

use crate::support::app::{TestApp, stories};
use crate::support::client::assert_unavailable;
use crate::support::metrics::metric;
use crate::support::read::text;
use crate::support::vendors;

stories! {
    a_change_that_always_comes_second_is_given_up_and_counted,
}

const LOST: &str = "regente_races_lost_total";

/// Has each change of a vendor find that another one came first, and ends that: two scripts.
const fn another_comes_first(database: DatabaseKind) -> (&'static str, &'static str) {
    match database {
        DatabaseKind::Sqlite => (
            "CREATE TRIGGER comes_first BEFORE UPDATE ON vendors BEGIN SELECT RAISE(IGNORE); END;",
            "DROP TRIGGER comes_first;",
        ),
        DatabaseKind::Postgres => (
            "CREATE FUNCTION comes_first() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
             CREATE TRIGGER comes_first BEFORE UPDATE ON vendors FOR EACH ROW EXECUTE FUNCTION comes_first();",
            "DROP TRIGGER comes_first ON vendors;",
        ),
    }
}

async fn a_change_that_always_comes_second_is_given_up_and_counted(app: TestApp) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::open(listener, app.app.clone()).unwrap();
    let lost = async || metric(endpoint.address(), LOST).await.to_string().parse::<usize>().unwrap();
    let vendor = app.post("/v1/vendors", &vendors::another()).await.expect(201);
    let path = format!("/v1/vendors/{}", text(&vendor["id"]));
    let (begin, end) = another_comes_first(app.app.store.database_kind());

    let before = lost().await;
    run_script(&app.app.store, begin).await.unwrap();
    assert_unavailable(&app.patch(&path, &json!({ "mcc": "5411" })).await);
    // Other tests of this process may lose races too.
    assert!(lost().await >= before + TRIES_MAX);
    assert_eq!(app.get(&path).await.expect(200), vendor, "nothing was written");

    run_script(&app.app.store, end).await.unwrap();
    assert_eq!(app.patch(&path, &json!({ "mcc": "5411" })).await.expect(200)["mcc"], "5411");
}
