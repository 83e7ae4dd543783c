//! What happens at the simulator to a payment, and its notifications.

use regente_domain::money::Amount;
use regente_providers::sandbox::Notice;
use regente_providers::staged::{Staged, StagedEvent};
use serde_json::Value;

use crate::support::app::TestApp;
use crate::support::notifications::request_of;

pub const REVERTED: fn(i64) -> Staged = |amount| Staged::RefundReverted { amount: Amount::new(amount) };

pub async fn read(app: &TestApp, id: &str) -> Value {
    app.get(&format!("/v1/charges/{id}")).await.expect(200)
}

/// Something happens at the simulator to the payment of a charge; what it notifies.
pub async fn happens(app: &TestApp, id: &str, what: Staged) -> Vec<Notice> {
    let request = request_of(app, id).await;
    let event = StagedEvent { key: request.provider_key(), at: app.clock.deployment(), what };
    app.app.providers.stage(request.provider_type, event).await.unwrap();
    app.wire.notices()
}

/// It happens, and is notified and applied.
pub async fn told_of(app: &TestApp, id: &str, what: Staged) -> Value {
    let notices = happens(app, id, what).await;
    assert_eq!(notices.len(), 1, "{what:?}");
    hear(app, &notices).await;
    read(app, id).await
}

/// The simulator's notifications arrive.
pub async fn hear(app: &TestApp, notices: &[Notice]) {
    for notice in notices {
        app.deliver(notice).await.expect(200);
    }
    app.run_jobs().await;
}
