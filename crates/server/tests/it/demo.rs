//! The shop at `/demo` of `regente dev`. `browsers.rs` buys something in it.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::server::Server;

#[tokio::test]
async fn the_shop_is_no_part_of_the_interface() {
    let app = TestApp::sqlite().await;
    for path in ["/demo", "/demo/events"] {
        assert_eq!(app.send(Request::builder().uri(path).body(Body::empty()).unwrap()).await.status, 404);
    }
}

#[tokio::test]
async fn the_shop_shows_its_goods_and_loads_nothing_from_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let shop = format!("{}/demo", server.value("REGENTE_URL"));
    assert!(server.introduction.contains(&shop));
    let led = server.get("/").header("Accept", "text/html").send().await.unwrap();
    assert_eq!(led.url().as_str(), shop, "a browser at the root is led to the shop");
    for (language, text) in [("pt-BR,pt;q=0.9", "Comprar"), ("en-US", "Buy"), ("ja", "Buy")] {
        let page = server.get("/demo").header("Accept-Language", language).send().await.unwrap();
        assert_eq!(page.status(), 200);
        let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(
            policy.starts_with("default-src 'none'; style-src 'sha256-") && !policy.contains("unsafe"),
            "{policy}"
        );
        let html = page.text().await.unwrap();
        assert!(html.contains(text) && html.contains("4916 7451 2029 4124"), "{html}");
        assert!(!html.contains("http:") && !html.contains("https:") && !html.contains(" style="), "{html}");
    }
    // A name that another site leads here, and a page of another site.
    for (header, value) in [("Host", "shop.example"), ("Origin", "https://shop.example")] {
        let strange = server.get("/demo/events").header(header, value).send().await.unwrap();
        assert_eq!(strange.status(), 403, "{header}");
    }
    let events = server.get("/demo/events").send().await.unwrap();
    assert_eq!(events.json::<Value>().await.unwrap(), json!([]));
    assert_eq!(server.get("/demo/events?after=x").send().await.unwrap().status(), 400);
    let order = reqwest::Client::new().post(format!("{}/demo/orders", server.value("REGENTE_URL")));
    assert_eq!(order.body("product=gold").send().await.unwrap().status(), 404);
    server.stop().await;
}
