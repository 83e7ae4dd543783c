//! Stops the process one step later each time, until a flow has come to its end.

use serde_json::Value;

use crate::support::app::TestApp;

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

/// Lets something happen and stops the process after so many steps, unless it is done before; whether it was. A process that was
/// stopped is started again, and what its workers held is free.
pub async fn stopped_while(
    app: TestApp,
    steps: u64,
    happening: impl AsyncFnOnce(&TestApp),
) -> (TestApp, bool) {
    app.fuse.arm(steps);
    let fuse = app.fuse.clone();
    let is_done = tokio::select! {
        () = happening(&app) => true,
        () = fuse.blown() => false,
    };
    if is_done {
        app.fuse.disarm();
        return (app, true);
    }
    let app = app.restart().await;
    app.end_leases().await;
    (app, false)
}

/// The same while a request is answered.
pub async fn stopped_at(app: TestApp, steps: u64, path: &str, key: &str, body: &Value) -> (TestApp, bool) {
    stopped_while(app, steps, async |app| {
        app.post_with_key(path, key, body).await;
    })
    .await
}
