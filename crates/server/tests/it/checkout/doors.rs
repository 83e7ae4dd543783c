//! How often and how much an address may ask with keys and links that stand in pages.

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Method, Request};
use axum::response::Response;
use regente::http::peer::Proxies;
use regente::http::rates::Rate;
use regente_store::DatabaseKind;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::{key, page, path, says, session};
use crate::harness::{Client, Reply, TestApp, request, stories};

stories! {
    a_public_key_is_used_so_often_from_one_address,
    an_address_opens_so_many_pages,
    a_page_shows_the_first_items,
    an_address_listens_to_so_many_payments,
}

/// Three requests a minute.
async fn limited(app: TestApp) -> TestApp {
    app.with_limits(|limits| {
        limits.rates.page_requests = Rate::per_minute(3);
        limits.proxies = Proxies::new(vec!["127.0.0.1/32".parse().unwrap()]);
    })
    .await
}

/// A request from this address.
async fn read(app: &TestApp, caller: &Client, address: &str, path: &str) -> Reply {
    app.call(caller, Method::GET, path, &[("X-Forwarded-For", address)], None).await
}

async fn a_public_key_is_used_so_often_from_one_address(app: TestApp) {
    let app = limited(app).await;
    let (one, other) = (session(&app, json!({})).await, session(&app, json!({})).await);
    let record = |session: &Value| format!("/v1/sessions/{}", session["id"].as_str().unwrap());
    let token = app.client_token(json!(["sessions"])).await;
    for caller in [&key(&app, &one), &token] {
        for _ in 0..3 {
            read(&app, caller, "192.0.2.1", &record(&one)).await.expect(200);
        }
        for path in [record(&one), format!("{}/status", path(&one))] {
            let refused = read(&app, caller, "192.0.2.1", &path).await;
            assert_eq!(refused.status, 429, "{path}");
            assert_eq!(refused.header("retry-after"), Some("20"));
        }
        read(&app, caller, "192.0.2.2", &record(&one)).await.expect(200);
    }
    read(&app, &key(&app, &other), "192.0.2.1", &record(&other)).await.expect(200);
    for _ in 0..9 {
        read(&app, &app.client, "192.0.2.1", &record(&one)).await.expect(200);
    }
    app.clock.advance_machine(std::time::Duration::from_secs(60));
    read(&app, &key(&app, &one), "192.0.2.1", &record(&one)).await.expect(200);
}

async fn an_address_opens_so_many_pages(app: TestApp) {
    let app = limited(app).await;
    let session = session(&app, json!({})).await;
    for _ in 0..3 {
        says(&page(&app, &path(&session), "en").await, 200, "Pedido 77");
    }
    let busy = page(&app, &path(&session), "en").await;
    says(&busy, 429, "<html");
    assert_eq!(busy.header("retry-after"), Some("20"));
    // Documents have the same limit.
    assert_eq!(page(&app, "/qr/unknown.png", "en").await.status, 429);
    let mut asking =
        request(&app.client, Method::GET, &path(&session), &[("X-Forwarded-For", "192.0.2.2")], None);
    asking.headers_mut().remove("x-api-key");
    assert_eq!(app.send(asking).await.status, 200, "another address");
}

async fn a_page_shows_the_first_items(app: TestApp) {
    let item = |n| json!({ "name": format!("Meia {n}."), "unitPrice": 100, "quantity": 1 });
    let items: Vec<Value> = (1..=60).map(item).collect();
    let session = session(&app, json!({ "items": items })).await;
    let page = page(&app, &path(&session), "pt-BR").await;
    for shown in ["Itens (60)", "1 × Meia 50.", "+ 10 outros itens"] {
        says(&page, 200, shown);
    }
    let body = String::from_utf8_lossy(&page.bytes);
    assert!(!body.contains("1 × Meia 51."), "{body}");
    assert!(body.contains("Meia 60."), "the risk analysis is told all of them");
}

async fn an_address_listens_to_so_many_payments(app: TestApp) {
    let session = session(&app, json!({})).await;
    let caller = key(&app, &session);
    let listen = format!("{}/events", path(&session));
    // All stories of a process share its streams.
    let (one, other) = match app.app.store.database_kind() {
        DatabaseKind::Sqlite => ([10, 1, 0, 1], [10, 1, 0, 2]),
        DatabaseKind::Postgres => ([10, 2, 0, 1], [10, 2, 0, 2]),
    };
    let open = async |address: [u8; 4]| -> Response {
        let mut asking: Request<Body> = request(&caller, Method::GET, &listen, &[], None);
        asking.extensions_mut().insert(ConnectInfo(SocketAddr::from((address, 50_000))));
        app.router.clone().oneshot(asking).await.unwrap()
    };
    let mut streams = Vec::new();
    for _ in 0..100 {
        let stream = open(one).await;
        assert_eq!(stream.status(), 200);
        streams.push(stream);
    }
    let refused = open(one).await;
    assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (503, &"10".parse().unwrap()));
    assert_eq!(open(other).await.status(), 200, "another address");
    streams.pop();
    assert_eq!(open(one).await.status(), 200, "a place is free again");
}
