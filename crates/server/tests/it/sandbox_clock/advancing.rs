//! What falls due while a clock is advanced, and what becomes of an advance on the way.

use std::time::Duration;

use regente_domain::account_clock::{NewAdvance, Span};
use regente_domain::id::{Id, of};
use regente_engine::account_clocks;
use regente_engine::audit::Author;
use regente_store::{Row, args, sql};
use serde_json::{Value, json};

use super::{DAY, at, start, times};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::charges::{reserved, single_merchant};
use crate::support::clocks::{CLOCK, advance, clock, reached};
use crate::support::crashes::{at_each_step, stopped_at};
use crate::support::payers::awaiting;
use crate::support::read::text;
use crate::support::receiver::{Receiver, Say};
use crate::support::sessions::{create, read, session_body};
use crate::support::webhooks::webhook;

stories! {
    what_falls_due_on_the_way_is_done_at_its_own_time,
    a_year_at_once_does_the_same_as_a_month_at_a_time,
    a_webhook_is_tried_again_on_the_way,
    one_advance_is_under_way_at_a_time,
    a_worker_goes_on_with_an_advance,
    an_advance_survives_a_crash_at_each_step,
}

sql! {
    EVENTS_OF = "SELECT id, name FROM events WHERE client_id = :client_id ORDER BY id";
}

/// Begins an advance that nobody goes on with yet, as a process that dies at once does.
async fn begun(app: &TestApp, by: &str) {
    let new = NewAdvance { by: Span::parse(by), to: None };
    let author = Author::operator(app.client_id());
    account_clocks::begin_advance(&app.app, author, &new).await.unwrap();
}

/// What has happened to the account, each with the milliseconds since the start.
async fn happened(app: &TestApp) -> Vec<(String, i64)> {
    let client_id = app.client_id();
    let rows = app.app.store.rows(&EVENTS_OF, args! { client_id }).await.unwrap();
    let event = |row: &Row| {
        let id: Id<of::Event> = row.get("id").unwrap();
        let name: String = row.get::<&str>("name").unwrap().to_owned();
        (name, id.created_at().as_millis() - start().as_millis())
    };
    rows.iter().map(event).collect()
}

/// The same events in the same order, at the same times. Ids of accounts whose times are within ten seconds share a line,
/// so an id may be ahead by as much.
fn assert_same(some: &[(String, i64)], others: &[(String, i64)]) {
    let names = |events: &[(String, i64)]| events.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(some), names(others));
    let is_near = |(one, other): (&(String, i64), &(String, i64))| one.1.abs_diff(other.1) <= 10_000;
    assert!(some.iter().zip(others).all(is_near), "{some:?} {others:?}");
}

/// A session that ends in ten days, a Pix that waits for its payer and a reservation.
async fn three_waiting(app: &TestApp) -> (Value, Value, String) {
    let mut body = session_body(&single_merchant(app).await);
    body["dueDate"] = "2026-04-02T12:00:00.000Z".into();
    (create(app, &body).await, awaiting(app).await, reserved(app).await)
}

async fn charge(app: &TestApp, id: &str) -> Value {
    app.get(&format!("/v1/charges/{id}")).await.expect(200)
}

async fn what_falls_due_on_the_way_is_done_at_its_own_time(app: TestApp) {
    let (session, pix, reservation) = three_waiting(&app).await;
    let moved = advance(&app, "1mo").await;
    assert_eq!(moved["now"], "2026-04-23T15:12:38.379Z");
    let (pix, reservation) = (charge(&app, text(&pix["id"])).await, charge(&app, &reservation).await);
    assert_eq!((&pix["status"], &reservation["status"]), (&json!("failed"), &json!("canceled")));
    assert!(at(&pix["updatedAt"]) < start() + 2 * DAY, "{pix:#}");
    let released = at(&reservation["updatedAt"]).since(start());
    assert!(released >= 7 * DAY && released < 8 * DAY, "{released:?}");
    let session = read(&app, &session).await;
    assert_eq!(session["isActive"], false);
    assert!(text(&session["updatedAt"]).starts_with("2026-04-02T12:00:00"), "{session:#}");
    assert_eq!((times(&moved, "expire_reservation"), times(&moved, "expire_session")), (1, 1), "{moved}");
    assert!(times(&moved, "outcome") >= 1, "{moved}");
}

async fn a_year_at_once_does_the_same_as_a_month_at_a_time(mut app: TestApp) {
    let other = app.another_client().await;
    three_waiting(&app).await;
    advance(&app, "1y").await;
    let at_once = happened(&app).await;
    app.client = other;
    three_waiting(&app).await;
    for _ in 0..12 {
        advance(&app, "1mo").await;
    }
    assert_same(&at_once, &happened(&app).await);
    assert!(at_once.len() > 5 && at_once.is_sorted_by_key(|(_, since)| *since), "{at_once:?}");
}

async fn a_webhook_is_tried_again_on_the_way(app: TestApp) {
    let receiver = Receiver::start().await;
    receiver.always(Say::Status(503));
    let hook = webhook(&app, &receiver, "*", "/hook").await;
    let merchant = single_merchant(&app).await;
    app.post("/v1/charges", &charge_body(&merchant, APPROVED)).await.expect(201);
    let moved = advance(&app, "1mo").await;
    let path = format!("/v1/webhooks/{hook}/deliveries");
    let deliveries = app.get(&path).await.expect(200);
    let first = &deliveries["items"].as_array().unwrap().last().unwrap();
    assert_eq!(first["status"], "lost", "{first:#}");
    let attempts: Vec<_> =
        first["attempts"].as_array().unwrap().iter().map(|attempt| at(&attempt["createdAt"])).collect();
    assert!(attempts.len() > 3, "{attempts:?}");
    let waits: Vec<_> = attempts.windows(2).map(|pair| pair[1].since(pair[0])).collect();
    assert!(waits.is_sorted() && waits[0] > Duration::from_secs(60), "{waits:?}");
    assert!(usize::try_from(times(&moved, "delivery")).unwrap() >= attempts.len());
}

async fn one_advance_is_under_way_at_a_time(app: TestApp) {
    let charge_id = reserved(&app).await;
    begun(&app, "1mo").await;
    let shown = clock(&app).await;
    assert_eq!((at(&shown["now"]), &shown["frozen"]), (start(), &json!(false)), "it stands and waits");
    let advance = &shown["advance"];
    assert_eq!((&advance["status"], at(&advance["to"])), (&json!("running"), start() + 31 * DAY));
    let refused = app.post(CLOCK, &json!({ "by": "1d" })).await.details(409);
    assert_eq!(
        refused,
        ["the clock is being advanced to 2026-04-23T15:12:38.379Z; it can be frozen or reset on the way"]
    );
    assert_eq!(app.patch(CLOCK, &json!({ "frozen": false })).await.status, 409);

    let stopped = app.patch(CLOCK, &json!({ "frozen": true })).await.expect(200);
    assert_eq!((&stopped["frozen"], &stopped["advance"]["status"]), (&json!(true), &json!("stopped")));
    app.run_jobs().await;
    assert_eq!(
        (clock(&app).await, charge(&app, &charge_id).await["status"].clone()),
        (stopped, json!("pre_authorized"))
    );

    begun(&app, "1y").await;
    assert_eq!(app.delete(CLOCK).await.expect(200)["advance"], json!(null));
    app.run_jobs().await;
    assert_eq!(at(&clock(&app).await["now"]), start());
}

async fn a_worker_goes_on_with_an_advance(app: TestApp) {
    let charge_id = reserved(&app).await;
    begun(&app, "1mo").await;
    let app = app.restart().await;
    let reached = reached(&app).await;
    assert_eq!((at(&reached["now"]), &reached["advance"]["status"]), (start() + 31 * DAY, &json!("reached")));
    assert_eq!(charge(&app, &charge_id).await["status"], "canceled");
}

async fn an_advance_survives_a_crash_at_each_step(app: TestApp) {
    let mut expected = None;
    at_each_step(app, 10, async |mut app, steps| {
        app.client = app.another_client().await;
        three_waiting(&app).await;
        let body = json!({ "by": "1mo" });
        let (app, has_ended) = stopped_at(app, steps, CLOCK, "advance", &body).await;
        app.end_leases().await;
        reached(&app).await;
        // Whoever asks again learns what has become of it, and the clock is moved once.
        let again = app.post_with_key(CLOCK, "advance", &body).await;
        assert!([200, 202].contains(&again.status.as_u16()), "{}", again.status);
        let reached = reached(&app).await;
        assert_eq!(
            (at(&reached["now"]), &reached["advance"]["status"]),
            (start() + 31 * DAY, &json!("reached"))
        );
        // What was stopped is looked up once more, at a later time.
        let events: Vec<String> = happened(&app).await.into_iter().map(|(name, _)| name).collect();
        assert_eq!(expected.get_or_insert_with(|| events.clone()), &events, "after {steps} steps");
        (app, has_ended)
    })
    .await;
}
