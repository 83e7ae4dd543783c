//! Subscriptions: their calendar, their states, what is charged when, and what merchants change, as stories; and that
//! nothing is billed twice and nothing forgotten, whatever happens.

mod attempts;
mod backlog;
mod changes;
mod data;
mod ends;
mod independent;
mod model;
mod pauses;
mod preview;
mod retries;
mod schedule;
mod stories;
mod story;
mod transitions;
mod unpaid;
mod whole;
mod words;

use std::num::NonZeroU32;

use jiff::civil::Date;
use regente_domain::id::{CardId, Id};
use regente_domain::money::Amount;
use regente_domain::subscription::{Interval, Item, NewSubscription, Payment};
use regente_domain::time::Timestamp;
use uuid::Uuid;

fn id<T>(n: u128) -> Id<T> {
    Id::new(Uuid::from_u128(n))
}

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn cents(minor_units: i64) -> Amount {
    Amount::new(minor_units).unwrap()
}

fn times(cycles: u32) -> Option<NonZeroU32> {
    NonZeroU32::new(cycles)
}

/// The cards of the buyer.
const CARDS: [u128; 3] = [51, 52, 53];

fn card(index: usize) -> CardId {
    id(CARDS[index])
}

fn item(amount: i64, quantity: i64) -> Item {
    Item {
        name: "Plan".to_owned(),
        amount: cents(amount),
        quantity,
        description: None,
        sku: None,
        category_id: None,
        locality: None,
        genre: None,
        risk: None,
        date: None,
        kind: None,
        tickets: None,
        location: None,
    }
}

/// Endless, 299.00 each time, from today on.
fn plan(interval: Interval) -> NewSubscription {
    NewSubscription {
        id: id(1),
        client_id: id(2),
        merchant_id: id(3),
        customer_id: id(4),
        name: "Premium".to_owned(),
        reference_key: None,
        items: vec![item(29_900, 1)],
        interval,
        cycles: None,
        start_at: None,
        trial_end: None,
        payment: Payment { card_id: card(0), installments: 1 },
        split_rules: Vec::new(),
        is_live: true,
    }
}
