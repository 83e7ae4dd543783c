//! Accounts that move their time, in the sandbox.

use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::client::Reply;

pub const CLOCK: &str = "/v1/sandbox/clock";

/// What the clock of the account shows, with its last advance.
pub async fn clock(app: &TestApp) -> Value {
    app.get(CLOCK).await.expect(200)
}

/// Advances the clock of the account to the end.
pub async fn advance(app: &TestApp, by: &str) -> Value {
    begun(&app.post(CLOCK, &json!({ "by": by })).await);
    reached(app).await
}

/// An advance was taken; on a busy machine it may go on.
pub fn begun(reply: &Reply) {
    assert!([200, 202].contains(&reply.status.as_u16()), "{reply:?}");
}

/// The clock once its advance has ended, however long that takes on a busy machine: what the request does not do in its time, it
/// goes on with behind it, or the worker does.
pub async fn reached(app: &TestApp) -> Value {
    loop {
        let shown = clock(app).await;
        if shown["advance"]["status"] != "running" {
            return shown;
        }
        app.run_jobs().await;
        tokio::task::yield_now().await;
    }
}
