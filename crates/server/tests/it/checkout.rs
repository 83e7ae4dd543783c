//! The page of a session as the server makes it; what a browser does with it is in `browsers.rs`.

mod amounts;
mod colours;
mod doors;
mod human;
mod texts;

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, token_body};
use crate::support::client::{Client, Reply, request};
use crate::support::sessions;
use crate::support::sessions::{by_card, by_pix};

stories! {
    a_page_says_whether_its_session_can_be_paid,
    a_page_runs_the_published_script_and_nothing_else,
    a_page_is_told_of_its_own_charge_and_of_no_other,
    a_page_hears_at_once_that_a_pix_was_paid,
}

async fn session(app: &TestApp, more: Value) -> Value {
    let mut body = json!({
        "name": "Pedido 77", "merchantId": app.merchant().await, "amount": 123456,
        "paymentMethods": [
            { "paymentType": "credit", "installments": 3 }, { "paymentType": "pix", "expiresIn": 3600 },
        ],
        "items": [{ "name": "</script><b>Meia", "unitPrice": 123456, "quantity": 1 }],
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    app.post("/v1/sessions", &body).await.expect(200)
}

/// A deployment whose simulator answers however busy the machine is: what is not answered is paid later.
async fn patient(app: TestApp) -> TestApp {
    app.with_sandbox_deadline(Duration::from_secs(10)).await
}

/// The key of a session, as the page has it.
fn key(app: &TestApp, session: &Value) -> Client {
    Client { id: app.client.id.clone(), key: session["publicKey"].as_str().unwrap().to_owned() }
}

fn path(session: &Value) -> String {
    format!("/pay/{}", session["id"].as_str().unwrap())
}

/// The page for a browser with this language.
async fn page(app: &TestApp, path: &str, language: &str) -> Reply {
    let mut asking = request(&app.client, Method::GET, path, &[("Accept-Language", language)], None);
    asking.headers_mut().remove("x-api-key");
    asking.headers_mut().remove("x-client-id");
    app.send(asking).await
}

#[track_caller]
fn says(reply: &Reply, status: u16, text: &str) {
    let body = String::from_utf8_lossy(&reply.bytes);
    assert_eq!(reply.status.as_u16(), status, "{body}");
    assert!(body.contains(text), "{text:?} is not in {body}");
}

async fn a_page_says_whether_its_session_can_be_paid(app: TestApp) {
    let app = patient(app).await;
    let due = session(&app, json!({ "dueDate": "2026-03-24" })).await;
    says(&page(&app, &path(&due), "pt-BR,pt;q=0.9").await, 200, "R$\u{a0}1.234,56");
    says(&page(&app, &path(&due), "en-US").await, 200, "Pay");
    says(&page(&app, &format!("{}?lang=es", path(&due)), "en-US").await, 200, "Forma de pago");
    let open = page(&app, &path(&due), "en").await;
    says(&open, 200, "&#60;/script&#62;&#60;b&#62;Meia");
    says(&open, 200, due["publicKey"].as_str().unwrap());

    let canceled = session(&app, json!({})).await;
    let cancel = format!("/v1/sessions/{}/cancel", canceled["id"].as_str().unwrap());
    app.post(&cancel, &json!({})).await.expect(201);
    says(&page(&app, &path(&canceled), "en").await, 410, "This order was cancelled");

    let off = session(&app, json!({})).await;
    let of_off = format!("/v1/sessions/{}", off["id"].as_str().unwrap());
    app.patch(&of_off, &json!({ "isActive": false })).await.expect(200);
    says(&page(&app, &path(&off), "en").await, 410, "This link is not available");

    // Who has instructions may follow them, since what they pay counts; the script leads everybody else to the other page.
    let instructed = session(&app, json!({})).await;
    sessions::pay(&app, &instructed, &by_pix()).await.expect(201);
    says(&page(&app, &path(&instructed), "en").await, 200, r#""beginsPayments":true"#);
    let of_instructed = format!("/v1/sessions/{}", instructed["id"].as_str().unwrap());
    app.patch(&of_instructed, &json!({ "isActive": false })).await.expect(200);
    says(&page(&app, &path(&instructed), "en").await, 200, r#""beginsPayments":false"#);
    let ended = format!("{}?lang=en&ended=1", path(&instructed));
    says(&page(&app, &ended, "pt").await, 410, "This link is not available");
    app.later(Duration::from_secs(2 * 3600)).await;
    says(&page(&app, &path(&instructed), "en").await, 410, "This link is not available");
    app.patch(&of_instructed, &json!({ "isActive": true })).await.expect(200);
    says(&page(&app, &ended, "pt").await, 200, "Pay");

    let free = session(&app, json!({ "amount": 0 })).await;
    says(&page(&app, &path(&free), "en").await, 410, "This link is not available");

    let limit =
        json!({ "maxPayments": 2, "paymentMethods": [{ "paymentType": "credit", "installments": 1 }] });
    let limited = session(&app, limit).await;
    for _ in 0..2 {
        sessions::pay(&app, &limited, &by_card(APPROVED)).await.expect(201);
    }
    says(&page(&app, &path(&limited), "en").await, 200, "already paid");

    let paid = session(&app, json!({})).await;
    charge_by_card(&app, &paid).await;
    says(&page(&app, &path(&paid), "pt").await, 200, "Este pedido já foi pago");
    assert!(!String::from_utf8_lossy(&page(&app, &path(&paid), "pt").await.bytes).contains("<script"));

    app.later(Duration::from_secs(3 * 24 * 3600)).await;
    says(&page(&app, &path(&due), "pt").await, 410, "Este link expirou");
    let nobodys = "/pay/0198f0c0-0000-7000-8000-000000000000";
    says(&page(&app, nobodys, "es").await, 404, "Página no encontrada");
    says(&page(&app, "/pay/nothing", "es").await, 404, "Página no encontrada");
}

async fn charge_by_card(app: &TestApp, session: &Value) -> Value {
    let buyer = key(app, session);
    let token = app.call(&buyer, Method::POST, "/v1/sessions/tokens", &[], Some(&token_body(APPROVED))).await;
    let body = json!({
        "paymentMethod": { "paymentType": "credit", "installments": 1 },
        "paymentSource": { "sourceType": "token", "tokenId": token.expect(201)["tokenId"] },
    });
    pay(app, session, "card", &body).await
}

async fn charge_by_pix(app: &TestApp, session: &Value, idempotency_key: &str) -> Value {
    let body = json!({
        "paymentMethod": { "paymentType": "pix" },
        "paymentSource": { "sourceType": "customer", "customer": {
            "name": "Ana Souza", "email": "ana@example.com", "phoneNumber": "21988899909",
            "document": { "type": "cpf", "number": "72912053013" },
        } },
    });
    pay(app, session, idempotency_key, &body).await
}

async fn pay(app: &TestApp, session: &Value, idempotency_key: &str, body: &Value) -> Value {
    let path = format!("/v1/sessions/{}/charge", session["id"].as_str().unwrap());
    let headers = [("X-Idempotency-Key", idempotency_key)];
    app.call(&key(app, session), Method::POST, &path, &headers, Some(body)).await.expect(201)
}

async fn a_page_runs_the_published_script_and_nothing_else(app: TestApp) {
    let session = session(&app, json!({})).await;
    let reply = page(&app, &path(&session), "en").await;
    let policy = reply.header("content-security-policy").expect("a policy").to_owned();
    let rules: Vec<&str> = policy.split(';').map(str::trim).collect();
    for rule in [
        "default-src 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "connect-src 'self'",
        "form-action 'self'",
    ] {
        assert!(rules.contains(&rule), "{rule} is not in {policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));

    let list = app.get("/js/manifest.json").await.expect(200);
    let listed = list["scripts"].as_array().unwrap();
    let entry = listed.iter().find(|entry| entry["path"].as_str().unwrap().starts_with("/pay/assets/"));
    let entry = entry.expect("the script of the page is in the list");
    let hash = entry["integrity"].as_str().unwrap();
    assert!(rules.contains(&format!("script-src '{hash}'").as_str()), "{policy}");
    let published = app.get(entry["path"].as_str().unwrap()).await;
    let html = String::from_utf8_lossy(&reply.bytes).into_owned();
    assert!(html.contains(&*String::from_utf8_lossy(&published.bytes)), "the page runs what is published");
    assert_eq!(html.matches("<script").count(), 2, "data, and the script");
}

async fn a_page_is_told_of_its_own_charge_and_of_no_other(app: TestApp) {
    let app = patient(app).await;
    let (mine, others) =
        (session(&app, json!({ "maxPayments": null })).await, session(&app, json!({})).await);
    let (charge, foreign) =
        (charge_by_pix(&app, &mine, "my-key").await, charge_by_pix(&app, &others, "my-key").await);
    let buyer = key(&app, &mine);
    let status = |query: String| format!("{}/status{query}", path(&mine));
    let ask = async |path: String, headers: &[(&str, &str)]| {
        app.call(&buyer, Method::GET, &path, headers, None).await
    };

    let told = ask(status(String::new()), &[]).await.expect(200);
    assert_eq!(
        told,
        json!({ "session": { "status": "created", "payable": true }, "charge": null, "underpaid": false })
    );
    let by_id = ask(status(format!("?charge={}", charge["id"].as_str().unwrap())), &[]).await.expect(200);
    assert_eq!(by_id["charge"], charge);
    // The answer to the charge was lost: its key is all that the page has.
    let by_key = ask(status(String::new()), &[("X-Idempotency-Key", "my-key")]).await.expect(200);
    assert_eq!(by_key["charge"], charge);
    let unknown_key = ask(status(String::new()), &[("X-Idempotency-Key", "another")]).await.expect(200);
    assert_eq!(unknown_key["charge"], Value::Null);
    let of_another =
        ask(status(format!("?charge={}", foreign["id"].as_str().unwrap())), &[]).await.expect(200);
    assert_eq!(of_another["charge"], Value::Null, "of another session");
    for what in ["status", "events"] {
        let path = format!("{}/{what}", path(&others));
        assert_eq!(ask(path, &[]).await.status, 404, "the key of another session");
    }
    let stranger = app.another_client().await;
    assert_eq!(app.call(&stranger, Method::GET, &status(String::new()), &[], None).await.status, 404);
    let token = app.client_token(json!(["charges"])).await;
    assert_eq!(app.call(&token, Method::GET, &status(String::new()), &[], None).await.status, 403);
    assert_eq!(page(&app, &status(String::new()), "en").await.status, 401);
}

async fn a_page_hears_at_once_that_a_pix_was_paid(app: TestApp) {
    let app = patient(app).await;
    let session = session(&app, json!({})).await;
    let charge = charge_by_pix(&app, &session, "key").await;
    let id = charge["id"].as_str().unwrap();
    let listen = format!("{}/events?charge={id}", path(&session));
    let listening = app.begin(request(&key(&app, &session), Method::GET, &listen, &[], None));
    // The stream ends with the payment.
    app.post(&format!("/v1/charges/{id}"), &json!({ "status": "authorized" })).await.expect(200);
    app.run_jobs().await;
    let heard = listening.await.unwrap();
    assert_eq!(heard.header("content-type"), Some("text/event-stream"));
    let text = String::from_utf8(heard.bytes).unwrap();
    let last = text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back().expect("an event");
    let last: Value = serde_json::from_str(last).unwrap();
    assert_eq!(last["charge"]["status"], "authorized");
}
