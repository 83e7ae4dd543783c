//! Random sequences at the adapters of providers that move real money, each from a seed, against one bank with the faults of
//! life. At the end the charge, the ledger and the bank's books agree to the cent, and no two authorizations of a charge are
//! kept.
//! [`Seeds`] says how seeds are chosen.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use axum::http::Method;
use regente_domain::local_day::day_of;
use regente_store::testing::TestDatabase;
use regente_store::transaction_requests;
use serde_json::{Value, json};

use super::with_bank::{Delivered, Post, agrees, provider, registered, settle, with_bank};
use crate::support::agreement::{all_charges, is_nothing_open, ledger_is_right};
use crate::support::app::TestApp;
use crate::support::bank::books::{CaseState, Face};
use crate::support::bank::faults::{Dice, Plan};
use crate::support::bank::news::Seldom;
use crate::support::bank::{Bank, faults};
use crate::support::bodies::payers::{address, described, jose};
use crate::support::bodies::{APPROVED, Charge};
use crate::support::client::{Reply, request};
use crate::support::read::text;
use crate::support::records::Records;
use crate::support::seeds::Seeds;
use crate::support::subscriptions::{SUBSCRIPTIONS, ask, attempts_of, put, subscription_body};

const SEEDS: Seeds = Seeds { default: 40, of_a_database: 20, databases_at_once: 2 };
/// So many meet every fault.
const SEEDS_FOR_ALL: u64 = 400;
/// One of several equal steps of time.
const LATER: Duration = Duration::from_secs(6 * 60 * 60);
/// How long the end of a dispute stands, at least.
const OVERTURNED_AFTER: Duration = Duration::from_secs(120);
const LATERS_MAX: usize = 4 * 30;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_sequences_agree_with_the_bank_on_sqlite() {
    run(async || TestDatabase::fresh_sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_sequences_agree_with_the_bank_on_postgres() {
    run(TestDatabase::fresh_postgres).await;
}

async fn run(fresh: impl AsyncFn() -> TestDatabase) {
    let sequences = async |app: TestApp, seeds: Range<u64>| {
        let (mut app, bank) = with_bank(app.reachable().await).await;
        let (mut told, mut post) = (Told::default(), Post::default());
        for seed in seeds {
            println!("seed {seed}");
            app = Sequence::new(seed, bank.clone()).run(app, &mut post, &mut told).await;
        }
        let mut held = (0, 0);
        for charge in all_charges(&app).await {
            let of = bank.held(text(&charge["id"]));
            held = (held.0 + of.reserved, held.1 + of.kept);
        }
        let all = bank.held_in_all();
        assert_eq!((all.reserved, all.kept), held, "the bank has money that no charge has");
        ledger_is_right(&app).await;
        told.met = bank.met().into_iter().collect();
        told
    };
    let (seeds, told) = SEEDS.run(fresh, sequences, Told::plus).await;
    println!("{told:?}");
    let happens = |what: String| told.met.get(&what).is_some_and(|times| *times > 0);
    let is_varied = told.is_varied() && Seldom::OFTEN_ENOUGH.iter().all(|what| happens(format!("{what:?}")));
    let has_all = faults::all().map(|fault| format!("{fault:?}")).all(happens)
        && Seldom::ALL.iter().all(|what| happens(format!("{what:?}")));
    let is_enough = (seeds < SEEDS.default || is_varied) && (seeds < SEEDS_FOR_ALL || has_all);
    assert!(is_enough, "the sequences no longer meet what they are for: {told:?}");
}

/// Counts what the sequences contained, to notice a generator that produces too little.
#[derive(Debug, Default)]
struct Told {
    charges: usize,
    kept: usize,
    operations: usize,
    refused: usize,
    crashes: usize,
    notified: usize,
    forged: usize,
    altered: usize,
    paid: usize,
    disputes: usize,
    /// Charges of subscriptions.
    billed: usize,
    /// Charges of which the operator has been told that their outcome is unknown.
    unknown: usize,
    /// What the bank has met.
    met: BTreeMap<String, u64>,
}

impl Told {
    fn plus(mut self, other: Self) -> Self {
        for (what, times) in other.met {
            *self.met.entry(what).or_default() += times;
        }
        Self {
            charges: self.charges + other.charges,
            kept: self.kept + other.kept,
            operations: self.operations + other.operations,
            refused: self.refused + other.refused,
            crashes: self.crashes + other.crashes,
            notified: self.notified + other.notified,
            forged: self.forged + other.forged,
            altered: self.altered + other.altered,
            paid: self.paid + other.paid,
            disputes: self.disputes + other.disputes,
            billed: self.billed + other.billed,
            unknown: self.unknown + other.unknown,
            met: self.met,
        }
    }

    const fn is_varied(&self) -> bool {
        self.kept > 0
            && self.charges > self.kept
            && self.operations > self.refused
            && self.crashes > 0
            && self.notified > 0
            && self.forged > 0
            && self.altered > 0
            && self.paid > 0
            && self.disputes > 0
            && self.billed > 0
    }
}

struct Sequence {
    seed: u64,
    dice: Dice,
    bank: Bank,
    requests: u64,
}

impl Sequence {
    fn new(seed: u64, bank: Bank) -> Self {
        Self { seed, dice: Dice(seed), bank, requests: 0 }
    }

    /// Something of the merchants before it may happen too: what they have reserved is released one day.
    async fn run(mut self, mut app: TestApp, post: &mut Post, told: &mut Told) -> TestApp {
        let merchant = self.merchant(&app, post).await;
        self.bank.draw_from(!self.seed, Plan::Life);
        for _ in 0..1 + self.dice.below(3) {
            let body = self.charge(&app, &merchant);
            let (after, reply) = self.send(app, "/v1/charges", &body, told).await;
            app = after;
            let Some(charge) = reply.filter(|reply| reply.status == 201) else { continue };
            let id = text(&charge.json()["id"]).to_owned();
            for _ in 0..self.dice.below(14) {
                app = self.happen(app, post, &id, told).await;
            }
        }
        let (app, subscription) = self.subscribe(app, post, &merchant, told).await;
        self.resolve(&app, post).await;
        self.agrees(&app, &merchant, told).await;
        if let Some(subscription) = subscription {
            self.billed_once(&app, &subscription, told).await;
        }
        app
    }

    /// Sometimes the merchant has a subscription too. It is drawn apart and comes last, so that it changes no seed's charges.
    async fn subscribe(
        &mut self,
        mut app: TestApp,
        post: &Post,
        merchant: &str,
        told: &mut Told,
    ) -> (TestApp, Option<Value>) {
        self.dice = Dice(self.seed.rotate_left(24));
        if !self.dice.one_in(3) {
            return (app, None);
        }
        let customer = Records { app: &app, client: &app.client }.customer().await;
        let mut body = subscription_body(merchant, &customer, &app.card(APPROVED).await);
        body["items"] = json!([{ "name": "Plan", "amount": 100 + self.dice.below(900), "quantity": 1 }]);
        body["recurrence"] = json!({ "interval": "daily", "cycles": 1 + self.dice.below(3) });
        let (after, reply) = self.send(app, SUBSCRIPTIONS, &body, told).await;
        app = after;
        let Some(subscription) = reply.filter(|reply| reply.status == 201) else { return (app, None) };
        let subscription = subscription.json();
        for _ in 0..self.dice.below(6) {
            match self.dice.below(6) {
                0 => {
                    let card = json!({ "cardId": app.card(APPROVED).await });
                    let changes = json!({ "paymentMethod": { "type": "credit", "card": card } });
                    put(&app, &subscription, &changes).await;
                }
                1 => drop(ask(&app, &subscription, self.dice.pick(&["pause", "resume"])).await),
                2 => drop(post.deliver(&app, &self.bank, &mut self.dice).await),
                _ => {
                    app.later(Duration::from_secs(60 * 60 * (1 + self.dice.below(40)))).await;
                    self.bank.pass();
                }
            }
        }
        // Nothing new falls due while the rest is settled.
        ask(&app, &subscription, "cancel").await;
        (app, Some(subscription))
    }

    /// However its attempts went, no cycle has two charges that its buyer pays.
    async fn billed_once(&self, app: &TestApp, subscription: &Value, told: &mut Told) {
        for charges in attempts_of(app, subscription).await {
            told.billed += charges.len();
            let kept = charges.iter().filter(|charge| self.bank.held(text(&charge["id"])).kept > 0).count();
            assert!(kept <= 1, "seed {}: {charges:#?}", self.seed);
        }
    }

    /// A merchant with one to three of the providers, in any order.
    async fn merchant(&mut self, app: &TestApp, post: &mut Post) -> String {
        let mut faces = Face::ALL.to_vec();
        let mut providers = Vec::new();
        for place in 1..=self.dice.pick(&[1, 2, 2, 2, 3]) {
            let face = faces.remove(usize::try_from(self.dice.below(faces.len() as u64)).unwrap());
            providers.push(provider(face, place, self.seed));
        }
        let (merchant, addresses) = registered(app, providers).await;
        post.extend(addresses);
        merchant
    }

    fn charge(&mut self, app: &TestApp, merchant: &str) -> Value {
        let mut body = Charge::by_card(merchant, APPROVED)
            .with("amount", json!(100 + self.dice.below(900)))
            .with("capture", self.dice.one_in(2))
            .body();
        let method = match self.dice.below(5) {
            0 => json!({ "paymentType": "pix", "expiresIn": 60 * (1 + self.dice.below(120)) }),
            1 => {
                let due = day_of(app.clock.deployment()).checked_add(jiff::ToSpan::days(1)).unwrap();
                json!({ "paymentType": "boleto", "expiresDate": due.to_string() })
            }
            _ => return body,
        };
        let mut payer = jose();
        payer["address"] = address();
        body["paymentMethod"] = method;
        body["paymentSource"] = described(payer);
        body
    }

    /// Something happens: the merchant asks for something, a payer or a bank does something, time passes, notifications come.
    async fn happen(&mut self, app: TestApp, post: &Post, id: &str, told: &mut Told) -> TestApp {
        match self.dice.below(12) {
            0..=2 => return self.operate(app, id, told).await,
            3 => {
                let other = i64::try_from(1 + self.dice.below(1500)).unwrap();
                let other = self.dice.one_in(3).then_some(other);
                let is_paid = self.bank.pay(id, other);
                told.paid += usize::from(is_paid);
                if !is_paid || self.dice.one_in(2) {
                    self.bank.pay_again(id, other);
                }
            }
            4..=5 => {
                let ends =
                    self.dice.pick(&[[CaseState::Won, CaseState::Lost], [CaseState::Lost, CaseState::Won]]);
                if !self.dice.one_in(3) && self.bank.end_case(id, ends[0]) {
                    // The card's scheme may overturn it; both are told later, in any order.
                    if self.dice.one_in(2) {
                        app.later(OVERTURNED_AFTER).await;
                        self.bank.end_case(id, ends[1]);
                    }
                } else {
                    let part = i64::try_from(1 + self.dice.below(500)).unwrap();
                    let part = self.dice.one_in(2).then_some(part);
                    told.disputes += usize::from(self.bank.dispute(id, part));
                }
            }
            6 => self.bank.work(),
            7..=8 => {
                app.later(Duration::from_secs(1 + self.dice.below(4000))).await;
                self.bank.pass();
            }
            _ => {
                let Delivered { notified, forged, altered } =
                    post.deliver(&app, &self.bank, &mut self.dice).await;
                told.notified += notified;
                told.forged += forged;
                told.altered += altered;
            }
        }
        app
    }

    async fn operate(&mut self, app: TestApp, id: &str, told: &mut Told) -> TestApp {
        let charge = app.get(&format!("/v1/charges/{id}")).await.expect(200);
        let is_over = matches!(text(&charge["status"]), "failed" | "canceled" | "voided" | "charged_back");
        if is_over && !self.dice.one_in(6) {
            return app;
        }
        let (is_reserved, rest) = (charge["status"] == "pre_authorized", charge["amount"].as_u64().unwrap());
        let operation = if is_reserved == self.dice.one_in(4) { "void" } else { "capture" };
        let body = match self.dice.below(3) {
            0 => json!({}),
            _ => json!({ "amount": 1 + self.dice.below(rest.max(1)) }),
        };
        told.operations += 1;
        let (app, reply) = self.send(app, &format!("/v1/charges/{id}/{operation}"), &body, told).await;
        match reply.map(|reply| reply.status.as_u16()) {
            None | Some(201) => {}
            Some(400 | 409) => told.refused += 1,
            Some(other) => panic!("seed {}: {other}", self.seed),
        }
        app
    }

    /// Sends a request; sometimes the process stops meanwhile, sometimes the request is repeated.
    async fn send(
        &mut self,
        mut app: TestApp,
        path: &str,
        body: &Value,
        told: &mut Told,
    ) -> (TestApp, Option<Reply>) {
        self.requests += 1;
        let key = format!("seed {} request {}", self.seed, self.requests);
        let headers = [("X-Idempotency-Key", key.as_str())];
        if self.dice.one_in(8) {
            app.fuse.arm(self.dice.below(8));
        }
        let mut pending = app.begin(request(&app.client, Method::POST, path, &headers, Some(body)));
        let fuse = app.fuse.clone();
        let reply = tokio::select! {
            reply = &mut pending => Some(reply.unwrap()),
            () = fuse.blown() => None,
        };
        app.fuse.disarm();
        if reply.is_some() && !self.dice.one_in(6) {
            return (app, reply);
        }
        if reply.is_none() {
            told.crashes += 1;
            app = app.restart().await;
            pending.abort();
        }
        let again = app.post_with_key(path, &key, body).await;
        let reply = if again.status.is_success() { Some(again) } else { reply };
        (app, reply)
    }

    /// No more faults; time passes until nobody waits for anything.
    async fn resolve(&self, app: &TestApp, post: &Post) {
        let mut was_over = false;
        for _ in 0..LATERS_MAX {
            let is_over = settle(app, &self.bank, post).await && is_nothing_open(app).await;
            // What came too early is tried again after a while.
            if is_over && was_over {
                return;
            }
            was_over = is_over;
            app.later(LATER).await;
        }
    }

    async fn agrees(&self, app: &TestApp, merchant: &str, told: &mut Told) {
        assert!(is_nothing_open(app).await, "seed {}", self.seed);
        let unknown = transaction_requests::given_up(&app.app.store, 1000).await.unwrap();
        for charge in charges_of(app, merchant).await {
            told.charges += 1;
            let is_told =
                unknown.iter().any(|stored| text(&charge["id"]) == stored.request.object_id.to_string());
            let of = format!("seed {}", self.seed);
            let held = agrees(app, &self.bank, &charge, is_told, &of).await;
            told.unknown += usize::from(is_told);
            told.kept += usize::from(held.kept > 0);
        }
    }
}

async fn charges_of(app: &TestApp, merchant: &str) -> Vec<Value> {
    let page = app.get(&format!("/v1/charges?merchantId={merchant}&limit=100")).await.expect(200);
    page["items"].as_array().unwrap().clone()
}
