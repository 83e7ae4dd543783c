//! What is bought, refunded, charged back and paid early, drawn from a seed, and what is expected to be left of each charge.

use std::collections::BTreeMap;

use regente_providers::sandbox::REFUSED_AMOUNT_MINOR_UNITS;
use serde_json::json;

use crate::support::app::TestApp;
use crate::support::bank::faults::Dice;
use crate::support::charges::void;
use crate::support::payouts::{all_of_it, card_payment, pix_payment};
use crate::support::prepayments::{PREPAYMENT, commit, everything_of};

/// Of so many charges, one earlier one is given back or charged back.
const CHARGES_OF_A_REVERSAL: u64 = 4;
/// On one of so many days a seller wants to be paid early.
const DAYS_OF_A_PREPAYMENT: u64 = 4;

/// A price of which nothing that is given back is the one amount that the simulator refuses.
fn price(dice: &mut Dice) -> i64 {
    loop {
        let price = 101 + i64::try_from(dice.below(50_000)).unwrap();
        let part = part_of(price);
        if ![price, part, price - part].contains(&REFUSED_AMOUNT_MINOR_UNITS) {
            return price;
        }
    }
}

/// What is given back when not everything is.
const fn part_of(amount: i64) -> i64 {
    amount / 3
}

/// A charge that may still be given back.
struct Open {
    id: String,
    /// What is left of it.
    amount: i64,
    is_card: bool,
    /// Whether a part was given back.
    is_reduced: bool,
}

/// What has happened so far.
#[derive(Default)]
pub struct Totals {
    pub captured: i64,
    pub refunded: i64,
    pub charged_back: i64,
}

/// The trade of an account.
pub struct Trade {
    merchant: String,
    sellers: Vec<String>,
    dice: Dice,
    open: Vec<Open>,
    /// What is left of each charge, by its id.
    pub left: BTreeMap<String, i64>,
    pub totals: Totals,
    refunds: usize,
    partial_refunds: usize,
    charge_backs: usize,
    prepayments: usize,
    installments: usize,
}

impl Trade {
    pub fn new(merchant: String, sellers: Vec<String>, seed: u64) -> Self {
        Self {
            merchant,
            sellers,
            dice: Dice(seed.wrapping_add(1)),
            open: Vec::new(),
            left: BTreeMap::new(),
            totals: Totals::default(),
            refunds: 0,
            partial_refunds: 0,
            charge_backs: 0,
            prepayments: 0,
            installments: 0,
        }
    }

    /// The trade of a day.
    pub async fn day(&mut self, app: &TestApp, charges: u64) {
        for _ in 0..charges {
            self.buy(app).await;
        }
        for _ in 0..charges.div_ceil(CHARGES_OF_A_REVERSAL) {
            if !self.open.is_empty() {
                self.reverse(app).await;
            }
        }
        if self.dice.one_in(DAYS_OF_A_PREPAYMENT) {
            app.run_jobs().await;
            self.prepay(app).await;
        }
    }

    async fn buy(&mut self, app: &TestApp) {
        let amount = price(&mut self.dice);
        let sellers: Vec<&str> = self.sellers.iter().map(String::as_str).collect();
        let [one, other] = [0, 1].map(|_| self.dice.pick(&sellers));
        let rules = match self.dice.below(4) {
            0 => None,
            1 => Some(all_of_it(one)),
            2 if one != other => Some(json!([
                { "sellerId": one, "percentage": 40 },
                { "sellerId": other, "percentage": 27 }
            ])),
            _ => Some(json!([{ "sellerId": one, "percentage": 33 }])),
        };
        let is_card = self.dice.one_in(2);
        let id = if is_card {
            let installments = self.dice.pick(&[1, 2, 3, 12]);
            self.installments += usize::from(installments > 1);
            card_payment(app, &self.merchant, amount, installments, rules).await
        } else {
            pix_payment(app, &self.merchant, amount, rules).await
        };
        self.totals.captured += amount;
        self.left.insert(id.clone(), amount);
        self.open.push(Open { id, amount, is_card, is_reduced: false });
    }

    /// One of the earlier charges is refunded in part or as a whole, or charged back.
    async fn reverse(&mut self, app: &TestApp) {
        let place = self.dice.below(self.open.len() as u64);
        let charge = self.open.swap_remove(usize::try_from(place).unwrap());
        if !charge.is_card {
            // A Pix is given back when its provider says so, which nobody does here.
            return;
        }
        let Open { id, amount, is_card, is_reduced } = &charge;
        let left = match self.dice.below(if *is_card && !is_reduced { 3 } else { 2 }) {
            0 if !is_reduced => {
                let part = part_of(*amount);
                void(app, id, json!({ "amount": part })).await.expect(201);
                self.totals.refunded += part;
                self.partial_refunds += 1;
                amount - part
            }
            0 | 1 => {
                void(app, id, json!({})).await.expect(201);
                self.totals.refunded += amount;
                self.refunds += 1;
                0
            }
            _ => {
                // By hand: the simulator does not know whom to notify of what a process before has asked.
                let body = json!({ "status": "charged_back" });
                let told = app.post(&format!("/v1/charges/{id}"), &body).await.expect(200);
                assert_eq!(told["status"], "charged_back", "{told:#}");
                self.totals.charged_back += amount;
                self.charge_backs += 1;
                0
            }
        };
        self.left.insert(id.clone(), left);
        if left > 0 {
            self.open.push(Open { amount: left, is_reduced: true, ..charge });
        }
    }

    /// A seller has everything paid early, if there is anything.
    async fn prepay(&mut self, app: &TestApp) {
        let sellers: Vec<&str> = self.sellers.iter().map(String::as_str).collect();
        let seller = self.dice.pick(&sellers);
        let offered = app.post(PREPAYMENT, &everything_of(&json!({ "id": seller }))).await;
        match offered.status.as_u16() {
            201 => {
                commit(app, &offered.json()).await.expect(200);
                self.prepayments += 1;
            }
            404 | 422 => {}
            status => panic!("{status}: {}", offered.json()),
        }
    }

    /// Whether everything has happened.
    pub const fn is_varied(&self) -> bool {
        self.installments > 0
            && self.refunds > 0
            && self.partial_refunds > 0
            && self.charge_backs > 0
            && self.prepayments > 0
    }

    /// What has happened, in a line.
    pub fn told(&self) -> String {
        format!(
            "{} charges ({} in installments), {} refunds in part, {} refunds, {} charge backs, {} prepayments",
            self.left.len(),
            self.installments,
            self.partial_refunds,
            self.refunds,
            self.charge_backs,
            self.prepayments
        )
    }
}
