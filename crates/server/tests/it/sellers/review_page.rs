//! The page at which a seller answers a review itself.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request};
use regente::http::rates::Rate;
use regente_store::audit;
use serde_json::json;

use super::documents::kept;
use crate::support::app::{ADDRESS, TestApp, stories};
use crate::support::charges::single_merchant;
use crate::support::client::Reply;
use crate::support::documents::{ask, pix};
use crate::support::forms::{Form, png};
use crate::support::read::text;
use crate::support::reviews::{answered, now, opened};
use crate::support::sellers::{DOCUMENTS, company_body, made, read, selfie};

stories! {
    a_seller_answers_at_its_page,
    a_seller_sees_the_logo_of_its_merchant,
    files_are_kept_with_an_answer_that_is_right,
    files_of_every_kind_come_in_one_form,
    a_review_takes_so_many_answers_a_minute,
    uploads_hold_up_no_document,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The page behind a link, as a browser gets it.
async fn page(app: &TestApp, link: &str, language: &str, form: Option<&Form>) -> (u16, String, Reply) {
    let uri = link.strip_prefix(ADDRESS).unwrap();
    let request = Request::builder().uri(uri).header("Accept-Language", language);
    let request = match form {
        None => request.method(Method::GET).body(Body::empty()),
        Some(form) => {
            request.method(Method::POST).header("Content-Type", Form::KIND).body(Body::from(form.bytes()))
        }
    };
    let reply = app.send(request.unwrap()).await;
    (reply.status.as_u16(), String::from_utf8(reply.bytes.clone()).unwrap(), reply)
}

async fn a_seller_sees_the_logo_of_its_merchant(app: TestApp) {
    let app = app.reachable().await;
    let merchant = single_merchant(&app).await;
    app.patch(&format!("/v1/merchants/{merchant}"), &json!({ "merchantName": "Feira & Filhos" }))
        .await
        .expect(200);
    let looks = Form::of(&[("backgroundColor", "#FDF6E3")]).with_logo(&png());
    let settings = app.send(looks.request(&app.client, Method::POST, Some(&merchant))).await.expect(201);
    let logo = text(&settings["logo"]);
    let seller = made(&app, &company_body(&merchant)).await;
    let review = opened(&app, &seller, &["owner.phoneNumber"], 10).await;
    let (status, html, reply) = page(&app, text(&review["answerLink"]), "en", None).await;
    assert_eq!(status, 200);
    let picture = format!("<img class=\"logo\" src=\"{logo}\" alt=\"Feira &amp; Filhos\">");
    assert!(html.contains(&picture), "{picture} in {html}");
    assert!(html.contains("background:#FDF6E3}"), "it stands on what it was drawn for: {html}");
    let policy = reply.header("content-security-policy").unwrap();
    assert!(policy.contains(&format!("img-src {ADDRESS};")), "{policy}");
    // Nobody else may be asked for a picture where there is none.
    let plain = made(&app, &company_body(&single_merchant(&app).await)).await;
    let other = opened(&app, &plain, &["owner.phoneNumber"], 10).await;
    let (_, html, reply) = page(&app, text(&other["answerLink"]), "en", None).await;
    assert!(!html.contains("<img") && !reply.header("content-security-policy").unwrap().contains("img-src"));
}

async fn a_seller_answers_at_its_page(app: TestApp) {
    let app = app.reachable().await;
    let merchant = single_merchant(&app).await;
    app.patch(&format!("/v1/merchants/{merchant}"), &json!({ "merchantName": "Feira & Filhos" }))
        .await
        .expect(200);
    let seller = made(&app, &company_body(&merchant)).await;
    let fields = [
        "owner.phoneNumber",
        "owner.birthdate",
        "owner.monthlyIncome",
        "owner.isBusinessRepresentative",
        "bankAccount.type",
        "documents.SELFIE",
    ];
    let review = opened(&app, &seller, &fields, 10).await;
    let link = text(&review["answerLink"]).to_owned();
    for (language, title) in [
        ("pt-BR", "Confirmação de cadastro"),
        ("en", "Confirm your registration"),
        ("es", "Confirmación de registro"),
        ("de", "Confirmação de cadastro"),
    ] {
        let (status, html, reply) = page(&app, &link, language, None).await;
        assert_eq!(status, 200);
        assert!(html.contains(&format!("<h1>{title}</h1>")), "{html}");
        for name in fields {
            assert!(html.contains(&format!("<label for=\"{name}\">")), "{name} in {html}");
        }
        // Who asks: the merchant, and its provider.
        assert!(
            html.contains("<strong>Only</strong>") && html.contains("<strong>Feira &amp; Filhos</strong>"),
            "{html}"
        );
        // Nothing that is known of the seller, and nothing from outside.
        for known in ["Rita", "21988899909", "1995", "21000", "http:", "https:", "<script"] {
            assert!(!html.contains(known), "{known} in {html}");
        }
        let policy = reply.header("content-security-policy").unwrap();
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    }
    let sent =
        |texts: &[(&str, &str)], file: &[u8]| Form::of(texts).with_upload("documents.SELFIE", "me.png", file);
    let good = [
        ("owner.phoneNumber", "21977777777"),
        ("owner.birthdate", "1990-02-28"),
        ("owner.monthlyIncome", "2100,50"),
        ("owner.isBusinessRepresentative", "false"),
        ("bankAccount.type", "conta_poupanca"),
        ("declaration", "true"),
        ("owner.name", "not asked for"),
    ];
    let (status, html, _) = page(&app, &link, "en", Some(&sent(&good[..5], &png().bytes))).await;
    assert!(status == 400 && html.contains("Tick the declaration."), "{html}");
    for kept in
        ["value=\"21977777777\"", "value=\"1990-02-28\"", "<option value=\"conta_poupanca\" selected>"]
    {
        assert!(html.contains(kept), "{kept} in {html}");
    }
    let wrong =
        [("owner.phoneNumber", "<b>me</b>"), ("owner.monthlyIncome", "much"), ("declaration", "true")];
    let (status, html, _) =
        page(&app, &link, "en", Some(&sent(&wrong, b"MZ\x90\0\x03\0\0\0\x04\0\0\0"))).await;
    assert_eq!(status, 400);
    let faults =
        ["Date of birth", "Monthly income", "Legal representative", "Kind of account", "Photo of the person"];
    for fault in faults {
        assert!(html.contains(&format!("\">{fault}</a> is not right or missing")), "{fault} in {html}");
    }
    // What was typed is kept, as text, beside the format that each field has.
    assert!(!html.contains("<b>") && html.contains("value=\"&lt;b&gt;me&lt;/b&gt;\""), "{html}");
    assert!(html.contains("value=\"much\"") && html.contains("such as 2100.50."), "{html}");
    assert!(html.contains("aria-describedby=\"owner.monthlyIncome-hint\""), "{html}");
    assert!(html.contains("Choose the file again: a picture or a PDF of at most 3 MB."), "{html}");
    assert_eq!(app.get(DOCUMENTS).await.expect(200)["meta"]["totalItems"], 0);

    // Some mean 21000 by it, others 21.
    let mut unclear = good;
    unclear[2].1 = "21.000";
    let (status, html, _) = page(&app, &link, "en", Some(&sent(&unclear, &png().bytes))).await;
    assert!(status == 400 && html.contains("\">Monthly income</a> is not right"), "{html}");
    let (status, html, _) = page(&app, &link, "en", Some(&sent(&good, &png().bytes))).await;
    assert!(status == 200 && html.contains("Thank you."), "{html}");
    let (status, html, _) = page(&app, &link, "en", Some(&sent(&good, &png().bytes))).await;
    assert!(status == 410 && html.contains("is being checked"), "{html}");
    app.run_jobs().await;
    let after = read(&app, &seller).await;
    assert_eq!(
        (&after["owner"]["phoneNumber"], &after["owner"]["birthdate"], &after["owner"]["monthlyIncome"]),
        (&json!("21977777777"), &json!("1990-02-28T00:00:00.000Z"), &json!(2100.5))
    );
    assert_eq!(after["owner"]["isBusinessRepresentative"], false);
    assert_eq!(
        (&after["bankAccount"]["type"], &after["owner"]["name"]),
        (&json!("conta_poupanca"), &json!("Rita Lima"))
    );
    let (status, html, _) = page(&app, &link, "en", None).await;
    assert!(status == 410 && html.contains("Your registration is confirmed."), "{html}");

    // The answer is in the audit trail, without a key.
    let id = text(&review["id"]).parse().unwrap();
    let entries = audit::of_object(&app.app.store, app.client_id(), id, 10).await.unwrap();
    let answer = entries.iter().find(|entry| entry.action == "registration_review.answered").unwrap();
    assert_eq!(answer.actor, "job:registration_review_page");
    assert!(answer.request_id.is_some());

    // A link of another attempt, one that is changed, and one that is over.
    let review = opened(&app, &seller, &["owner.phoneNumber"], 1).await;
    let first = text(&review["answerLink"]).to_owned();
    answered(&app, &review, &json!({ "owner.phoneNumber": "REFUSED ONCE" })).await;
    app.run_jobs().await;
    let second = text(&now(&app, &review).await["answerLink"]).to_owned();
    let forged = format!("{}{}", &second[..second.len() - 1], if second.ends_with('A') { 'B' } else { 'A' });
    for (link, status) in [(&first, 404), (&second, 200), (&forged, 404)] {
        assert_eq!(page(&app, link, "en", None).await.0, status, "{link}");
    }
    let html = page(&app, &second, "en", None).await.1;
    assert!(html.contains("has not taken your last answer") && html.contains("<li>Phone</li>"), "{html}");
    app.later(8 * DAY).await;
    let (status, html, _) = page(&app, &second, "en", None).await;
    assert!(status == 200 && html.contains("your payouts are blocked"), "{html}");
    app.later(31 * DAY).await;
    assert_eq!(page(&app, &second, "en", None).await.0, 410);
}

async fn files_are_kept_with_an_answer_that_is_right(app: TestApp) {
    let app = app.reachable().await;
    let seller = made(&app, &company_body(&single_merchant(&app).await)).await;
    let fields = ["owner.monthlyIncome", "owner.email", "documents.SELFIE", "documents.RG_FRONT"];
    let review = opened(&app, &seller, &fields, 10).await;
    let link = text(&review["answerLink"]).to_owned();
    let form = |income: &str, email: &str| {
        let texts = [("owner.monthlyIncome", income), ("owner.email", email), ("declaration", "true")];
        Form::of(&texts).with_upload("documents.SELFIE", "me.png", &png().bytes)
    };
    let good = || form("21000", "a@example.com").with_upload("documents.RG_FRONT", "rg", &png().bytes);
    let with_front = |form: Form| form.with_upload("documents.RG_FRONT", "rg", &png().bytes);
    let wrong = [
        (with_front(form("21000,555", "a@example.com")), "Monthly income"),
        (with_front(form("21000", "a@-b")), "E-mail"),
        (form("21000", "a@example.com"), "Identity card, front"),
        (form("1", "a@example.com").with_upload("documents.RG_FRONT", "rg", b"MZ"), "Identity card, front"),
        (good().with_upload("documents.SELFIE", "again.png", &png().bytes), "Photo of the person"),
        (good().with_field("owner.email", b"b@example.com"), "E-mail"),
    ];
    for (form, fault) in wrong {
        let (status, html, _) = page(&app, &link, "en", Some(&form)).await;
        assert_eq!(status, 400);
        assert!(html.contains(&format!("\">{fault}</a> is not right or missing")), "{fault} in {html}");
        assert_eq!(app.get(DOCUMENTS).await.expect(200)["meta"]["totalItems"], 0, "{fault}");
        assert_eq!(kept(&app).await, 0, "{fault}");
    }
    assert_eq!(page(&app, &link, "en", Some(&good())).await.0, 200);
    let of_seller = app.get(&format!("{DOCUMENTS}?status=attached")).await.expect(200);
    assert_eq!((&of_seller["meta"]["totalItems"], kept(&app).await), (&json!(2), 2));
    // The provider gets them.
    app.later(2 * DAY).await;
    let sent = app.get(&format!("{DOCUMENTS}?status=sent")).await.expect(200);
    assert_eq!(sent["meta"]["totalItems"], 2);
    assert_eq!(read(&app, &seller).await["owner"]["email"], "a@example.com");
}

async fn files_of_every_kind_come_in_one_form(app: TestApp) {
    const FILE_BYTES_MAX: usize = 3 * 1024 * 1024;
    let app = app.reachable().await;
    let seller = made(&app, &company_body(&single_merchant(&app).await)).await;
    let fields = ["documents.SELFIE", "documents.CNH_FRONT", "documents.CNH_BACK"];
    let review = opened(&app, &seller, &fields, 10).await;
    let link = text(&review["answerLink"]).to_owned();
    let mut largest = png().bytes;
    largest.resize(FILE_BYTES_MAX, 0);
    let form = |fields: &[&str]| {
        let form = Form::of(&[("declaration", "true")]);
        fields.iter().fold(form, |form, name| form.with_upload(name, "a.png", &largest))
    };
    let more = [fields.as_slice(), &["documents.RG_FRONT"]].concat();
    let (status, html, reply) = page(&app, &link, "en", Some(&form(&more))).await;
    assert_eq!((status, reply.header("content-type")), (413, Some("text/html; charset=utf-8")));
    assert!(html.contains("Too much was sent") && html.contains("<form"), "{html}");
    assert_eq!(kept(&app).await, 0);
    assert_eq!(page(&app, &link, "en", Some(&form(&fields))).await.0, 200);
    assert_eq!(kept(&app).await, 3);
}

async fn a_review_takes_so_many_answers_a_minute(app: TestApp) {
    let app = app.with_limits(|all| all.rates.review_answers = Rate::within(DAY, 2)).await.reachable().await;
    let seller = made(&app, &company_body(&single_merchant(&app).await)).await;
    let other = made(&app, &company_body(&single_merchant(&app).await)).await;
    let review = opened(&app, &seller, &["documents.SELFIE"], 10).await;
    let link = text(&review["answerLink"]).to_owned();
    let form = Form::of(&[]).with_upload("documents.SELFIE", "me.png", &png().bytes);
    for _ in 0..2 {
        assert_eq!(page(&app, &link, "en", Some(&form)).await.0, 400);
    }
    let (status, _, reply) = page(&app, &link, "en", Some(&form)).await;
    assert!(status == 429 && reply.header("retry-after").is_some(), "{status}");
    // Whoever looks is not held up, nor is another seller.
    assert_eq!(page(&app, &link, "en", None).await.0, 200);
    let others = opened(&app, &other, &["documents.SELFIE"], 10).await;
    assert_eq!(page(&app, text(&others["answerLink"]), "en", Some(&form)).await.0, 400);
}

async fn uploads_hold_up_no_document(app: TestApp) {
    let app = app.reachable().await;
    let seller = made(&app, &company_body(&single_merchant(&app).await)).await;
    let review = opened(&app, &seller, &["documents.SELFIE"], 10).await;
    let (file, _) = pix(&app, "jose@example.com").await;
    let judging = &app.app.limiters.judging;
    let taken = judging.acquire_many(u32::try_from(judging.available_permits()).unwrap()).await.unwrap();
    let upload = app.send(selfie(&png().bytes).request_to(&app.client, Method::POST, DOCUMENTS));
    let form = Form::of(&[("declaration", "true")]).with_upload("documents.SELFIE", "me.png", &png().bytes);
    let answer = page(&app, text(&review["answerLink"]), "en", Some(&form));
    let file = format!("{file}.png");
    let (upload, answer, document) = tokio::join!(upload, answer, ask(&app, &file));
    assert_eq!((upload.status.as_u16(), answer.0, document.status.as_u16()), (503, 503, 200));
    drop(taken);
    let upload = selfie(&png().bytes).request_to(&app.client, Method::POST, DOCUMENTS);
    app.send(upload).await.expect(201);
    assert_eq!(page(&app, text(&review["answerLink"]), "en", Some(&form)).await.0, 200);
}
