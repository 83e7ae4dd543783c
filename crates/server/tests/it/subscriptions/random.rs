//! Random subscriptions whose merchants change, pause, resume and cancel them while time passes, charges are refused or not answered and
//! the process stops. However it goes, each paid cycle has one approved charge, and the simulator's books agree.
//! `REGENTE_SEEDS=2000` runs that many seeds.

use std::ops::Range;
use std::time::Duration;

use regente_store::testing::TestDatabase;
use serde_json::{Value, json};

use super::cycles::{DAY, REFUSED};
use crate::support::agreement::{agree_on_all, all_charges, ledger_is_right, nothing_is_open};
use crate::support::app::TestApp;
use crate::support::bank::faults::Dice;
use crate::support::bodies::{APPROVED, BLOCKED, TIMED_OUT};
use crate::support::crashes::stopped_while;
use crate::support::seeds::Seeds;
use crate::support::subscriptions::{Parties, ask, cycles_agree, day, made, put, read};

const SEEDS: Seeds = Seeds { default: 12, of_a_database: 6, databases_at_once: 2 };
/// Short, so that time-outs take little time.
const DEADLINE: Duration = Duration::from_millis(8);
/// More than every retry and every look-up takes.
const SETTLES_WITHIN: Duration = Duration::from_secs(60 * 24 * 60 * 60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_paid_cycle_has_one_charge_on_sqlite() {
    run(async || TestDatabase::fresh_sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_paid_cycle_has_one_charge_on_postgres() {
    run(TestDatabase::fresh_postgres).await;
}

async fn run(fresh: impl AsyncFn() -> TestDatabase) {
    let sequences = async |app: TestApp, seeds: Range<u64>| {
        let mut app = app.with_sandbox_deadline(DEADLINE).await;
        let parties = Parties::of(&app).await;
        let mut told = Told::default();
        for seed in seeds {
            println!("seed {seed}");
            app = Life { dice: Dice(seed), seed }.run(app, &parties, &mut told).await;
        }
        agree_on_all(&app.books, &all_charges(&app).await).await;
        ledger_is_right(&app).await;
        told
    };
    let (seeds, told) = SEEDS.run(fresh, sequences, Told::plus).await;
    println!("{told:?}");
    let is_varied = told.paid > 0 && told.failed > 0 && told.crashes > 0 && told.ended > 0;
    assert!(seeds < SEEDS.default || is_varied, "the lives no longer meet what they are for: {told:?}");
}

/// Counts what the lives contained.
#[derive(Debug, Default)]
struct Told {
    paid: usize,
    failed: usize,
    crashes: usize,
    ended: usize,
}

impl Told {
    const fn plus(self, other: Self) -> Self {
        Self {
            paid: self.paid + other.paid,
            failed: self.failed + other.failed,
            crashes: self.crashes + other.crashes,
            ended: self.ended + other.ended,
        }
    }
}

struct Life {
    dice: Dice,
    seed: u64,
}

impl Life {
    async fn run(mut self, mut app: TestApp, parties: &Parties, told: &mut Told) -> TestApp {
        let body = self.body(&app, parties).await;
        let subscription = made(&app, &body).await;
        for _ in 0..3 + self.dice.below(6) {
            app = match self.dice.below(8) {
                0 => self.asked(app, &subscription, "pause").await,
                1 => self.asked(app, &subscription, "resume").await,
                2 if self.dice.one_in(3) => self.asked(app, &subscription, "cancel").await,
                3 => {
                    let card = self.card(&app).await;
                    let changes =
                        json!({ "paymentMethod": { "type": "credit", "card": { "cardId": card } } });
                    self.changed(app, &subscription, &changes).await
                }
                4 => {
                    let items =
                        json!([{ "name": "Plan", "amount": 100 + self.dice.below(100), "quantity": 1 }]);
                    self.changed(app, &subscription, &json!({ "items": items })).await
                }
                5 => self.crashed(app, told).await,
                _ => {
                    app.later(Duration::from_secs(60 * 60) * (1 + self.dice.below(200) as u32)).await;
                    app
                }
            };
        }
        // Whatever a merchant has left waiting ends.
        ask(&app, &subscription, "cancel").await;
        app.later(SETTLES_WITHIN).await;
        nothing_is_open(&app).await;
        self.agrees(&app, &subscription, told).await;
        app
    }

    async fn body(&mut self, app: &TestApp, parties: &Parties) -> Value {
        let mut recurrence = json!({ "interval": self.dice.pick(&["daily", "daily", "weekly", "monthly"]) });
        if self.dice.one_in(2) {
            recurrence["cycles"] = json!(1 + self.dice.below(4));
        }
        if self.dice.one_in(3) {
            recurrence["startAt"] = json!(day(app, 1 + self.dice.below(3) as i64));
        }
        let card = json!({ "cardId": self.card(app).await });
        let mut body = parties.body(&json!({
            "recurrence": recurrence, "paymentMethod": { "type": "credit", "card": card },
            "items": [{ "name": "Plan", "amount": 1000 + self.dice.below(1000), "quantity": 1 }],
        }));
        if self.dice.one_in(6) {
            body["trial"] = json!({ "endAt": day(app, 1 + self.dice.below(5) as i64) });
        }
        body
    }

    async fn card(&mut self, app: &TestApp) -> String {
        let card = self.dice.pick(&[APPROVED, APPROVED, APPROVED, REFUSED, BLOCKED, TIMED_OUT]);
        app.card(card).await
    }

    async fn asked(&mut self, app: TestApp, subscription: &Value, verb: &str) -> TestApp {
        let status = ask(&app, subscription, verb).await.status;
        assert!([200, 422].contains(&status.as_u16()), "seed {}: {verb}: {status}", self.seed);
        app
    }

    async fn changed(&mut self, app: TestApp, subscription: &Value, changes: &Value) -> TestApp {
        let status = put(&app, subscription, changes).await.status;
        assert!([200, 422].contains(&status.as_u16()), "seed {}: {changes}: {status}", self.seed);
        app
    }

    /// Time passes, and the process stops at some step.
    async fn crashed(&mut self, app: TestApp, told: &mut Told) -> TestApp {
        let (app, is_done) =
            stopped_while(app, self.dice.below(30), async |app| app.later(3 * DAY).await).await;
        told.crashes += usize::from(!is_done);
        app
    }

    async fn agrees(&self, app: &TestApp, subscription: &Value, told: &mut Told) {
        let cycles = cycles_agree(app, subscription, &format!("seed {}", self.seed)).await;
        told.paid += cycles.paid;
        told.failed += cycles.failed;
        let status = read(app, subscription).await["status"].clone();
        assert!(["canceled", "expired"].map(Value::from).contains(&status), "seed {}: {status}", self.seed);
        told.ended += 1;
    }
}
