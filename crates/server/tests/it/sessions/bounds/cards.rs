//! Cards that are tried at once are as many as may still be refused (decision 35).

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request};
use futures_util::future::{join_all, select_all};
use regente::admin::Verdict;
use regente_domain::id::{ChargeId, SessionId};
use regente_domain::session::DECLINES_MAX;
use regente_store::{Batch, Commit, args, sql};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::sessions::payments::refused;
use crate::support::agreement::{nothing_is_open, places};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, BLOCKED, WRONG_CVV, token_body};
use crate::support::charges::single_merchant;
use crate::support::client::{Reply, begin_at, request};
use crate::support::providers::books::FileBooks;
use crate::support::providers::sandbox;
use crate::support::read::text;
use crate::support::sessions::{buyer, by_card, create, pay, read, session_body};
use crate::support::unknowns::{examined, forgetful, given_up, retry};

stories! {
    thirty_refused_cards_at_once_are_ten_that_are_tried,
    a_refusal_counts_also_when_the_next_provider_is_asked,
    thirty_checks_at_once_are_ten_that_are_made,
    a_card_that_found_no_place_is_tried_again_with_its_key,
    an_unknown_outcome_holds_its_place_until_it_is_known,
    what_was_being_tried_when_the_process_ended_frees_its_place,
    an_outcome_that_is_given_up_frees_its_place,
    a_check_that_is_given_up_frees_its_place,
    buyers_at_two_nodes_share_the_places,
    the_doctor_finds_places_that_nobody_holds,
}

sql! {
    /// As if a place had leaked.
    TAKE_PLACE = "UPDATE sessions SET trying = trying + 1 WHERE id = :id AND client_id = :client_id";
    /// As if a card were tried whose charge has ended.
    HOLD_PLACE = "
        INSERT INTO session_tries (object_id, client_id, session_id, ended, refused)
        VALUES (:object_id, :client_id, :id, 0, 0)";
}

const TRIES_MAX: usize = DECLINES_MAX.unsigned_abs() as usize;
const BLOCKED_NOW: &str = "session_cards_blocked";
/// Longer than any story holds calls back.
const PATIENCE: Duration = Duration::from_secs(60);
/// Every unknown outcome is known by then.
const LATER: Duration = Duration::from_secs(60 * 60);

/// A session that many may pay, at a provider that waits as long as it takes.
async fn patient(app: TestApp) -> (TestApp, Value) {
    let app = app.with_sandbox_deadline(PATIENCE).await;
    let session = open(&app).await;
    (app, session)
}

/// A session that any number of buyers may pay by card.
async fn open(app: &TestApp) -> Value {
    let mut body = session_body(&single_merchant(app).await);
    body["maxPayments"] = (-1).into();
    body["paymentMethods"] = json!([{ "paymentType": "credit", "installments": 3 }]);
    create(app, &body).await
}

fn charge_request(session: &Value, key: &str, card: (&str, &str)) -> Request<Body> {
    let path = format!("/v1/sessions/{}/charge", text(&session["id"]));
    request(&buyer(session), Method::POST, &path, &[("X-Idempotency-Key", key)], Some(&by_card(card)))
}

/// The first ones to be answered of requests, and the others.
async fn first(requests: Vec<JoinHandle<Reply>>, number: usize) -> (Vec<Reply>, Vec<JoinHandle<Reply>>) {
    let (mut answered, mut waiting) = (Vec::new(), requests);
    while answered.len() < number {
        let (reply, _, others) = select_all(waiting).await;
        answered.push(reply.unwrap());
        waiting = others;
    }
    (answered, waiting)
}

/// The session tries as many cards as it may, and says so.
fn is_busy(reply: &Reply) {
    let error = &reply.expect(429)["error"];
    assert_eq!(error["businessCode"], "session_cards_being_tried", "{error:#}");
    assert_eq!(error["type"], "api_error", "{error:#}");
    assert_eq!(reply.header("retry-after"), Some("2"));
}

/// How often a provider was asked.
async fn asked(app: &TestApp) -> usize {
    app.books.entries().await.unwrap().len()
}

async fn thirty_refused_cards_at_once_are_ten_that_are_tried(app: TestApp) {
    let (app, session) = patient(app).await;
    app.wire.hold();
    let sent: Vec<_> =
        (0..30).map(|number| app.begin(charge_request(&session, &number.to_string(), BLOCKED))).collect();
    let (busy, held) = first(sent, 30 - TRIES_MAX).await;
    busy.iter().for_each(is_busy);
    app.wire.let_go();
    for reply in join_all(held).await {
        assert_eq!(reply.unwrap().expect(201)["status"], "failed");
    }
    assert_eq!(asked(&app).await, TRIES_MAX);
    refused(&pay(&app, &session, &by_card(APPROVED)).await.expect(422), BLOCKED_NOW);
    assert_eq!(asked(&app).await, TRIES_MAX);
    assert_eq!(places(&app).await, 0);
    // Its merchant switches it on again.
    let path = format!("/v1/sessions/{}", text(&session["id"]));
    app.patch(&path, &json!({ "isActive": true })).await.expect(200);
    assert_eq!(pay(&app, &session, &by_card(APPROVED)).await.expect(201)["status"], "authorized");
}

/// The first provider tells that the card was refused, the second one nothing of the card.
async fn a_refusal_counts_also_when_the_next_provider_is_asked(app: TestApp) {
    let declining = |name: &str, priority, code: &str| {
        let mut provider = sandbox(name, priority);
        provider["options"] = json!({ "type": "SANDBOX", "faults": [{ "then": { "decline": code } }] });
        provider
    };
    let providers = json!([declining("First", 1, "generic"), declining("Second", 2, "try_again")]);
    let mut body = session_body(&app.merchant_with(providers).await);
    body["maxPayments"] = json!(-1);
    let session = create(&app, &body).await;
    for number in 0..TRIES_MAX {
        let failed = pay(&app, &session, &by_card(APPROVED)).await.expect(201);
        let requests = failed["transactionRequests"].as_array().unwrap().len();
        assert_eq!((text(&failed["status"]), requests), ("failed", 2), "{number}: {failed}");
    }
    refused(&pay(&app, &session, &by_card(APPROVED)).await.expect(422), BLOCKED_NOW);
    assert_eq!((asked(&app).await, places(&app).await), (2 * TRIES_MAX, 0));
}

async fn thirty_checks_at_once_are_ten_that_are_made(app: TestApp) {
    let (app, session) = patient(app).await;
    let mut tokens = Vec::new();
    for _ in 0..30 {
        tokens.push(json!(app.card_token(WRONG_CVV).await));
    }
    let merchant = &session["merchantId"];
    let check = |(number, token): (usize, &Value)| {
        // Flat or nested, it is a check.
        let body = match number % 2 {
            0 => json!({ "tokenId": token, "merchantId": merchant, "cvvCheck": true }),
            _ => json!({ "tokenId": token, "zeroDollar": { "merchantId": merchant, "cvvCheck": true } }),
        };
        let headers = [("X-Idempotency-Key", &*number.to_string())];
        request(&buyer(&session), Method::POST, "/v1/sessions/cards", &headers, Some(&body))
    };
    app.wire.hold();
    let sent: Vec<_> = tokens.iter().enumerate().map(|one| app.begin(check(one))).collect();
    let (busy, held) = first(sent, 30 - TRIES_MAX).await;
    busy.iter().for_each(is_busy);
    app.wire.let_go();
    for reply in join_all(held).await {
        assert_eq!(reply.unwrap().expect(201)["status"], "failed");
    }
    assert_eq!((asked(&app).await, places(&app).await), (TRIES_MAX, 0));
    for (number, token) in tokens.iter().enumerate() {
        let again = app.send(check((number, token))).await;
        match again.status.as_u16() {
            201 => assert_eq!(again.header("idempotent-replayed"), Some("true")),
            _ => refused(&again.expect(422), BLOCKED_NOW),
        }
    }
    assert_eq!(asked(&app).await, TRIES_MAX);
}

async fn a_card_that_found_no_place_is_tried_again_with_its_key(app: TestApp) {
    let (app, session) = patient(app).await;
    app.wire.hold();
    let sent: Vec<_> = (0..=TRIES_MAX)
        .map(|number| app.begin(charge_request(&session, &number.to_string(), APPROVED)))
        .collect();
    let (busy, held) = first(sent, 1).await;
    is_busy(&busy[0]);
    assert_eq!(places(&app).await, DECLINES_MAX);
    app.wire.let_go();
    for reply in join_all(held).await {
        assert_eq!(reply.unwrap().expect(201)["status"], "authorized");
    }
    assert_eq!(places(&app).await, 0);
    // Whichever of them it was: nothing is stored of it, and its key makes a charge now.
    for number in 0..=TRIES_MAX {
        let reply = app.send(charge_request(&session, &number.to_string(), APPROVED)).await;
        assert_eq!(reply.expect(201)["status"], "authorized");
    }
    app.run_jobs().await;
    let paid = &read(&app, &session).await["multiplePayments"];
    assert_eq!(paid["paymentCount"], TRIES_MAX + 1, "{paid:#}");
    nothing_is_open(&app).await;
}

async fn an_unknown_outcome_holds_its_place_until_it_is_known(app: TestApp) {
    let file = FileBooks::new();
    let app = app.with_sandbox_deadline(PATIENCE).await.with_books(file.books.clone()).await;
    let session = open(&app).await;
    file.lose();
    for _ in 0..TRIES_MAX {
        assert_eq!(pay(&app, &session, &by_card(APPROVED)).await.expect(201)["status"], "pending");
    }
    is_busy(&pay(&app, &session, &by_card(APPROVED)).await);
    assert_eq!(places(&app).await, DECLINES_MAX);
    file.find();
    app.later(LATER).await;
    nothing_is_open(&app).await;
    assert_eq!(pay(&app, &session, &by_card(APPROVED)).await.expect(201)["status"], "authorized");
}

async fn what_was_being_tried_when_the_process_ended_frees_its_place(app: TestApp) {
    let (app, session) = patient(app).await;
    app.wire.hold();
    let sent: Vec<_> = (0..=TRIES_MAX)
        .map(|number| app.begin(charge_request(&session, &number.to_string(), APPROVED)))
        .collect();
    let (busy, held) = first(sent, 1).await;
    is_busy(&busy[0]);
    let app = app.restart().await;
    held.iter().for_each(JoinHandle::abort);
    is_busy(&pay(&app, &session, &by_card(APPROVED)).await);
    app.wire.let_go();
    app.later(LATER).await;
    nothing_is_open(&app).await;
    assert_eq!(pay(&app, &session, &by_card(APPROVED)).await.expect(201)["status"], "authorized");
}

async fn an_outcome_that_is_given_up_frees_its_place(app: TestApp) {
    let (app, file) = forgetful(app).await;
    let session = open(&app).await;
    file.lose();
    let charge = pay(&app, &session, &by_card(BLOCKED)).await.expect(201);
    assert_eq!((&charge["status"], places(&app).await), (&json!("pending"), 1));
    let request_id = given_up(&app).await;
    assert_eq!(places(&app).await, 0, "what nobody asks about any more keeps nobody off");
    // The operator has it looked at anew, and it was refused: that counts, and frees no other place.
    file.find();
    retry(&app, request_id).await.unwrap();
    app.run_jobs().await;
    nothing_is_open(&app).await;
    let path = format!("/v1/charges/{}", text(&charge["id"]));
    assert_eq!(app.get(&path).await.expect(200)["status"], "failed");
}

async fn a_check_that_is_given_up_frees_its_place(app: TestApp) {
    let (app, file) = forgetful(app).await;
    let session = open(&app).await;
    let key = buyer(&session);
    let body = token_body(APPROVED);
    let token = app.call(&key, Method::POST, "/v1/sessions/tokens", &[], Some(&body)).await.expect(201);
    file.lose();
    let body = json!({ "tokenId": token["tokenId"], "merchantId": session["merchantId"], "cvvCheck": true });
    app.call(&key, Method::POST, "/v1/sessions/cards", &[], Some(&body)).await.expect(424);
    assert_eq!(places(&app).await, 0, "the buyer was told that there is no card");
}

async fn buyers_at_two_nodes_share_the_places(app: TestApp) {
    let (app, session) = patient(app).await;
    // Two processes share one database on PostgreSQL alone.
    let other: Router = match app.app.store.database_kind() {
        regente_store::DatabaseKind::Sqlite => app.router.clone(),
        regente_store::DatabaseKind::Postgres => {
            regente::api::router::router(app.another_node(&app.clock, 1).await)
        }
    };
    app.wire.hold();
    let routers = [&app.router, &other];
    let sent: Vec<_> = (0..30)
        .map(|number: usize| {
            let request = charge_request(&session, &number.to_string(), BLOCKED);
            begin_at(routers[number % 2].clone(), request)
        })
        .collect();
    let (busy, held) = first(sent, 30 - TRIES_MAX).await;
    busy.iter().for_each(is_busy);
    app.wire.let_go();
    for reply in join_all(held).await {
        assert_eq!(reply.unwrap().expect(201)["status"], "failed");
    }
    assert_eq!((asked(&app).await, places(&app).await), (TRIES_MAX, 0));
    refused(&pay(&app, &session, &by_card(APPROVED)).await.expect(422), BLOCKED_NOW);
}

async fn the_doctor_finds_places_that_nobody_holds(app: TestApp) {
    let session = open(&app).await;
    let charge = pay(&app, &session, &by_card(APPROVED)).await.expect(201);
    let (verdict, found) = examined(&app, "places of cards").await;
    assert_eq!((verdict, found.as_str()), (Verdict::Ok, "those of the cards that are being tried: 0"));
    let client_id = app.client_id();
    let id: SessionId = text(&session["id"]).parse().unwrap();
    let object_id: ChargeId = text(&charge["id"]).parse().unwrap();
    let mut batch = Batch::new(client_id);
    batch.push(&TAKE_PLACE, args! { id, client_id });
    assert_eq!(app.app.store.apply(batch).await.unwrap(), Commit::Applied);
    let wrong = (Verdict::Failure, format!("wrong at sessions {id}"));
    assert_eq!(examined(&app, "places of cards").await, wrong);
    let mut batch = Batch::new(client_id);
    batch.push(&HOLD_PLACE, args! { object_id: object_id.uuid(), client_id, id });
    assert_eq!(app.app.store.apply(batch).await.unwrap(), Commit::Applied);
    assert_eq!(examined(&app, "places of cards").await, wrong);
}
