//! The pages of the simulator where payers pay or refuse (`docs/interface/sandbox.md#payment-pages`).

use axum::body::Body;
use axum::http::Request;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use regente::http::rates::Rate;
use regente_engine::settings::Mode;
use serde_json::{Value, json};

use super::awaiting_nupay;
use crate::charges::pix::paid::agrees;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::payers::{PAID_AT, REFUSED_AT, nupay_body};
use crate::support::charges::{read, single_merchant};
use crate::support::client::Reply;
use crate::support::payers::{decides, notifications_arrive, nupay_page, path, requests};
use crate::support::read::{announced, text};
use crate::support::three_d_secure::{post_form, visit};
use crate::support::time::MINUTE;

stories! {
    the_page_shows_the_order_and_loads_nothing,
    the_page_speaks_the_language_of_the_browser,
    whoever_pays_is_led_back_and_the_charge_is_told,
    whoever_refuses_is_led_back_and_the_charge_is_told,
    a_second_click_changes_nothing,
    two_windows_decide_once,
    a_page_that_is_over_says_so,
    without_addresses_of_the_merchant_the_page_stays,
    a_lost_notification_is_found_by_a_probe,
    a_link_that_nobody_was_given_leads_nowhere,
    an_address_that_guesses_links_waits,
    the_pages_are_in_no_production,
}

fn html(reply: &Reply) -> String {
    String::from_utf8(reply.bytes.clone()).unwrap()
}

/// Where the page leads at once.
pub(crate) fn leads_to(reply: &Reply) -> Option<String> {
    let html = html(reply);
    let (_, rest) = html.split_once("content=\"0; url=")?;
    Some(rest.split_once('"').unwrap().0.replace("&amp;", "&"))
}

async fn the_page_shows_the_order_and_loads_nothing(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting_nupay(&app).await;
    let shown = visit(&app, path(nupay_page(&charge))).await;
    assert_eq!(shown.status, 200);
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(shown.header(name), Some(value));
    }
    let policy = shown.header("content-security-policy").unwrap();
    for part in [
        "default-src 'none'",
        "script-src 'none'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(part), "{part}: {policy}");
    }
    let html = html(&shown);
    for part in [
        "Loja &lt;João&gt;",
        "231",
        "1 × Shoe &lt;b&gt;",
        "2 × Sock",
        "R$\u{a0}1,50",
        "value=\"pay\"",
        "value=\"refuse\"",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    for outside in ["src=", "href=", "<script", "http:", "https:", "Jose"] {
        assert!(!html.contains(outside), "{outside}: {html}");
    }
    assert_eq!(read(&app, &charge).await, charge, "to look at it changes nothing");
}

async fn the_page_speaks_the_language_of_the_browser(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting_nupay(&app).await;
    for (accepted, tag, button) in [
        ("pt-BR", "pt-BR", "Pagar"),
        ("es-MX,en", "es", "Rechazar"),
        ("en-US", "en", "Refuse"),
        ("fr", "pt-BR", "Recusar"),
    ] {
        let request = Request::builder().uri(path(nupay_page(&charge))).header("Accept-Language", accepted);
        let shown = html(&app.send(request.body(Body::empty()).unwrap()).await);
        assert!(shown.contains(&format!("lang=\"{tag}\"")) && shown.contains(button), "{accepted}: {shown}");
    }
}

async fn whoever_pays_is_led_back_and_the_charge_is_told(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting_nupay(&app).await;
    let page = nupay_page(&charge);
    let done = decides(&app, page, "pay").await;
    assert_eq!((done.status.as_u16(), leads_to(&done).as_deref()), (200, Some(PAID_AT)));
    assert_eq!(read(&app, &charge).await, charge, "the provider tells, not the page");
    notifications_arrive(&app).await;
    let paid = read(&app, &charge).await;
    assert_eq!(paid["status"], "authorized", "{paid:#}");
    assert_eq!(announced(&app, text(&charge["id"])).await, ["pending", "authorized"]);
    agrees(&app, &paid).await;
    let shown = visit(&app, path(page)).await;
    assert_eq!(shown.status, 200);
    assert!(html(&shown).contains("Este pagamento já foi feito."), "{}", html(&shown));
    assert!(html(&shown).contains("href=\"https://shop.example/ok?order=1&amp;step=2\""));
    assert!(!html(&shown).contains("<button"));
}

async fn whoever_refuses_is_led_back_and_the_charge_is_told(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting_nupay(&app).await;
    let page = nupay_page(&charge);
    let done = decides(&app, page, "refuse").await;
    assert_eq!((done.status.as_u16(), leads_to(&done).as_deref()), (200, Some(REFUSED_AT)));
    notifications_arrive(&app).await;
    let canceled = read(&app, &charge).await;
    assert_eq!(canceled["status"], "canceled", "{canceled:#}");
    agrees(&app, &canceled).await;
    let shown = visit(&app, path(page)).await;
    assert_eq!(shown.status, 410);
    assert!(!html(&shown).contains("<button") && html(&shown).contains(REFUSED_AT), "{}", html(&shown));
    assert_eq!(decides(&app, page, "pay").await.status, 410);
    app.later(MINUTE).await;
    assert_eq!(read(&app, &charge).await, canceled);
}

async fn a_second_click_changes_nothing(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting_nupay(&app).await;
    let page = nupay_page(&charge);
    let (one, other) = tokio::join!(decides(&app, page, "pay"), decides(&app, page, "pay"));
    assert_eq!((leads_to(&one).as_deref(), leads_to(&other).as_deref()), (Some(PAID_AT), Some(PAID_AT)));
    notifications_arrive(&app).await;
    assert_eq!(leads_to(&decides(&app, page, "pay").await).as_deref(), Some(PAID_AT), "also when it is told");
    let late = decides(&app, page, "refuse").await;
    assert!(html(&late).contains("already done") && leads_to(&late).is_none(), "{}", html(&late));
    assert_eq!(decides(&app, page, "maybe").await.status, 200, "no decision: the page as it is");
    let paid = read(&app, &charge).await;
    assert_eq!(requests(&paid), [("authorization", "success", 150), ("pending", "success", 150)]);
    assert_eq!(app.books.effects().await.unwrap(), 1);
}

async fn two_windows_decide_once(app: TestApp) {
    let app = app.reachable().await;
    for _ in 0..8 {
        let charge = awaiting_nupay(&app).await;
        let page = nupay_page(&charge);
        let (pay, refuse) = tokio::join!(decides(&app, page, "pay"), decides(&app, page, "refuse"));
        let status = match (leads_to(&pay), leads_to(&refuse)) {
            (Some(_), None) => "authorized",
            (None, Some(_)) => "canceled",
            both => panic!("one of them decides: {both:?}"),
        };
        notifications_arrive(&app).await;
        let after = read(&app, &charge).await;
        assert_eq!((&after["status"], requests(&after).len()), (&json!(status), 2), "{after:#}");
    }
}

async fn a_page_that_is_over_says_so(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting_nupay(&app).await;
    let page = nupay_page(&charge);
    app.clock.advance(200 * MINUTE);
    assert_eq!(read(&app, &charge).await["status"], "pending", "the job has not run yet");
    for shown in [visit(&app, path(page)).await, decides(&app, page, "pay").await] {
        assert_eq!(shown.status, 410);
        assert!(html(&shown).contains("href=\"https://shop.example/no\""), "{}", html(&shown));
    }
    app.later(MINUTE).await;
    let canceled = read(&app, &charge).await;
    assert_eq!(canceled["status"], "canceled");
    agrees(&app, &canceled).await;
    assert_eq!(visit(&app, path(page)).await.status, 410);
}

async fn without_addresses_of_the_merchant_the_page_stays(app: TestApp) {
    let app = app.reachable().await;
    let mut body = nupay_body(&single_merchant(&app).await);
    body["paymentMethod"] = json!({ "paymentType": "nupay" });
    let charge = app.post("/v1/charges", &body).await.expect(201);
    let done = decides(&app, nupay_page(&charge), "refuse").await;
    assert_eq!(done.status, 200);
    assert!(
        html(&done).contains("The payment was refused.") && !html(&done).contains("<a "),
        "{}",
        html(&done)
    );
}

async fn a_lost_notification_is_found_by_a_probe(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting_nupay(&app).await;
    assert_eq!(decides(&app, nupay_page(&charge), "pay").await.status, 200);
    drop(app.wire.notices());
    app.later(10 * MINUTE).await;
    let paid = read(&app, &charge).await;
    assert_eq!(paid["status"], "authorized", "{paid:#}");
    agrees(&app, &paid).await;
}

async fn a_link_that_nobody_was_given_leads_nowhere(app: TestApp) {
    let app = app.reachable().await;
    let (one, other) = (awaiting_nupay(&app).await, awaiting_nupay(&app).await);
    let link = |charge: &Value| nupay_page(charge).rsplit_once('/').unwrap().1.to_owned();
    let bytes = |charge: &Value| URL_SAFE_NO_PAD.decode(link(charge)).unwrap();
    let (one_bytes, other_bytes) = (bytes(&one), bytes(&other));
    assert_eq!(one_bytes.len(), 48);
    let mut turned = one_bytes.clone();
    turned[47] ^= 1;
    for wrong in [
        [&one_bytes[..32], &other_bytes[32..]].concat(),
        [&one_bytes[..16], &other_bytes[16..32], &one_bytes[32..]].concat(),
        [&other_bytes[..16], &one_bytes[16..]].concat(),
        turned,
        [&one_bytes[..32], &[0; 16]].concat(),
        one_bytes[..47].to_vec(),
        Vec::new(),
    ] {
        let path = format!("/sandbox/payments/{}", URL_SAFE_NO_PAD.encode(wrong));
        assert_eq!(visit(&app, &path).await.status, 404, "{path}");
        assert_eq!(post_form(&app, &path, &[("decision", "pay".to_owned())]).await.status, 404, "{path}");
    }
    for charge in [&one, &other] {
        assert_eq!(&read(&app, charge).await, charge);
        assert_eq!(visit(&app, path(nupay_page(charge))).await.status, 200);
    }
}

async fn an_address_that_guesses_links_waits(app: TestApp) {
    let app = app.with_limits(|limits| limits.rates.failed_authentications = Rate::per_minute(5)).await;
    let app = app.reachable().await;
    let charge = awaiting_nupay(&app).await;
    for _ in 0..20 {
        let shown = visit(&app, path(nupay_page(&charge))).await;
        assert_eq!(shown.status, 200, "what exists may be asked for often");
    }
    let mut statuses = Vec::new();
    for _ in 0..100 {
        statuses.push(visit(&app, "/sandbox/payments/guess").await.status.as_u16());
        if statuses.ends_with(&[429]) {
            break;
        }
    }
    assert!(statuses.len() > 5 && statuses.ends_with(&[404, 429]), "{statuses:?}");
    assert_eq!(visit(&app, path(nupay_page(&charge))).await.header("retry-after"), Some("60"));
}

async fn the_pages_are_in_no_production(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting_nupay(&app).await;
    let app = app.with_settings(|settings| settings.mode = Mode::Production).await;
    assert_eq!(visit(&app, path(nupay_page(&charge))).await.status, 404);
    assert_eq!(decides(&app, nupay_page(&charge), "pay").await.status, 404);
}
