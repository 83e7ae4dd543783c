//! The terms that a session gives its charges, its changes, and its end.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::app::{ADDRESS, TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::charges::single_merchant;
use crate::support::client::Client;
use crate::support::read::{announced, text};
use crate::support::sessions::{buyer, by_card, by_pix, create, history, pay, read, session_body};
use crate::support::three_d_secure::{
    FRICTIONLESS, HOSTED_CHALLENGE, HOSTED_FRICTIONLESS, answer, three_d_secure, visit,
};

stories! {
    only_what_is_offered_can_be_used,
    the_session_decides_on_3d_secure,
    a_buyers_page_names_only_registered_pages_to_come_back_to,
    a_page_makes_sessions_that_lead_payers_to_registered_pages_alone,
    a_page_that_knows_no_3d_secure_pays_with_the_providers_own,
    the_recipients_of_a_nupay_are_for_secret_keys,
    a_session_ends_at_its_due_date,
    a_merchant_switches_a_session_off_and_on,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn only_what_is_offered_can_be_used(app: TestApp) {
    let mut body = session_body(&single_merchant(&app).await);
    body["paymentMethods"] = json!([
        { "paymentType": "credit", "installments": 3 },
        { "paymentType": "boleto", "expiresDate": "2026-03-20", "instructions": "Pay", "fine": { "days": 1, "amount": 10 } },
        { "paymentType": "nupay" },
    ]);
    let late = app.post("/v1/sessions", &body).await.details(400);
    assert_eq!(late, ["paymentMethods[1].expiresDate must not be in the past"]);
    body["paymentMethods"][1]["expiresDate"] = "2026-03-30".into();
    let session = create(&app, &body).await;
    let detail = async |body: &Value| {
        let refused = pay(&app, &session, body).await.expect(400);
        assert_eq!(refused["error"]["type"], "invalid_request_error", "{refused}");
        text(&refused["error"]["details"][0]).to_owned()
    };
    assert_eq!(detail(&by_pix()).await, "paymentMethod.paymentType: session does not offer paymentType pix");
    let mut many = by_card(APPROVED);
    many["paymentMethod"]["installments"] = 4.into();
    assert_eq!(detail(&many).await, "paymentMethod.installments: session offers at most 3 installments");
    let mut boleto = by_pix();
    // A buyer does not choose when it is due.
    boleto["paymentMethod"] = json!({ "paymentType": "boleto", "expiresDate": "2026-12-30", "items": [] });
    let made = pay(&app, &session, &boleto).await.expect(201);
    assert_eq!(made["paymentMethod"]["expiresDate"], "2026-03-30");
    assert_eq!(made["paymentMethod"]["instructions"], "Pay");
    // The payer's wallet shows the items of the session.
    let mut nupay = by_pix();
    nupay["paymentMethod"] = json!({ "paymentType": "nupay" });
    let made = pay(&app, &session, &nupay).await.expect(201);
    assert_eq!(made["fraudAnalysisMetadata"]["cart"]["items"][0]["name"], session["items"][0]["name"]);
    let details = pay(&app, &session, &json!({ "paymentSource": {} })).await.details(400);
    assert!(details.contains(&"paymentMethod should not be empty".to_owned()), "{details:?}");
    let mut free = session_body(text(&session["merchantId"]));
    free["amount"] = 0.into();
    let free = create(&app, &free).await;
    assert_eq!(pay(&app, &free, &by_card(APPROVED)).await.details(400), ["amount must be greater than 0"]);
}

async fn the_session_decides_on_3d_secure(app: TestApp) {
    let app = app.reachable().await;
    let mut body = session_body(&single_merchant(&app).await);
    body["paymentMethods"] =
        json!([{ "paymentType": "credit", "installments": 1, "threeDS": { "enabled": true } }]);
    let session = create(&app, &body).await;
    assert_eq!(
        session["paymentMethods"][0]["threeDS"],
        json!({ "enabled": true, "liabilityShiftRequired": true })
    );
    let mut with = by_card(FRICTIONLESS);
    with["threeDSecure2"] = three_d_secure();
    register(&app, &json!({ "redirectOrigins": "https://shop.example" })).await;
    let mut claimed = with.clone();
    claimed["threeDSecure2"] = json!({ "mpi": { "transStatus": "Y", "cavv": "2" } });
    let refused = pay(&app, &session, &claimed).await.details(400);
    assert_eq!(refused, ["threeDSecure2.mpi must be absent with a public key"]);
    let paid = pay(&app, &session, &with).await.expect(201);
    assert_eq!(paid["threeDSecure2"]["requiresLiabilityShift"], true, "{paid:#}");

    // Where it does not authenticate anybody, what the buyer sends is ignored.
    let session = create(&app, &session_body(text(&session["merchantId"]))).await;
    let paid = pay(&app, &session, &with).await.expect(201);
    assert_eq!(paid.get("threeDSecure2"), None);
}

/// Sets what the merchants of the account have registered.
async fn register(app: &TestApp, settings: &Value) {
    app.post("/v1/settings", settings).await.expect(201);
}

/// Otherwise whoever has a payment link could send others anywhere by an address of this service.
async fn a_buyers_page_names_only_registered_pages_to_come_back_to(app: TestApp) {
    const RULE: &str = "threeDSecure2.redirectURL must be the page of the session, or at an origin of the settings \
                        redirectOrigins or companyUrl";
    let app = app.reachable().await;
    let merchant = single_merchant(&app).await;
    let mut body = session_body(&merchant);
    body["paymentMethods"] =
        json!([{ "paymentType": "credit", "installments": 1, "threeDS": { "enabled": true } }]);
    body["maxPayments"] = json!(-1);
    let session = create(&app, &body).await;
    let back_to = async |page: &str| {
        let mut charge = by_card(FRICTIONLESS);
        charge["threeDSecure2"] = three_d_secure();
        charge["threeDSecure2"]["redirectURL"] = page.into();
        pay(&app, &session, &charge).await
    };
    let own = format!("{ADDRESS}/pay/{}/returned", text(&session["id"]));
    back_to(&own).await.expect(201);
    let strange = "https://shop.example.evil.example/return";
    for page in [strange, "https://shop.example/return", ADDRESS, &format!("{own}?to=https://evil.example")] {
        assert_eq!(back_to(page).await.details(400), [RULE], "{page}");
    }

    register(&app, &json!({ "redirectOrigins": "https://shop.example,https://app.shop.example:8443" })).await;
    back_to("https://shop.example/return?order=1").await.expect(201);
    back_to("https://app.shop.example:8443/").await.expect(201);
    for page in [strange, "http://shop.example/", "https://app.shop.example/", "https://www.shop.example/"] {
        assert_eq!(back_to(page).await.details(400), [RULE], "{page}");
    }
    // What a merchant has set counts before what the account has.
    let of_merchant = json!({ "companyUrl": "www.loja.example" });
    let headers = [("x-merchant-id", merchant.as_str())];
    app.call(&app.client, Method::POST, "/v1/settings", &headers, Some(&of_merchant)).await.expect(201);
    back_to("https://www.loja.example/return").await.expect(201);
    assert_eq!(back_to("https://shop.example/return").await.details(400), [RULE]);

    // A merchant's server sends its own buyers where it likes.
    let mut charge = by_card(FRICTIONLESS);
    charge["threeDSecure2"] = three_d_secure();
    let path = format!("/v1/sessions/{}/charge", text(&session["id"]));
    app.post(&path, &charge).await.expect(201);
}

/// Otherwise whoever reads a client token in a page could send payers anywhere in the merchant's name.
async fn a_page_makes_sessions_that_lead_payers_to_registered_pages_alone(app: TestApp) {
    const RULE: &str = "must be at an origin of the settings redirectOrigins or companyUrl";
    let merchant = single_merchant(&app).await;
    let page = app.client_token(json!(["sessions"])).await;
    let offer = |method: Value| {
        let mut body = session_body(&merchant);
        body["paymentMethods"] = json!([{ "paymentType": "credit", "installments": 1 }, method]);
        body
    };
    let make = async |caller: &Client, body: &Value| {
        app.call(caller, Method::POST, "/v1/sessions", &[], Some(body)).await
    };
    let methods = [
        ("nupay", &["orderUrl", "returnUrl", "cancelUrl"][..]),
        ("drip", &["successRedirectUrl", "cancelRedirectUrl"][..]),
    ];
    for (payment_type, names) in methods {
        for name in names {
            let body = offer(json!({ "paymentType": payment_type, *name: "https://shop.example/paid" }));
            let refused = make(&page, &body).await.details(400);
            assert_eq!(refused, [format!("paymentMethods[1].{name} {RULE}")]);
            make(&app.client, &body).await.expect(200);
        }
    }
    register(&app, &json!({ "redirectOrigins": "https://shop.example" })).await;
    for (payment_type, names) in methods {
        for name in names {
            let body = offer(json!({ "paymentType": payment_type, *name: "https://shop.example/paid" }));
            make(&page, &body).await.expect(200);
        }
    }
}

/// Pages in use send nothing about the cardholder's authentication.
async fn a_page_that_knows_no_3d_secure_pays_with_the_providers_own(app: TestApp) {
    let app = app.reachable().await;
    let mut body = session_body(&single_merchant(&app).await);
    body["paymentMethods"] =
        json!([{ "paymentType": "credit", "installments": 1, "threeDS": { "enabled": true } }]);
    for (card, status) in [(HOSTED_FRICTIONLESS, "authorized"), (HOSTED_CHALLENGE, "pending")] {
        let session = create(&app, &body).await;
        let path = format!("/v1/sessions/{}/charge", text(&session["id"]));
        let headers = [("user-agent", "Mozilla/5.0"), ("accept-language", "es-AR,es;q=0.8")];
        let paid = app.call(&buyer(&session), Method::POST, &path, &headers, Some(&by_card(card))).await;
        let paid = paid.expect(201);
        assert_eq!(paid["status"], status, "{paid:#}");
        let shown = &paid["threeDSecure2"];
        assert_eq!(shown["requiresLiabilityShift"], true, "{shown:#}");
        let back = format!("{ADDRESS}/pay/{}/returned", text(&session["id"]));
        assert_eq!((&shown["redirectURL"], &shown["requestorURL"]), (&json!(back), &json!(ADDRESS)));
        let browser = &shown["browser"];
        assert_eq!((&browser["userAgent"], &browser["language"]), (&json!("Mozilla/5.0"), &json!("es-AR")));
        if status == "pending" {
            let challenge = &shown["authData"];
            assert_eq!(challenge["responseType"], "AUTHORIZATION");
            let came_back = visit(&app, &answer(&app, &paid, "approve").await).await;
            let lead_on = format!("{back}?chargeId={}", text(&paid["id"]));
            assert_eq!(
                (came_back.status.as_u16(), came_back.header("location")),
                (303, Some(lead_on.as_str()))
            );
            app.run_jobs().await;
            assert_eq!(read(&app, &session).await["status"], "paid");
        }
    }
    // A server is no browser.
    let session = create(&app, &body).await;
    let path = format!("/v1/sessions/{}/charge", text(&session["id"]));
    let paid = app.post(&path, &by_card(HOSTED_FRICTIONLESS)).await.expect(201);
    assert_eq!((&paid["status"], paid["threeDSecure2"].get("browser")), (&json!("authorized"), None));
}

/// They name persons, and the page of a buyer has no use for them.
async fn the_recipients_of_a_nupay_are_for_secret_keys(app: TestApp) {
    let recipients = json!([{ "referenceId": "7", "name": "Ana", "document": "39053344705", "amount": 100 }]);
    let mut body = session_body(&single_merchant(&app).await);
    body["paymentMethods"] =
        json!([{ "paymentType": "nupay", "recipients": [{ "referenceId": "7", "amount": 0 }] }]);
    let wrong = app.post("/v1/sessions", &body).await.details(400);
    let at = "paymentMethods[0].recipients[0]";
    assert!(wrong.contains(&format!("{at}.name should not be empty")), "{wrong:?}");
    assert!(wrong.contains(&format!("{at}.amount must be greater than 0")), "{wrong:?}");
    body["paymentMethods"][0]["recipients"] = recipients.clone();
    let session = create(&app, &body).await;
    assert_eq!(session["paymentMethods"], body["paymentMethods"]);
    assert_eq!(read(&app, &session).await["paymentMethods"], body["paymentMethods"]);
    let listed = app.get("/v1/sessions").await.expect(200);
    assert_eq!(listed["items"][0]["paymentMethods"], body["paymentMethods"]);

    let (hidden, key) = (json!([{ "paymentType": "nupay" }]), buyer(&session));
    let everything = app.client_token(json!(["*"])).await;
    let path = format!("/v1/sessions/{}", text(&session["id"]));
    for (caller, path) in [
        (&key, path.clone()),
        (&key, format!("{path}/link")),
        (&app.client, format!("{path}/link")),
        (&everything, path),
    ] {
        let shown = app.call(caller, Method::GET, &path, &[], None).await;
        assert!(shown.status.is_success(), "{path}: {shown:?}");
        assert_eq!(shown.json()["paymentMethods"], hidden, "{path}");
    }
    let listed = app.call(&everything, Method::GET, "/v1/sessions", &[], None).await.expect(200);
    assert_eq!(listed["items"][0]["paymentMethods"], hidden);
    let made = app.call(&everything, Method::POST, "/v1/sessions", &[], Some(&body)).await.expect(200);
    assert_eq!(made["paymentMethods"], hidden);

    // What a buyer says of recipients counts no more than what they say of the price.
    let mut nupay = by_pix();
    nupay["paymentMethod"] = json!({ "paymentType": "nupay", "recipients": [] });
    let charge = pay(&app, &session, &nupay).await.expect(201);
    assert_eq!(charge["paymentMethod"].get("recipients"), None, "{charge:#}");
    let charge = app.get(&format!("/v1/charges/{}", text(&charge["id"]))).await.expect(200);
    assert_eq!(charge["paymentMethod"]["recipients"], recipients);
    // A change leaves them as they are.
    app.patch(&format!("/v1/sessions/{}", text(&session["id"])), &json!({ "isActive": false }))
        .await
        .expect(200);
    assert_eq!(read(&app, &session).await["paymentMethods"], body["paymentMethods"]);
}

async fn a_session_ends_at_its_due_date(app: TestApp) {
    let mut body = session_body(&single_merchant(&app).await);
    body["dueDate"] = "2026-03-25T12:00:00.000Z".into();
    let session = create(&app, &body).await;
    let path = format!("/v1/sessions/{}", text(&session["id"]));
    app.patch(&path, &json!({ "isActive": true, "dueDate": "2026-03-26T12:00:00.000Z" })).await.expect(200);
    app.later(2 * DAY).await;
    assert_eq!(read(&app, &session).await["isActive"], true, "the first date counts no more");
    app.later(DAY).await;
    let ended = read(&app, &session).await;
    assert_eq!((&ended["status"], &ended["isActive"]), (&json!("created"), &json!(false)));
    assert_eq!(ended["multiplePayments"]["status"], "disabled");
    let refused = pay(&app, &session, &by_card(APPROVED)).await.expect(422);
    assert_eq!(refused["error"]["businessCode"], "session_disabled");
    assert_eq!(
        history(&app, &session).await,
        ["created: statusChanged", "created: isActiveChanged", "disabled: sessionExpiredByDueDate"]
    );
    assert_eq!(announced(&app, text(&session["id"])).await, ["created", "disabled"]);
    assert_eq!(app.patch(&path, &json!({ "isActive": true })).await.status, 400);
    let yesterday = json!({ "isActive": true, "dueDate": "2026-03-25" });
    assert_eq!(app.patch(&path, &yesterday).await.details(400), ["dueDate must not be before 2026-03-26"]);
    app.patch(&path, &json!({ "isActive": true, "dueDate": null })).await.expect(200);
    assert_eq!(read(&app, &session).await.get("dueDate"), None);
    pay(&app, &session, &by_card(APPROVED)).await.expect(201);
    for change in
        [json!({ "isActive": true, "dueDate": "2030-01-01" }), json!({ "isActive": true, "maxPayments": 5 })]
    {
        let consumed = app.patch(&path, &change).await.expect(422);
        assert_eq!(consumed["error"]["businessCode"], "pix_boleto_one_to_one_reactivation_blocked");
    }
}

async fn a_merchant_switches_a_session_off_and_on(app: TestApp) {
    let session = create(&app, &session_body(&single_merchant(&app).await)).await;
    let path = format!("/v1/sessions/{}", text(&session["id"]));
    let off = json!({ "id": session["id"], "isActive": false });
    assert_eq!(app.patch(&path, &json!({ "isActive": false })).await.expect(200), off);
    assert_eq!(app.patch(&path, &json!({ "isActive": false })).await.expect(200), off, "again");
    assert_eq!(pay(&app, &session, &by_card(APPROVED)).await.status, 422);
    assert_eq!(app.patch(&path, &json!({})).await.details(400), ["isActive should not be empty"]);
    let limit = app.patch(&path, &json!({ "isActive": true, "maxPayments": 2 })).await;
    assert_eq!(limit.details(400), ["maxPayments must be absent: the session is paid once"]);
    app.patch(&path, &json!({ "isActive": true })).await.expect(200);
    pay(&app, &session, &by_card(APPROVED)).await.expect(201);
    assert_eq!(
        history(&app, &session).await,
        [
            "created: statusChanged",
            "created: isActiveChanged",
            "created: isActiveChanged",
            "paid: paymentSucceeded"
        ]
    );
}
