//! Card numbers and security codes that are found again wherever they come to rest.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

/// A card that nobody else in these tests has.
#[derive(Clone, Debug)]
pub struct Canary {
    pub number: String,
    pub cvv: String,
}

/// What the simulator makes of a card (`docs/interface/sandbox.md#cards`).
#[derive(Clone, Copy, Debug)]
pub enum Fate {
    Approved,
    Declined,
    TimedOut,
    WrongCvv,
}

impl Canary {
    /// A number of 16 digits with an unusual BIN and a right check digit, and a code of four digits. The code begins with
    /// a zero: no count, duration or port that stands somewhere by itself does.
    pub fn new(fate: Fate) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let nth = NEXT.fetch_add(1, Ordering::Relaxed);
        let (last, ends) = match fate {
            Fate::Approved => (4, 0),
            Fate::Declined => (2, 0),
            Fate::TimedOut => (6, 0),
            Fate::WrongCvv => (4, 7),
        };
        // Steps of a prime: the numbers have no long digits in common.
        let middle = nth * 738_598_319 % 1_000_000_000;
        let number = (0..10).map(|digit| format!("527391{}{digit}{last}", &format!("{middle:09}")[1..]));
        let number = number.into_iter().find(|number| passes_luhn(number)).expect("one of ten digits fits");
        Self { number, cvv: format!("0{:02}{ends}", nth % 97 + 1) }
    }

    pub fn card(&self) -> Value {
        json!({
            "cardHolderName": "CANARIO DA TERRA", "cardNumber": self.number, "cardCvv": self.cvv,
            "cardExpirationDate": "12/2030"
        })
    }

    /// The number as people write it.
    pub fn spaced(&self, separator: &str) -> String {
        [&self.number[..4], &self.number[4..8], &self.number[8..12], &self.number[12..]].join(separator)
    }
}

fn passes_luhn(number: &str) -> bool {
    regente_domain::card::CardNumber::parse(number).is_ok()
}
