//! The process stops after every write and around every call of a real provider's adapter. Whatever was going on, in the
//! end the bank holds what the charge and the ledger say, once.

use std::time::Duration;

use serde_json::{Value, json};

use super::with_bank::{agrees, provider, registered, settle, with_bank};
use crate::support::agreement::all_charges;
use crate::support::app::{TestApp, stories};
use crate::support::bank::books::Face;
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::crashes::stopped_at;
use crate::support::read::text;

stories! {
    while_a_charge_is_made_at_stripe,
    while_a_charge_is_made_at_adyen,
    while_a_charge_is_made_at_pagarme_v5,
    while_a_reservation_is_captured_at_stripe,
    while_a_reservation_is_captured_at_adyen,
    while_a_reservation_is_captured_at_pagarme_v5,
    while_a_reservation_is_voided_at_stripe,
    while_a_reservation_is_voided_at_adyen,
    while_a_reservation_is_voided_at_pagarme_v5,
    while_a_part_is_refunded_at_stripe,
    while_a_part_is_refunded_at_adyen,
    while_a_part_is_refunded_at_pagarme_v5,
}

const HOUR: Duration = Duration::from_secs(60 * 60);
/// By then the absence of a payment proves that there is none.
const HOURS: usize = 4;
/// More steps than any of these flows has.
const STEPS_MAX: u64 = 40;

/// The request that is interrupted.
enum Interrupted {
    Charge,
    /// Of a charge that is there: the end of the path, the body, and whether the charge is only reserved.
    FollowUp {
        operation: &'static str,
        body: Value,
        captured: bool,
    },
}

fn capture() -> Interrupted {
    Interrupted::FollowUp { operation: "capture", body: json!({ "amount": 100 }), captured: false }
}

fn void() -> Interrupted {
    Interrupted::FollowUp { operation: "void", body: json!({}), captured: false }
}

fn refund() -> Interrupted {
    Interrupted::FollowUp { operation: "void", body: json!({ "amount": 40 }), captured: true }
}

async fn while_a_charge_is_made_at_stripe(app: TestApp) {
    sweep(app, Face::Stripe, Interrupted::Charge).await;
}

async fn while_a_charge_is_made_at_adyen(app: TestApp) {
    sweep(app, Face::Adyen, Interrupted::Charge).await;
}

async fn while_a_charge_is_made_at_pagarme_v5(app: TestApp) {
    sweep(app, Face::PagarmeV5, Interrupted::Charge).await;
}

async fn while_a_reservation_is_captured_at_stripe(app: TestApp) {
    sweep(app, Face::Stripe, capture()).await;
}

async fn while_a_reservation_is_captured_at_adyen(app: TestApp) {
    sweep(app, Face::Adyen, capture()).await;
}

async fn while_a_reservation_is_captured_at_pagarme_v5(app: TestApp) {
    sweep(app, Face::PagarmeV5, capture()).await;
}

async fn while_a_reservation_is_voided_at_stripe(app: TestApp) {
    sweep(app, Face::Stripe, void()).await;
}

async fn while_a_reservation_is_voided_at_adyen(app: TestApp) {
    sweep(app, Face::Adyen, void()).await;
}

async fn while_a_reservation_is_voided_at_pagarme_v5(app: TestApp) {
    sweep(app, Face::PagarmeV5, void()).await;
}

async fn while_a_part_is_refunded_at_stripe(app: TestApp) {
    sweep(app, Face::Stripe, refund()).await;
}

async fn while_a_part_is_refunded_at_adyen(app: TestApp) {
    sweep(app, Face::Adyen, refund()).await;
}

async fn while_a_part_is_refunded_at_pagarme_v5(app: TestApp) {
    sweep(app, Face::PagarmeV5, refund()).await;
}

async fn sweep(app: TestApp, face: Face, interrupted: Interrupted) {
    let (mut app, bank) = with_bank(app).await;
    let (merchant, post) = registered(&app, vec![provider(face, 1, 1)]).await;
    for steps in 0..STEPS_MAX {
        let mut sent = charge_body(&merchant, APPROVED);
        let (path, body) = match &interrupted {
            Interrupted::Charge => ("/v1/charges".to_owned(), sent),
            Interrupted::FollowUp { operation, body, captured } => {
                sent["capture"] = json!(captured);
                let charge = app.post("/v1/charges", &sent).await.expect(201);
                (format!("/v1/charges/{}/{operation}", text(&charge["id"])), body.clone())
            }
        };
        let key = format!("key {steps}");
        let is_done;
        (app, is_done) = stopped_at(app, steps, &path, &key, &body).await;
        // What is still going on is told by the provider meanwhile, and found out otherwise.
        for _ in 0..HOURS {
            settle(&app, &bank, &post).await;
            app.later(HOUR).await;
        }
        // What has never arrived can be asked about at two of them: the third one shows nothing.
        let never_arrived =
            |charge: &Value| face == Face::Adyen && bank.knows_nothing_of(text(&charge["id"]));
        let charges = all_charges(&app).await;
        let newest = charges.iter().max_by_key(|charge| text(&charge["id"]));
        let is_told = newest
            .is_some_and(|charge| text(&charge["status"]).ends_with("pending") && never_arrived(charge));
        let again = app.post_with_key(&path, &key, &body).await;
        assert_eq!(
            again.status.as_u16(),
            if is_told { 409 } else { 201 },
            "stopped at step {steps}: {:#}",
            again.json()
        );
        settle(&app, &bank, &post).await;
        for charge in all_charges(&app).await {
            let is_told = never_arrived(&charge);
            agrees(&app, &bank, &charge, is_told, &format!("stopped at step {steps}")).await;
        }
        if is_done {
            assert!(steps >= 6, "the flow has {steps} steps: writes and calls are missing from the sweep");
            return;
        }
    }
    panic!("the flow does not end");
}
