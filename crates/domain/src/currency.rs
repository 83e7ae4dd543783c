//! The currencies of the interface (`docs/interface/conventions.md#currencies`) and their minor units. Amounts are
//! compared and forwarded, never converted, so there are no rates.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// One of the 135 currencies that the interface accepts.
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub struct Currency(u8);

impl Currency {
    /// The Brazilian real, the default of charges and the only currency of purchases.
    pub const BRL: Self = Self::listed("BRL");

    /// Parses an ISO 4217 code in upper case, as on the wire.
    pub fn parse(code: &str) -> Option<Self> {
        let index = TABLE.binary_search_by(|(listed, _)| (*listed).cmp(code)).ok()?;
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
impl Serialize for Currency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}
impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
        Self::parse(&code).ok_or_else(|| de::Error::custom("not a listed currency"))
    }
}

/// Codes in ascending order for the binary search, each with its ISO 4217 exponent. HRK, MRO, STD and others are
/// withdrawn but still accepted (`docs/interface/conventions.md#currencies`).
#[rustfmt::skip]
const TABLE: [(&str, u8); 135] = [
    ("AED", 2), ("AFN", 2), ("ALL", 2), ("AMD", 2), ("ANG", 2), ("AOA", 2), ("ARS", 2), ("AUD", 2), ("AWG", 2),
    ("AZN", 2), ("BAM", 2), ("BBD", 2), ("BDT", 2), ("BGN", 2), ("BIF", 0), ("BMD", 2), ("BND", 2), ("BOB", 2),
    ("BRL", 2), ("BSD", 2), ("BWP", 2), ("BZD", 2), ("CAD", 2), ("CDF", 2), ("CHF", 2), ("CLP", 0), ("CNY", 2),
    ("COP", 2), ("CRC", 2), ("CVE", 2), ("CZK", 2), ("DJF", 0), ("DKK", 2), ("DOP", 2), ("DZD", 2), ("EGP", 2),
    ("ETB", 2), ("EUR", 2), ("FJD", 2), ("FKP", 2), ("GBP", 2), ("GEL", 2), ("GIP", 2), ("GMD", 2), ("GNF", 0),
    ("GTQ", 2), ("GYD", 2), ("HKD", 2), ("HNL", 2), ("HRK", 2), ("HTG", 2), ("HUF", 2), ("IDR", 2), ("ILS", 2),
    ("INR", 2), ("ISK", 0), ("JMD", 2), ("JPY", 0), ("KES", 2), ("KGS", 2), ("KHR", 2), ("KMF", 0), ("KRW", 0),
    ("KYD", 2), ("KZT", 2), ("LAK", 2), ("LBP", 2), ("LKR", 2), ("LRD", 2), ("LSL", 2), ("MAD", 2), ("MDL", 2),
    ("MGA", 2), ("MKD", 2), ("MMK", 2), ("MNT", 2), ("MOP", 2), ("MRO", 2), ("MUR", 2), ("MVR", 2), ("MWK", 2),
    ("MXN", 2), ("MYR", 2), ("MZN", 2), ("NAD", 2), ("NGN", 2), ("NIO", 2), ("NOK", 2), ("NPR", 2), ("NZD", 2),
    ("PAB", 2), ("PEN", 2), ("PGK", 2), ("PHP", 2), ("PKR", 2), ("PLN", 2), ("PYG", 0), ("QAR", 2), ("RON", 2),
    ("RSD", 2), ("RUB", 2), ("RWF", 0), ("SAR", 2), ("SBD", 2), ("SCR", 2), ("SEK", 2), ("SGD", 2), ("SHP", 2),
    ("SLL", 2), ("SOS", 2), ("SRD", 2), ("STD", 2), ("SZL", 2), ("THB", 2), ("TJS", 2), ("TOP", 2), ("TRY", 2),
    ("TTD", 2), ("TWD", 2), ("TZS", 2), ("UAH", 2), ("UGX", 0), ("USD", 2), ("UYU", 2), ("UZS", 2), ("VND", 0),
    ("VUV", 0), ("WST", 2), ("XAF", 0), ("XCD", 2), ("XOF", 0), ("XPF", 0), ("YER", 2), ("ZAR", 2), ("ZMW", 2),
];
