//! The health endpoints of a load balancer.

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use axum::{Extension, Router};
use regente::app::App;
use regente::bootstrap::{self, Migrations, Missing};
use regente::config::{Flag, Loaded, Sources};
use regente::health::Readiness;
use serde_json::{Value, json};
use tower::ServiceExt;

async fn app(folder: &std::path::Path) -> App {
    let flag = |key: &str, value: &str| Flag { name: "--set".into(), key: key.into(), value: value.into() };
    let kek = "8f1de0a29b7c4d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c7";
    let flags = vec![flag("data_dir", folder.to_str().unwrap()), flag("vault.kek", kek)];
    let loaded = Loaded::read(&Sources { flags, ..Sources::default() }).unwrap();
    bootstrap::open(&loaded.config, Migrations::Apply, Missing::Make).await.unwrap()
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

#[tokio::test]
async fn the_answer_is_remembered_for_a_moment_so_that_asking_costs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (app, readiness) = (app(folder.path()).await, Readiness::new());
    assert_eq!(readiness.failing(&app).await, []);
    app.store.close().await;
    assert_eq!(readiness.failing(&app).await, [], "asked again at once, the database is not asked");
}
