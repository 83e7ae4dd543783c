//! The health endpoints of a load balancer.

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use axum::{Extension, Router};
use regente::app::App;
use regente::bootstrap::{self, Migrations, Missing};
use regente::config::{Flag, Loaded, Sources};
use regente::health::Readiness;
use regente_domain::time::Timestamp;
use regente_engine::clock::Clock;
use regente_engine::vault::Freshness;
use serde_json::{Value, json};
use tower::ServiceExt;

async fn app(folder: &std::path::Path) -> App {
    app_by(folder, Clock::system()).await
}

async fn app_by(folder: &std::path::Path, clock: Clock) -> App {
    let flag = |key: &str, value: &str| Flag { name: "--set".into(), key: key.into(), value: value.into() };
    let kek = "8f1de0a29b7c4d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c7";
    let flags = vec![flag("data_dir", folder.to_str().unwrap()), flag("vault.kek", kek)];
    let loaded = Loaded::read(&Sources { flags, ..Sources::default() }).unwrap();
    bootstrap::open_by(&loaded.config, clock, Migrations::Apply, Missing::Make).await.unwrap()
}

async fn get(router: &Router, path: &str) -> (StatusCode, Value) {
    let request = Request::get(path).body(Body::empty()).unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let (status, body) = (response.status(), to_bytes(response.into_body(), 4096).await.unwrap());
    (status, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn a_process_that_is_about_to_stop_lives_and_is_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    let (app, readiness) = (app(folder.path()).await, Readiness::new());
    let router = regente::api::router::router(app.clone()).layer(Extension(readiness.clone()));
    assert_eq!(
        get(&router, "/health/ready").await,
        (StatusCode::OK, json!({ "status": "ready", "failing": [] }))
    );

    readiness.drain();

    let expected = json!({ "status": "not_ready", "failing": ["draining"] });
    assert_eq!(get(&router, "/health/ready").await, (StatusCode::SERVICE_UNAVAILABLE, expected));
    assert_eq!(get(&router, "/health/live").await, (StatusCode::OK, json!({ "status": "live" })));
    app.store.close().await;
}

#[tokio::test]
async fn a_database_that_cannot_be_written_to_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let app = app(folder.path()).await;
    let router = regente::api::router::router(app.clone());
    app.store.close().await;
    let expected = json!({ "status": "not_ready", "failing": ["database"] });
    assert_eq!(get(&router, "/health/ready").await, (StatusCode::SERVICE_UNAVAILABLE, expected));
    assert_eq!(get(&router, "/health/live").await.0, StatusCode::OK);
}

/// Changes a database behind the back of the service.
fn tamper(folder: &std::path::Path, sql: &str) {
    let connection = rusqlite::Connection::open(folder.join("regente.db")).unwrap();
    connection.execute_batch(sql).unwrap();
}

#[tokio::test]
async fn migrations_that_are_pending_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let app = app(folder.path()).await;
    let router = regente::api::router::router(app.clone());
    assert_eq!(get(&router, "/health/ready").await.0, StatusCode::OK);

    tamper(
        folder.path(),
        "DELETE FROM schema_migrations WHERE version = (SELECT MAX(version) FROM schema_migrations)",
    );

    let expected = json!({ "status": "not_ready", "failing": ["migrations"] });
    assert_eq!(get(&router, "/health/ready").await, (StatusCode::SERVICE_UNAVAILABLE, expected));
    app.store.close().await;
}

#[tokio::test]
async fn a_vault_whose_keys_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::manual(Timestamp::parse("2026-03-23T15:12:38.379Z").unwrap());
    let app = app_by(folder.path(), clock.clone()).await;
    let router = regente::api::router::router(app.clone());
    tamper(folder.path(), "UPDATE data_keys SET state = 'retiring'");
    assert_eq!(get(&router, "/health/ready").await.0, StatusCode::OK, "the keys are known for a while");

    clock.advance_machine(Freshness::default().age_max);

    let expected = json!({ "status": "not_ready", "failing": ["vault"] });
    assert_eq!(get(&router, "/health/ready").await, (StatusCode::SERVICE_UNAVAILABLE, expected));
    app.store.close().await;
}

#[tokio::test]
async fn the_answer_is_remembered_for_a_moment_so_that_asking_costs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (app, readiness) = (app(folder.path()).await, Readiness::new());
    assert_eq!(readiness.failing(&app).await, []);
    app.store.close().await;
    assert_eq!(readiness.failing(&app).await, [], "asked again at once, the database is not asked");
}
