//! Random sequences of operations with random faults and crashes, each from a seed. At the end every charge agrees with
//! the simulator's transaction log to the cent, as does the ledger, and no outcome is unknown.
//! [`Seeds`] says how seeds are chosen.

mod flows;
mod payers;
mod payouts;
mod sessions;
mod subscriptions;

use std::ops::Range;
use std::time::Duration;

use axum::http::Method;
use regente_domain::charge::approved_authorization;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::money::Amount;
use regente_providers::sandbox::Notice;
use regente_providers::staged::{Staged, StagedEvent};
use regente_store::testing::TestDatabase;
use regente_store::{Batch, Commit, transaction_requests};
use serde_json::{Value, json};

use crate::support::agreement::{
    Money, agree, entries_agree, is_nothing_open, ledger_is_right, nothing_besides, nothing_is_open,
};
use crate::support::app::TestApp;
use crate::support::bank::faults::Dice;
use crate::support::bodies::charge_body;
use crate::support::client::{Client, Reply, request};
use crate::support::platform_fees::keep;
use crate::support::providers::sandbox;
use crate::support::read::text;
use crate::support::seeds::Seeds;
use crate::support::settlement::settles_in_any_order;
use crate::support::splits::books::all_alike;
use crate::support::splits::seller;
use crate::support::three_d_secure::{
    CHALLENGE_FAILS, CHALLENGE_PASSES, ERROR, FRICTIONLESS, HOSTED_CHALLENGE, HOSTED_FRICTIONLESS,
    NOT_ENROLLED, REFUSED, answer_in_time, inline, own, three_d_secure, visit,
};
use crate::support::wallets::by_click_to_pay;
use crate::support::{anti_fraud, vendors};

/// A sequence waits for its database most of the time. Each takes days: after some hundreds the cards would expire.
const SEEDS: Seeds = Seeds { default: 150, of_a_database: 50, databases_at_once: 3 };
/// So many meet what is rare.
const SEEDS_FOR_RARE: u64 = 1000;
/// Short, so that time-outs take little time; a busy machine has more of them, which is harmless.
const DEADLINE: Duration = Duration::from_millis(8);
/// One of several equal steps of time; together they exceed the schedule of probes many times over.
const LATER: Duration = Duration::from_secs(6 * 60 * 60);
const LATERS_MAX: usize = 4 * 60;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_sequences_agree_with_the_books_on_sqlite() {
    run(async || TestDatabase::fresh_sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_sequences_agree_with_the_books_on_postgres() {
    run(TestDatabase::fresh_postgres).await;
}

async fn run(fresh: impl AsyncFn() -> TestDatabase) {
    let sequences = async |app: TestApp, seeds: Range<u64>| {
        let app = app.with_sandbox_deadline(DEADLINE).await;
        let (mut app, mut told) = (app.reachable().await, Told::default());
        for seed in seeds {
            println!("seed {seed}");
            app = Sequence::new(seed).run(app, &mut told).await;
        }
        ledger_is_right(&app).await;
        settles_in_any_order(&app).await;
        told
    };
    let (seeds, told) = SEEDS.run(fresh, sequences, Told::plus).await;
    println!("{told:?}");
    let is_enough =
        (seeds < SEEDS.default || told.is_varied()) && (seeds < SEEDS_FOR_RARE || told.has_rare());
    assert!(is_enough, "the sequences no longer meet what they are for: {told:?}");
}

/// Counts what the sequences contained, to notice a generator that produces too little.
#[derive(Debug, Default)]
struct Told {
    charges: usize,
    operations: usize,
    refused: usize,
    pending: usize,
    crashes: usize,
    replays: usize,
    orphans: usize,
    analyses: usize,
    notified: usize,
    challenges: usize,
    payments: usize,
    paid_withdrawn: usize,
    taken_back: usize,
    reversals: usize,
    wallets: usize,
    divided: usize,
    fees: usize,
    /// Charges that followed a flow.
    by_flow: usize,
    vendors: usize,
    effects: usize,
    sessions: sessions::Told,
    subscriptions: subscriptions::Told,
}

impl Told {
    fn plus(self, other: Self) -> Self {
        Self {
            charges: self.charges + other.charges,
            operations: self.operations + other.operations,
            refused: self.refused + other.refused,
            pending: self.pending + other.pending,
            crashes: self.crashes + other.crashes,
            replays: self.replays + other.replays,
            orphans: self.orphans + other.orphans,
            analyses: self.analyses + other.analyses,
            notified: self.notified + other.notified,
            challenges: self.challenges + other.challenges,
            payments: self.payments + other.payments,
            paid_withdrawn: self.paid_withdrawn + other.paid_withdrawn,
            taken_back: self.taken_back + other.taken_back,
            reversals: self.reversals + other.reversals,
            wallets: self.wallets + other.wallets,
            divided: self.divided + other.divided,
            fees: self.fees + other.fees,
            by_flow: self.by_flow + other.by_flow,
            vendors: self.vendors + other.vendors,
            effects: self.effects + other.effects,
            sessions: self.sessions.plus(other.sessions),
            subscriptions: self.subscriptions.plus(other.subscriptions),
        }
    }

    const fn is_varied(&self) -> bool {
        self.charges > 0
            && self.operations > self.refused
            && self.pending > 0
            && self.crashes > 0
            && self.replays > 0
            && self.orphans > 0
            && self.analyses > 0
            && self.notified > 0
            && self.challenges > 0
            && self.payments > 0
            && self.paid_withdrawn > 0
            && self.reversals > 0
            && self.wallets > 0
            && self.sessions.is_varied()
            && self.subscriptions.is_varied()
            && self.divided > 0
            && self.fees > 0
            && self.by_flow > 0
            && self.vendors > 0
    }

    /// What happens seldom enough to be missing from a few seeds: which calls time out, chance decides besides the seed.
    const fn has_rare(&self) -> bool {
        self.taken_back > 0 && self.sessions.has_rare()
    }
}

/// The simulator refuses voids of this amount.
const REFUSED_AMOUNT: u64 = 991;

/// The highest fee of the platform, in hundredths of a percent.
const FEE_HUNDREDTHS_MAX: u64 = 3000;

/// The simulator's cards: approved, declined in several ways, unanswered, and either.
const CARDS: [(&str, &str); 10] = [
    ("4916745120294124", "560"),
    ("4916745120294124", "560"),
    ("4916745120294124", "560"),
    ("4916745120294124", "560"),
    ("4916745120294124", "560"),
    ("4916745120294124", "560"),
    ("4916878170842862", "650"),
    ("4485401945979546", "600"),
    ("4556613630132678", "850"),
    ("4556684530238865", "440"),
];

/// The test numbers of 3-D Secure.
const AUTHENTICATED_CARDS: [(&str, &str); 8] = [
    CHALLENGE_PASSES,
    CHALLENGE_FAILS,
    FRICTIONLESS,
    REFUSED,
    HOSTED_CHALLENGE,
    HOSTED_FRICTIONLESS,
    NOT_ENROLLED,
    ERROR,
];

struct Sequence {
    seed: u64,
    dice: Dice,
    /// What becomes of notifications, and what happens to payments; apart, so that they change no seed's sequence.
    post: Dice,
    /// Which charges are paid by wallet; apart for the same reason.
    wallets: Dice,
    /// Which charges are divided among sellers, and who gives back how much; apart for the same reason.
    splits: Dice,
    /// What the platform keeps, and in whose name charges are taken; apart for the same reason.
    platform: Dice,
    /// Which flows merchants have; apart for the same reason.
    flows: Dice,
    requests: u64,
    /// How often the process has stopped. The simulator in it has forgotten then whom to notify of earlier calls.
    stops: u64,
    /// What was told of payments; a provider sends it until it is answered.
    reversals: Vec<Notice>,
}

impl Sequence {
    const fn new(seed: u64) -> Self {
        let (wallets, splits) = (Dice(seed.rotate_left(32)), Dice(seed.rotate_left(16) ^ 1));
        Self {
            seed,
            dice: Dice(seed),
            post: Dice(!seed),
            wallets,
            splits,
            platform: Dice(seed.rotate_left(48) ^ 2),
            flows: Dice(seed.rotate_left(24) ^ 3),
            requests: 0,
            stops: 0,
            reversals: Vec::new(),
        }
    }

    async fn run(mut self, mut app: TestApp, told: &mut Told) -> TestApp {
        let mut providers: Vec<Value> =
            (1..=1 + self.dice.below(3)).map(|place| self.provider(place)).collect();
        if self.dice.one_in(3) {
            providers.push(self.analyst());
        }
        let merchant = app.merchant_with(json!(providers)).await;
        let sellers = self.sellers(&app, &merchant).await;
        let vendor = self.platform(&app, &merchant).await;
        self.publish(&app, &merchant).await;
        // No earlier sequence has charges of this time.
        app.clock.advance(Duration::from_millis(1));
        let since = app.clock.deployment();
        let mut ids = Vec::new();
        for _ in 0..1 + self.dice.below(3) {
            let mut body = self.charge(&merchant);
            let by_payer = self.dice.one_in(3);
            if by_payer {
                self.pay_without_card(&app, &mut body);
            } else if self.dice.one_in(3) {
                self.authenticate(&app, &mut body).await;
            } else if self.wallets.one_in(4) {
                let wallet = by_click_to_pay(&merchant);
                body["paymentMethod"] = wallet["paymentMethod"].clone();
                body["paymentSource"] = wallet["paymentSource"].clone();
                told.wallets += 1;
            }
            self.divide(&sellers, &mut body);
            if let Some(vendor) = vendor.as_ref().filter(|_| self.platform.one_in(2)) {
                body["vendor"] = json!({ "id": vendor });
                told.vendors += 1;
            }
            let stops = self.stops;
            let (after, reply) = self.send(app, "/v1/charges", &body, told).await;
            app = after;
            told.charges += 1;
            self.notify(&app, told).await;
            let Some(charge) = reply.map(|reply| reply.expect(201)) else { continue };
            let id = text(&charge["id"]).to_owned();
            if charge["threeDSecure2"].get("authData").is_some() {
                told.challenges += 1;
                app = self.challenge(app, &charge).await;
            }
            for _ in 0..self.dice.below(7) {
                if by_payer && !self.dice.one_in(3) {
                    self.happen(&app, &id, told).await;
                } else {
                    app = self.operate(app, &id, &sellers, told).await;
                }
                self.notify(&app, told).await;
                if self.stops == stops {
                    self.reverse(&app, &id, told).await;
                }
            }
            ids.push(id);
        }
        let (app, sold) = self.sell(app, &merchant, told).await;
        let (app, subscribed) = self.subscribe(app, &merchant, &sellers, told).await;
        self.settle(&app, &merchant).await;
        let page = page_of(&app, &merchant).await;
        let charges = page["items"].as_array().unwrap();
        for id in ids {
            assert!(
                charges.iter().any(|charge| charge["id"] == json!(id)),
                "seed {}: {id} is gone",
                self.seed
            );
        }
        let mut money = Money::default();
        for charge in charges {
            let is_analysis = |told: &String| told.starts_with("anti_fraud ");
            told.analyses += anti_fraud::requests(charge).iter().filter(|told| is_analysis(told)).count();
            let of_charge = agree(&app.books, charge).await;
            told.fees += usize::from(charge.get("platformFee").is_some());
            told.by_flow += usize::from(charge.get("paymentFlow").is_some_and(|flow| flow["id"].is_string()));
            told.orphans += usize::from(of_charge.effects > usize::from(charge["status"] != "failed"));
            money += of_charge;
        }
        nothing_besides(&app.books, since, money).await;
        entries_agree(&app, charges).await;
        told.divided += all_alike(&app, charges).await;
        told.effects += money.effects;
        for sold in &sold {
            sold.agrees(&app, self.seed, &mut told.sessions).await;
        }
        if let Some(subscription) = &subscribed {
            subscriptions::agrees(&app, subscription, self.seed, &mut told.subscriptions).await;
        }
        app
    }

    /// Everything that is under way with charges of the merchant comes to its end.
    async fn settle(&self, app: &TestApp, merchant: &str) {
        resolve(app, merchant).await;
        for notice in &self.reversals {
            app.deliver(notice).await.expect(200);
        }
        // What waits for something else is tried again within the hour.
        for _ in 0..2 {
            app.later(LATER).await;
        }
        // What was told late may have led to something that the provider is still asked about.
        resolve(app, merchant).await;
        nothing_is_open(app).await;
    }

    /// Sometimes the merchant has two sellers whom every provider takes.
    async fn sellers(&mut self, app: &TestApp, merchant: &str) -> Vec<Value> {
        if !self.splits.one_in(4) {
            return Vec::new();
        }
        let sellers = vec![seller(app, merchant, 1).await, seller(app, merchant, 2).await];
        if sellers.iter().all(|seller| seller["status"] == "active") { sellers } else { Vec::new() }
    }

    /// Sometimes the platform keeps a fee of what is divided, and sometimes there is a vendor.
    async fn platform(&mut self, app: &TestApp, merchant: &str) -> Option<String> {
        if self.platform.one_in(2) {
            let mut rule = |method: &str| {
                let hundredths = 1 + self.platform.below(FEE_HUNDREDTHS_MAX);
                let percentage: serde_json::Number =
                    format!("{}.{:02}", hundredths / 100, hundredths % 100).parse().unwrap();
                json!({ "paymentMethod": method, "percentage": percentage })
            };
            let (mut by_card, others) = (rule("credit"), rule("default"));
            by_card["installment"] = json!(1);
            keep(app, merchant, &json!([by_card, others])).await;
        }
        if !self.platform.one_in(4) {
            return None;
        }
        let vendor = app.post("/v1/vendors", &vendors::another()).await.expect(201);
        Some(text(&vendor["id"]).to_owned())
    }

    fn divide(&mut self, sellers: &[Value], body: &mut Value) {
        let [one, two] = sellers else { return };
        let amount = body["amount"].as_u64().unwrap();
        // With the highest fee there is room for two thirds.
        let by_amount = amount > 2 && self.splits.one_in(3);
        let (most, name) = if by_amount { (amount / 3, "amount") } else { (50, "percentage") };
        let mut share =
            |seller: &Value| json!({ "sellerId": seller["id"], name: 1 + self.splits.below(most) });
        let second = share(two);
        body["splitRules"] = json!([share(one), second]);
    }

    /// The cardholder is to be authenticated: by a 3DS server, or by the payment provider.
    async fn authenticate(&mut self, app: &TestApp, body: &mut Value) {
        let card = self.dice.pick(&AUTHENTICATED_CARDS);
        body["paymentSource"] = inline(card);
        body["threeDSecure2"] = three_d_secure();
        body["threeDSecure2"]["requiresLiabilityShift"] = json!(self.dice.one_in(2));
        if self.dice.one_in(2) {
            *body = own(app, body.clone(), card).await;
        }
    }

    /// The cardholder answers the challenge and comes back, or does neither; the process may stop meanwhile.
    async fn challenge(&mut self, mut app: TestApp, charge: &Value) -> TestApp {
        let decision = self.dice.pick(&["approve", "approve", "refuse", ""]);
        if decision.is_empty() {
            return app;
        }
        // What was answered after a crash may be hours old.
        let Some(path) = answer_in_time(&app, charge, decision).await else { return app };
        let comes_back = !self.dice.one_in(4);
        if comes_back && self.dice.one_in(3) {
            app.fuse.arm(self.dice.below(8));
        }
        let is_stopped = comes_back && {
            let fuse = app.fuse.clone();
            tokio::select! {
                _ = visit(&app, &path) => false,
                () = fuse.blown() => true,
            }
        };
        app.fuse.disarm();
        if is_stopped {
            self.stops += 1;
            app = app.restart().await;
        }
        app
    }

    async fn operate(&mut self, app: TestApp, id: &str, sellers: &[Value], told: &mut Told) -> TestApp {
        if self.dice.one_in(6) {
            app.later(Duration::from_secs(self.dice.below(4000))).await;
        }
        let charge = app.get(&format!("/v1/charges/{id}")).await.expect(200);
        let is_over = ["failed", "voided", "canceled"].contains(&text(&charge["status"]));
        if is_over && !self.dice.one_in(8) {
            return app;
        }
        let (is_reserved, rest) = (charge["status"] == "pre_authorized", charge["amount"].as_u64().unwrap());
        // Most requested operations are possible.
        let operation = if is_reserved == self.dice.one_in(6) { "void" } else { "capture" };
        let operation =
            if is_reserved { operation } else { self.dice.pick(&["void", "void", "void", operation]) };
        let mut body = match self.dice.below(6) {
            0 => json!({}),
            1 => json!({ "amount": 1 + self.dice.below(1000) }),
            _ => json!({ "amount": 1 + self.dice.below(rest.max(1)) }),
        };
        if operation == "void" && charge.get("splitRules").is_some() && self.splits.one_in(2) {
            let seller = self.splits.below(sellers.len() as u64);
            let seller = &sellers[usize::try_from(seller).unwrap()];
            body["splitRules"] = json!([{ "sellerId": seller["id"], "amount": 1 + self.splits.below(100) }]);
        }
        let path = format!("/v1/charges/{id}/{operation}");
        told.operations += 1;
        let (app, reply) = self.send(app, &path, &body, told).await;
        match reply.map(|reply| (reply.status.as_u16(), reply)) {
            None => {}
            Some((201, reply)) => {
                let status = text(&reply.json()["status"]).to_owned();
                told.pending += usize::from(status.ends_with("pending"));
            }
            Some((400 | 409, _)) => told.refused += 1,
            Some((other, reply)) => panic!("{other}: {}", String::from_utf8_lossy(&reply.bytes)),
        }
        app
    }

    /// Sometimes a payer disputes what was taken, their bank takes it back, or a refund comes back. It is notified at once, in
    /// the end, or both.
    async fn reverse(&mut self, app: &TestApp, id: &str, told: &mut Told) {
        if !self.post.one_in(4) {
            return;
        }
        let requests = requests_of(app, id).await;
        let Some(taken) = approved_authorization(&requests) else { return };
        // What is taken from an orphaned authorization, or comes back of its void, is put aside for the operator.
        let charge = app.get(&format!("/v1/charges/{id}")).await.expect(200);
        if ["failed", "canceled"].contains(&text(&charge["status"])) {
            return;
        }
        let what = self.post.pick(&[
            Staged::DisputeOpened,
            Staged::DisputeOpened,
            Staged::DisputeWon,
            Staged::DisputeLost,
            Staged::ChargedBack,
            Staged::RefundReverted { amount: None },
            Staged::RefundReverted { amount: None },
            Staged::RefundReverted { amount: Amount::new(1) },
        ]);
        let event = StagedEvent { key: taken.provider_key(), at: app.clock.deployment(), what };
        // Not all of it can happen to any payment.
        if app.app.providers.stage(taken.provider_type, event).await.is_err() {
            return;
        }
        told.reversals += 1;
        for notice in app.wire.notices() {
            if self.post.one_in(2) {
                app.deliver(&notice).await.expect(200);
            }
            self.reversals.push(notice);
        }
        if self.post.one_in(2) {
            self.reversals.reverse();
        }
    }

    /// What the simulator has to tell arrives: in any order, never, once or twice.
    async fn notify(&mut self, app: &TestApp, told: &mut Told) {
        let mut notices = app.wire.notices();
        if self.post.one_in(2) {
            notices.reverse();
        }
        for notice in &notices {
            for _ in 0..self.post.below(3) {
                app.deliver(notice).await.expect(200);
                told.notified += 1;
            }
        }
        if self.post.one_in(2) {
            app.worker.round().await.unwrap();
        }
    }

    /// Sends a request; sometimes the process stops meanwhile, sometimes the request is repeated. Without a reply the
    /// charge may or may not exist.
    async fn send(
        &mut self,
        app: TestApp,
        path: &str,
        body: &Value,
        told: &mut Told,
    ) -> (TestApp, Option<Reply>) {
        let sender = app.client.clone();
        self.send_as(app, &sender, Method::POST, path, body, told).await
    }

    async fn send_as(
        &mut self,
        mut app: TestApp,
        sender: &Client,
        method: Method,
        path: &str,
        body: &Value,
        told: &mut Told,
    ) -> (TestApp, Option<Reply>) {
        self.requests += 1;
        let key = format!("seed {} request {}", self.seed, self.requests);
        let headers = [("X-Idempotency-Key", key.as_str())];
        let dies = self.dice.one_in(8);
        if dies {
            app.fuse.arm(self.dice.below(8));
        }
        let mut pending = app.begin(request(sender, method.clone(), path, &headers, Some(body)));
        let fuse = app.fuse.clone();
        let reply = tokio::select! {
            reply = &mut pending => Some(reply.unwrap()),
            () = fuse.blown() => None,
        };
        app.fuse.disarm();
        if reply.is_none() {
            told.crashes += 1;
            self.stops += 1;
            app = app.restart().await;
            pending.abort();
            if self.dice.one_in(2) {
                app.later(LATER).await;
            }
        }
        if reply.is_none() || self.dice.one_in(5) {
            told.replays += 1;
            let again = app.call(sender, method, path, &headers, Some(body)).await;
            let is_same = |first: &Reply| first.status == again.status && first.bytes == again.bytes;
            // A pending or refused request may have its final answer by now.
            let was_final =
                reply.as_ref().is_some_and(|first| first.status.is_success() && !is_pending(first));
            assert!(!was_final || reply.as_ref().is_some_and(is_same), "seed {}: another answer", self.seed);
            let has_answer = again.status.is_success();
            return (app, if has_answer { Some(again) } else { reply });
        }
        (app, reply)
    }

    fn provider(&mut self, place: u64) -> Value {
        let mut provider = sandbox(&format!("Number {place}"), i64::try_from(place).unwrap());
        provider["options"] = json!({ "type": "SANDBOX", "faults": self.faults() });
        provider
    }

    /// An anti-fraud provider with any options.
    fn analyst(&mut self) -> Value {
        let on_error = self.dice.below(3);
        let timing = self.dice.below(3);
        anti_fraud::risk(&json!({
            "captureOnApproved": self.dice.one_in(2),
            "refundOnReproved": self.dice.one_in(2),
            "captureOnError": on_error == 1,
            "refundOnError": on_error == 2,
            "runBeforeCharge": timing == 1,
            "productType": if timing == 2 { "ASYNC" } else { "SYNC" },
            "sendAllCharges": self.dice.one_in(3),
        }))
    }

    fn charge(&mut self, merchant: &str) -> Value {
        let mut body = charge_body(merchant, self.dice.pick(&CARDS));
        let amount = if self.dice.one_in(10) { REFUSED_AMOUNT } else { 1 + self.dice.below(1000) };
        body["amount"] = json!(amount);
        body["capture"] = json!(self.dice.one_in(2));
        if self.dice.one_in(2) {
            let identity = format!("{}", 1_111_111_110 + self.dice.below(4));
            body["fraudAnalysis"] = json!({ "customer": { "identity": identity } });
        }
        if self.dice.one_in(2) {
            let mut faults = self.faults();
            // An orphaned authorization of this amount could never be given back.
            if amount != REFUSED_AMOUNT && self.dice.one_in(3) {
                faults.extend(self.lie());
            }
            body["paymentFlow"] = json!({ "metadata": { "sandboxFaults": faults } });
        }
        body
    }

    /// Up to three faults that do not occur every time, so that each call is answered eventually.
    fn faults(&mut self) -> Vec<Value> {
        (0..self.dice.below(4)).map(|_| self.fault()).collect()
    }

    /// Providers take the money, do not answer, and deny it for a while: less than the last look at what was denied.
    fn lie(&mut self) -> [Value; 2] {
        let seconds = self.dice.pick(&[60, 600, 7200]);
        [
            json!({ "when": { "operation": "authorization" }, "then": { "reset": "after_effect" }, "probability": 0.5 }),
            json!({ "when": { "operation": "probe" }, "then": { "deny_seconds": seconds } }),
        ]
    }

    fn fault(&mut self) -> Value {
        let point = self.dice.pick(&["before_effect", "after_effect"]);
        let then = match self.dice.below(7) {
            0 => json!({ "decline": self.dice.pick(&["try_again", "generic", "insufficient_funds"]) }),
            1 => json!({ "delay_ms": 1 + self.dice.below(12) }),
            2 => json!({ "timeout": point }),
            3 => json!({ "reset": point }),
            4 => json!({ "server_error": point }),
            5 => json!({ "duplicate": true }),
            _ => json!({ "garbage": point }),
        };
        let operation = self.dice.pick(&["authorization", "capture", "void", "probe", "anti_fraud"]);
        let is_decline_of_a_probe = operation == "probe" && then.get("decline").is_some();
        let then = if is_decline_of_a_probe { json!({ "timeout": point }) } else { then };
        let probability = self.dice.pick(&[0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]);
        json!({ "when": { "operation": operation }, "then": then, "probability": probability })
    }
}

async fn page_of(app: &TestApp, merchant: &str) -> Value {
    app.get(&format!("/v1/charges?merchantId={merchant}&limit=100")).await.expect(200)
}

/// Advances the clock until no outcome is unknown, no payer is waited for, and no provider is asked again about what it has
/// denied. Requests that were given up are retried, as by an operator, and accepted refunds are confirmed.
async fn resolve(app: &TestApp, merchant: &str) {
    for _ in 0..LATERS_MAX {
        payers::confirm_refunds(app, &page_of(app, merchant).await["items"]).await;
        let given_up = transaction_requests::given_up(&app.app.store, 100).await.unwrap();
        for stored in &given_up {
            let mut batch = Batch::new(stored.request.client_id);
            transaction_requests::resume(&mut batch, &stored.request, app.clock.deployment());
            assert_eq!(app.app.store.apply(batch).await.unwrap(), Commit::Applied);
        }
        let is_asked_again = !transaction_requests::next_due(&app.app.store).await.unwrap().is_empty();
        if given_up.is_empty()
            && !is_asked_again
            && is_nothing_open(app).await
            && sessions::are_settled(app).await
        {
            return;
        }
        app.later(LATER).await;
    }
}

async fn requests_of(app: &TestApp, id: &str) -> Vec<TransactionRequest> {
    let id = id.parse().unwrap();
    let stored = transaction_requests::of_object(&app.app.store, app.client_id(), id).await.unwrap();
    stored.into_iter().map(|stored| stored.request).collect()
}

fn is_pending(reply: &Reply) -> bool {
    reply.json()["status"].as_str().is_some_and(|status| status.ends_with("pending"))
}
