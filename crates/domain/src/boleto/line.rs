//! The bar code of a boleto, 44 digits, and the line of 47 digits that a payer types instead (Banco Central, Circular
//! letter 2.926/2000; FEBRABAN, layout of the boleto and manual of the due-date factor).
//!
//! | digits of the bar code | what |
//! |---|---|
//! | 1–3 | the bank |
//! | 4 | the currency, 9 for the real |
//! | 5 | check digit of all others, modulus 11 |
//! | 6–9 | due-date factor |
//! | 10–19 | amount in cents |
//! | 20–44 | free field: what the bank needs to know its boleto |
//!
//! The line has the same digits in another order: bank, currency and free field in three fields of 9, 10 and 10 digits,
//! each with a check digit of its own (modulus 10), then the check digit of the bar code, the factor and the amount.

use std::fmt;

use jiff::ToSpan;
use jiff::civil::{Date, date};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::money::Amount;

/// Exactly `N` decimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digits<const N: usize>([u8; N]);

/// The number of a bank in the Brazilian clearing.
pub type BankCode = Digits<3>;
/// What the bank needs to know its boleto.
pub type FreeField = Digits<25>;

/// The bar code of a boleto. Its check digits are right.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Barcode(Digits<44>);

/// What a bar code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarcodeFacts {
    /// The bank that issues the boleto.
    pub bank: BankCode,
    /// When it falls due; `None` for a boleto without a date.
    pub due: Option<Date>,
    /// Its amount in BRL; zero when the payer decides.
    pub amount: Amount,
    /// The bank's own digits.
    pub free_field: FreeField,
}

/// Why digits are no bar code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotABarcode {
    /// Not 44 digits, or not 47 for a line.
    Length,
    /// The currency is not the real.
    Currency,
    /// A check digit of a field of the line.
    FieldCheckDigit,
    /// The check digit of the whole bar code.
    CheckDigit,
}

/// The digit of the real.
const CURRENCY: u8 = b'9';
/// Position of the check digit in the bar code, counted from 0.
const CHECK_DIGIT_AT: usize = 4;
/// The highest amount of ten digits of cents.
const AMOUNT_MAX: i64 = 9_999_999_999;
/// The factor of [`FIRST_FACTOR_DAY`]; lower ones are not used, since they could be read as part of the amount.
const FACTOR_MIN: i32 = 1_000;
/// After 9999 the factor begins anew at [`FACTOR_MIN`]: on 2025-02-22 for the first time.
const FACTORS: i32 = 9_000;
/// The first day with a factor.
const FIRST_FACTOR_DAY: Date = date(2000, 7, 3);
/// How long ago a boleto may have fallen due when its factor is read. The other 6,000 days of a round lie ahead
/// (FEBRABAN: 3,000 days past, 5,500 ahead, 500 unused).
const DAYS_PAST_MAX: i64 = 3_000;

impl Barcode {
    /// The bar code that says `facts`. `None` when the due date is before the first factor (2000-07-03), or the amount
    /// has more than ten digits.
    pub fn new(facts: BarcodeFacts) -> Option<Self> {
        let factor = match facts.due {
            Some(due) => factor_of(due)?,
            None => 0,
        };
        let amount = facts.amount.minor_units();
        if amount > AMOUNT_MAX {
            return None;
        }
        let BarcodeFacts { bank, free_field, .. } = facts;
        let without_check_digit = format!("{bank}90{factor:04}{amount:010}{free_field}");
        let mut digits = Digits::<44>::parse(&without_check_digit)?;
        digits.0[CHECK_DIGIT_AT] = modulus_11(&digits);
        Some(Self(digits))
    }

    /// Reads the 44 digits of a bar code.
    ///
    /// # Errors
    /// [`NotABarcode`] says what is wrong.
    pub fn parse(digits: &str) -> Result<Self, NotABarcode> {
        let digits = Digits::<44>::parse(digits).ok_or(NotABarcode::Length)?;
        if digits.0[3] != CURRENCY {
            return Err(NotABarcode::Currency);
        }
        if digits.0[CHECK_DIGIT_AT] != modulus_11(&digits) {
            return Err(NotABarcode::CheckDigit);
        }
        Ok(Self(digits))
    }

    /// Reads a typed line of 47 digits. Points and spaces between them are ignored.
    ///
    /// # Errors
    /// [`NotABarcode`] says what is wrong.
    pub fn parse_line(line: &str) -> Result<Self, NotABarcode> {
        let typed: String = line.chars().filter(|sign| !matches!(sign, '.' | ' ')).collect();
        let line = Digits::<47>::parse(&typed).ok_or(NotABarcode::Length)?.0;
        let fields = [&line[0..10], &line[10..21], &line[21..32]];
        for field in fields {
            let [digits @ .., check_digit] = field else { return Err(NotABarcode::Length) };
            if *check_digit != modulus_10(digits) {
                return Err(NotABarcode::FieldCheckDigit);
            }
        }
        let in_order = [&line[0..4], &line[32..47], &line[4..9], &line[10..20], &line[21..31]].concat();
        Self::parse(&text_of(&in_order))
    }

    /// The 44 digits.
    pub fn digits(&self) -> &str {
        self.0.as_str()
    }

    /// The line of 47 digits, without points and spaces.
    pub fn line(&self) -> String {
        let code = &self.0.0;
        let fields = [[&code[0..4], &code[19..24]].concat(), code[24..34].to_vec(), code[34..44].to_vec()];
        let mut line = String::with_capacity(47);
        for field in fields {
            line += &text_of(&field);
            line.push(char::from(modulus_10(&field)));
        }
        line += &text_of(&code[4..19]);
        line
    }

    /// The bank that issues the boleto.
    pub fn bank(&self) -> BankCode {
        let [first, second, third, ..] = self.0.0;
        Digits([first, second, third])
    }

    /// The line as it is printed: `34191.10121 34567.880058 71234.570001 6 16670000012345`.
    pub fn printed_line(&self) -> String {
        let line = self.line();
        let (first, second, third) = (&line[0..10], &line[10..21], &line[21..32]);
        format!(
            "{}.{} {}.{} {}.{} {} {}",
            &first[..5],
            &first[5..],
            &second[..5],
            &second[5..],
            &third[..5],
            &third[5..],
            &line[32..33],
            &line[33..]
        )
    }

    /// What the bar code says. A factor means several days, 9,000 apart: the one is taken that lies at most 3,000 days
    /// before `today` or less than 6,000 after.
    pub fn facts(&self, today: Date) -> BarcodeFacts {
        let code = &self.0.0;
        let mut free_field = [0; 25];
        free_field.copy_from_slice(&code[19..44]);
        let factor = number_of(&code[5..9]);
        let amount = Amount::new(number_of(&code[9..19])).unwrap_or_default();
        BarcodeFacts { bank: self.bank(), due: due_of(factor, today), amount, free_field: Digits(free_field) }
    }
}

fn factor_of(due: Date) -> Option<i32> {
    let days = (due - FIRST_FACTOR_DAY).get_days();
    (days >= 0).then(|| FACTOR_MIN + days % FACTORS)
}

fn due_of(factor: i64, today: Date) -> Option<Date> {
    if factor < i64::from(FACTOR_MIN) {
        return None;
    }
    let of_first_round = FIRST_FACTOR_DAY.saturating_add((factor - i64::from(FACTOR_MIN)).days());
    let earliest = today.saturating_sub(DAYS_PAST_MAX.days());
    let days_behind = i64::from((earliest - of_first_round).get_days());
    let round = i64::from(FACTORS);
    let rounds = (days_behind.max(0) + round - 1) / round;
    Some(of_first_round.saturating_add((rounds * round).days()))
}

/// The check digit of the bar code: weights 2 to 9 from the right, over all digits but itself. 0, 10 and 11 become 1.
fn modulus_11(digits: &Digits<44>) -> u8 {
    let others = digits.0.iter().enumerate().filter(|(at, _)| *at != CHECK_DIGIT_AT).map(|(_, digit)| digit);
    let sum: u32 = others.rev().zip((2..=9).cycle()).map(|(digit, weight)| value_of(*digit) * weight).sum();
    match 11 - sum % 11 {
        10 | 11 => b'1',
        digit => digit_of(digit),
    }
}

/// The check digit of a field of the line: weights 2 and 1 from the right, the digits of each product added up.
fn modulus_10(field: &[u8]) -> u8 {
    let products =
        field.iter().rev().zip([2, 1].into_iter().cycle()).map(|(digit, weight)| value_of(*digit) * weight);
    let sum: u32 = products.map(|product| product / 10 + product % 10).sum();
    digit_of((10 - sum % 10) % 10)
}

fn value_of(digit: u8) -> u32 {
    u32::from(digit - b'0')
}

fn digit_of(value: u32) -> u8 {
    b'0' + (value % 10) as u8
}

fn number_of(digits: &[u8]) -> i64 {
    digits.iter().fold(0, |number, digit| number * 10 + i64::from(value_of(*digit)))
}

fn text_of(digits: &[u8]) -> String {
    digits.iter().map(|digit| char::from(*digit)).collect()
}

impl<const N: usize> Digits<N> {
    /// Reads `N` ASCII digits; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let digits: [u8; N] = text.as_bytes().try_into().ok()?;
        digits.iter().all(u8::is_ascii_digit).then_some(Self(digits))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl BankCode {
    /// The check digit that is printed beside a bank's number: weights from 2 on from the right, modulus 11, with 10 and
    /// 11 as 0.
    pub fn check_digit(&self) -> char {
        let sum: u32 = self.0.iter().rev().zip(2..).map(|(digit, weight)| value_of(*digit) * weight).sum();
        match 11 - sum % 11 {
            10 | 11 => '0',
            digit => char::from(digit_of(digit)),
        }
    }
}

impl<const N: usize> fmt::Debug for Digits<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
impl<const N: usize> fmt::Display for Digits<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
impl fmt::Debug for Barcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.digits())
    }
}
impl Serialize for Barcode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.digits())
    }
}
impl<'de> Deserialize<'de> for Barcode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}
impl fmt::Display for NotABarcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "a boleto's bar code has 44 digits, its line 47",
            Self::Currency => "the currency of the bar code is not the real",
            Self::FieldCheckDigit => "a check digit of the line's first three fields is wrong",
            Self::CheckDigit => "the check digit of the bar code is wrong",
        })
    }
}
impl std::error::Error for NotABarcode {}
