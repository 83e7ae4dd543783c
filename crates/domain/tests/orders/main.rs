//! All orders, not some: a model checker goes through every order in which a bounded number of things can happen to a
//! charge. The world around it is the model ([`world`], [`bank`]): calls and notifications on their way, providers with
//! books, two nodes that read and write under the version of the charge, and die. Every decision is the product's own.
//! `REGENTE_ORDERS=all` explores the larger worlds too.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, clippy::large_enum_variant)]

mod bank;
mod batch;
mod bought;
mod charge;
mod holds;
mod moves;
mod payout;
mod purchase;
mod session;
mod several;
mod subscription;
mod world;

use std::fmt::Debug;
use std::hash::Hash;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::{CardSource, Charge, Credit, PayerSource, PaymentMethod, Pix, References};
use regente_domain::currency::Currency;
use regente_domain::id::Id;
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::purchase::{Noted, Phase, Purchase, RESULT_WITHIN, Slot};
use regente_domain::routing::explanation::{Considered, Explanation};
use regente_domain::subscription::{
    AfterRetries, BillingRules, Interval, Item, NewSubscription, Payment, RetryPolicy,
};
use regente_domain::time::Timestamp;
use serde_json::{Map, json};
use stateright::{Checker, Model};
use uuid::Uuid;

use bank::Decision::{self, Later, Never, No, Yes};
use bank::Sum;
use charge::Orders;
use purchase::Cards;
use subscription::{Cycles, May};
use world::Left;

fn id<T>(n: u128) -> Id<T> {
    Id::new(Uuid::from_u128(n))
}

/// A charge with two providers.
fn new_charge(method: PaymentMethod, capture: CaptureMode) -> Charge {
    let considered = [100, 101].map(|n| Considered {
        provider_id: id(n),
        provider_type: ProviderType::Sandbox,
        priority: 1,
        skipped: None,
        circuit: None,
    });
    let price = (Amount::new(150).unwrap(), Currency::BRL);
    let now = Timestamp::from_millis(1_774_278_758_379);
    Charge {
        explanation: Explanation { considered: considered.into(), flow: None, stopped: None },
        ..Charge::new(id(1), id(2), id(3), method, price, capture, now)
    }
}

fn card() -> PaymentMethod {
    PaymentMethod::Credit(Credit {
        source: CardSource::Card { card_id: id(4) },
        installments: 1,
        recurrence: None,
    })
}

fn pix() -> PaymentMethod {
    PaymentMethod::Pix(Pix {
        source: PayerSource { customer_id: id(5) },
        expires_in: 900,
        additional_info: Vec::new(),
        items: None,
    })
}

/// Explores a world to its end and says how large it is. It must not be smaller than it was.
#[track_caller]
fn explore<M>(name: &str, orders: M, states_min: usize, depth_min: usize)
where
    M: Model + Send + Sync + 'static,
    M::State: Debug + Hash + Clone + PartialEq + Send + Sync,
    M::Action: Debug + Clone + PartialEq,
{
    let explored = explore_some(name, orders, STEPS_MAX, (states_min, depth_min));
    assert!(explored < STEPS_MAX, "{name}: not explored to its end");
}

/// Explores so many steps of a world, nearest first, and says how many there were.
#[track_caller]
#[allow(clippy::print_stdout)]
fn explore_some<M>(name: &str, orders: M, steps_max: usize, (states_min, depth_min): (usize, usize)) -> usize
where
    M: Model + Send + Sync + 'static,
    M::State: Debug + Hash + Clone + PartialEq + Send + Sync,
    M::Action: Debug + Clone + PartialEq,
{
    // One thread: with several the depth at which a state is met first is a matter of chance.
    let explored = orders.checker().threads(1).target_state_count(steps_max).spawn_bfs().join();
    let (states, depth) = (explored.unique_state_count(), explored.max_depth());
    println!("{name}: {states} states, {depth} steps deep");
    for (property, path) in explored.discoveries() {
        println!("{name}: not so: {property}");
        for step in path.into_actions() {
            println!("    {step:?}");
        }
    }
    explored.assert_properties();
    assert!(states >= states_min, "{name}: only {states} states");
    assert!(depth >= depth_min, "{name}: only {depth} steps deep");
    explored.state_count()
}

/// No world that is explored to its end has more steps, those to states that are known counted again.
const STEPS_MAX: usize = 8_000_000;

/// So many steps are explored of a world that is larger.
const STEPS_SOME: usize = 1_000_000;

/// Whether the larger worlds are explored too.
fn all() -> bool {
    std::env::var("REGENTE_ORDERS").is_ok_and(|orders| orders == "all")
}

/// The states that were reached, and how many steps the deepest of them was away.
const CARD: (usize, usize) = (8_099, 20);
const RESERVATION: (usize, usize) = (3_019, 20);
const REVOKED: (usize, usize) = (119_388, 24);
const RESERVATION_REVOKED: (usize, usize) = (8_051, 20);
const PIX: (usize, usize) = (5_756, 16);
const DISPUTES: (usize, usize) = (36_933, 23);
const NAMELESS: (usize, usize) = (36_933, 23);
const NOTIFIED: (usize, usize) = (129_710, 23);
const SUMS: (usize, usize) = (1_857, 13);
const TWO_SUMS: (usize, usize) = (942_586, 27);
const PURCHASE: (usize, usize) = (96_600, 68);
const OPERATED: (usize, usize) = (137_619, 83);
const TWINS: (usize, usize) = (601_524, 51);
const TWINS_GRANTED: (usize, usize) = (1_118, 32);
const MORE_WISHES: (usize, usize) = (561_637, 46);
const WISHES: (usize, usize) = (13_203, 37);
const ANOTHER_CARD: (usize, usize) = (7_635, 36);
const ALL_FAULTS: (usize, usize) = (287_769, 42);
const TWO_NODES: (usize, usize) = (6_002, 33);
const LATE_APPROVAL: (usize, usize) = (3_010, 33);
const TAKEN_BACK: (usize, usize) = (5_496, 33);

/// A world in which nothing goes wrong.
fn world(method: PaymentMethod, capture: CaptureMode, authorizes: &[Decision]) -> Orders {
    Orders {
        charge: new_charge(method, capture),
        place: 0,
        left: Left::default(),
        authorizes: authorizes.to_vec(),
        operates: vec![Yes, No],
        sums: vec![Sum::Whole],
        notifies: false,
        stalls: false,
        disputed: [100, 40],
        names_payment: false,
    }
}

#[test]
fn a_card_at_two_providers_is_kept_once_whatever_comes_first() {
    let left = Left { silences: 1, ..Left::default() };
    let orders = Orders { left, stalls: true, ..world(card(), CaptureMode::Automatic, &[Yes, No, Never]) };
    explore("a card, a call without an answer, a slow node", orders, CARD.0, CARD.1);
    if all() {
        let orders = world(card(), CaptureMode::Automatic, &[Yes, No, Never]);
        let orders = Orders { left, notifies: true, ..orders };
        explore("a card, a call without an answer, notifications", orders, NOTIFIED.0, NOTIFIED.1);
    }
}

#[test]
fn a_reservation_is_captured_or_voided_once_although_a_node_dies() {
    let left = Left { crashes: 1, captures: 1, voids: 1, ..Left::default() };
    let orders = Orders { left, ..world(card(), CaptureMode::Manual, &[Yes, No, Never]) };
    explore("a reservation, a capture, a void, a crash", orders, RESERVATION.0, RESERVATION.1);
}

#[test]
fn a_pix_that_is_paid_withdrawn_or_late_agrees_although_a_notification_is_lost() {
    let left = Left { losses: 1, payments: 1, withdrawals: 1, ..Left::default() };
    let orders = world(pix(), CaptureMode::Automatic, &[Later, No]);
    explore(
        "a Pix, a payment, a withdrawal, a loss",
        Orders { left, notifies: true, ..orders },
        PIX.0,
        PIX.1,
    );
}

#[test]
fn a_pix_that_is_paid_too_little_says_so() {
    let orders = world(pix(), CaptureMode::Automatic, &[Later]);
    let orders = Orders { notifies: true, sums: vec![Sum::Whole, Sum::Less], ..orders };
    if all() {
        let left = Left { payments: 2, ..Left::default() };
        let orders = Orders { left, ..orders.clone() };
        explore("a Pix, two payments of two sums", orders, TWO_SUMS.0, TWO_SUMS.1);
    }
    let left = Left { payments: 1, withdrawals: 1, ..Left::default() };
    explore("a Pix, one payment of two sums, a withdrawal", Orders { left, ..orders }, SUMS.0, SUMS.1);
}

#[test]
fn an_approval_that_is_taken_back_moves_the_charge() {
    let left = Left { regrets: 1, crashes: 1, ..Left::default() };
    let orders = world(card(), CaptureMode::Automatic, &[Yes, No]);
    explore(
        "a card, its approval taken back",
        Orders { left, notifies: true, ..orders },
        REVOKED.0,
        REVOKED.1,
    );
    let left = Left { regrets: 1, captures: 1, voids: 1, ..Left::default() };
    let orders = world(card(), CaptureMode::Manual, &[Yes]);
    let orders = Orders { left, notifies: true, ..orders };
    explore("a reservation, taken back or its capture", orders, RESERVATION_REVOKED.0, RESERVATION_REVOKED.1);
}

#[test]
fn two_disputes_end_alike_in_whatever_order_they_are_heard() {
    let left = Left { disputes: 4, ..Left::default() };
    let orders = world(card(), CaptureMode::Automatic, &[Yes, No, Never]);
    explore("two disputes", Orders { left, ..orders.clone() }, DISPUTES.0, DISPUTES.1);
    let orders = Orders { names_payment: true, ..orders };
    explore("two disputes, the payment named alone", Orders { left, ..orders }, NAMELESS.0, NAMELESS.1);
}

#[test]
fn a_dispute_never_takes_more_than_was_paid() {
    let left = Left { disputes: 2, ..Left::default() };
    let orders = world(card(), CaptureMode::Automatic, &[Yes]);
    explore("a dispute of too much", Orders { left, disputed: [9_999, 50], ..orders }, 1, 1);
}

/// A purchase with two cards, of one provider each.
fn cards(capture: CaptureMode, left: Left, authorizes: &[Decision]) -> Cards {
    let now = Timestamp::from_millis(1_774_278_758_379);
    let slot = |n: u128| Slot {
        id: id(20 + n),
        card_id: id(30 + n),
        amount: Amount::new(150).unwrap(),
        installments: 1,
        charge_id: None,
        noted: Noted::Nothing,
        declined_code: None,
    };
    let purchase = Purchase {
        id: id(6),
        client_id: id(2),
        merchant_id: id(3),
        customer_id: None,
        customer_alias: None,
        order_id: None,
        references: References::default(),
        amount: Amount::new(300).unwrap(),
        capture,
        phase: Phase::Authorizing { until: now + RESULT_WITHIN },
        slots: vec![slot(0), slot(1)],
        reserved: None,
        entries: 1,
        unknown_members: Map::new(),
        version: 1,
        updated_at: now,
    };
    let orders = [1, 2].map(|place| {
        let mut orders = world(card(), CaptureMode::Manual, authorizes);
        orders.charge.explanation.considered.truncate(1);
        orders.charge.id = id(50 + place);
        orders.charge.purchase_id = Some(purchase.id);
        Orders { place, ..orders }
    });
    Cards { purchase, orders, left, waits: 0, twins: 0 }
}

#[test]
fn a_purchase_takes_both_cards_or_none_although_a_call_is_not_answered() {
    let left = Left { silences: 1, ..Left::default() };
    let orders = Cards { waits: 1, ..cards(CaptureMode::Automatic, left, &[Yes, No]) };
    explore("a purchase, a call without an answer, a wait", orders, PURCHASE.0, PURCHASE.1);
}

#[test]
fn a_purchase_is_captured_or_voided_although_a_node_dies() {
    let left = Left { crashes: 1, captures: 1, voids: 1, ..Left::default() };
    let orders = Cards { waits: 1, ..cards(CaptureMode::Manual, left, &[Yes, No]) };
    explore("a purchase, a capture, a void, a crash, a wait", orders, OPERATED.0, OPERATED.1);
}

#[test]
fn two_nodes_drive_a_purchase_as_one_does() {
    if all() {
        let orders = Cards { twins: 1, ..cards(CaptureMode::Automatic, Left::default(), &[Yes, No]) };
        explore_some("a purchase, two nodes", orders, STEPS_SOME, TWINS);
        return;
    }
    let mut orders = Cards { twins: 1, ..cards(CaptureMode::Automatic, Left::default(), &[Yes, No]) };
    for card in &mut orders.orders {
        card.operates = vec![Yes];
    }
    explore("a purchase, two nodes, no refused operation", orders, TWINS_GRANTED.0, TWINS_GRANTED.1);
}

/// A subscription of two daily cycles from today on, each tried twice.
fn cycles(after_retries: AfterRetries, left: May) -> Cycles {
    let item = json!({ "name": "Plan", "amount": 150, "quantity": 1 });
    let item: Item = serde_json::from_value(item).unwrap();
    let new = NewSubscription {
        id: id(7),
        client_id: id(2),
        merchant_id: id(3),
        customer_id: id(5),
        name: "Premium".to_owned(),
        reference_key: None,
        items: vec![item],
        interval: Interval::Daily,
        cycles: std::num::NonZeroU32::new(2),
        start_at: None,
        trial_end: None,
        payment: Payment { card_id: id(30), installments: 1 },
        split_rules: Vec::new(),
        is_live: true,
    };
    let retry_policy = RetryPolicy::new(vec![1]).unwrap();
    let rules = BillingRules { retry_policy, after_retries, statement_descriptor: None };
    Cycles { new, rules, left, now: Timestamp::from_millis(1_774_278_758_379) }
}

#[test]
fn a_cycle_is_paid_once_although_answers_are_late_and_nodes_die() {
    let left = May { silences: 1, regrets: 1, ..May::default() };
    explore(
        "a subscription, a lost answer, a late approval",
        cycles(AfterRetries::Unpaid, left),
        LATE_APPROVAL.0,
        LATE_APPROVAL.1,
    );
    let left = May { regrets: 1, crashes: 1, twins: 1, ..May::default() };
    explore(
        "a subscription, a late approval, two nodes",
        cycles(AfterRetries::Canceled, left),
        TWO_NODES.0,
        TWO_NODES.1,
    );
    let left = May { revocations: 1, crashes: 1, twins: 1, ..May::default() };
    explore(
        "a subscription, a payment that is taken back, two nodes",
        cycles(AfterRetries::Unpaid, left),
        TAKEN_BACK.0,
        TAKEN_BACK.1,
    );
    if all() {
        let left = May { silences: 1, regrets: 1, crashes: 1, twins: 1, cards: 1, ..May::default() };
        explore(
            "a subscription, all that goes wrong",
            cycles(AfterRetries::Unpaid, left),
            ALL_FAULTS.0,
            ALL_FAULTS.1,
        );
    }
}

#[test]
fn a_subscription_is_changed_at_any_moment() {
    let left = May { cards: 1, regrets: 1, ..May::default() };
    explore(
        "a subscription, another card",
        cycles(AfterRetries::Unpaid, left),
        ANOTHER_CARD.0,
        ANOTHER_CARD.1,
    );
    let left = May { pauses: 1, resumes: 1, cancels: 1, twins: 1, ..May::default() };
    explore("a subscription, its merchant's wishes", cycles(AfterRetries::Unpaid, left), WISHES.0, WISHES.1);
    if all() {
        let left = May { pauses: 1, resumes: 2, cancels: 1, regrets: 1, twins: 1, ..May::default() };
        explore(
            "a subscription, more of them",
            cycles(AfterRetries::Unpaid, left),
            MORE_WISHES.0,
            MORE_WISHES.1,
        );
    }
}
