//! A session that asks whether a person pays: what counts as a proof, and for whom.

use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use axum::http::Method;
use serde_json::{Value, json};

use super::{key, page, path, session};
use crate::harness::{APPROVED, Client, Reply, TestApp, stories, token_body};

stories! {
    a_session_asks_whether_a_person_pays,
}

/// The token that a browser makes of a challenge.
fn solve(challenge: &str) -> String {
    let zeros: u32 = challenge.split('.').nth(1).unwrap().parse().unwrap();
    let is_right = |token: &String| {
        let hash = digest(&SHA256, token.as_bytes());
        u64::from_be_bytes(*hash.as_ref().first_chunk().unwrap()).leading_zeros() >= zeros
    };
    (0_u64..).map(|number| format!("{challenge}.{number:x}")).find(is_right).unwrap()
}

struct Buyer<'a> {
    app: &'a TestApp,
    session: &'a Value,
    client: Client,
}

impl<'a> Buyer<'a> {
    fn of(app: &'a TestApp, session: &'a Value) -> Self {
        Self { app, session, client: key(app, session) }
    }

    async fn challenge(&self, key: &str) -> String {
        let path = format!("{}/challenge", path(self.session));
        let headers = [("X-Idempotency-Key", key)];
        let asked = self.app.call(&self.client, Method::GET, &path, &headers, None).await.expect(200);
        asked["challenge"].as_str().unwrap().to_owned()
    }

    async fn pay(&self, key: Option<&str>, token: Option<&str>) -> Reply {
        let path = format!("/v1/sessions/{}/charge", self.session["id"].as_str().unwrap());
        let headers: Vec<(&str, &str)> = [("X-Idempotency-Key", key), ("X-Captcha-Token", token)]
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect();
        let body = json!({
            "paymentMethod": { "paymentType": "credit", "installments": 1 },
            "paymentSource": { "sourceType": "card", "card": token_body(APPROVED) },
        });
        self.app.call(&self.client, Method::POST, &path, &headers, Some(&body)).await
    }

    async fn is_refused(&self, why: &str, key: Option<&str>, token: Option<&str>) {
        let body = self.pay(key, token).await.expect(422);
        assert_eq!(body["error"]["businessCode"], "session_captcha_required", "{why}: {body:#}");
    }
}

async fn a_session_asks_whether_a_person_pays(app: TestApp) {
    let app = super::patient(app).await;
    let terms = json!({
        "captchaEnabled": true, "maxPayments": -1,
        "paymentMethods": [{ "paymentType": "credit", "installments": 1 }],
    });
    let (asking, another) = (session(&app, terms.clone()).await, session(&app, terms).await);
    assert_eq!(asking["captchaEnabled"], true);
    let shows_box = async |session: &Value| {
        String::from_utf8_lossy(&page(&app, &path(session), "en").await.bytes).contains("id=\"human\"")
    };
    assert!(shows_box(&asking).await);
    assert!(!shows_box(&session(&app, json!({})).await).await, "who is not asked sees nothing");

    let ana = Buyer::of(&app, &asking);
    let challenge = ana.challenge("one").await;
    let token = solve(&challenge);
    let unsolved = format!("{challenge}.");
    let (end, rest) = token.split_once('.').unwrap();
    let later = format!("{}.{rest}", end.parse::<i64>().unwrap() + 1);
    let easier = token.replacen(".17.", ".01.", 1);
    let elsewhere = Buyer::of(&app, &another).challenge("one").await;
    for (why, key, token) in [
        ("no token", Some("one"), None),
        ("an empty one", Some("one"), Some("")),
        ("no work", Some("one"), Some(&*unsolved)),
        ("another end", Some("one"), Some(&*later)),
        ("less work", Some("one"), Some(&*easier)),
        ("another payment", Some("two"), Some(&*token)),
        ("no key of a payment", None, Some(&*token)),
        ("another session", Some("one"), Some(&*solve(&elsewhere))),
    ] {
        ana.is_refused(why, key, token).await;
    }
    let paid = ana.pay(Some("one"), Some(&token)).await;
    assert_eq!(paid.expect(201)["status"], "authorized");
    assert_eq!(ana.pay(Some("one"), Some(&token)).await.bytes, paid.bytes, "the same charge");

    let old = solve(&ana.challenge("late").await);
    app.later(Duration::from_secs(10 * 60)).await;
    ana.is_refused("an old one", Some("late"), Some(&old)).await;
    // The charge is answered again when its proof is old.
    assert_eq!(ana.pay(Some("one"), Some(&token)).await.bytes, paid.bytes);

    let nameless =
        app.call(&ana.client, Method::GET, &format!("{}/challenge", path(&asking)), &[], None).await;
    assert_eq!(nameless.details(400), ["X-Idempotency-Key should not be empty"]);
    let foreign = format!("{}/challenge", path(&another));
    assert_eq!(app.call(&ana.client, Method::GET, &foreign, &[], None).await.status, 404);
    // Another public key is asked, too; the merchant's server is not.
    let client = app.client_token(json!(["sessions"])).await;
    Buyer { client, ..Buyer::of(&app, &asking) }.is_refused("a client token", Some("three"), None).await;
    let server = Buyer { client: app.client.clone(), ..Buyer::of(&app, &asking) };
    server.pay(None, None).await.expect(201);
    let counted = app.get(&format!("/v1/sessions/{}", asking["id"].as_str().unwrap())).await.expect(200);
    assert_eq!(counted["multiplePayments"]["paymentCount"], 2, "what was refused made no charge");
}
