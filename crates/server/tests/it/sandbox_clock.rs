//! The clock of an account, which its owner moves in the sandbox (`docs/interface/sandbox.md#clock`).

mod advancing;

use std::time::Duration;

use axum::http::Method;
use regente_domain::time::Timestamp;
use regente_engine::clock::Clock;
use regente_engine::settings::Mode;
use regente_store::DatabaseKind;
use serde_json::{Value, json};

use crate::support::app::{START, TestApp, stories};
use crate::support::bodies::payers::jose;
use crate::support::bodies::{APPROVED, token_body};
use crate::support::charges::reserved;
use crate::support::client::{As, Client, Reply};
use crate::support::clocks::{CLOCK, advance, begun, clock, reached};
use crate::support::read::text;
use crate::support::server::{Server, regente, run_on};
use crate::support::subscriptions::{SUBSCRIPTIONS, subscription_body};

stories! {
    two_accounts_have_different_times,
    a_frozen_clock_stands_until_it_goes_on,
    what_lies_ahead_of_a_frozen_clock_waits,
    a_reset_leads_back_to_the_time_of_the_deployment,
    a_clock_that_is_told_nonsense_stays,
    a_clock_is_advanced_by_the_calendar,
    a_repeated_key_advances_once,
    every_node_goes_by_a_stored_clock,
    production_has_only_the_machines_clock,
}

pub(super) const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const HOUR: Duration = Duration::from_secs(60 * 60);

async fn freeze(app: &TestApp, frozen: bool) -> Value {
    app.patch(CLOCK, &json!({ "frozen": frozen })).await.expect(200)
}

pub(super) fn at(value: &Value) -> Timestamp {
    Timestamp::parse(text(value)).unwrap()
}

/// How often something was done on the way of the last advance.
pub(super) fn times(clock: &Value, what: &str) -> i64 {
    let done = clock["advance"]["done"].as_array().unwrap();
    done.iter().find(|done| done["what"] == what).map_or(0, |done| done["times"].as_i64().unwrap())
}

fn start() -> Timestamp {
    Timestamp::parse(START).unwrap()
}

async fn use_token(app: &TestApp, client: &Client, token: &Value) -> Reply {
    let body = json!({ "tokenId": token["tokenId"] });
    app.call(client, Method::POST, "/v1/cards", &[], Some(&body)).await
}

async fn two_accounts_have_different_times(app: TestApp) {
    let other = As::another_client(&app).await;
    let of_other = other.post("/v1/tokens", &token_body(APPROVED)).await.expect(201);
    let own = app.post("/v1/tokens", &token_body(APPROVED)).await.expect(201);
    assert_eq!(clock(&app).await, json!({ "now": START, "frozen": false, "advance": null }));

    let moved = advance(&app, "3mo").await;
    assert_eq!((&moved["now"], &moved["frozen"]), (&json!("2026-06-23T15:12:38.379Z"), &json!(false)));
    assert_eq!(moved["advance"]["status"], "reached");
    assert_eq!(clock(&app).await, moved);
    assert_eq!(other.get(CLOCK).await.expect(200)["now"], START);

    assert_eq!(use_token(&app, &app.client, &own).await.status, 400, "it expired months ago");
    assert_eq!(use_token(&app, &other.client, &of_other).await.status, 201);
    let merchant = app.merchant().await;
    let merchant = app.get(&format!("/v1/merchants/{merchant}")).await.expect(200);
    assert_eq!(merchant["createdAt"], "2026-06-23T15:12:38.379Z");
    let webhook = json!({ "event": "*", "endpoint": "https://example.com/hooks" });
    let made = other.post("/v1/webhooks", &webhook).await.expect(201);
    assert!(text(&made["createdAt"]).starts_with("2026-03-23"), "{made}");

    // It goes on with the deployment's.
    app.clock.advance(HOUR);
    assert_eq!(at(&clock(&app).await["now"]), at(&moved["now"]) + HOUR);
    assert_eq!(at(&other.get(CLOCK).await.expect(200)["now"]), start() + HOUR);
}

async fn a_frozen_clock_stands_until_it_goes_on(app: TestApp) {
    let frozen = freeze(&app, true).await;
    assert_eq!(frozen, json!({ "now": START, "frozen": true, "advance": null }));
    let token = app.post("/v1/tokens", &token_body(APPROVED)).await.expect(201);
    app.later(DAY).await;
    assert_eq!(clock(&app).await, frozen);
    assert_eq!(freeze(&app, true).await, frozen, "it stands already");
    let merchant = app.merchant().await;
    let merchant = app.get(&format!("/v1/merchants/{merchant}")).await.expect(200);
    assert_eq!(at(&merchant["createdAt"]), start());

    let goes_on = freeze(&app, false).await;
    assert_eq!((at(&goes_on["now"]), &goes_on["frozen"]), (start(), &json!(false)), "from where it stood");
    app.clock.advance(Duration::from_secs(60));
    assert_eq!(at(&clock(&app).await["now"]), start() + Duration::from_secs(60));
    assert_eq!(use_token(&app, &app.client, &token).await.status, 201, "a minute old");
}

async fn what_lies_ahead_of_a_frozen_clock_waits(app: TestApp) {
    let charge = reserved(&app).await;
    let status = async || app.get(&format!("/v1/charges/{charge}")).await.expect(200)["status"].clone();
    freeze(&app, true).await;
    app.later(30 * DAY).await;
    assert_eq!(status().await, "pre_authorized", "its clock has not moved");
    let moved = advance(&app, "8d").await;
    assert_eq!((at(&moved["now"]), &moved["frozen"]), (start() + 8 * DAY, &json!(true)));
    assert_eq!(status().await, "canceled");
    assert_eq!(times(&moved, "expire_reservation"), 1);
}

async fn a_reset_leads_back_to_the_time_of_the_deployment(app: TestApp) {
    advance(&app, "1y").await;
    let charge = reserved(&app).await;
    let status = async || app.get(&format!("/v1/charges/{charge}")).await.expect(200)["status"].clone();
    let reset = app.delete(CLOCK).await.expect(200);
    assert_eq!(reset, json!({ "now": START, "frozen": false, "advance": null }));
    // What was made ahead keeps its times, and is due when they come.
    app.later(8 * DAY).await;
    assert_eq!(status().await, "pre_authorized");
    app.later(366 * DAY).await;
    assert_eq!(status().await, "canceled");
    assert_eq!(app.delete(CLOCK).await.expect(200)["frozen"], false, "nothing to reset");
}

async fn a_clock_that_is_told_nonsense_stays(app: TestApp) {
    let span = "by must be a span of time ahead, such as 1d, 3mo or P1Y6M";
    let past = format!("to must be later than the account's time, {START}: time does not go back");
    let far = |member| format!("{member} must lead ahead by 5 years at most, and not into the year 2200");
    for (body, problem) in [
        (json!({}), "by should not be empty, unless to is given".to_owned()),
        (json!({ "by": "1d", "to": "2027-01-01" }), "to must not be given with by".to_owned()),
        (json!({ "by": "tomorrow" }), span.to_owned()),
        (json!({ "by": 5 }), span.to_owned()),
        (json!({ "by": "-1d" }), span.to_owned()),
        (json!({ "by": "0s" }), span.to_owned()),
        (json!({ "by": "5y 1d" }), far("by")),
        (json!({ "to": "2031-03-24" }), far("to")),
        (json!({ "to": START }), past.clone()),
        (json!({ "to": "2026-01-01" }), past),
        (json!({ "to": "soon" }), "to must be a valid ISO 8601 date string".to_owned()),
    ] {
        assert_eq!(app.post(CLOCK, &body).await.details(400), [problem], "{body}");
    }
    assert_eq!(app.patch(CLOCK, &json!({})).await.status, 400);
    assert_eq!(app.patch(CLOCK, &json!({ "frozen": "yes" })).await.status, 400);
    assert_eq!(clock(&app).await, json!({ "now": START, "frozen": false, "advance": null }));
}

async fn a_clock_is_advanced_by_the_calendar(app: TestApp) {
    for (body, now) in [
        (json!({ "to": "2026-10-31T10:00:00Z" }), "2026-10-31T10:00:00.000Z"),
        (json!({ "by": "1mo" }), "2026-11-30T10:00:00.000Z"),
        (json!({ "by": "P1Y2M" }), "2028-01-30T10:00:00.000Z"),
        (json!({ "by": "1 month" }), "2028-02-29T10:00:00.000Z"),
        (json!({ "by": "1y 1d 2h" }), "2029-03-01T12:00:00.000Z"),
        (json!({ "by": "5y" }), "2034-03-01T12:00:00.000Z"),
    ] {
        begun(&app.post(CLOCK, &body).await);
        assert_eq!(reached(&app).await["now"], now, "{body}");
    }
}

async fn a_repeated_key_advances_once(app: TestApp) {
    let body = json!({ "by": "1h" });
    let first = app.post_with_key(CLOCK, "once", &body).await;
    let again = app.post_with_key(CLOCK, "once", &body).await;
    assert_eq!(again.headers["idempotent-replayed"], "true");
    begun(&first);
    assert_eq!((first.status, first.json()), (again.status, again.json()));
    assert_eq!(at(&reached(&app).await["now"]), start() + HOUR);
}

async fn every_node_goes_by_a_stored_clock(app: TestApp) {
    let (stored, store) = (Clock::manual(start()), &app.app.store);
    advance(&app, "3mo").await;
    assert_eq!(stored.of(app.client_id()), start(), "it has not looked yet");
    stored.follow_accounts(store).await.unwrap();
    assert_eq!(stored.of(app.client_id()), app.clock.of(app.client_id()));
    freeze(&app, true).await;
    stored.follow_accounts(store).await.unwrap();
    // What stands does not go on with the time of a node.
    stored.advance(DAY);
    assert_eq!(stored.of(app.client_id()), app.clock.of(app.client_id()));
    app.delete(CLOCK).await.expect(200);
    stored.follow_accounts(store).await.unwrap();
    assert_eq!(stored.of(app.client_id()), start() + DAY);

    // A node that starts later reads it at once.
    if store.database_kind() == DatabaseKind::Postgres {
        advance(&app, "1y").await;
        let later = Clock::manual(start());
        app.another_node(&later, 1).await;
        assert_eq!(later.of(app.client_id()), app.clock.of(app.client_id()));
    }
}

async fn production_has_only_the_machines_clock(app: TestApp) {
    let body = json!({ "by": "3mo" });
    advance(&app, "3mo").await;
    let app = app.with_settings(|settings| settings.mode = Mode::Production).await;
    for (method, body) in [
        (Method::GET, None),
        (Method::POST, Some(&body)),
        (Method::PATCH, Some(&json!({ "frozen": true }))),
        (Method::DELETE, None),
    ] {
        let reply = app.call(&app.client, method.clone(), CLOCK, &[], body).await;
        assert_eq!(reply.status, 404, "{method}");
    }
    if app.app.store.database_kind() == DatabaseKind::Postgres {
        let machine = Clock::manual(start());
        app.another_node(&machine, 1).await;
        assert_eq!(machine.of(app.client_id()), start(), "what is stored is not read");
    }
}

/// The command looks every two seconds. Each day on the way has something to do that takes some milliseconds.
#[tokio::test]
async fn a_long_advance_is_followed_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let made = async |path: &str, body: &Value, id: &str| {
        let made: Value = server.post(path, body).send().await.unwrap().json().await.unwrap();
        text(&made[id]).to_owned()
    };
    let customer = made("/v1/customers", &jose(), "id").await;
    let token = made("/v1/tokens", &token_body(APPROVED), "tokenId").await;
    let card = made("/v1/cards", &json!({ "tokenId": token }), "id").await;
    let mut daily = subscription_body(server.value("REGENTE_MERCHANT_ID"), &customer, &card);
    daily["recurrence"] = json!({ "interval": "daily" });
    made(SUBSCRIPTIONS, &daily, "id").await;
    // On a busy machine it takes longer than other commands may.
    let mut command = regente(&["clock", "advance", "1y"]);
    let advanced = command.arg("--data-dir").arg(folder.path()).output().await.unwrap();
    let [shown, on_the_way] = [advanced.stdout, advanced.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(advanced.status.success() && shown.contains("has reached its end"), "{shown}{on_the_way}");
    assert!(on_the_way.contains("…"), "it was shown on the way: {on_the_way}");
    server.stop().await;
}

#[tokio::test]
async fn the_command_line_and_the_demo_shop_move_the_clock() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let read = async || server.get(CLOCK).send().await.unwrap().json::<Value>().await.unwrap();
    let before = at(&read().await["now"]);
    let day = reqwest::Client::new().post(server.url("/demo/day")).send().await.unwrap();
    assert_eq!(day.status(), 200);
    assert!(at(&read().await["now"]) >= before + DAY);

    let advanced = run_on(folder.path(), &["clock", "advance", "30d", "--json"]).await.json();
    assert_eq!(advanced["clock"]["advance"]["status"], "reached", "{advanced}");
    assert!(at(&read().await["now"]) >= before + 31 * DAY);
    let nonsense = run_on(folder.path(), &["clock", "advance", "soon"]).await;
    assert!(nonsense.complaint().contains("soon is no span of time"), "{}", nonsense.stderr);
    let frozen = run_on(folder.path(), &["clock", "freeze"]).await;
    assert!(frozen.text().contains(", and stands."), "{}", frozen.stdout);
    let stands = read().await["now"].clone();
    server.stop().await;

    // Without a server, and at its next start.
    let shown = run_on(folder.path(), &["clock", "show"]).await;
    assert!(shown.text().contains(text(&stands)), "{}", shown.stdout);
    run_on(folder.path(), &["clock", "advance", "1d"]).await.text();
    let server = Server::start(folder.path(), &[]).await;
    let kept = server.get(CLOCK).send().await.unwrap().json::<Value>().await.unwrap();
    assert_eq!((at(&kept["now"]), &kept["frozen"]), (at(&stands) + DAY, &json!(true)));
    run_on(folder.path(), &["clock", "reset"]).await.text();
    let reset = server.get(CLOCK).send().await.unwrap().json::<Value>().await.unwrap();
    assert!(at(&reset["now"]) < before + DAY, "{reset}");
    server.stop().await;
}
