//! All orders, not some: a model checker goes through every order in which a bounded number of things can happen to a
//! charge. The world around it is the model ([`world`], [`bank`]): calls and notifications on their way, providers with
//! books, two nodes that read and write under the version of the charge, and die. Every decision is the product's own.
//! `REGENTE_ORDERS=all` explores the larger worlds too.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, clippy::large_enum_variant)]

mod bank;
mod batch;
mod charge;
mod holds;
mod moves;
mod world;

use regente_domain::charge::explanation::{Considered, Explanation};
use regente_domain::charge::{
    CaptureMode, CardSource, Charge, ChargeState, Credit, PayerSource, PaymentMethod, Pix, References,
};
use regente_domain::currency::Currency;
use regente_domain::id::Id;
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use serde_json::Map;
use stateright::{Checker, Model};
use uuid::Uuid;

use bank::Decision::{self, Later, Never, No, Yes};
use charge::Orders;
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
    let amount = Amount::new(150).unwrap();
    Charge {
        id: id(1),
        client_id: id(2),
        merchant_id: id(3),
        customer_id: None,
        customer_alias: None,
        order_id: None,
        method,
        amount,
        original_amount: amount,
        paid_otherwise: None,
        currency: Currency::BRL,
        capture,
        references: References::default(),
        state: ChargeState::Processing,
        explanation: Explanation { considered: considered.into(), stopped: None },
        position: 0,
        requests: 1,
        purchase_id: None,
        session_id: None,
        vendor: None,
        authentication: None,
        screening: None,
        split: None,
        unknown_members: Map::new(),
        version: 1,
        updated_at: Timestamp::from_millis(1_774_278_758_379),
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
#[allow(clippy::print_stdout)]
fn explore(name: &str, orders: Orders, states_min: usize, depth_min: usize) {
    // One thread: with several the depth at which a state is met first is a matter of chance.
    let explored = orders.checker().threads(1).target_state_count(STATES_MAX).spawn_bfs().join();
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
}

/// No world is larger: one that is does not end.
const STATES_MAX: usize = 1_000_000;

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
const NOTIFIED: (usize, usize) = (107_426, 22);

/// A world in which nothing goes wrong.
fn world(method: PaymentMethod, capture: CaptureMode, authorizes: &[Decision]) -> Orders {
    Orders {
        charge: new_charge(method, capture),
        left: Left::default(),
        authorizes: authorizes.to_vec(),
        operates: vec![Yes, No],
        notifies: false,
        stalls: false,
        disputed: [100, 50],
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
    explore("two disputes", Orders { left, ..orders }, DISPUTES.0, DISPUTES.1);
}

#[test]
fn a_dispute_never_takes_more_than_was_paid() {
    let left = Left { disputes: 2, ..Left::default() };
    let orders = world(card(), CaptureMode::Automatic, &[Yes]);
    explore("a dispute of too much", Orders { left, disputed: [9_999, 50], ..orders }, 1, 1);
}
