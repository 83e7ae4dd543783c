//! Notifications that are not taken: what the provider did not sign, what is too large, and what cannot be stored now.

use std::time::Duration;

use regente::http::rates::Rate;
use regente_domain::id::ProviderId;
use regente_providers::notification::NOTIFICATION_BYTES_MAX;
use regente_providers::sandbox::SIGNATURE_AGE_MAX;
use serde_json::Value;
use uuid::Uuid;

use super::{approved, lost, read, settle};
use crate::support::app::{TestApp, stories};
use crate::support::notifications::{API_KEY, message, path, request_of, send_to, signing_key, states};

stories! {
    what_the_provider_did_not_sign_is_refused_and_leaves_nothing,
    forged_notifications_are_logged_once_a_minute,
    an_address_that_forges_waits,
    what_is_too_large_is_not_read,
    an_unknown_provider_is_not_found,
    what_cannot_be_stored_is_sent_again,
}

async fn what_the_provider_did_not_sign_is_refused_and_leaves_nothing(app: TestApp) {
    let app = app.reachable().await;
    let (id, notice) = lost(&app).await;
    let now = app.clock.deployment();
    let path = path(request_of(&app, &id).await.provider_id.uuid());
    let genuine = notice.signature(now);
    let late = signing_key(API_KEY).sign(now - SIGNATURE_AGE_MAX - Duration::from_millis(1), &notice.body);
    let others = signing_key("another-api-key").sign(now, &notice.body);
    for (forged, signature) in [
        ("with another key", others.as_str()),
        ("cut off", &genuine[..genuine.len() - 2]),
        ("with the signature of a former day", &late),
        ("by nobody", ""),
    ] {
        let reply = app.notify(&path, signature, notice.body.clone()).await;
        assert_eq!(reply.status.as_u16(), 401, "{forged}");
    }
    let mut changed = notice.body.clone();
    changed.push(b' ');
    app.notify(&path, &genuine, changed).await.expect(401);
    settle(&app).await;
    assert_eq!(states(&app).await, [""; 0]);
    assert_eq!(read(&app, &id).await["status"], "pending");
    app.deliver(&notice).await.expect(200);
    settle(&app).await;
    assert_eq!(read(&app, &id).await["status"], "authorized", "forged ones are not in its way");
}

async fn forged_notifications_are_logged_once_a_minute(app: TestApp) {
    let app = app.reachable().await;
    let (id, notice) = lost(&app).await;
    let provider_id: ProviderId = request_of(&app, &id).await.provider_id;
    let path = path(provider_id.uuid());
    let forged = async || app.notify(&path, "t=1,v1=00", notice.body.clone()).await.expect(401);
    let refused = &app.app.forged_notifications;
    for _ in 0..5 {
        forged().await;
    }
    assert_eq!(refused.count(provider_id, app.clock.machine()), None, "the first one was logged");
    app.clock.advance_machine(Duration::from_secs(61));
    // The four that were not logged, the one above, and this one.
    assert_eq!(refused.count(provider_id, app.clock.machine()), Some(6));
    assert_eq!(refused.count(provider_id, app.clock.machine()), None);
}

async fn an_address_that_forges_waits(app: TestApp) {
    let app = app
        .with_limits(|limits| limits.rates.failed_authentications = Rate::per_minute(2))
        .await
        .reachable()
        .await;
    let (id, notice) = lost(&app).await;
    let path = path(request_of(&app, &id).await.provider_id.uuid());
    let statuses = async || app.notify(&path, "", notice.body.clone()).await.status.as_u16();
    assert_eq!(
        [statuses().await, statuses().await, statuses().await, statuses().await],
        [401, 401, 401, 429]
    );
    let refused = app.deliver(&notice).await;
    assert_eq!(refused.status.as_u16(), 429, "the provider shares the address, and sends it again");
    assert!(refused.header("retry-after").is_some());
    let (_, of_another) = lost(&app).await;
    app.deliver(&of_another).await.expect(200);
    app.get("/v1/charges").await.expect(200);
    app.clock.advance_machine(Duration::from_secs(61));
    app.deliver(&notice).await.expect(200);
}

async fn what_is_too_large_is_not_read(app: TestApp) {
    let app = app.reachable().await;
    let (_, notice) = lost(&app).await;
    let path = notice.url.strip_prefix("http://regente.example").unwrap();
    let signed = |body: &[u8]| signing_key(API_KEY).sign(app.clock.deployment(), body);
    let mut body = notice.body.clone();
    body.resize(NOTIFICATION_BYTES_MAX + 1, b' ');
    app.notify(path, &signed(&body), body.clone()).await.expect(413);
    body.pop();
    app.notify(path, &signed(&body), body).await.expect(200);
}

async fn an_unknown_provider_is_not_found(app: TestApp) {
    let app = app.reachable().await;
    let (id, _) = lost(&app).await;
    let told = message(&request_of(&app, &id).await, "1", "payment.outcome", &approved());
    assert_eq!(send_to(&app, Uuid::from_u128(7), &told, API_KEY).await, 404);
    assert_eq!(app.notify("/providers/7/notifications", "", Vec::new()).await.status.as_u16(), 404);
    assert_eq!(states(&app).await, [""; 0]);
}

async fn what_cannot_be_stored_is_sent_again(app: TestApp) {
    let app = app.reachable().await;
    let (id, notice) = lost(&app).await;
    let places: Vec<_> = std::iter::from_fn(|| app.app.store.admit(app.client_id()).ok()).collect();
    assert!(!places.is_empty());
    let refused = app.deliver(&notice).await;
    let body: Value = refused.expect(503);
    assert!(refused.header("retry-after").is_some(), "{body}");
    assert_eq!(states(&app).await, [""; 0]);
    drop(places);
    app.deliver(&notice).await.expect(200);
    settle(&app).await;
    assert_eq!(read(&app, &id).await["status"], "authorized");
}
