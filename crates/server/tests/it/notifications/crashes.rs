//! The process stops at each write while a notification is taken, and while its job settles it. The provider sends again
//! what was not answered; in the end the charge agrees with the simulator's transaction log.

use std::time::Duration;

use super::{agrees, lost, read};
use crate::support::app::{TestApp, stories};
use crate::support::crashes::stopped_while;
use crate::support::read::announced;

stories! {
    while_a_notification_is_taken_and_settled,
    what_was_taken_before_a_crash_is_settled_after_it,
}

/// A job that failed is tried again by then.
const SOON: Duration = Duration::from_secs(60);
/// More steps than the flow has.
const STEPS_MAX: u64 = 40;

async fn while_a_notification_is_taken_and_settled(app: TestApp) {
    let mut app = app.reachable().await;
    for steps in 0..STEPS_MAX {
        let (id, notice) = lost(&app).await;
        // Housekeeping runs first, so that the steps are those of the notification.
        app.prepare().await;
        while app.worker.round().await.unwrap().jobs > 0 {}
        let is_done;
        (app, is_done) = stopped_while(app, steps, async |app| {
            app.deliver(&notice).await.expect(200);
            app.worker.round().await.unwrap();
        })
        .await;
        if !is_done {
            app.deliver(&notice).await.expect(200);
        }
        app.later(SOON).await;
        assert_eq!(read(&app, &id).await["status"], "authorized", "after {steps} steps");
        assert_eq!(announced(&app, &id).await, ["pending", "authorized"], "after {steps} steps");
        agrees(&app).await;
        if is_done {
            assert!(steps >= 4, "the flow has {steps} steps: writes are missing from the sweep");
            return;
        }
    }
    panic!("the flow does not end");
}

async fn what_was_taken_before_a_crash_is_settled_after_it(app: TestApp) {
    let app = app.reachable().await;
    let (id, notice) = lost(&app).await;
    app.deliver(&notice).await.expect(200);
    let app = app.restart().await;
    app.run_jobs().await;
    assert_eq!(read(&app, &id).await["status"], "authorized");
    assert_eq!(announced(&app, &id).await, ["pending", "authorized"]);
    agrees(&app).await;
}
