//! What the buyers of one session can have under way (`docs/interface/sessions.md#limits`).

mod cards;
mod customers;

use std::time::Duration;

use futures_util::future::join_all;
use regente_domain::session::Capacity;
use serde_json::Value;

use super::payments::{refused, single, state};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::charges::single_merchant;
use crate::support::payers::{PAYS, happens};
use crate::support::sessions::{by_card, by_pix, create, pay, read, session_body};
use crate::support::time::MINUTE;

stories! {
    open_instructions_are_bounded,
    instructions_of_a_session_that_many_pay_are_bounded_together,
}

const OPEN_MAX: usize = Capacity::OPEN_ONCE_MAX.unsigned_abs() as usize;
const FULL: &str = "session_open_payments_limit_reached";

/// Buyers with a Pix each, one after the other; the codes of those who were refused.
async fn with_pix(app: &TestApp, session: &Value, times: usize) -> (Vec<Value>, usize) {
    let (mut open, mut full) = (Vec::new(), 0);
    for _ in 0..times {
        let answer = pay(app, session, &by_pix()).await;
        match answer.status.as_u16() {
            201 => open.push(answer.json()),
            _ => {
                refused(&answer.expect(422), FULL);
                full += 1;
            }
        }
    }
    (open, full)
}

async fn open_instructions_are_bounded(app: TestApp) {
    let session = single(&app).await;
    let (open, full) = with_pix(&app, &session, 100).await;
    assert_eq!((open.len(), full), (OPEN_MAX, 100 - OPEN_MAX));
    assert_eq!(state(&read(&app, &session).await), ("created", 0, Capacity::OPEN_ONCE_MAX, "active"));
    // What expires frees its place, also for buyers who come at once.
    app.later(Duration::from_secs(3600) + MINUTE).await;
    assert_eq!(state(&read(&app, &session).await), ("created", 0, 0, "active"));
    with_pix(&app, &session, OPEN_MAX - 1).await;
    let pix = by_pix();
    join_all((0..20).map(|_| pay(&app, &session, &pix))).await;
    assert!(state(&read(&app, &session).await).2 <= Capacity::OPEN_ONCE_MAX);
    assert!(with_pix(&app, &session, 2).await.1 >= 1);
    // A card pays nevertheless, and a code that is open pays, too.
    let other = single(&app).await;
    let (open, _) = with_pix(&app, &other, OPEN_MAX + 1).await;
    happens(&app, &open[3], 0, PAYS).await;
    app.later(MINUTE).await;
    assert_eq!(read(&app, &other).await["status"], "paid");
    assert_eq!(pay(&app, &session, &by_card(APPROVED)).await.expect(201)["status"], "authorized");
}

async fn instructions_of_a_session_that_many_pay_are_bounded_together(app: TestApp) {
    let mut body = session_body(&single_merchant(&app).await);
    body["maxPayments"] = (-1).into();
    let session = create(&app, &body).await;
    assert_eq!(with_pix(&app, &session, 3 * OPEN_MAX).await.1, 0, "many buyers have a code at once");
}
