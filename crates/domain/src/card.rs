//! Parses card data: number, security code, expiry, brand. Secret values are wiped when dropped, are never printed
//! and cannot be serialized. The vault seals and fingerprints them.

use std::fmt;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::time::Timestamp;

mod brand;
pub mod in_text;
pub mod record;
mod sent;

pub use brand::{Brand, ShownBrand};
pub(crate) use sent::{HOLDER_NAME, NUMBER, must_not_name_itself};
pub use sent::{HolderName, InlineCard, SentNumber};

/// A card number: 13 to 19 digits with a valid check digit. It cannot be serialized or displayed; only
/// [`CardNumber::expose_digits`] gives all digits.
#[derive(Clone)]
pub struct CardNumber(Zeroizing<String>);

/// Why a text is not a card number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardNumberError {
    /// It holds something other than digits, spaces and dashes.
    NotDigits,
    /// It has fewer than 13 or more than 19 digits.
    Length,
    /// The check digit is wrong (ISO/IEC 7812-1, Luhn).
    Checksum,
}

impl CardNumber {
    /// Fewest digits of a number.
    pub const DIGITS_MIN: usize = 13;
    /// Most digits of a number.
    pub const DIGITS_MAX: usize = 19;

    /// Parses a number; spaces and dashes between the digits are ignored.
    pub fn parse(text: &str) -> Result<Self, CardNumberError> {
        // Reserve the whole capacity: growing would leave copies of the number in memory.
        let mut digits = Zeroizing::new(String::with_capacity(text.len()));
        for character in text.chars() {
            match character {
                ' ' | '-' => {}
                '0'..='9' => digits.push(character),
                _ => return Err(CardNumberError::NotDigits),
            }
        }
        if !(Self::DIGITS_MIN..=Self::DIGITS_MAX).contains(&digits.len()) {
            return Err(CardNumberError::Length);
        }
        if !passes_luhn(digits.bytes()) {
            return Err(CardNumberError::Checksum);
        }
        Ok(Self(digits))
    }

    /// All digits. Only for sealing and for calling a provider.
    pub fn expose_digits(&self) -> &str {
        &self.0
    }

    /// The first six digits, which may be shown.
    pub fn first6(&self) -> &str {
        &self.0[..6]
    }

    /// The last four digits, which may be shown.
    pub fn last4(&self) -> &str {
        &self.0[self.0.len() - 4..]
    }

    /// The check digit, 0 to 9; the simulator's decisions depend on it (`docs/interface/sandbox.md#cards`).
    pub fn last_digit(&self) -> u8 {
        self.0.as_bytes().last().map_or(0, |byte| byte - b'0')
    }

    /// The brand by the first digits; `None` for an unknown range.
    pub fn brand(&self) -> Option<Brand> {
        Brand::of_digits(&self.0)
    }
}

/// Shows the first six and last four digits, the most that may be shown (PCI DSS 4.0.1, requirement 3.4.1).
impl fmt::Debug for CardNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CardNumber({}…{})", self.first6(), self.last4())
    }
}

/// The Luhn check (ISO/IEC 7812-1, annex B) over ASCII digits.
pub fn passes_luhn(digits: impl DoubleEndedIterator<Item = u8>) -> bool {
    let sum: u32 = digits
        .rev()
        .zip([1_u32, 2].into_iter().cycle())
        .map(|(byte, weight)| {
            let product = u32::from(byte - b'0') * weight;
            product / 10 + product % 10
        })
        .sum();
    sum.is_multiple_of(10)
}

/// The rule of security codes.
pub const NOT_A_CVV: &str = "must be 3 or 4 digits";

/// A card's security code: 3 or 4 digits. It cannot be printed or serialized.
#[derive(Clone)]
pub struct Cvv(Zeroizing<String>);

impl Cvv {
    /// Reads 3 or 4 digits.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = matches!(text.len(), 3 | 4) && text.bytes().all(|byte| byte.is_ascii_digit());
        fits.then(|| Self(Zeroizing::new(text.to_owned())))
    }

    /// The digits. Only for sealing and for calling a provider.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Cvv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cvv(…)")
    }
}

/// The month in which a card expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Expiry {
    year: u16,
    month: u8,
}

impl Expiry {
    /// Reads `MM/YYYY`.
    pub fn parse(text: &str) -> Option<Self> {
        let (month, year) = text.split_once('/')?;
        let digits =
            |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(month, 2) || !digits(year, 4) {
            return None;
        }
        let (month, year) = (month.parse().ok()?, year.parse().ok()?);
        (1..=12).contains(&month).then_some(Self { year, month })
    }

    /// Whether the last day of the month has passed in America/Sao_Paulo. Brazil abolished daylight saving time in
    /// 2019, so the offset is a fixed −03:00 and no time zone database is needed.
    pub fn is_past(self, now: Timestamp) -> bool {
        const SAO_PAULO: jiff::tz::Offset = jiff::tz::Offset::constant(-3);
        let now = jiff::Timestamp::from_millisecond(now.as_millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        let today = SAO_PAULO.to_datetime(now).date();
        (i32::from(self.year), i32::from(self.month)) < (i32::from(today.year()), i32::from(today.month()))
    }

    /// The month, 1 to 12.
    pub const fn month(self) -> u8 {
        self.month
    }

    /// The year, four digits.
    pub const fn year(self) -> u16 {
        self.year
    }

    /// The month as `expirationMonth` shows it: two digits.
    pub fn month_text(self) -> String {
        format!("{:02}", self.month)
    }

    /// The year as `expirationYear` shows it: four digits.
    pub fn year_text(self) -> String {
        format!("{:04}", self.year)
    }
}

/// `MM/YYYY`, as requests write it.
impl fmt::Display for Expiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}/{:04}", self.month, self.year)
    }
}
impl From<Expiry> for String {
    fn from(expiry: Expiry) -> Self {
        expiry.to_string()
    }
}
impl TryFrom<String> for Expiry {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("not an expiry MM/YYYY")
    }
}
