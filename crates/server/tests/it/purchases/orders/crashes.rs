//! The process stops at each step of a purchase, and again during the recovery.

use std::slice;

use super::order::Outcome::{Approve, Decline, TimeOutAfterEffect, TimeOutBeforeEffect};
use regente_store::DatabaseKind;

use super::order::{Intention, Order};
use super::verdict::verdicts;
use super::{LATER, Shop, is_long, settle};
use crate::support::app::{TestApp, stories};
use crate::support::crashes::stopped_while;

stories! {
    while_the_cards_are_reserved,
    while_they_are_captured_and_given_back,
    while_the_merchant_undoes_it,
    at_steps_of_every_order,
}

/// More steps than any purchase has.
const STEPS_MAX: u64 = 120;
/// Steps at which a sample stops: those of a purchase of two cards without repetitions. No divisor in common with the
/// kinds of orders, which alternate.
const STEPS_SAMPLED: u64 = 23;
const STEPS_APART: u64 = 7;
/// Fewer steps would mean that writes or calls are not counted.
const STEPS_MIN: u64 = 8;

async fn while_the_cards_are_reserved(app: TestApp) {
    let authorizations = vec![TimeOutAfterEffect, Approve, Decline];
    sweep(app, [Order { authorizations, ..Order::smooth(3, Intention::CaptureAtOnce) }]).await;
}

async fn while_they_are_captured_and_given_back(app: TestApp) {
    let captures = vec![Approve, TimeOutAfterEffect, Decline];
    let voids = vec![Approve, TimeOutBeforeEffect, Decline];
    sweep(app, [Order { captures, voids, ..Order::smooth(3, Intention::CaptureAtOnce) }]).await;
}

async fn while_the_merchant_undoes_it(app: TestApp) {
    let voids = vec![TimeOutAfterEffect, Decline, Approve];
    let orders = [Intention::Release, Intention::Refund]
        .map(|intention| Order { voids: voids.clone(), ..Order::smooth(3, intention) });
    sweep(app, orders).await;
}

/// With `REGENTE_ORDERS=all` each order at each step; otherwise a sample of the orders, each at another step.
async fn at_steps_of_every_order(app: TestApp) {
    if is_long() {
        sweep(app, Order::all(2).into_iter().chain(Order::all(3))).await;
    } else {
        sample(app, Order::all(2)).await;
    }
}

/// Stops some of the orders at one step each; together they cover the steps.
async fn sample(app: TestApp, orders: Vec<Order>) {
    let (mut app, shop) = Shop::open(app).await;
    // Odd, as the four kinds of orders alternate. A restart takes longer on PostgreSQL, and the steps are the same.
    let stride = match app.app.store.database_kind() {
        DatabaseKind::Sqlite => 3,
        DatabaseKind::Postgres => 7,
    };
    let (mut made, mut stops) = (0, 0);
    for (number, order) in (0..).zip(&orders).step_by(stride) {
        let stopped;
        (app, stopped) = stopped_after(app, &shop, order, number * STEPS_APART % STEPS_SAMPLED).await;
        made += 1;
        stops += usize::from(stopped);
    }
    println!("{stops} of {made} orders were stopped");
    assert!(stops * 2 > made, "{stops} of {made} orders were stopped");
}

async fn sweep(app: TestApp, orders: impl IntoIterator<Item = Order>) {
    let (mut app, shop) = Shop::open(app).await;
    let stride = match (is_long(), app.app.store.database_kind()) {
        // A restart takes longer there, and the steps are the same.
        (false, DatabaseKind::Postgres) => 3,
        (true, DatabaseKind::Postgres) | (_, DatabaseKind::Sqlite) => 1,
    };
    for order in orders {
        let mut steps = 0;
        loop {
            let stopped;
            (app, stopped) = stopped_after(app, &shop, &order, steps).await;
            if !stopped {
                break;
            }
            steps += stride;
            assert!(steps < STEPS_MAX, "{order:?} does not end");
        }
        assert!(
            steps > STEPS_MIN,
            "{order:?} has {steps} steps: writes and calls are missing from the sweep"
        );
    }
}

/// Makes a purchase and stops its job after this many steps: the first job, or that of the merchant's operation.
/// Returns whether it was stopped.
async fn stopped_after(mut app: TestApp, shop: &Shop, order: &Order, steps: u64) -> (TestApp, bool) {
    let round = shop.round(&app, slice::from_ref(order)).await;
    if order.intention != Intention::CaptureAtOnce {
        settle(&app, &round.ids).await;
        for id in &round.ids {
            shop.carry_out(&app, order, id).await;
        }
    }
    let stopped;
    (app, stopped) = interrupted(app, steps).await;
    if stopped {
        (app, _) = interrupted(app, steps / 2).await;
    }
    settle(&app, &round.ids).await;
    verdicts(&app, &round, slice::from_ref(order)).await;
    (app, stopped)
}

/// Runs the jobs due within a minute, with the process stopping after this many steps; returns whether it did.
async fn interrupted(app: TestApp, steps: u64) -> (TestApp, bool) {
    app.prepare().await;
    let (app, is_through) = stopped_while(app, steps, async |app| app.later(LATER).await).await;
    (app, !is_through)
}
