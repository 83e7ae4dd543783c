//! A month of small trade: charges in installments, divided, refunded, charged back; banks that refuse, answer late and give back. At its
//! end every cent is with a receiver, on its way, still due on a named day, or owed.

use std::time::Duration;

use regente_providers::staged::Staged;
use serde_json::json;

use crate::support::app::{TestApp, stories};
use crate::support::charges::void;
use crate::support::disputes::{happens, hear};
use crate::support::payouts::{
    BATCHES, ORDERS, card_payment, every_cent_is_accounted_for, listed, moves_to, pix_payment, platform,
    seller,
};

const DAYS: u32 = 30;
const CHARGES_PER_DAY: usize = 6;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Numbers that are the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        // Knuth's generator; its upper bits are the random ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn amount(&mut self) -> i64 {
        101 + i64::try_from(self.below(50_000)).unwrap()
    }
}

stories! {
    at_the_end_of_a_month_each_cent_is_accounted_for,
}

async fn at_the_end_of_a_month_each_cent_is_accounted_for(app: TestApp) {
    let app = app.reachable().await;
    let merchant = platform(&app).await;
    let mut sellers = Vec::new();
    for (number, account) in (1..).zip(["4920", "4926", "4927", "4928", "4929"]) {
        sellers.push(seller(&app, &merchant, number, account).await);
    }
    let mut chance = Dice(20_260_323);
    let mut charges: Vec<(String, i64, bool)> = Vec::new();
    for _ in 0..DAYS {
        for _ in 0..CHARGES_PER_DAY {
            let amount = chance.amount();
            let seller = &sellers[chance.below(sellers.len())];
            let rules = match chance.below(3) {
                0 => None,
                1 => Some(json!([{ "sellerId": seller, "percentage": 100 }])),
                _ => Some(json!([{ "sellerId": seller, "percentage": 33 }])),
            };
            let is_card = chance.below(2) == 0;
            let id = if !is_card {
                pix_payment(&app, &merchant, amount, rules).await
            } else {
                let installments = [1, 2, 3, 12][chance.below(4)];
                card_payment(&app, &merchant, amount, installments, rules).await
            };
            charges.push((id, amount, is_card));
        }
        // One of the earlier ones is refunded, and one charged back.
        for _ in 0..2 {
            let (id, amount, is_card) = charges.swap_remove(chance.below(charges.len()));
            match chance.below(if is_card { 3 } else { 2 }) {
                0 => {
                    void(&app, &id, json!({ "amount": amount / 3 })).await.expect(201);
                }
                1 => {
                    void(&app, &id, json!({})).await.expect(201);
                }
                _ => {
                    let notices = happens(&app, &id, Staged::ChargedBack).await;
                    hear(&app, &notices).await;
                }
            }
        }
        app.later(DAY).await;
    }
    every_cent_is_accounted_for(&app).await;

    // Whose account was wrong corrects it, and a year later everything is paid, set off or owed.
    for seller in [&sellers[2], &sellers[4]] {
        moves_to(&app, seller, "4920").await;
    }
    app.later(400 * DAY).await;
    let statements = every_cent_is_accounted_for(&app).await;
    for line in &statements {
        assert_eq!((line.on_its_way, line.due, line.later), (0, 0, 0), "{line:#?}");
    }
    let open = listed(&app, ORDERS, "").await.into_iter().filter(|order| order["paymentBatchId"].is_null());
    assert_eq!(open.count(), 0);
    for status in ["paid", "failed", "offset"] {
        assert!(!listed(&app, BATCHES, &format!("status={status}")).await.is_empty(), "{status}");
    }
}
