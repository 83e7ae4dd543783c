//! Stops the process one step later each time, until a flow has come to its end.

use axum::http::Method;
use serde_json::Value;

use crate::support::app::TestApp;
use crate::support::client::request;

/// More steps than any of these flows has.
pub const STEPS_MAX: u64 = 200;

/// Goes through a flow again and again and stops the process one step later each time, until the flow has come to its
/// end. `round` goes through it once and stops after so many steps; it tells whether the flow has ended before.
pub async fn at_each_step(
    mut app: TestApp,
    steps_min: u64,
    mut round: impl AsyncFnMut(TestApp, u64) -> (TestApp, bool),
) {
    for steps in 0..STEPS_MAX {
        let has_ended;
        (app, has_ended) = round(app, steps).await;
        if has_ended {
            assert!(steps >= steps_min, "the flow has {steps} steps: writes and calls are missing");
            return;
        }
    }
    panic!("the flow does not end");
}

/// Sends a request and stops the process after so many steps; whether the request was answered.
pub async fn stopped_at(app: TestApp, steps: u64, path: &str, key: &str, body: &Value) -> (TestApp, bool) {
    app.fuse.arm(steps);
    let headers = [("X-Idempotency-Key", key)];
    let mut pending = app.begin(request(&app.client, Method::POST, path, &headers, Some(body)));
    let fuse = app.fuse.clone();
    let is_answered = tokio::select! {
        reply = &mut pending => reply.is_ok(),
        () = fuse.blown() => false,
    };
    if is_answered {
        app.fuse.disarm();
        return (app, true);
    }
    let app = app.restart().await;
    pending.abort();
    (app, false)
}
