//! Every order of what can become of two cards: approved, declined, not answered before and after the effect, not answered
//! for a while, and the process stopped at every step. In the end, in the simulator's own books, every card is charged or
//! none is (quality U6, U7), and the history tells it completely and in order.

use std::time::Duration;

use regente_store::{Batch, Commit, jobs};
use serde_json::{Value, json};

use super::{AMOUNTS, accepted, history, read};
use crate::agreement::{agree, is_nothing_open, nothing_is_open};
use crate::charges::text;
use crate::harness::{APPROVED, TestApp, sandbox, stories};

stories! {
    every_order_of_outcomes,
    every_order_of_outcomes_when_the_process_stops_at_each_step,
}

/// What can become of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Approve,
    Decline,
    TimeOutBeforeEffect,
    TimeOutAfterEffect,
    /// Nobody tells for a while what became of it.
    Silent,
}

use Outcome::{Approve, Decline, Silent, TimeOutAfterEffect, TimeOutBeforeEffect};

const OUTCOMES: [Outcome; 5] = [Approve, Decline, TimeOutBeforeEffect, TimeOutAfterEffect, Silent];
/// A part of the time in which everything is due, and how many of them are enough for it many times over.
const LATER: Duration = Duration::from_secs(60);
const LATERS_MAX: usize = 4 * 60;
/// Short, so that time-outs cost little.
const DEADLINE: Duration = Duration::from_millis(15);
/// A purchase of more steps would not be one of these.
const STEPS_MAX: u64 = 80;

impl Outcome {
    /// The faults that lead to it for an operation on the card with this amount.
    fn faults(self, operation: &str, amount: i64) -> Vec<Value> {
        let when = json!({ "operation": operation, "amount": amount });
        let fault = |then: Value| json!({ "when": when, "then": then });
        match self {
            Approve => Vec::new(),
            Decline => vec![fault(json!({ "decline": "generic" }))],
            TimeOutBeforeEffect => {
                vec![json!({ "when": when, "then": { "timeout": "before_effect" }, "sequence": [1] })]
            }
            TimeOutAfterEffect => {
                vec![json!({ "when": when, "then": { "timeout": "after_effect" }, "sequence": [1] })]
            }
            Silent => vec![
                json!({ "when": when, "then": { "timeout": "after_effect" }, "sequence": [1, 2, 3] }),
                json!({ "when": { "operation": "probe" }, "then": { "timeout": "before_effect" },
                    "sequence": [1, 2] }),
            ],
        }
    }
}

/// What happens to a purchase of two cards.
#[derive(Clone, Copy, Debug)]
struct Order {
    authorizations: [Outcome; 2],
    captures: [Outcome; 2],
    voids: Outcome,
}

impl Order {
    fn faults(self) -> Value {
        let mut faults = Vec::new();
        for (index, amount) in AMOUNTS.into_iter().take(2).enumerate() {
            faults.extend(self.authorizations[index].faults("authorization", amount));
            faults.extend(self.captures[index].faults("capture", amount));
            let voids = match self.voids {
                // What is always refused is never undone: here it is refused twice.
                Decline => vec![json!({ "when": { "operation": "void", "amount": amount },
                    "then": { "decline": "generic" }, "sequence": [1, 2] })],
                other @ (Approve | TimeOutBeforeEffect | TimeOutAfterEffect | Silent) => {
                    other.faults("void", amount)
                }
            };
            faults.extend(voids);
        }
        json!(faults)
    }

    /// Every order of outcomes of the authorizations; then of the captures, with each way of giving back.
    fn all() -> Vec<Self> {
        let mut orders = Vec::new();
        for first in OUTCOMES {
            for second in OUTCOMES {
                for voids in OUTCOMES {
                    let captures = [Approve; 2];
                    orders.push(Self { authorizations: [first, second], captures, voids });
                    let authorizations = [Approve; 2];
                    orders.push(Self { authorizations, captures: [first, second], voids });
                }
            }
        }
        orders
    }
}

async fn merchant(app: &TestApp, order: Order) -> String {
    let mut provider = sandbox("Only", 1);
    provider["options"] = json!({ "type": "SANDBOX", "faults": order.faults() });
    app.merchant_with(json!([provider])).await
}

/// The purchase has ended, its charges are what the books say, and all of its cards are charged or none is. Whether
/// they are.
async fn all_or_nothing(app: &TestApp, merchant: &str, id: &str, order: Order) -> bool {
    nothing_is_open(app).await;
    let purchase = read(app, id).await;
    let status = text(&purchase["status"]);
    assert!(["paid", "failed"].contains(&status), "{order:?}: {purchase:#}");
    let charges = app.get(&format!("/v1/charges?merchantId={merchant}&limit=100")).await.expect(200);
    let (mut kept, mut reserved) = (0, 0);
    for charge in charges["items"].as_array().unwrap() {
        agree(&app.books, charge).await;
        for request in charge["transactionRequests"].as_array().unwrap() {
            let Some(key) = request["idempotencyKey"].as_str() else { continue };
            if let Some(balance) = app.books.balance(key.parse().unwrap()).await.unwrap() {
                kept += balance.kept().minor_units();
                reserved += balance.reserved.minor_units();
            }
        }
    }
    let is_paid = status == "paid";
    let expected = if is_paid { AMOUNTS[0] + AMOUNTS[1] } else { 0 };
    assert_eq!((kept, reserved), (expected, 0), "{order:?}: {purchase:#}");
    complete(&history(app, id).await, status, order);
    is_paid
}

/// The history begins with the beginning, ends with the end, and tells nothing twice.
fn complete(entries: &[Value], status: &str, order: Order) {
    let milestones: Vec<&str> = entries.iter().map(|entry| text(&entry["status"])).collect();
    let count = |milestone: &str| milestones.iter().filter(|told| **told == milestone).count();
    assert_eq!((milestones[0], count("created")), ("created", 1), "{order:?}: {milestones:?}");
    assert_eq!(count("reconciliation_failed"), 0, "{order:?}: {milestones:?}");
    if status == "paid" {
        let told = ["created", "slot_authorized", "slot_authorized", "pre_authorized", "paid"];
        assert_eq!(milestones, told, "{order:?}");
    } else {
        assert_eq!(
            (count("rollback_started"), count("rollback_completed")),
            (1, 1),
            "{order:?}: {milestones:?}"
        );
        assert_eq!(count("failed") + count("rollback_failed"), 1, "{order:?}: {milestones:?}");
        let last = if count("failed") == 1 { "failed" } else { "rollback_completed" };
        assert_eq!(milestones.last(), Some(&last), "{order:?}: {milestones:?}");
        assert_eq!(count("refund_requested"), count("refund_completed"), "{order:?}: {milestones:?}");
    }
}

async fn every_order_of_outcomes(app: TestApp) {
    let app = app.with_settings(|settings| settings.circuits = None).await;
    let app = app.with_sandbox_deadline(DEADLINE).await;
    let (orders, mut paid) = (Order::all(), 0);
    for order in &orders {
        let merchant = merchant(&app, *order).await;
        let id = accepted(&app, &merchant, &[APPROVED, APPROVED], true).await;
        settle(&app, &id).await;
        paid += usize::from(all_or_nothing(&app, &merchant, &id, *order).await);
    }
    println!("{} orders, {paid} paid", orders.len());
    assert!(paid > 10 && paid < orders.len(), "some are paid, some are not");
}

/// Lets time pass until the purchase has ended and nobody waits for an answer.
async fn settle(app: &TestApp, id: &str) {
    for _ in 0..LATERS_MAX {
        app.later(LATER).await;
        let milestones = history(app, id).await;
        let is_over = milestones
            .iter()
            .any(|entry| ["paid", "failed", "rollback_completed"].contains(&text(&entry["status"])));
        if is_over && is_nothing_open(app).await {
            return;
        }
    }
}

/// The process stops at each step of the job, and once more at each step of getting over it.
async fn every_order_of_outcomes_when_the_process_stops_at_each_step(mut app: TestApp) {
    let orders = [
        ([Approve, Approve], [Approve, Approve]),
        ([Approve, Decline], [Approve, Approve]),
        ([TimeOutAfterEffect, Decline], [Approve, Approve]),
        ([Approve, Approve], [Approve, Decline]),
        ([Approve, Approve], [TimeOutAfterEffect, TimeOutBeforeEffect]),
    ];
    app = app.with_settings(|settings| settings.circuits = None).await;
    app = app.with_sandbox_deadline(DEADLINE).await;
    for (authorizations, captures) in orders {
        let order = Order { authorizations, captures, voids: Approve };
        let mut has_run_through = false;
        for steps in 0..STEPS_MAX {
            let merchant = merchant(&app, order).await;
            let id = accepted(&app, &merchant, &[APPROVED, APPROVED], true).await;
            let (after, stopped) = interrupted(app, steps).await;
            app = after;
            if stopped {
                (app, _) = interrupted(app, steps / 2).await;
            }
            settle(&app, &id).await;
            all_or_nothing(&app, &merchant, &id, order).await;
            if !stopped {
                assert!(
                    steps > 8,
                    "{order:?} has {steps} steps: writes and calls are missing from the sweep"
                );
                has_run_through = true;
                break;
            }
        }
        assert!(has_run_through, "{order:?} does not end");
    }
}

/// Runs what is due, with the process stopping after so many steps; whether it did.
async fn interrupted(mut app: TestApp, steps: u64) -> (TestApp, bool) {
    app.worker.prepare().await.unwrap();
    app.fuse.arm(steps);
    let fuse = app.fuse.clone();
    let is_through = tokio::select! {
        () = app.run_jobs() => true,
        () = fuse.blown() => false,
    };
    app.fuse.disarm();
    if !is_through {
        app = app.restart().await;
        // What its worker had taken falls free with its lease, by machine time; here at once.
        let mut batch = Batch::new(app.client_id());
        jobs::void_leases(&mut batch, uuid::Uuid::nil());
        assert_eq!(app.app.store.apply(batch).await.unwrap(), Commit::Applied);
    }
    (app, !is_through)
}
