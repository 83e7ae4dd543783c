//! Payouts of the platform's own provider: charges by card and by Pix are divided, given back, charged back and paid early while days pass,
//! terms change, banks refuse, answer late and give back, and the process stops. At the end of each sequence every cent is accounted for.
//! They have databases of their own: so many days pass that the cards of other sequences would expire.

use std::ops::Range;
use std::time::Duration;

use axum::http::Method;
use futures_util::future::join_all;
use regente_domain::local_day;
use regente_domain::plan::Plan;
use regente_store::testing::TestDatabase;
use serde_json::{Value, json};

use super::{Sequence, page_of};
use crate::support::agreement::agree;
use crate::support::app::TestApp;
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::client::request;
use crate::support::crashes::stopped_while;
use crate::support::payouts::{
    BATCHES, ORDERS, batches_are_their_orders, each_transfer_was_sent_once, every_cent_is_accounted_for,
    listed, moves_to, own, paid_to,
};
use crate::support::plans;
use crate::support::prepayments::{
    PREPAYMENT, PUBLISHED, commit_path, everything, everything_of, operator, read,
};
use crate::support::read::text;
use crate::support::seeds::Seeds;
use crate::support::sellers::made;
use crate::support::splits::seller_body;

/// A sequence takes some weeks.
const SEEDS: Seeds = Seeds { default: 12, of_a_database: 6, databases_at_once: 2 };
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Within this a prepayment is paid, also when its transfer is refused at first and a carnival lies in between.
const SETTLES_WITHIN: Duration = Duration::from_secs(10 * 24 * 60 * 60);
/// The last digit says what the bank does: mostly it pays (`docs/payouts.md#transfers`).
const ACCOUNTS: [&str; 7] = ["4920", "4920", "4920", "4926", "4927", "4928", "4929"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_payouts_account_for_every_cent_on_sqlite() {
    run(async || TestDatabase::fresh_sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_payouts_account_for_every_cent_on_postgres() {
    run(TestDatabase::fresh_postgres).await;
}

async fn run(fresh: impl AsyncFn() -> TestDatabase) {
    let sequences = async |app: TestApp, seeds: Range<u64>| {
        let mut app = app.reachable().await;
        let plan = plans::make(&app.app, app.client_id(), &plans::standard()).await;
        operator(&app, app.client_id(), PUBLISHED).await;
        let mut told = Told::default();
        for seed in seeds {
            println!("seed {seed}");
            app = Sequence::new(seed).pay_out(app, &plan, &mut told).await;
        }
        for batch in listed(&app, BATCHES, "").await {
            told.paid += usize::from(batch["status"] == "paid");
            told.failed += usize::from(batch["status"] == "failed");
            told.offset += usize::from(batch["status"] == "offset");
        }
        told
    };
    let (seeds, told) = SEEDS.run(fresh, sequences, Told::plus).await;
    println!("{told:?}");
    let is_enough = seeds < SEEDS.default || told.is_varied();
    assert!(is_enough, "the sequences no longer meet what they are for: {told:?}");
}

/// Counts what the sequences contained.
#[derive(Debug, Default)]
struct Told {
    of_charges: super::Told,
    paid: usize,
    failed: usize,
    offset: usize,
    prepaid: usize,
    /// Stops while days pass.
    crashes: usize,
}

impl Told {
    fn plus(self, other: Self) -> Self {
        Self {
            of_charges: self.of_charges.plus(other.of_charges),
            paid: self.paid + other.paid,
            failed: self.failed + other.failed,
            offset: self.offset + other.offset,
            prepaid: self.prepaid + other.prepaid,
            crashes: self.crashes + other.crashes,
        }
    }

    const fn is_varied(&self) -> bool {
        self.of_charges.operations > self.of_charges.refused
            && self.of_charges.reversals > 0
            && self.of_charges.crashes > 0
            && self.paid > 0
            && self.failed > 0
            && self.offset > 0
            && self.prepaid > 0
            && self.crashes > 0
    }
}

/// A merchant of the own provider, and what it has.
struct Platform {
    merchant: String,
    /// Two, or none where the provider has not taken both.
    sellers: Vec<Value>,
    charges: Vec<Taken>,
    /// Prepayments that were committed.
    committed: Vec<Value>,
}

/// A charge, and how often the process had stopped before it.
struct Taken {
    id: String,
    stops: u64,
}

impl Sequence {
    async fn pay_out(mut self, mut app: TestApp, plan: &Plan, told: &mut Told) -> TestApp {
        let since = local_day::day_of(app.clock.deployment()).to_string();
        self.change_terms(&app, plan).await;
        let mut platform = self.open(&app).await;
        for _ in 0..2 {
            app = self.take(app, &mut platform, told).await;
        }
        for _ in 0..6 + self.dice.below(10) {
            app = match self.dice.below(15) {
                0..=3 => self.take(app, &mut platform, told).await,
                4..=6 => self.give_back(app, &platform, told).await,
                7 => {
                    self.charge_back(&app, &platform, told).await;
                    app
                }
                8 | 9 => self.prepay(app, &mut platform, told).await,
                10 => {
                    self.change_terms(&app, plan).await;
                    app
                }
                11 => {
                    self.change_accounts(&app, &platform).await;
                    app
                }
                _ => self.days_pass(app, told).await,
            };
            self.notify(&app, &mut told.of_charges).await;
        }
        self.settle(&app, &platform.merchant).await;
        // Whose account was wrong corrects it, so that no later sequence pays this one's batches in vain.
        for seller in &platform.sellers {
            moves_to(&app, text(&seller["id"]), "4920").await;
        }
        paid_to(&app, "1000").await;
        app.later(SETTLES_WITHIN).await;
        platform.agrees(&app, &since, self.seed, told).await;
        app
    }

    async fn open(&mut self, app: &TestApp) -> Platform {
        let merchant = app.merchant_with(json!([own()])).await;
        let mut sellers = Vec::new();
        for number in 1..=2 {
            sellers.push(made(app, &seller_body(&merchant, number, self.dice.pick(&ACCOUNTS))).await);
        }
        if sellers.iter().any(|seller| seller["status"] != "active") {
            sellers.clear();
        }
        paid_to(app, self.dice.pick(&ACCOUNTS)).await;
        self.platform(app, &merchant).await;
        Platform { merchant, sellers, charges: Vec::new(), committed: Vec::new() }
    }

    /// A charge, which is mostly divided. Whoever is given a Pix pays it.
    async fn take(&mut self, app: TestApp, platform: &mut Platform, told: &mut Told) -> TestApp {
        let is_pix = self.dice.one_in(3);
        let mut body = if is_pix {
            pix_body(&platform.merchant, described(jose()))
        } else {
            charge_body(&platform.merchant, APPROVED)
        };
        body["amount"] = json!(101 + self.dice.below(50_000));
        if !is_pix {
            body["paymentMethod"]["installments"] = json!(self.dice.pick(&[1, 2, 3]));
            body["capture"] = json!(!self.dice.one_in(5));
        }
        if !self.dice.one_in(3) {
            self.divide(&platform.sellers, &mut body);
        }
        let stops = self.stops;
        let (app, reply) = self.send(app, "/v1/charges", &body, &mut told.of_charges).await;
        let Some(charge) = reply.map(|reply| reply.expect(201)) else { return app };
        let id = text(&charge["id"]).to_owned();
        let path = format!("/v1/charges/{id}");
        platform.charges.push(Taken { id, stops });
        if !is_pix {
            return app;
        }
        let paid = json!({ "status": "authorized" });
        let (app, reply) = self.send(app, &path, &paid, &mut told.of_charges).await;
        // What was interrupted may have failed or expired by now.
        let status = reply.map_or(200, |reply| reply.status.as_u16());
        assert!(status == 200 || (400..500).contains(&status), "seed {}: a Pix: {status}", self.seed);
        app
    }

    async fn give_back(&mut self, app: TestApp, platform: &Platform, told: &mut Told) -> TestApp {
        let Some(taken) = self.one_of(&platform.charges) else { return app };
        self.operate(app, &taken.id, &platform.sellers, &mut told.of_charges).await
    }

    /// Payers and their banks take back what was charged. A process that was started again does not know whom to tell of earlier charges.
    async fn charge_back(&mut self, app: &TestApp, platform: &Platform, told: &mut Told) {
        for taken in &platform.charges {
            if taken.stops == self.stops {
                self.reverse(app, &taken.id, &mut told.of_charges).await;
            }
        }
    }

    /// Somebody asks what it costs to be paid early, and mostly wants it: sometimes twice at once.
    async fn prepay(&mut self, app: TestApp, platform: &mut Platform, told: &mut Told) -> TestApp {
        let body = match self.one_of(&platform.sellers) {
            Some(seller) if !self.dice.one_in(3) => everything_of(seller),
            Some(_) | None => everything(),
        };
        let (app, reply) = self.send(app, PREPAYMENT, &body, &mut told.of_charges).await;
        let offer = match reply.map(|reply| (reply.status.as_u16(), reply)) {
            Some((201, reply)) => reply.json(),
            // There is nothing, or nothing that could be paid earlier.
            None | Some((404 | 422, _)) => return app,
            Some((other, _)) => panic!("seed {}: an offer was answered {other}", self.seed),
        };
        if self.dice.one_in(4) {
            return app;
        }
        let (path, nothing) = (commit_path(&offer), json!({}));
        let (app, statuses): (TestApp, Vec<u16>) = if self.dice.one_in(2) {
            let commit = || app.begin(request(&app.client, Method::POST, &path, &[], Some(&nothing)));
            let replies = join_all([commit(), commit()]).await;
            (app, replies.into_iter().map(|reply| reply.unwrap().status.as_u16()).collect())
        } else {
            let (app, reply) = self.send(app, &path, &nothing, &mut told.of_charges).await;
            (app, reply.map_or_else(Vec::new, |reply| vec![reply.status.as_u16()]))
        };
        let accepted = statuses.iter().filter(|status| **status == 200).count();
        let is_right = accepted <= 1 && statuses.iter().all(|status| [200, 409, 422].contains(status));
        assert!(is_right, "seed {}: commits were answered {statuses:?}", self.seed);
        if accepted == 1 {
            platform.committed.push(offer);
        }
        app
    }

    /// The operator changes the plan of everybody.
    async fn change_terms(&mut self, app: &TestApp, plan: &Plan) {
        let mut by_card = json!({
            "paymentMethod": "credit", "payoutTermDays": self.dice.below(6), "payoutRecurrence": "daily",
        });
        if self.dice.one_in(4) {
            by_card["payoutRecurrence"] = json!("weekly");
            by_card["payoutDay"] = json!(1 + self.dice.below(5));
        }
        let terms = json!({
            "policies": [
                by_card,
                { "paymentMethod": "pix", "payoutTermDays": self.dice.below(2), "payoutRecurrence": "daily" },
            ],
            "fees": [
                { "paymentMethod": "credit", "percentage": 1 + self.dice.below(9), "fixedAmount": 1 + self.dice.below(50) },
                { "paymentMethod": "pix", "percentage": 1 },
            ],
        });
        plans::change(&app.app, plan, &terms).await;
    }

    /// Somebody has another bank account, which may be a wrong one.
    async fn change_accounts(&mut self, app: &TestApp, platform: &Platform) {
        let number = self.dice.pick(&ACCOUNTS);
        match self.one_of(&platform.sellers) {
            Some(seller) if !self.dice.one_in(3) => moves_to(app, text(&seller["id"]), number).await,
            Some(_) | None => paid_to(app, number).await,
        }
    }

    /// Days pass; the process may stop at a step of what is paid on them.
    async fn days_pass(&mut self, app: TestApp, told: &mut Told) -> TestApp {
        let days = DAY * self.dice.pick(&[1, 2, 3, 5]);
        if !self.dice.one_in(3) {
            app.later(days).await;
            return app;
        }
        app.prepare().await;
        let (app, is_done) = stopped_while(app, self.dice.below(40), async |app| app.later(days).await).await;
        if !is_done {
            told.crashes += 1;
            self.stops += 1;
        }
        app
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        let place = self.dice.below(all.len().max(1) as u64);
        all.get(usize::try_from(place).unwrap())
    }
}

impl Platform {
    /// Compares what was paid out and what is still due with the charges, the ledger and the bank, when nothing is under way any more.
    async fn agrees(&self, app: &TestApp, since: &str, seed: u64, told: &mut Told) {
        every_cent_is_accounted_for(app).await;
        each_transfer_was_sent_once(app).await;
        batches_are_their_orders(app, since).await;
        let page = page_of(app, &self.merchant).await;
        for charge in page["items"].as_array().unwrap() {
            let left = agree(&app.books, charge).await.kept;
            let orders = listed(app, ORDERS, &format!("chargeId={}", text(&charge["id"]))).await;
            let due: i64 = orders.iter().map(|order| order["grossAmount"].as_i64().unwrap()).sum();
            assert_eq!(due, left, "seed {seed}: {charge:#} {orders:#?}");
        }
        for offer in &self.committed {
            let prepayment = read(app, offer).await;
            assert_eq!(prepayment["status"], "paid", "seed {seed}: {prepayment:#}");
            told.prepaid += 1;
        }
    }
}
