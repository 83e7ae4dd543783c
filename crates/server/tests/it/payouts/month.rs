//! A month of trade: charges in installments, divided, refunded, charged back, paid early; banks that refuse, answer late or not at all,
//! and give back; holidays; and a process that stops in the midst of paydays. At its end every cent is with a receiver, the provider
//! or the payer, or owed.
//!
//! `cargo xtask payouts-month` runs it with more charges: `REGENTE_CHARGES` says how many, `REGENTE_CRASHES` how often the process stops,
//! `REGENTE_FIRST_SEED` draws another month.

mod audit;
mod trade;

use std::time::Duration;

use serde_json::json;

use self::trade::Trade;
use crate::support::app::{TestApp, stories};
use crate::support::bank::faults::Dice;
use crate::support::crashes::stopped_while;
use crate::support::payouts::{bank_account, every_cent_is_accounted_for, platform, seller};
use crate::support::platform_fees::keep;
use crate::support::prepayments::{PUBLISHED, operator};
use crate::support::seeds::number;

/// From Monday 23 March 2026, with Good Friday and Tiradentes' Day.
const DAYS: u64 = 30;
/// As many as the story takes by itself; several hundred times as many take minutes.
const CHARGES: u64 = 120;
const CRASHES: u64 = 3;
const SEED: u64 = 20_260_323;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// After the month everything falls due in so many days: twelve installments, and what banks and weekends take.
const DAYS_AFTER: u64 = 420;
/// A payday stops after fewer steps than this: writes, and questions to the bank.
const STEPS_MAX: u64 = 60;
/// Longer than a busy machine takes: no charge of the month is unknown.
const DEADLINE: Duration = Duration::from_secs(30);
/// Account numbers of sellers. By the last digit the bank pays, does not answer, refuses, answers late, and gives back.
const ACCOUNTS: [&str; 10] = ["4920", "4926", "4927", "4928", "4929", "4921", "4936", "4937", "4938", "4939"];

stories! {
    at_the_end_of_a_month_each_cent_is_accounted_for,
}

async fn at_the_end_of_a_month_each_cent_is_accounted_for(app: TestApp) {
    let (charges, crashes) = (number("REGENTE_CHARGES", CHARGES), number("REGENTE_CRASHES", CRASHES));
    let seed = number("REGENTE_FIRST_SEED", SEED);
    println!("{charges} charges, {crashes} crashes, seed {seed}");
    let app = app.with_sandbox_deadline(DEADLINE).await.reachable().await;
    operator(&app, app.client_id(), PUBLISHED).await;
    let merchant = platform(&app).await;
    keep(&app, &merchant, &json!([{ "paymentMethod": "credit", "percentage": 2, "installment": 1 }])).await;
    let mut sellers = Vec::new();
    for (number, account) in (1..).zip(ACCOUNTS) {
        sellers.push(seller(&app, &merchant, number, account).await);
    }
    let mut trade = Trade::new(merchant, sellers.clone(), seed);
    let mut process = Process { app, dice: Dice(seed), crashes_left: crashes };
    for day in 0..DAYS {
        let of_day = charges * (day + 1) / DAYS - charges * day / DAYS;
        trade.day(&process.app, of_day).await;
        process = process.next_day().await;
        if (day + 1) % 10 == 0 {
            println!("day {}: {}, {} crashes", day + 1, trade.told(), crashes - process.crashes_left);
            every_cent_is_accounted_for(&process.app).await;
        }
    }

    // Whose account was wrong corrects it, and a year later everything is paid, set off or owed.
    for (seller, account) in sellers.iter().zip(ACCOUNTS) {
        if account.ends_with(['7', '9']) {
            let body = json!({ "bankAccount": bank_account("4920") });
            process.app.patch(&format!("/v1/sellers/{seller}"), &body).await.expect(200);
        }
    }
    let mut days_left = DAYS_AFTER;
    while process.crashes_left > 0 && days_left > 0 {
        process = process.next_day().await;
        days_left -= 1;
    }
    assert_eq!(process.crashes_left, 0, "the process stops in the midst of paydays");
    for _ in 0..days_left.div_ceil(30) {
        process.app.later(30 * DAY).await;
    }
    audit::every_cent(&process.app, &trade).await;
    assert!(
        charges < CHARGES || trade.is_varied(),
        "the month no longer has what it is for: {}",
        trade.told()
    );
}

/// The process, which stops now and then.
struct Process {
    app: TestApp,
    dice: Dice,
    crashes_left: u64,
}

impl Process {
    /// A day passes, with its payday. While crashes are left, the process stops in the midst of every second one.
    async fn next_day(self) -> Self {
        let Self { app, mut dice, crashes_left } = self;
        let target = app.clock.deployment() + DAY;
        // Orders are written before, so that what stops is a payday.
        app.run_jobs().await;
        let stops = crashes_left > 0 && dice.one_in(2);
        if !stops {
            app.later(DAY).await;
            return Self { app, dice, crashes_left };
        }
        let (app, is_done) =
            stopped_while(app, dice.below(STEPS_MAX), async |app| app.later(DAY).await).await;
        app.later(target.since(app.clock.deployment())).await;
        Self { app, dice, crashes_left: crashes_left - u64::from(!is_done) }
    }
}
