//! The version of a charge is its lock: a decision about an older version is not written.

use regente_domain::actor::Actor;
use regente_domain::charge::{Charge, ChargeState};
use regente_domain::id::ChargeId;
use regente_domain::provider_type::ProviderType;
use regente_domain::routing::explanation::Stopped;
use regente_store::{Batch, Commit, charges};
use serde_json::json;

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{TIMED_OUT, charge_body};
use crate::support::charges::charged;
use crate::support::read::text;

stories! { the_second_of_two_decisions_is_refused }

async fn stored(app: &TestApp, id: ChargeId) -> Charge {
    charges::find(&app.app.store, app.client_id(), id).await.unwrap().unwrap().charge
}

async fn write(app: &TestApp, before: &Charge, after: &Charge) -> Commit {
    let mut batch = Batch::new(app.client_id());
    charges::update(&mut batch, before, after, &Actor::Operator).unwrap();
    app.app.store.apply(batch).await.unwrap()
}

/// A pending charge has no earlier version in the store, so only the lock can refuse the second decision.
async fn the_second_of_two_decisions_is_refused(app: TestApp) {
    let mut body = charge_body(&app.merchant().await, TIMED_OUT);
    let silent = json!({ "when": { "operation": "probe" }, "then": { "timeout": "before_effect" } });
    body["paymentFlow"] = json!({ "metadata": { "sandboxFaults": [silent] } });
    let id = text(&charged(&app, &body).await["id"]).parse().unwrap();
    let before = stored(&app, id).await;
    assert_eq!(before.state, ChargeState::Processing);

    let now = app.clock.deployment();
    let taken = before.approve(ProviderType::Sandbox, before.amount, now).unwrap().charge;
    let failed = before.fail(ProviderType::Sandbox, Stopped::Interrupted, now).unwrap().charge;
    assert_eq!(write(&app, &before, &taken).await, Commit::Applied);
    let Commit::Refused(refusal) = write(&app, &before, &failed).await else {
        panic!("a charge that has moved on was written over");
    };
    assert!(refusal.is(&charges::UPDATE_CHARGE), "{refusal:?}");
    assert_eq!(stored(&app, id).await, taken);
}
