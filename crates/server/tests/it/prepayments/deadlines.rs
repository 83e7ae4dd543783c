//! Until when an offer stands.

use std::time::Duration;

use regente::admin::PrepaymentTask;
use regente_domain::time::Timestamp;
use serde_json::json;

use crate::support::app::{TestApp, stories};
use crate::support::prepayments::{
    EXPIRED, PAID_ON, PREPAYMENT, captured, commit, denied, enabled, everything, operator, read, simulated,
    travel,
};

stories! {
    an_offer_ends_at_15_00_in_brasilia,
    one_made_later_or_on_no_business_day_counts_for_the_next_one,
    a_holiday_of_the_operator_is_no_day_of_payment,
    an_offer_keeps_its_rates,
}

async fn an_offer_ends_at_15_00_in_brasilia(app: TestApp) {
    let merchant = enabled(&app).await;
    captured(&app, &app.client, &merchant, 1_000).await;
    let offer = simulated(&app, &everything()).await;
    let another = simulated(&app, &everything()).await;
    app.clock.set(Timestamp::parse("2026-05-05T17:59:59.999Z").unwrap());
    assert_eq!(read(&app, &offer).await["status"], "pending");
    app.clock.advance(Duration::from_millis(1));
    // Nobody has noted it yet.
    assert_eq!(read(&app, &offer).await["status"], "expired");
    denied(&commit(&app, &offer).await, 409, EXPIRED);
    app.run_jobs().await;
    assert_eq!(read(&app, &offer).await["status"], "expired");
    denied(&commit(&app, &offer).await, 409, EXPIRED);
    denied(&commit(&app, &another).await, 409, EXPIRED);
    // The receivables are there for another offer, which is paid a day later.
    let later = simulated(&app, &everything()).await;
    assert_eq!(
        (&later["expiresAt"], &later["paymentDate"], &later["items"][0]["daysToAnticipate"]),
        (&json!("2026-05-06T18:00:00.000Z"), &json!("2026-05-07"), &json!(29))
    );
    assert_eq!(commit(&app, &later).await.expect(200)["status"], "committed");
}

async fn one_made_later_or_on_no_business_day_counts_for_the_next_one(app: TestApp) {
    let merchant = enabled(&app).await;
    captured(&app, &app.client, &merchant, 1_000).await;
    for (made, expires, paid, days) in [
        // A Friday after the deadline, and the Saturday after it: as of Monday.
        ("2026-05-08T18:00:01Z", "2026-05-11T18:00:00.000Z", "2026-05-12", 24),
        ("2026-05-09T12:00:00Z", "2026-05-11T18:00:00.000Z", "2026-05-12", 24),
        ("2026-05-11T17:00:00Z", "2026-05-11T18:00:00.000Z", "2026-05-12", 24),
        // A Friday before the deadline is paid on Monday.
        ("2026-05-29T12:00:00Z", "2026-05-29T18:00:00.000Z", "2026-06-01", 4),
        // The day before Corpus Christi after the deadline: nothing is left that would come early.
        ("2026-06-02T18:00:00Z", "", "", 0),
    ] {
        travel(&app, made).await;
        let reply = app.post(PREPAYMENT, &everything()).await;
        if expires.is_empty() {
            assert_eq!(reply.status, 422, "{made}");
            continue;
        }
        let offer = reply.expect(201);
        assert_eq!(
            (&offer["expiresAt"], &offer["paymentDate"], &offer["items"][0]["daysToAnticipate"]),
            (&json!(expires), &json!(paid), &json!(days)),
            "{made}"
        );
    }
}

async fn a_holiday_of_the_operator_is_no_day_of_payment(app: TestApp) {
    let app = app.with_holiday(PAID_ON).await;
    let merchant = enabled(&app).await;
    captured(&app, &app.client, &merchant, 1_000).await;
    assert_eq!(simulated(&app, &everything()).await["paymentDate"], "2026-05-07");
}

async fn an_offer_keeps_its_rates(app: TestApp) {
    let merchant = enabled(&app).await;
    captured(&app, &app.client, &merchant, 12_000).await;
    let offer = simulated(&app, &everything()).await;
    operator(&app, app.client_id(), PrepaymentTask::Disable).await;
    assert_eq!(read(&app, &offer).await, offer);
    let committed = commit(&app, &offer).await.expect(200);
    assert_eq!((&committed["netAmount"], &committed["status"]), (&json!(11_594), &json!("committed")));
}
