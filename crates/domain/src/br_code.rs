//! The BR Code of a dynamic Pix charge: the text of its QR code, which a payer may also copy and paste (Banco Central,
//! "Manual de Padrões para Iniciação do Pix"; EMVCo, "QR Code Specification for Payment Systems, Merchant-Presented
//! Mode").
//!
//! The text is a row of fields: a number of two digits, the length in two digits, the value. The last field is a
//! checksum of all before it.

use std::fmt;

use deunicode::deunicode;

use crate::mcc::Mcc;
use crate::money::Amount;

/// What a BR Code says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrCode<'a> {
    /// Where the payer's bank reads the charge: an address without `https://`.
    pub location: &'a str,
    /// Who is paid. Accents are taken off, and [`NAME_CHARS_MAX`] characters are kept.
    pub merchant_name: &'a str,
    /// The city, likewise, with [`CITY_CHARS_MAX`] characters.
    pub merchant_city: &'a str,
    /// The merchant's category; `0000` when absent.
    pub category: Option<Mcc>,
    /// The amount in BRL. Zero is left out of the code: the location says it.
    pub amount: Amount,
    /// The reference of the charge, 1 to [`TXID_CHARS_MAX`] letters and digits, or [`TXID_AT_LOCATION`].
    pub txid: &'a str,
}

/// What stands in place of a txid that the field is too short for: the txid of a dynamic charge has 26 to 35 characters
/// and is told by the location.
pub const TXID_AT_LOCATION: &str = "***";

/// Most characters of a location: 99 less the field that names Pix and the head of its own.
pub const LOCATION_CHARS_MAX: usize = 77;
/// Most characters of a merchant's name.
pub const NAME_CHARS_MAX: usize = 25;
/// Most characters of a city.
pub const CITY_CHARS_MAX: usize = 15;
/// Most characters of a txid.
pub const TXID_CHARS_MAX: usize = 25;
/// Most characters of an amount.
const AMOUNT_CHARS_MAX: usize = 13;

/// Why a BR Code cannot be written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrCodeError {
    /// Text that is no row of fields, or ends within one.
    Fields,
    /// The checksum is absent, not the last field, or wrong.
    Checksum,
    /// The format is not 01, or the code is not for Pix.
    Format,
    /// The code is of a key, not of a charge at a location.
    Static,
    /// The currency is not the real.
    Currency,
    /// The location is empty, too long, has a scheme or signs that an address has not.
    Location,
    /// Nothing of the merchant's name can be written.
    MerchantName,
    /// Nothing of the city can be written.
    MerchantCity,
    /// The category is not four digits.
    Category,
    /// The amount has too many digits, or is none.
    Amount,
    /// The txid has other signs than letters and digits, none or too many.
    Txid,
}

/// Numbers of the fields but the checksum, for which [`CHECKSUM_HEAD`] stands.
mod field {
    pub(super) const FORMAT: &str = "00";
    pub(super) const INITIATION: &str = "01";
    pub(super) const PIX: &str = "26";
    pub(super) const CATEGORY: &str = "52";
    pub(super) const CURRENCY: &str = "53";
    pub(super) const AMOUNT: &str = "54";
    pub(super) const COUNTRY: &str = "58";
    pub(super) const MERCHANT_NAME: &str = "59";
    pub(super) const MERCHANT_CITY: &str = "60";
    pub(super) const ADDITIONAL: &str = "62";
}
/// Numbers of the fields within [`field::PIX`].
mod pix {
    pub(super) const NAME: &str = "00";
    pub(super) const LOCATION: &str = "25";
}
/// Number of the txid within [`field::ADDITIONAL`].
const TXID: &str = "05";

/// Number and length of the checksum, which it covers as well.
const CHECKSUM_HEAD: &str = "6304";

const FORMAT: &str = "01";
const DYNAMIC: &str = "12";
const PIX: &str = "br.gov.bcb.pix";
const REAL: &str = "986";
const BRAZIL: &str = "BR";
const NO_CATEGORY: &str = "0000";

impl BrCode<'_> {
    /// Writes the code.
    ///
    /// # Errors
    /// [`BrCodeError`] names the field that cannot be written.
    pub fn encode(&self) -> Result<String, BrCodeError> {
        if !is_location(self.location) {
            return Err(BrCodeError::Location);
        }
        if !is_txid(self.txid) {
            return Err(BrCodeError::Txid);
        }
        let name = written(self.merchant_name, NAME_CHARS_MAX).ok_or(BrCodeError::MerchantName)?;
        let city = written(self.merchant_city, CITY_CHARS_MAX).ok_or(BrCodeError::MerchantCity)?;
        let category =
            self.category.as_ref().map_or(NO_CATEGORY.into(), |mcc| format!("{:0>4}", mcc.digits()));

        let mut code = String::new();
        push(&mut code, field::FORMAT, FORMAT);
        push(&mut code, field::INITIATION, DYNAMIC);
        let mut account = String::new();
        push(&mut account, pix::NAME, PIX);
        push(&mut account, pix::LOCATION, self.location);
        push(&mut code, field::PIX, &account);
        push(&mut code, field::CATEGORY, &category);
        push(&mut code, field::CURRENCY, REAL);
        if self.amount > Amount::ZERO {
            push(&mut code, field::AMOUNT, &amount_text(self.amount)?);
        }
        push(&mut code, field::COUNTRY, BRAZIL);
        push(&mut code, field::MERCHANT_NAME, &name);
        push(&mut code, field::MERCHANT_CITY, &city);
        let mut additional = String::new();
        push(&mut additional, TXID, self.txid);
        push(&mut code, field::ADDITIONAL, &additional);
        code += CHECKSUM_HEAD;
        let checksum = crc16(code.as_bytes());
        code += &format!("{checksum:04X}");
        Ok(code)
    }
}

impl<'a> BrCode<'a> {
    /// Reads a code. Fields that it does not know are passed over.
    ///
    /// # Errors
    /// [`BrCodeError`] says what is wrong.
    pub fn parse(code: &'a str) -> Result<Self, BrCodeError> {
        let (before, checksum) =
            code.split_at_checked(code.len().saturating_sub(4)).ok_or(BrCodeError::Fields)?;
        let is_right = before.ends_with(CHECKSUM_HEAD)
            && checksum.eq_ignore_ascii_case(&format!("{:04X}", crc16(before.as_bytes())));
        if !is_right {
            return Err(BrCodeError::Checksum);
        }
        let fields = Fields::read(code)?;
        let account = Fields::read(fields.get(field::PIX).ok_or(BrCodeError::Format)?)?;
        let is_pix = account.get(pix::NAME).is_some_and(|name| name.eq_ignore_ascii_case(PIX));
        if fields.get(field::FORMAT) != Some(FORMAT) || !is_pix {
            return Err(BrCodeError::Format);
        }
        if fields.get(field::CURRENCY) != Some(REAL) {
            return Err(BrCodeError::Currency);
        }
        let category = match fields.get(field::CATEGORY) {
            Some(NO_CATEGORY) => None,
            Some(digits) if digits.len() == NO_CATEGORY.len() => {
                Some(Mcc::parse_digits(digits).ok_or(BrCodeError::Category)?)
            }
            Some(_) | None => return Err(BrCodeError::Category),
        };
        let additional = Fields::read(fields.get(field::ADDITIONAL).ok_or(BrCodeError::Txid)?)?;
        Ok(Self {
            location: account.get(pix::LOCATION).ok_or(BrCodeError::Static)?,
            merchant_name: fields.get(field::MERCHANT_NAME).ok_or(BrCodeError::MerchantName)?,
            merchant_city: fields.get(field::MERCHANT_CITY).ok_or(BrCodeError::MerchantCity)?,
            category,
            amount: fields
                .get(field::AMOUNT)
                .map_or(Some(Amount::ZERO), amount_of)
                .ok_or(BrCodeError::Amount)?,
            txid: additional.get(TXID).filter(|txid| is_txid(txid)).ok_or(BrCodeError::Txid)?,
        })
    }
}

/// The fields of a text, in order.
struct Fields<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Fields<'a> {
    fn read(text: &'a str) -> Result<Self, BrCodeError> {
        let mut fields = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (number, after) = rest.split_at_checked(2).ok_or(BrCodeError::Fields)?;
            let (length, after) = after.split_at_checked(2).ok_or(BrCodeError::Fields)?;
            let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
            if !is_number(number) || !is_number(length) {
                return Err(BrCodeError::Fields);
            }
            let length = length.parse().map_err(|_| BrCodeError::Fields)?;
            let (value, after) = after.split_at_checked(length).ok_or(BrCodeError::Fields)?;
            fields.push((number, value));
            rest = after;
        }
        Ok(Self(fields))
    }

    fn get(&self, number: &str) -> Option<&'a str> {
        self.0.iter().find(|(of, _)| *of == number).map(|(_, value)| *value)
    }
}

/// Adds a field. Callers keep values within 99 bytes.
fn push(code: &mut String, number: &str, value: &str) {
    *code += &format!("{number}{:02}{value}", value.len());
}

/// `text` in printable ASCII, without accents, cut to `chars_max` and without spaces at its ends.
fn written(text: &str, chars_max: usize) -> Option<String> {
    let plain: String = deunicode(text).chars().filter(|sign| matches!(sign, ' '..='~')).collect();
    let cut: String = plain.trim().chars().take(chars_max).collect();
    let cut = cut.trim_end();
    (!cut.is_empty()).then(|| cut.to_owned())
}

fn is_location(location: &str) -> bool {
    (1..=LOCATION_CHARS_MAX).contains(&location.len())
        && location.bytes().all(|byte| byte.is_ascii_graphic())
        && !location.contains("://")
}

fn is_txid(txid: &str) -> bool {
    txid == TXID_AT_LOCATION
        || (1..=TXID_CHARS_MAX).contains(&txid.len()) && txid.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn amount_text(amount: Amount) -> Result<String, BrCodeError> {
    let cents = amount.minor_units();
    let text = format!("{}.{:02}", cents / 100, cents % 100);
    if text.len() <= AMOUNT_CHARS_MAX { Ok(text) } else { Err(BrCodeError::Amount) }
}

/// Reads reais with at most two decimals: `1`, `1.5`, `1.50`.
fn amount_of(text: &str) -> Option<Amount> {
    let (reais, cents) = text.split_once('.').unwrap_or((text, ""));
    let is_amount = !reais.is_empty()
        && text.len() <= AMOUNT_CHARS_MAX
        && cents.len() <= 2
        && reais.bytes().chain(cents.bytes()).all(|byte| byte.is_ascii_digit());
    if !is_amount {
        return None;
    }
    Amount::new(format!("{reais}{cents:0<2}").parse().ok()?)
}

/// CRC-16/CCITT-FALSE, also called CRC-16/IBM-3740: polynomial 1021, begun with FFFF (ISO/IEC 13239).
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xFFFF, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 }
        })
    })
}

impl fmt::Display for BrCodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fields => "the code is no row of fields",
            Self::Checksum => "the code's checksum is wrong",
            Self::Format => "the code is not for Pix",
            Self::Static => "the code has a key instead of a location",
            Self::Currency => "the code's currency is not the real",
            Self::Location => "the location must be an address of 1 to 77 characters without a scheme",
            Self::MerchantName => "the merchant's name has no letters that the code can hold",
            Self::MerchantCity => "the merchant's city has no letters that the code can hold",
            Self::Category => "the merchant's category must be four digits",
            Self::Amount => "the amount must be reais and cents of at most 13 characters",
            Self::Txid => "the txid must be 1 to 25 letters and digits",
        })
    }
}
impl std::error::Error for BrCodeError {}
