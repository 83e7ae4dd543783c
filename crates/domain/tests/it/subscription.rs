//! Subscriptions: their words, their calendar, and what is tried again.

mod model;
mod retries;
mod schedule;
mod words;

use std::num::NonZeroU32;

use jiff::civil::Date;
use regente_domain::id::Id;
use regente_domain::money::Amount;
use regente_domain::subscription::Item;
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
