//! How often and how much an address may ask with keys and links that stand in pages.

use std::io::Read as _;
use std::net::SocketAddr;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{Method, Request};
use axum::response::Response;
use axum::routing::get;
use flate2::read::GzDecoder;
use regente::api::router::{Pages, router_with};
use regente::http::peer::Proxies;
use regente::http::rates::Rate;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::{key, page, path, says, session};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::client::{Client, Reply, request};
use crate::support::sessions;
use crate::support::sessions::by_card;

stories! {
    a_public_key_is_used_so_often_from_one_address,
    whoever_has_no_key_comes_by_one_door,
    a_page_loads_its_files_within_the_rate,
    a_person_reads_that_the_service_is_busy,
    a_page_shows_the_first_items,
    a_session_of_many_items_can_be_paid_at_its_page,
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

/// What a browser at this address asks for without a key.
fn asking(method: Method, address: &str, path: &str, headers: &[(&str, &str)]) -> Request<Body> {
    let asking = Request::builder().method(method).uri(path).header("X-Forwarded-For", address);
    let asking = headers.iter().fold(asking, |asking, (name, value)| asking.header(*name, *value));
    asking.body(Body::empty()).unwrap()
}

async fn whoever_has_no_key_comes_by_one_door(app: TestApp) {
    let app = limited(app).await;
    // As `regente dev` has its shop.
    let routes = Router::new().route("/shop", get(async || "goods"));
    let pages = Pages { routes, start: "/shop", ..Pages::default() };
    let router = router_with(app.app.clone(), pages);
    let send = async |request: Request<Body>| {
        let (parts, body) = router.clone().oneshot(request).await.unwrap().into_parts();
        (parts.status.as_u16(), parts.headers, to_bytes(body, usize::MAX).await.unwrap())
    };
    let session = session(&app, json!({})).await;
    let returned = format!("{}/returned", path(&session));
    let nobody = "0198f0c0-0000-7000-8000-000000000000";
    let back = format!("/v1/charges/{nobody}/3ds-authorization?clientId={nobody}&hash=x");
    let (get, post) = (Method::GET, Method::POST);
    let (page, file) = (3, 30);
    let doors = [
        (page, &get, &*path(&session)),
        (page, &get, &*returned),
        (page, &post, &*returned),
        (page, &get, &*back),
        (page, &post, &*back),
        (page, &get, "/3ds/collect"),
        (page, &post, "/3ds/step-up"),
        (page, &get, "/sandbox/payments/link"),
        (page, &post, "/sandbox/payments/link"),
        (page, &get, "/registration-reviews/link"),
        (page, &post, "/registration-reviews/link"),
        (page, &get, "/qr/link.png"),
        (page, &get, "/boleto/link.pdf"),
        (page, &get, "/v1/settings/assets/logo.png"),
        (page, &get, "/openapi.json"),
        (page, &get, "/docs/"),
        (page, &get, "/shop"),
        (file, &get, "/"),
        (file, &get, "/fields/"),
        (file, &get, "/js/manifest.json"),
        (file, &get, "/js/v2.1.0/regente.js"),
    ];
    for (n, (times, method, path)) in doors.into_iter().enumerate() {
        let address = format!("192.0.2.{n}");
        let ask = async |headers: &[_]| send(asking(method.clone(), &address, path, headers)).await;
        for _ in 0..times {
            let (status, ..) = ask(&[]).await;
            assert_ne!(status, 429, "{path}");
        }
        let (status, headers, body) = ask(&[("Accept", "*/*")]).await;
        assert_eq!(status, 429, "{method} {path}");
        // The machine's time goes on while the story asks.
        let retry_after: u64 = headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=if times == page { 20 } else { 2 }).contains(&retry_after), "{path}: {retry_after}");
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["error"]["message"], "Too many requests", "{path}");
        for (language, text) in
            [("pt-BR", "Espere um pouco"), ("en-US", "Wait a little"), ("es", "Espere un poco")]
        {
            let browser = [("Accept", "text/html,*/*;q=0.8"), ("Accept-Language", language)];
            let (status, headers, body) = ask(&browser).await;
            assert_eq!(status, 429, "{path}");
            assert_eq!(headers["content-type"], "text/html; charset=utf-8", "{path}");
            assert!(headers["content-security-policy"].to_str().unwrap().starts_with("default-src 'none'"));
            assert!(headers.contains_key("retry-after"), "{path}");
            assert!(String::from_utf8_lossy(&body).contains(text), "{path}: {body:?}");
            let (_, headers, squeezed) = ask(&[browser[0], browser[1], ("Accept-Encoding", "gzip")]).await;
            assert_eq!(headers["content-encoding"], "gzip");
            let mut bytes = Vec::new();
            GzDecoder::new(&*squeezed).read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes, body);
        }
        let english = format!("{}{}lang=en", path, if path.contains('?') { '&' } else { '?' });
        let asked = [("Accept", "text/html"), ("Accept-Language", "pt")];
        let (_, _, body) = send(asking(method.clone(), &address, &english, &asked)).await;
        assert!(String::from_utf8_lossy(&body).contains("Wait a little"), "{path}");
    }
    // A page and its files are counted apart, and other addresses go on.
    let (status, ..) = send(asking(Method::GET, "192.0.2.0", "/fields/", &[])).await;
    assert_eq!(status, 200);
    let (status, ..) = send(asking(Method::GET, "192.0.2.200", &path(&session), &[])).await;
    assert_eq!(status, 200);
}

async fn a_page_loads_its_files_within_the_rate(app: TestApp) {
    let app = limited(app).await;
    let session = session(&app, json!({})).await;
    let load = async |path: &str| app.send(asking(Method::GET, "192.0.2.1", path, &[])).await;
    let fields = String::from_utf8(load("/fields/").await.bytes.to_vec()).unwrap();
    let script = fields.split("src=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    for _ in 0..3 {
        // Number, name, date and code of a card have a frame each.
        for path in [&*path(&session), "/fields/", "/fields/", "/fields/", "/fields/", script] {
            assert_eq!(load(path).await.status, 200, "{path}");
        }
    }
}

async fn a_person_reads_that_the_service_is_busy(app: TestApp) {
    let app = app.with_limits(|limits| limits.body_budget_bytes = 1024).await;
    let body = vec![b'a'; 256 * 1024];
    let answer = async |accept: &str| {
        let mut asking = asking(Method::POST, "192.0.2.1", "/3ds/step-up", &[("Accept", accept)]);
        *asking.body_mut() = Body::from(body.clone());
        let answer = app.send(asking).await;
        assert_eq!((answer.status.as_u16(), answer.header("retry-after")), (503, Some("1")), "{answer:?}");
        answer
    };
    says(&answer("text/html").await, 503, "Espere um pouco");
    assert_eq!(answer("application/json").await.expect(503)["error"]["message"], "Service unavailable");
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
    assert!(body.contains("Meia 60."), "the risk analysis is told more of them");
}

async fn a_session_of_many_items_can_be_paid_at_its_page(app: TestApp) {
    let item =
        |n| json!({ "name": format!("Meia {n} {}", "x".repeat(200)), "unitPrice": 100, "quantity": 1 });
    let items: Vec<Value> = (1..=1000).map(item).collect();
    let session = session(&app, json!({ "items": items })).await;
    let page = page(&app, &path(&session), "en").await;
    says(&page, 200, "Items (1000)");
    let html = String::from_utf8_lossy(&page.bytes);
    let data = html.split("<script type=\"application/json\"").nth(1).unwrap();
    let data = data.split_once('>').unwrap().1.split("</script>").next().unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    let told = data["items"].as_array().unwrap().len();
    assert!((50..1000).contains(&told), "{told} items");
    // As the script of the page sends it.
    let mut charge = by_card(APPROVED);
    charge["fraudAnalysis"] = json!({
        "customer": { "name": "Ana", "email": "ana@example.com", "phone": "5511999998888", "identity": "52998224725",
            "identityType": "CPF" },
        "cart": { "items": data["items"] },
    });
    let paid = sessions::pay(&app, &session, &charge).await.expect(201);
    let cart = &paid["fraudAnalysisMetadata"]["cart"]["items"];
    assert_eq!(cart.as_array().unwrap().len(), told);
    assert_eq!(
        (&cart[0]["sku"], &cart[0]["risk"], &cart[0]["unitPrice"]),
        (&session["items"][0]["name"], &json!("Low"), &json!(100))
    );
}

async fn an_address_listens_to_so_many_payments(app: TestApp) {
    let session = session(&app, json!({})).await;
    let caller = key(&app, &session);
    let listen = format!("{}/events", path(&session));
    let (one, other) = ([10, 1, 0, 1], [10, 1, 0, 2]);
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
