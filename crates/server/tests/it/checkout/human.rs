//! A session that asks whether a person pays: what counts as a proof, and for whom.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};

use super::{key, page, path, session};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, WRONG_CVV, token_body};
use crate::support::client::{Client, Reply};
use crate::support::proofs::solve;

stories! {
    a_session_asks_whether_a_person_pays,
    a_session_tells_of_cards_to_people_alone,
    a_proof_serves_one_operation,
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
        self.challenge_of("charge", key).await
    }

    async fn challenge_of(&self, operation: &str, key: &str) -> String {
        let path = format!("{}/challenge?operation={operation}", path(self.session));
        let headers = [("X-Idempotency-Key", key)];
        let asked = self.app.call(&self.client, Method::GET, &path, &headers, None).await.expect(200);
        asked["challenge"].as_str().unwrap().to_owned()
    }

    async fn post(&self, path: &str, key: Option<&str>, token: Option<&str>, body: &Value) -> Reply {
        let headers: Vec<(&str, &str)> = [("X-Idempotency-Key", key), ("X-Captcha-Token", token)]
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect();
        self.app.call(&self.client, Method::POST, path, &headers, Some(body)).await
    }

    async fn pay(&self, key: Option<&str>, token: Option<&str>) -> Reply {
        let path = format!("/v1/sessions/{}/charge", self.session["id"].as_str().unwrap());
        let body = json!({
            "paymentMethod": { "paymentType": "credit", "installments": 1 },
            "paymentSource": { "sourceType": "card", "card": token_body(APPROVED) },
        });
        self.post(&path, key, token, &body).await
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

/// The session asks for a proof; returns the challenge that comes along.
#[track_caller]
fn asks_for_a_person(why: &str, reply: &Reply) -> Option<String> {
    let body = reply.expect(422);
    assert_eq!(body["error"]["businessCode"], "session_captcha_required", "{why}: {body:#}");
    reply.header("x-captcha-challenge").map(str::to_owned)
}

const TOKENS: &str = "/v1/sessions/tokens";
const CARDS: &str = "/v1/sessions/cards";

async fn a_session_tells_of_cards_to_people_alone(app: TestApp) {
    let app = super::patient(app).await;
    let terms = json!({
        "captchaEnabled": true, "paymentMethods": [{ "paymentType": "credit", "installments": 1 }],
    });
    let asking = session(&app, terms).await;
    let ana = Buyer::of(&app, &asking);

    // A token: without a key there is nothing to prove, and what is wrong by itself is said at once.
    let card = token_body(WRONG_CVV);
    assert_eq!(asks_for_a_person("no key", &ana.post(TOKENS, None, None, &card).await), None);
    let wrong = json!({ "cvvUpdate": "1" });
    assert_eq!(ana.post(TOKENS, Some("one"), None, &wrong).await.status, 400);
    let refused = ana.post(TOKENS, Some("one"), None, &card).await;
    let proof = solve(&asks_for_a_person("no proof", &refused).expect("a challenge"));
    asks_for_a_person("another key", &ana.post(TOKENS, Some("two"), Some(&proof), &card).await);
    asks_for_a_person(
        "a code alone",
        &ana.post(TOKENS, Some("two"), None, &json!({ "cvvUpdate": "123" })).await,
    );
    let made = ana.post(TOKENS, Some("one"), Some(&proof), &card).await;
    assert_eq!(ana.post(TOKENS, Some("one"), None, &card).await.bytes, made.bytes, "the same token again");
    let token = made.expect(201)["tokenId"].clone();

    // A check: refused without asking a provider, and without using the token up.
    let merchant = &asking["merchantId"];
    let flat = json!({ "tokenId": token, "merchantId": merchant, "cvvCheck": true });
    let nested = json!({ "tokenId": token, "zeroDollar": { "merchantId": merchant, "cvvCheck": true } });
    for check in [&flat, &nested] {
        assert_eq!(asks_for_a_person("no key", &ana.post(CARDS, None, None, check).await), None);
    }
    // The page asks before it needs the proof.
    let proof = solve(&ana.challenge_of("card", "check").await);
    asks_for_a_person("another key", &ana.post(CARDS, Some("other"), Some(&proof), &flat).await);
    let checked = ana.post(CARDS, Some("check"), Some(&proof), &flat).await;
    assert_eq!(checked.expect(201)["status"], "failed");
    assert_eq!(ana.post(CARDS, Some("check"), None, &flat).await.bytes, checked.bytes, "the same card again");

    // The merchant's server answers for its buyer. A card that is not checked tells nothing.
    let server = Buyer { client: app.client.clone(), ..Buyer::of(&app, &asking) };
    let token = server.post(TOKENS, None, None, &card).await.expect(201)["tokenId"].clone();
    let unchecked = ana.post(CARDS, None, None, &json!({ "tokenId": token })).await;
    assert_eq!(unchecked.expect(201)["status"], "pending");
    let another = session(&app, json!({})).await;
    Buyer::of(&app, &another).post(TOKENS, None, None, &card).await.expect(201);
}

/// What is asked for with the key of a session, as the service names it.
const OPERATIONS: [&str; 3] = ["charge", "card", "token"];

/// Otherwise a program would try three cards with the work for one.
async fn a_proof_serves_one_operation(app: TestApp) {
    let app = super::patient(app).await;
    let terms = json!({
        "captchaEnabled": true, "maxPayments": -1,
        "paymentMethods": [{ "paymentType": "credit", "installments": 1 }],
    });
    let asking = session(&app, terms).await;
    let ana = Buyer::of(&app, &asking);
    let server = Buyer { client: app.client.clone(), ..Buyer::of(&app, &asking) };
    let card = token_body(APPROVED);
    let ask = async |operation: &str, key: &str, token_id: &Value, proof: &str| match operation {
        "charge" => ana.pay(Some(key), Some(proof)).await,
        "card" => {
            let check = json!({ "tokenId": token_id, "merchantId": asking["merchantId"], "cvvCheck": true });
            ana.post(CARDS, Some(key), Some(proof), &check).await
        }
        _ => ana.post(TOKENS, Some(key), Some(proof), &card).await,
    };
    for proven in OPERATIONS {
        for asked in OPERATIONS {
            let key = format!("{proven} for {asked}");
            let token_id = server.post(TOKENS, None, None, &card).await.expect(201)["tokenId"].clone();
            let proof = solve(&ana.challenge_of(proven, &key).await);
            let answer = ask(asked, &key, &token_id, &proof).await;
            if proven == asked {
                answer.expect(201);
                continue;
            }
            // The challenge that comes along is for what was asked.
            let challenge = asks_for_a_person(&key, &answer).expect("a challenge");
            ask(asked, &key, &token_id, &solve(&challenge)).await.expect(201);
        }
    }
    // Pages that name none pay.
    let challenge = format!("{}/challenge", path(&asking));
    let headers = [("X-Idempotency-Key", "unnamed")];
    let unnamed = app.call(&ana.client, Method::GET, &challenge, &headers, None).await.expect(200);
    ana.pay(Some("unnamed"), Some(&solve(unnamed["challenge"].as_str().unwrap()))).await.expect(201);
    let wrong = format!("{challenge}?operation=refund");
    let refused = app.call(&ana.client, Method::GET, &wrong, &headers, None).await;
    assert_eq!(refused.details(400), ["operation must be one of the following values: charge, card, token"]);
}
