//! Payments to which a cardholder agrees once and which they do not attend (`docs/interface/charges.md#recurrence`).

use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, BLOCKED, Charge, charge_body};
use crate::support::charges::{charged, network_transaction_ids, single_merchant};
use crate::support::read::text;
use crate::support::three_d_secure;
use crate::support::three_d_secure::{CHALLENGE_PASSES, decided, hosted_body};

stories! {
    later_payments_name_the_first_one,
    a_new_agreement_takes_the_place_of_the_old_one,
    a_payment_that_is_declined_or_no_agreement_is_not_named,
    an_agreement_made_in_a_challenge_is_named,
    an_agreement_that_was_found_out_about_is_named,
}

/// The body of the payment that makes the agreement.
fn first(merchant: &str, card: (&str, &str)) -> Value {
    let mut body = charge_body(merchant, card);
    body["paymentMethod"]["recurrence"] = json!("initial");
    body
}

/// Charges the card of an earlier charge, without its cardholder.
async fn later(app: &TestApp, merchant: &str, earlier: &Value, recurrence: &str) -> Value {
    let mut body = Charge::by_source(merchant, earlier["paymentSource"].clone()).body();
    body["paymentMethod"]["recurrence"] = json!(recurrence);
    let charge = charged(app, &body).await;
    assert_eq!(charge["status"], "authorized", "{charge:#}");
    charge
}

async fn later_payments_name_the_first_one(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let agreed = charged(&app, &first(&merchant, APPROVED)).await;
    let next = later(&app, &merchant, &agreed, "subsequent").await;
    later(&app, &merchant, &next, "unscheduled").await;
    let ids = network_transaction_ids(&app).await;
    assert_eq!(ids.len(), 3);
    assert!(ids[0].len() == 14 && ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    let shown = serde_json::to_string(&next).unwrap();
    assert!(!shown.contains(&ids[0]), "it is between the service and its providers");
}

async fn a_new_agreement_takes_the_place_of_the_old_one(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let agreed = charged(&app, &first(&merchant, APPROVED)).await;
    let mut again = Charge::by_source(&merchant, agreed["paymentSource"].clone()).body();
    again["paymentMethod"]["recurrence"] = json!("initial");
    charged(&app, &again).await;
    later(&app, &merchant, &agreed, "subsequent").await;
    let ids = network_transaction_ids(&app).await;
    assert_ne!(ids[0], ids[1]);
    assert_eq!(ids[1], ids[2]);
}

async fn a_payment_that_is_declined_or_no_agreement_is_not_named(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let declined = charged(&app, &first(&merchant, BLOCKED)).await;
    assert_eq!(declined["status"], "failed");
    let attended = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let one = later(&app, &merchant, &attended, "unscheduled").await;
    later(&app, &merchant, &one, "unscheduled").await;
    let ids = network_transaction_ids(&app).await;
    assert_eq!(ids.len(), 2, "the network names only payments of agreements");
    assert_ne!(ids[0], ids[1], "neither names the other");
}

async fn an_agreement_made_in_a_challenge_is_named(app: TestApp) {
    let app = app.reachable().await;
    let merchant = three_d_secure::merchant(&app).await;
    let mut body = hosted_body(&merchant, CHALLENGE_PASSES);
    body["paymentMethod"]["recurrence"] = json!("initial");
    let awaiting = charged(&app, &body).await;
    assert_eq!(awaiting["status"], "pending");
    let agreed = decided(&app, &awaiting, "approve").await;
    assert_eq!(agreed["status"], "authorized");
    let card_id = text(&agreed["paymentSource"]["cardId"]).parse().unwrap();
    let card = regente_store::cards::find(&app.app.store, app.client_id(), card_id).await.unwrap().unwrap();
    assert!(card.card.network_transaction_id.is_some());
}

async fn an_agreement_that_was_found_out_about_is_named(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let mut body = first(&merchant, APPROVED);
    body["paymentFlow"] = json!({ "metadata": { "sandboxFaults": [
        { "when": { "operation": "authorization" }, "then": { "timeout": "after_effect" } },
    ] } });
    let agreed = charged(&app, &body).await;
    assert_eq!(agreed["status"], "authorized", "a probe has found it");
    later(&app, &merchant, &agreed, "subsequent").await;
    let ids = network_transaction_ids(&app).await;
    assert_eq!(ids.len(), 2);
    assert_eq!(ids[0], ids[1]);
}
