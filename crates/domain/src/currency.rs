//! The currencies of the interface (`docs/interface/conventions.md#currencies`) and their minor units. Amounts are
//! compared and forwarded, never converted, so there are no rates.

use std::borrow::Cow;
use std::fmt;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::problems::Problems;
use crate::wire::{not_among, one_of, text_as};

/// One of the 135 currencies that the interface accepts.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency(u8);

impl Currency {
    /// The Brazilian real, the default of charges and the only currency of purchases.
    pub const BRL: Self = Self::listed("BRL");

    /// Parses an ISO 4217 code in upper case, as on the wire.
    pub fn parse(code: &str) -> Option<Self> {
        let index = TABLE.binary_search_by(|(listed, ..)| (*listed).cmp(code)).ok()?;
        u8::try_from(index).ok().map(Self)
    }

    /// The ISO 4217 code in upper case.
    pub fn code(self) -> &'static str {
        TABLE[usize::from(self.0)].0
    }

    /// Decimal places of the minor unit (ISO 4217): 2 for BRL, 0 for currencies without one.
    pub fn exponent(self) -> u8 {
        TABLE[usize::from(self.0)].1
    }

    /// The ISO 4217 number, by which wallets name a currency.
    pub fn number(self) -> u16 {
        TABLE[usize::from(self.0)].2
    }

    /// Every currency, in the order of the codes.
    pub fn all() -> impl Iterator<Item = Self> {
        (0_u8..).zip(TABLE).map(|(index, _)| Self(index))
    }

    /// Finds a code at compile time; an unlisted code does not compile.
    const fn listed(code: &str) -> Self {
        let mut index = 0;
        while index < TABLE.len() {
            let (listed, code) = (TABLE[index].0.as_bytes(), code.as_bytes());
            if listed[0] == code[0] && listed[1] == code[1] && listed[2] == code[2] {
                return Self(index as u8);
            }
            index += 1;
        }
        panic!("not a listed currency")
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
impl Deserr<Problems> for Currency {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        text_as(value, location, || not_among(Self::all().map(Self::code)), Self::parse)
    }
}
impl PartialSchema for Currency {
    fn schema() -> RefOr<Schema> {
        one_of("An accepted ISO 4217 code.", Self::all().map(Self::code))
    }
}
impl ToSchema for Currency {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Currency")
    }
}
impl Serialize for Currency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}
impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = Cow::<'_, str>::deserialize(deserializer)?;
        Self::parse(&code).ok_or_else(|| de::Error::custom("not a listed currency"))
    }
}

/// Codes in ascending order for the binary search, each with its ISO 4217 exponent and number. HRK, MRO, STD and others
/// are withdrawn but still accepted (`docs/interface/conventions.md#currencies`).
#[rustfmt::skip]
const TABLE: [(&str, u8, u16); 135] = [
    ("AED", 2, 784), ("AFN", 2, 971), ("ALL", 2, 8), ("AMD", 2, 51), ("ANG", 2, 532), ("AOA", 2, 973), ("ARS", 2, 32),
    ("AUD", 2, 36), ("AWG", 2, 533), ("AZN", 2, 944), ("BAM", 2, 977), ("BBD", 2, 52), ("BDT", 2, 50),
    ("BGN", 2, 975), ("BIF", 0, 108), ("BMD", 2, 60), ("BND", 2, 96), ("BOB", 2, 68), ("BRL", 2, 986), ("BSD", 2, 44),
    ("BWP", 2, 72), ("BZD", 2, 84), ("CAD", 2, 124), ("CDF", 2, 976), ("CHF", 2, 756), ("CLP", 0, 152),
    ("CNY", 2, 156), ("COP", 2, 170), ("CRC", 2, 188), ("CVE", 2, 132), ("CZK", 2, 203), ("DJF", 0, 262),
    ("DKK", 2, 208), ("DOP", 2, 214), ("DZD", 2, 12), ("EGP", 2, 818), ("ETB", 2, 230), ("EUR", 2, 978),
    ("FJD", 2, 242), ("FKP", 2, 238), ("GBP", 2, 826), ("GEL", 2, 981), ("GIP", 2, 292), ("GMD", 2, 270),
    ("GNF", 0, 324), ("GTQ", 2, 320), ("GYD", 2, 328), ("HKD", 2, 344), ("HNL", 2, 340), ("HRK", 2, 191),
    ("HTG", 2, 332), ("HUF", 2, 348), ("IDR", 2, 360), ("ILS", 2, 376), ("INR", 2, 356), ("ISK", 0, 352),
    ("JMD", 2, 388), ("JPY", 0, 392), ("KES", 2, 404), ("KGS", 2, 417), ("KHR", 2, 116), ("KMF", 0, 174),
    ("KRW", 0, 410), ("KYD", 2, 136), ("KZT", 2, 398), ("LAK", 2, 418), ("LBP", 2, 422), ("LKR", 2, 144),
    ("LRD", 2, 430), ("LSL", 2, 426), ("MAD", 2, 504), ("MDL", 2, 498), ("MGA", 2, 969), ("MKD", 2, 807),
    ("MMK", 2, 104), ("MNT", 2, 496), ("MOP", 2, 446), ("MRO", 2, 478), ("MUR", 2, 480), ("MVR", 2, 462),
    ("MWK", 2, 454), ("MXN", 2, 484), ("MYR", 2, 458), ("MZN", 2, 943), ("NAD", 2, 516), ("NGN", 2, 566),
    ("NIO", 2, 558), ("NOK", 2, 578), ("NPR", 2, 524), ("NZD", 2, 554), ("PAB", 2, 590), ("PEN", 2, 604),
    ("PGK", 2, 598), ("PHP", 2, 608), ("PKR", 2, 586), ("PLN", 2, 985), ("PYG", 0, 600), ("QAR", 2, 634),
    ("RON", 2, 946), ("RSD", 2, 941), ("RUB", 2, 643), ("RWF", 0, 646), ("SAR", 2, 682), ("SBD", 2, 90),
    ("SCR", 2, 690), ("SEK", 2, 752), ("SGD", 2, 702), ("SHP", 2, 654), ("SLL", 2, 694), ("SOS", 2, 706),
    ("SRD", 2, 968), ("STD", 2, 678), ("SZL", 2, 748), ("THB", 2, 764), ("TJS", 2, 972), ("TOP", 2, 776),
    ("TRY", 2, 949), ("TTD", 2, 780), ("TWD", 2, 901), ("TZS", 2, 834), ("UAH", 2, 980), ("UGX", 0, 800),
    ("USD", 2, 840), ("UYU", 2, 858), ("UZS", 2, 860), ("VND", 0, 704), ("VUV", 0, 548), ("WST", 2, 882),
    ("XAF", 0, 950), ("XCD", 2, 951), ("XOF", 0, 952), ("XPF", 0, 953), ("YER", 2, 886), ("ZAR", 2, 710),
    ("ZMW", 2, 967),
];
