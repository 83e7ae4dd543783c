//! The simulator notifies what payers do and what becomes of refunds (`docs/interface/sandbox.md#notifications`): nobody
//! needs to probe.

use regente_domain::money::Amount;
use regente_providers::sandbox::Notice;
use regente_providers::staged::{StageRefusal, Staged, StagedEvent};
use serde_json::{Value, json};

use super::paid::agrees;
use crate::support::app::{ADDRESS, TestApp, stories};
use crate::support::charges::read;
use crate::support::notifications::{message, send};
use crate::support::payers::{PAYS, awaiting, happens, requests, stored};
use crate::support::read::{announced, text};

stories! {
    a_payment_is_notified,
    payments_that_are_notified_twice_and_out_of_order_count_once,
    the_result_of_a_refund_is_notified,
    a_payment_of_nothing_is_none,
}

/// The notices that wait at the simulator.
pub(crate) fn notices<const N: usize>(app: &TestApp) -> [Notice; N] {
    app.wire.notices().try_into().expect("as many notifications as things that happened")
}

/// They arrive, in this order, and are applied. Nobody probes.
pub(crate) async fn arrive(app: &TestApp, notices: &[&Notice]) {
    for notice in notices {
        app.deliver(notice).await.expect(200);
    }
    app.prepare().await;
    assert_eq!(app.worker.round().await.unwrap().resolved, 0);
}

async fn a_payment_is_notified(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting(&app).await;
    let [] = notices(&app);
    let picture = text(&charge["paymentMethod"]["qrCodeImageUrl"]);
    assert_eq!(charge["transactionRequests"][0]["pix"]["qrCodeImageUrl"], picture);
    let path = picture.strip_prefix(ADDRESS).expect("an address of this deployment");
    assert_eq!(app.get(path).await.status, 200);
    happens(&app, &charge, 0, PAYS).await;
    let [paid] = notices(&app);
    arrive(&app, &[&paid]).await;
    let charge = read(&app, &charge).await;
    assert_eq!(charge["status"], "authorized");
    assert_eq!(requests(&charge), [("authorization", "success", 150), ("pending", "success", 150)]);
    assert_eq!(announced(&app, text(&charge["id"])).await, ["pending", "authorized"]);
    agrees(&app, &charge).await;
}

async fn payments_that_are_notified_twice_and_out_of_order_count_once(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting(&app).await;
    happens(&app, &charge, 0, Staged::Payment { amount: Amount::new(149) }).await;
    happens(&app, &charge, 0, Staged::FurtherPayment { amount: None }).await;
    let [first, second] = notices(&app);
    arrive(&app, &[&second, &first, &second, &first]).await;
    let paid = read(&app, &charge).await;
    assert_eq!((&paid["status"], &paid["amount"]), (&json!("authorized"), &json!(149)), "{paid:#}");
    let payments = requests(&paid)
        .into_iter()
        .filter(|(kind, status, _)| (*kind, *status) == ("authorization", "success"));
    assert_eq!(payments.map(|(_, _, amount)| amount).collect::<Vec<_>>(), [150, 149], "{paid:#}");
}

async fn a_payment_of_nothing_is_none(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting(&app).await;
    let asked = stored(&app, &charge).await.remove(0);
    let nothing = StagedEvent {
        key: asked.provider_key(),
        at: app.clock.deployment(),
        what: Staged::Payment { amount: Some(Amount::ZERO) },
    };
    let refused = app.app.providers.stage(asked.provider_type, nothing).await;
    assert_eq!(refused, Err(StageRefusal::NothingWaits), "the simulator's payers pay something");
    // A provider says so all the same.
    let paid = json!({ "paid": [{ "reference": { "transactionId": "E0" }, "amount": 0 }] });
    let told = message(&asked, "nothing", "payment.outcome", &paid);
    assert_eq!(send(&app, &asked, &told, "any-api-key-1234").await, 200);
    app.run_jobs().await;
    assert_eq!(read(&app, &charge).await, charge, "it waits for its payer");
    happens(&app, &charge, 0, PAYS).await;
    let [paid] = notices(&app);
    arrive(&app, &[&paid]).await;
    let paid = read(&app, &charge).await;
    assert_eq!((&paid["status"], &paid["amount"]), (&json!("authorized"), &json!(150)), "{paid:#}");
    agrees(&app, &paid).await;
}

async fn the_result_of_a_refund_is_notified(app: TestApp) {
    let app = app.reachable().await;
    let charge = awaiting(&app).await;
    happens(&app, &charge, 0, PAYS).await;
    let [paid] = notices(&app);
    arrive(&app, &[&paid]).await;
    let void = |amount: i64| {
        let path = format!("/v1/charges/{}/void", text(&charge["id"]));
        let app = &app;
        async move { app.post(&path, &json!({ "amount": amount })).await.expect(201) }
    };
    let outcomes = [(Staged::RefundRefusal, "authorized", 150), (Staged::Refund, "authorized", 140)];
    for (what, status, rest) in outcomes {
        let pending: Value = void(10).await;
        assert_eq!(pending["status"], "refund_pending", "{pending:#}");
        let place = pending["transactionRequests"].as_array().unwrap().len() - 1;
        happens(&app, &charge, place, what).await;
        let [result] = notices(&app);
        arrive(&app, &[&result, &result]).await;
        let after = read(&app, &charge).await;
        assert_eq!((&after["status"], &after["amount"]), (&json!(status), &json!(rest)), "{after:#}");
    }
    agrees(&app, &read(&app, &charge).await).await;
}
