//! Card numbers and security codes that are recognizable wherever they are stored.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

/// A card that no other test uses.
#[derive(Clone, Debug)]
pub struct Canary {
    pub number: String,
    pub cvv: String,
}

/// The simulator's answer to a card (`docs/interface/sandbox.md#cards`).
#[derive(Clone, Copy, Debug)]
pub enum Fate {
    Approved,
    Declined,
    TimedOut,
    WrongCvv,
}

impl Canary {
    /// A number of 16 digits with an unusual BIN and a valid check digit, and a code of four digits. The code begins
    /// with a zero, unlike any count, duration or port.
    pub fn new(fate: Fate) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let nth = NEXT.fetch_add(1, Ordering::Relaxed);
        let (last, ends) = match fate {
            Fate::Approved => (4, 0),
            Fate::Declined => (2, 0),
            Fate::TimedOut => (6, 0),
            Fate::WrongCvv => (4, 7),
        };
        // Multiples of a prime: the numbers have no long runs of digits in common.
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

    /// The number in the digits of a script, whose zero is this.
    pub fn in_digits_of(&self, zero: char) -> String {
        let digit = |digit: u8| char::from_u32(u32::from(zero) + u32::from(digit - b'0'));
        self.number.bytes().map(|byte| digit(byte).expect("ten digits stand in a row")).collect()
    }

    /// The number in groups of four digits.
    pub fn spaced(&self, separator: &str) -> String {
        [&self.number[..4], &self.number[4..8], &self.number[8..12], &self.number[12..]].join(separator)
    }
}

fn passes_luhn(number: &str) -> bool {
    regente_domain::card::CardNumber::parse(number).is_ok()
}
