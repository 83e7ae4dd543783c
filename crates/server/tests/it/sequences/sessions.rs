//! Sessions: what their buyers and merchants do, drawn like everything else. In the end each session says what its charges
//! say, has taken no more payments than its merchant allowed, and has given back what was paid besides.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::http::Method;
use futures_util::future::join_all;
use regente_store::{args, sql};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::{AUTHENTICATED_CARDS, CARDS, Dice, Sequence, payers};
use crate::support::agreement::{Money, agree};
use crate::support::app::TestApp;
use crate::support::bodies::payers::{address, described, jose};
use crate::support::client::{Client, Reply, request};
use crate::support::read::text;
use crate::support::sessions::{buyer, by_card, read};
use crate::support::three_d_secure::three_d_secure;

sql! {
    /// The jobs that may still move a session or its money.
    WAITING_SESSION_JOBS = "
        SELECT COUNT(*) AS n FROM jobs
        WHERE client_id = :client_id AND kind IN ('count_payment', 'return_payment', 'close_session')";
}

const HOUR: Duration = Duration::from_secs(60 * 60);
/// What is asked for, at most: of what is left of it, the simulator refuses to give nothing back.
const AMOUNT_MAX: u64 = super::REFUSED_AMOUNT - 1;
/// How the history says why a payment is given back.
const SURPLUS: &str = "the session takes no further payment";
/// How the history says that a payment was too small.
const UNDERPAID: &str = "underpaid: ";

/// Counts what the sessions contained.
#[derive(Debug, Default)]
pub(super) struct Told {
    made: usize,
    taken: usize,
    surplus: usize,
    underpaid: usize,
    together: usize,
    refused: usize,
    canceled: usize,
    changed: usize,
    expired: usize,
    voided: usize,
}

impl Told {
    pub(super) const fn is_varied(&self) -> bool {
        self.made > 0
            && self.taken > 0
            && self.together > 0
            && self.refused > 0
            && self.canceled > 0
            && self.changed > 0
            && self.expired > 0
    }

    pub(super) const fn has_rare(&self) -> bool {
        self.surplus > 0 && self.underpaid > 0
    }

    pub(super) const fn plus(self, other: Self) -> Self {
        Self {
            made: self.made + other.made,
            taken: self.taken + other.taken,
            surplus: self.surplus + other.surplus,
            underpaid: self.underpaid + other.underpaid,
            together: self.together + other.together,
            refused: self.refused + other.refused,
            canceled: self.canceled + other.canceled,
            changed: self.changed + other.changed,
            expired: self.expired + other.expired,
            voided: self.voided + other.voided,
        }
    }
}

/// A session, and how often its merchant has allowed it to be paid, at most.
pub(super) struct Sold {
    session: Value,
    limit: Option<usize>,
}

impl Sequence {
    /// Makes sessions, and has them paid. They are drawn apart and come last, so that they change no seed's charges.
    pub(super) async fn sell(
        &mut self,
        mut app: TestApp,
        merchant: &str,
        told: &mut super::Told,
    ) -> (TestApp, Vec<Sold>) {
        // Where the pages of its shop have buyers come back from their bank.
        let registered = json!({ "redirectOrigins": "https://shop.example" });
        let reply = app.post("/v1/settings", &registered).await;
        // An earlier sequence of this account has done so.
        assert!([201, 409].contains(&reply.status.as_u16()), "{reply:?}");
        self.dice = Dice(self.seed.rotate_left(16));
        let mut all = Vec::new();
        for _ in 0..self.dice.below(2) {
            let body = self.session(&app, merchant);
            let (after, reply) = self.send(app, "/v1/sessions", &body, told).await;
            app = after;
            // Interrupted before it was made.
            let Some(session) = reply.map(|reply| reply.expect(200)) else { continue };
            told.sessions.made += 1;
            let limit = limit_of(&session["multiplePayments"]["maxPayments"]);
            let mut sold = Sold { session, limit };
            let stops = self.stops;
            for _ in 0..4 + self.dice.below(7) {
                app = match self.dice.below(16) {
                    0..=4 => self.buy(app, &sold, told).await,
                    5 => self.buy_at_once(app, &sold, told).await,
                    6..=12 => self.happen_to(app, &sold, stops, told).await,
                    13 => self.change(app, &mut sold, told).await,
                    14 if self.dice.one_in(2) => self.cancel(app, &sold, told).await,
                    _ => {
                        let hours = self.dice.pick(&[1, 5, 30]);
                        app.later(HOUR * hours).await;
                        app
                    }
                };
                self.notify(&app, told).await;
            }
            all.push(sold);
        }
        (app, all)
    }

    fn session(&mut self, app: &TestApp, merchant: &str) -> Value {
        let max_payments = match self.dice.below(5) {
            0 | 1 => Value::Null,
            2 => json!(1),
            3 => json!(2 + self.dice.below(3)),
            _ => json!(-1),
        };
        let mut credit = json!({ "paymentType": "credit", "installments": 3 });
        if self.dice.one_in(4) {
            credit["threeDS"] = json!({ "enabled": true, "liabilityShiftRequired": self.dice.one_in(2) });
        }
        let minutes = 1 + self.dice.below(120);
        let mut methods = vec![credit, json!({ "paymentType": "nupay", "delayToAutoCancel": minutes })];
        methods.push(json!({ "paymentType": "drip" }));
        // These two go with no limit above one.
        if max_payments.as_i64().is_none_or(|number| number <= 1) {
            methods.push(json!({ "paymentType": "pix", "expiresIn": 60 * minutes }));
            methods.push(json!({ "paymentType": "boleto" }));
        }
        let mut body = json!({
            "merchantId": merchant, "amount": 1 + self.dice.below(AMOUNT_MAX), "capture": !self.dice.one_in(3),
            "createLink": self.dice.one_in(2), "paymentMethods": methods, "maxPayments": max_payments,
            "items": [{ "name": "Shoe", "unitPrice": 1, "quantity": 1 }],
        });
        if self.dice.one_in(3) {
            body["dueDate"] = json!(app.clock.deployment() + HOUR * self.dice.pick(&[30, 60, 200]));
        }
        body
    }

    /// What a buyer sends who pays this session.
    fn payment(&mut self, sold: &Sold) -> Value {
        let methods = sold.session["paymentMethods"].as_array().unwrap();
        let others = methods.len() as u64 - 1;
        let place = if self.dice.one_in(2) { 0 } else { 1 + self.dice.below(others) };
        let method = &methods[usize::try_from(place).unwrap()];
        let mut body = match text(&method["paymentType"]) {
            "credit" if method["threeDS"]["enabled"] == true => {
                let mut body = by_card(self.dice.pick(&AUTHENTICATED_CARDS));
                body["threeDSecure2"] = three_d_secure();
                body
            }
            "credit" => by_card(self.dice.pick(&CARDS)),
            other => {
                let mut payer = jose();
                payer["address"] = address();
                json!({ "paymentMethod": { "paymentType": other }, "paymentSource": described(payer) })
            }
        };
        if self.dice.one_in(2) {
            let identity = format!("{}", 1_111_111_110 + self.dice.below(4));
            body["fraudAnalysis"] = json!({ "customer": { "identity": identity } });
        }
        if body["paymentMethod"]["paymentType"] == "nupay" {
            body["fraudAnalysis"]["cart"] = json!({ "items": [{ "name": "Shoe" }] });
        }
        if self.dice.one_in(2) {
            let mut faults = self.faults();
            if self.dice.one_in(3) {
                faults.extend(self.lie());
            }
            body["paymentFlow"] = json!({ "metadata": { "sandboxFaults": faults } });
        }
        body
    }

    /// A buyer pays, or their shop does it for them.
    async fn buy(&mut self, app: TestApp, sold: &Sold, told: &mut super::Told) -> TestApp {
        let body = self.payment(sold);
        let sender = if self.dice.one_in(4) { app.client.clone() } else { buyer(&sold.session) };
        let (app, reply) = self.send_as(app, &sender, Method::POST, &sold.pay(), &body, told).await;
        let Some(reply) = reply else { return app };
        self.bought(app, &reply, told).await
    }

    /// Two buyers pay at once; the process may stop meanwhile.
    async fn buy_at_once(&mut self, mut app: TestApp, sold: &Sold, told: &mut super::Told) -> TestApp {
        told.sessions.together += 1;
        let bodies = [self.payment(sold), self.payment(sold)];
        if self.dice.one_in(4) {
            app.fuse.arm(self.dice.below(12));
        }
        let key: Client = buyer(&sold.session);
        let begin = |body: &Value| app.begin(request(&key, Method::POST, &sold.pay(), &[], Some(body)));
        let mut pending = bodies.each_ref().map(begin);
        let fuse = app.fuse.clone();
        let replies = tokio::select! {
            replies = join_all(&mut pending) => Some(replies),
            () = fuse.blown() => None,
        };
        app.fuse.disarm();
        let Some(replies) = replies else {
            told.crashes += 1;
            self.stops += 1;
            app = app.restart().await;
            pending.iter().for_each(JoinHandle::abort);
            return app;
        };
        for reply in replies {
            app = self.bought(app, &reply.unwrap(), told).await;
        }
        app
    }

    async fn bought(&mut self, app: TestApp, reply: &Reply, told: &mut super::Told) -> TestApp {
        match reply.status.as_u16() {
            201 => {
                let charge = reply.json();
                if charge["threeDSecure2"].get("authData").is_some() {
                    told.challenges += 1;
                    return self.challenge(app, &charge).await;
                }
            }
            422 => told.sessions.refused += 1,
            // The first request of the key is under way, or there was no room until the other buyer was refused, or as many
            // cards are being tried as may be.
            409 | 429 | 503 => {}
            other => panic!("seed {}: {other}: {}", self.seed, String::from_utf8_lossy(&reply.bytes)),
        }
        app
    }

    /// Something happens to one of the charges: its payer or their bank does something, or the merchant does.
    async fn happen_to(&mut self, app: TestApp, sold: &Sold, stops: u64, told: &mut super::Told) -> TestApp {
        let mut charges = sold.charges(&app).await;
        // Mostly to one that somebody is waited for.
        if !self.dice.one_in(3) && charges.iter().any(|charge| charge["status"] == "pending") {
            charges.retain(|charge| charge["status"] == "pending");
        }
        if charges.is_empty() {
            return app;
        }
        if self.dice.one_in(2) {
            payers::all_pay(&app, &charges, &mut self.dice).await;
            return app;
        }
        let place = usize::try_from(self.dice.below(charges.len() as u64)).unwrap();
        let id = text(&charges[place]["id"]);
        if charges[place]["status"] != "pending" && self.dice.one_in(2) {
            return self.operate(app, id, &[], told).await;
        }
        self.happen(&app, id, told).await;
        if self.stops == stops {
            self.reverse(&app, id, told).await;
        }
        app
    }

    async fn change(&mut self, app: TestApp, sold: &mut Sold, told: &mut super::Told) -> TestApp {
        let mut body = json!({ "isActive": !self.dice.one_in(4) });
        let limit = self.dice.pick(&[-1, 1, 3, 5]);
        let has_limit = sold.session["multiplePayments"]["allow"] == true && self.dice.one_in(2);
        if has_limit {
            body["maxPayments"] = json!(limit);
        }
        match self.dice.below(4) {
            0 => body["dueDate"] = Value::Null,
            1 => body["dueDate"] = json!(app.clock.deployment() + HOUR * self.dice.pick(&[24, 100])),
            _ => {}
        }
        let (sender, path) = (app.client.clone(), sold.path());
        let (app, reply) = self.send_as(app, &sender, Method::PATCH, &path, &body, told).await;
        match reply.map(|reply| reply.status.as_u16()) {
            // Without an answer it may have happened.
            None | Some(200) => {
                told.sessions.changed += 1;
                if has_limit {
                    let more = limit_of(&json!(limit));
                    sold.limit = sold.limit.zip(more).map(|(before, more)| before.max(more));
                }
            }
            Some(400 | 422) => {}
            Some(other) => panic!("seed {}: a change was answered {other}", self.seed),
        }
        app
    }

    async fn cancel(&mut self, app: TestApp, sold: &Sold, told: &mut super::Told) -> TestApp {
        let path = format!("{}/cancel", sold.path());
        let (app, reply) = self.send(app, &path, &json!({}), told).await;
        match reply.map(|reply| reply.status.as_u16()) {
            None | Some(400) => {}
            Some(201) => told.sessions.canceled += 1,
            Some(other) => panic!("seed {}: a cancellation was answered {other}", self.seed),
        }
        app
    }
}

impl Sold {
    fn path(&self) -> String {
        format!("/v1/sessions/{}", text(&self.session["id"]))
    }

    fn pay(&self) -> String {
        format!("{}/charge", self.path())
    }

    /// Its charges as its merchant lists them, newest first.
    async fn charges(&self, app: &TestApp) -> Vec<Value> {
        let path = format!("/v1/charges?sessionId={}&limit=100", text(&self.session["id"]));
        app.get(&path).await.expect(200)["items"].as_array().unwrap().clone()
    }

    /// Compares the session with its charges and the simulator's log, when nothing is under way any more.
    pub(super) async fn agrees(&self, app: &TestApp, seed: u64, told: &mut Told) {
        let session = read(app, &self.session).await;
        let history = app.get(&format!("{}/history", self.path())).await.expect(200);
        let charges = self.charges(app).await;
        let says = || format!("seed {seed}: {session:#}\n{history:#}\n{charges:#?}");
        let (taken, surplus) = (entries(&history, is_taken), entries(&history, is_surplus));
        told.taken += taken.len();
        told.surplus += surplus.len();
        assert!(taken.is_disjoint(&surplus), "{}", says());
        // What its merchant has not decided about: the payment has fallen short, and the session does not count it.
        let is_short = |charge: &&Value| {
            let id = text(&charge["id"]);
            !taken.contains(id) && !surplus.contains(id) && charge["status"] == "authorized"
        };
        let open: BTreeSet<&str> =
            charges.iter().filter(is_short).map(|charge| text(&charge["id"])).collect();
        let short = history.as_array().unwrap().iter().filter(|entry| is_underpaid(entry));
        let short: BTreeSet<&str> =
            short.map(|entry| text(&entry["diff"]["changes"]["response"]["to"]["chargeId"])).collect();
        told.underpaid += short.len();
        assert!(open.is_subset(&short), "{}", says());
        assert!(self.limit.is_none_or(|limit| taken.len() <= limit), "paid too often: {}", says());
        let payments = &session["multiplePayments"];
        assert_eq!(payments["paymentCount"], taken.len(), "{}", says());
        assert_eq!(payments["pendingCount"], open.len(), "{}", says());

        let (mut returned, mut came_back, mut ids) = (0, false, BTreeSet::new());
        for charge in &charges {
            let id = text(&charge["id"]);
            ids.insert(id.to_owned());
            assert_eq!(charge["originalAmount"], session["amount"], "{}", says());
            let money = agree(&app.books, charge).await;
            let is_held = ["pre_authorized", "authorized", "charged_back"].contains(&text(&charge["status"]));
            let has_come_back = requests(charge, "revert_void");
            came_back |= has_come_back;
            match (taken.contains(id), surplus.contains(id)) {
                (true, _) => returned += usize::from(!is_held),
                // What was given back and is sent back is the merchant's to look at, and so is a boleto.
                (false, true) if has_come_back => {}
                (false, true) if charge["paymentMethod"]["paymentType"] == "boleto" => {}
                (false, true) => {
                    let nothing = Money { effects: money.effects, ..Money::default() };
                    assert_eq!(money, nothing, "{id} was not given back: {}", says());
                }
                (false, false) if short.contains(id) => {
                    assert!(charge["amount"].as_i64() < charge["originalAmount"].as_i64(), "{}", says());
                }
                (false, false) => assert!(!is_held, "{id} is not counted: {}", says()),
            }
        }
        assert!(taken.union(&surplus).all(|id| ids.contains(id)), "{}", says());

        let (status, is_single) = (text(&session["status"]), payments["allow"] == false);
        let is_over = taken.len() == returned;
        told.voided += usize::from(status == "voided");
        let is_right = match status {
            "created" => !is_single || taken.is_empty(),
            "paid" => is_single && !is_over,
            "voided" => !taken.is_empty() && (is_over || came_back),
            "canceled" => !is_single || taken.is_empty(),
            _ => false,
        };
        assert!(is_right, "{}", says());
        let is_past =
            session["dueDate"].as_str().is_some_and(|due| *due < *app.clock.deployment().to_string());
        if status == "created" && is_past {
            told.expired += 1;
            assert_eq!(session["isActive"], false, "{}", says());
        }
        // What waits for its merchant keeps a place where there are several.
        let places = |limit: usize| if limit > 1 { taken.len() + open.len() } else { taken.len() };
        let is_full = limit_of(&payments["maxPayments"]).is_some_and(|limit| places(limit) >= limit);
        let is_open = status == "created" && session["isActive"] == true && !is_full;
        assert_eq!(payments["status"] == "active", is_open, "{}", says());
    }
}

/// Whether no job will move a session or its money any more.
pub(super) async fn are_settled(app: &TestApp) -> bool {
    let client_id = app.client_id();
    let rows = app.app.store.rows(&WAITING_SESSION_JOBS, args! { client_id }).await.unwrap();
    rows[0].get::<i64>("n").unwrap() == 0
}

/// `maxPayments` as a number of payments; none where there may be any number.
fn limit_of(max_payments: &Value) -> Option<usize> {
    match max_payments.as_i64() {
        None => Some(1),
        Some(number) => usize::try_from(number).ok(),
    }
}

/// The charges of the entries like this; each is there once.
fn entries(history: &Value, is_like: fn(&Value) -> bool) -> BTreeSet<String> {
    let mut charges = BTreeSet::new();
    for entry in history.as_array().unwrap().iter().filter(|entry| is_like(entry)) {
        let id = text(&entry["diff"]["changes"]["response"]["to"]["chargeId"]).to_owned();
        assert!(charges.insert(id), "a payment was counted twice: {history:#}");
    }
    charges
}

fn is_taken(entry: &Value) -> bool {
    entry["action"] == "paymentSucceeded"
}

fn is_surplus(entry: &Value) -> bool {
    entry["diff"]["reason"].as_str().is_some_and(|reason| reason.starts_with(SURPLUS))
}

fn is_underpaid(entry: &Value) -> bool {
    entry["diff"]["reason"].as_str().is_some_and(|reason| reason.starts_with(UNDERPAID))
}

fn requests(charge: &Value, request_type: &str) -> bool {
    let requests = charge["transactionRequests"].as_array().unwrap();
    requests.iter().any(|request| request["requestType"] == request_type)
}
