//! A deployment with the bank behind each adapter: its merchants, the way of the bank's notifications, and the comparison of
//! the charges and the ledger with the bank's books.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{Method, Request};
use regente_domain::ledger::Purpose;
use regente_store::{ledger, transaction_requests};
use serde_json::{Value, json};

use crate::support::app::{Adapters, TestApp};
use crate::support::bank::Bank;
use crate::support::bank::books::{Face, Held};
use crate::support::bank::faults::{Dice, Plan};
use crate::support::bank::news::Notice;
use crate::support::bank::world::deliveries;
use crate::support::providers::{adyen, pagarme, stripe};
use crate::support::read::text;

/// The deployment with the bank behind each adapter.
pub async fn with_bank(app: TestApp) -> (TestApp, Bank) {
    let clock = app.clock.clone();
    let bank = Bank::new(1, Plan::Calm, Arc::new(move || clock.deployment()));
    let address = bank.listen().await;
    (app.with_adapters(Adapters::Real(address)).await, bank)
}

/// A provider with credentials of its own.
pub fn provider(face: Face, priority: i64, number: u64) -> Value {
    let (mut provider, member, key) = match face {
        Face::Stripe => (stripe(priority), "secretKey", format!("sk_test_{number}")),
        Face::Adyen => (adyen(priority), "apiKey", format!("an-api-key-{number}")),
        Face::PagarmeV5 => (pagarme(priority), "secretKey", format!("sk_test_p{number}")),
    };
    provider["credentials"][member] = json!(key);
    provider
}

/// A merchant with these providers, and where they send their notifications.
pub async fn registered(app: &TestApp, providers: Vec<Value>) -> (String, Post) {
    let account = |provider: &Value| {
        let credentials = &provider["credentials"];
        text(if credentials["type"] == "ADYEN" { &credentials["apiKey"] } else { &credentials["secretKey"] })
            .to_owned()
    };
    let accounts: Vec<String> = providers.iter().map(account).collect();
    let new = json!({ "mcc": "5812", "providers": providers });
    let made = app.post("/v1/merchants", &new).await.expect(201);
    let paths = made["providers"].as_array().unwrap().iter().map(|provider| text(&provider["id"]));
    let paths = paths.map(|id| format!("/providers/{id}/notifications"));
    (text(&made["id"]).to_owned(), Post(accounts.into_iter().zip(paths).collect()))
}

/// How many notifications came.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivered {
    pub notified: usize,
    pub forged: usize,
    /// True ones, with other members that nobody has signed.
    pub altered: usize,
}

/// Where the notifications for each account go.
#[derive(Default)]
pub struct Post(HashMap<String, String>);

impl Post {
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// What the bank has to tell comes late, in any order, never, once or twice; sometimes somebody forges one, or alters what
    /// is not signed of a true one, which counts as that.
    pub async fn deliver(&self, app: &TestApp, bank: &Bank, dice: &mut Dice) -> Delivered {
        let mut notices = bank.notices();
        if dice.one_in(2) {
            notices.reverse();
        }
        let (mut told, mut left) = (Delivered::default(), Vec::new());
        for notice in notices {
            if dice.one_in(6) {
                let (header, body) = notice.forged(app.clock.deployment());
                assert_eq!(self.send(app, &notice, header, &body, dice.one_in(2)).await, 401, "{body:#}");
                told.forged += 1;
            }
            let altered = if dice.one_in(4) { notice.altered(dice) } else { None };
            if let Some(body) = altered {
                let header = notice.signed(app.clock.deployment());
                assert_eq!(self.send(app, &notice, header, &body, false).await, 200, "{body:#}");
                told.altered += 1;
            }
            let times = deliveries(dice);
            for _ in 0..times {
                self.arrive(app, &notice).await;
                told.notified += 1;
            }
            if times == 0 && (notice.is_needed || dice.one_in(2)) {
                left.push(notice);
            }
        }
        bank.send_again(left);
        if dice.one_in(2) {
            app.worker.round().await.unwrap();
        }
        told
    }

    async fn arrive(&self, app: &TestApp, notice: &Notice) {
        let header = notice.signed(app.clock.deployment());
        assert_eq!(self.send(app, notice, header, &notice.body, false).await, 200, "{:#}", notice.body);
    }

    /// The status of the answer. A signature over what was sent before proves nothing.
    async fn send(
        &self,
        app: &TestApp,
        notice: &Notice,
        (name, value): (&str, String),
        body: &Value,
        without: bool,
    ) -> u16 {
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(&self.0[&notice.account])
            .header("Content-Type", "application/json");
        if !without {
            request = request.header(name, value);
        }
        app.send(request.body(Body::from(body.to_string())).unwrap()).await.status.as_u16()
    }
}

/// The bank carries out what it has received, and tells everything. Whether it had nothing to do.
pub async fn settle(app: &TestApp, bank: &Bank, post: &Post) -> bool {
    let has_done = bank.finish();
    let notices = bank.notices();
    for notice in &notices {
        post.arrive(app, notice).await;
    }
    app.run_jobs().await;
    let is_asked_again = !transaction_requests::next_due(&app.app.store).await.unwrap().is_empty();
    !has_done && notices.is_empty() && bank.is_quiet() && !is_asked_again
}

/// A charge, its entries in the ledger, and the bank's books say the same; what is kept is kept once. Of what no provider has
/// ever received, or shows, the operator has been told.
pub async fn agrees(app: &TestApp, bank: &Bank, charge: &Value, is_told: bool, of: &str) -> Held {
    let (id, amount) = (text(&charge["id"]), charge["amount"].as_i64().unwrap());
    let held = bank.held(id);
    let shown = || format!("{of}: {charge:#}\nthe bank: {}", bank.shown(id));
    assert!(held.holding <= 1, "two authorizations are kept: {}", shown());
    assert_eq!(held.second, 0, "a second authorization was asked for: {}", shown());
    assert_eq!(held.waiting, 0, "the bank has not decided: {}", shown());
    let told = match text(&charge["status"]) {
        "authorized" => Some((0, amount)),
        "pre_authorized" => Some((amount, 0)),
        "voided" | "canceled" | "failed" => Some((0, 0)),
        // How much of it is charged back, the ledger says.
        "charged_back" => None,
        status if is_told && status.ends_with("pending") => None,
        other => panic!("{other} in the end: {}", shown()),
    };
    let in_bank = (held.reserved, held.kept);
    assert!(told.is_none_or(|told| held.is(told)), "{told:?} here, {in_bank:?} there: {}", shown());
    let entries = ledger::of_sources(&app.app.store, app.client_id(), &[id.parse().unwrap()]).await.unwrap();
    let of = |purpose: Purpose| -> i64 {
        let entries = entries.iter().map(|entry| {
            let sign = i64::from(entry.debit == purpose) - i64::from(entry.credit == purpose);
            entry.amount.minor_units() * sign
        });
        entries.sum()
    };
    let posted = (of(Purpose::Hold), of(Purpose::ProviderReceivable));
    // A charge back waits for the refund of which nobody knows: the operator has both to settle.
    let waits = is_told && charge["status"] == "refund_pending" && held.lost > 0;
    let differ = || format!("the ledger says {posted:?}, the bank {in_bank:?}: {}\n{entries:#?}", shown());
    let is_posted = told.map_or_else(|| held.is(posted), |told| told == posted);
    assert!(waits || is_posted, "{}", differ());
    held
}
