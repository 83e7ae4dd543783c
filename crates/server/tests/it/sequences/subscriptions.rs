//! Subscriptions: their merchant changes, pauses, resumes and cancels them while days pass, providers fail and the process
//! stops, drawn like everything else. In the end each paid cycle has one approved charge.

use std::time::Duration;

use serde_json::{Value, json};

use super::{CARDS, Dice, Sequence};
use crate::support::app::TestApp;
use crate::support::records::Records;
use crate::support::subscriptions::{
    CyclesEnded, SUBSCRIPTIONS, ask, cycles_agree, day, path_of, put, subscription_body,
};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Counts what the subscriptions contained.
#[derive(Debug, Default)]
pub(super) struct Told {
    made: usize,
    paid: usize,
    failed: usize,
    changed: usize,
}

impl Told {
    pub(super) const fn is_varied(&self) -> bool {
        self.made > 0 && self.paid > 0 && self.failed > 0 && self.changed > 0
    }

    pub(super) const fn plus(self, other: Self) -> Self {
        Self {
            made: self.made + other.made,
            paid: self.paid + other.paid,
            failed: self.failed + other.failed,
            changed: self.changed + other.changed,
        }
    }
}

impl Sequence {
    /// Makes a subscription and lets its merchant change their mind. It is drawn apart and comes last, so that it changes no
    /// seed's charges and sessions.
    pub(super) async fn subscribe(
        &mut self,
        mut app: TestApp,
        merchant: &str,
        sellers: &[Value],
        told: &mut super::Told,
    ) -> (TestApp, Option<Value>) {
        self.dice = Dice(self.seed.rotate_left(24));
        if !self.dice.one_in(3) {
            return (app, None);
        }
        let customer = Records { app: &app, client: &app.client }.customer().await;
        let body = self.subscription(&app, merchant, &customer, sellers).await;
        let (after, reply) = self.send(app, SUBSCRIPTIONS, &body, told).await;
        app = after;
        // Interrupted before it was made.
        let Some(subscription) = reply.map(|reply| reply.expect(201)) else { return (app, None) };
        told.subscriptions.made += 1;
        for _ in 0..2 + self.dice.below(5) {
            app = match self.dice.below(8) {
                0 => self.asked(app, &subscription, "pause", told).await,
                1 => self.asked(app, &subscription, "resume", told).await,
                2 if self.dice.one_in(3) => self.asked(app, &subscription, "cancel", told).await,
                3 => {
                    let card = app.card(self.dice.pick(&CARDS)).await;
                    let changes =
                        json!({ "paymentMethod": { "type": "credit", "card": { "cardId": card } } });
                    let status = put(&app, &subscription, &changes).await.status;
                    assert!([200, 422].contains(&status.as_u16()), "seed {}: {status}", self.seed);
                    app
                }
                _ => {
                    let hours = self.dice.pick(&[1, 20, 30, 50]);
                    app.later(HOUR * hours).await;
                    app
                }
            };
            self.notify(&app, told).await;
        }
        // Nothing new falls due while the rest is settled.
        let status = ask(&app, &subscription, "cancel").await.status;
        assert!([200, 422].contains(&status.as_u16()), "seed {}: {status}", self.seed);
        (app, Some(subscription))
    }

    async fn subscription(
        &mut self,
        app: &TestApp,
        merchant: &str,
        customer: &str,
        sellers: &[Value],
    ) -> Value {
        let card = app.card(self.dice.pick(&CARDS)).await;
        let mut body = subscription_body(merchant, customer, &card);
        let amount = 1 + self.dice.below(super::REFUSED_AMOUNT - 1);
        body["items"] = json!([{ "name": "Plan", "amount": amount, "quantity": 1 }]);
        body["recurrence"] = json!({ "interval": self.dice.pick(&["daily", "daily", "weekly"]) });
        if self.dice.one_in(2) {
            body["recurrence"]["cycles"] = json!(1 + self.dice.below(3));
        }
        if self.dice.one_in(4) {
            body["trial"] = json!({ "endAt": day(app, 1 + i64::from(self.dice.one_in(2))) });
        }
        let mut divided = json!({ "amount": amount });
        self.divide(sellers, &mut divided);
        if let Some(rules) = divided.get("splitRules") {
            body["splitRules"] = rules.clone();
        }
        body
    }

    async fn asked(
        &mut self,
        app: TestApp,
        subscription: &Value,
        verb: &str,
        told: &mut super::Told,
    ) -> TestApp {
        let path = format!("{}/{verb}", path_of(subscription));
        let (app, reply) = self.send(app, &path, &json!({}), told).await;
        match reply.map(|reply| reply.status.as_u16()) {
            None | Some(422) => {}
            Some(200) => told.subscriptions.changed += 1,
            Some(other) => panic!("seed {}: {verb} was answered {other}", self.seed),
        }
        app
    }
}

/// Compares a subscription with its charges, when nothing is under way any more.
pub(super) async fn agrees(app: &TestApp, subscription: &Value, seed: u64, told: &mut Told) {
    let CyclesEnded { paid, failed } = cycles_agree(app, subscription, &format!("seed {seed}")).await;
    told.paid += paid;
    told.failed += failed;
}
