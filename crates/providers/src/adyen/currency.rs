//! Amounts in the provider's minor units, which differ from ISO 4217 in four currencies
//! (<https://docs.adyen.com/development-resources/currency-codes>).

use regente_domain::currency::Currency;
use regente_domain::money::Amount;

/// Currencies with another number of decimal places than in ISO 4217.
const DEVIATING: [(&str, u8); 4] = [("CLP", 2), ("CVE", 0), ("IDR", 0), ("ISK", 2)];

/// The provider's minor units; `None` for an amount that they cannot express.
pub fn to_provider(amount: Amount, currency: Currency) -> Option<i64> {
    let minor_units = amount.minor_units();
    convert(minor_units, currency.exponent(), exponent(currency))
}

/// An amount in the provider's minor units; `None` for one that we cannot express.
pub fn from_provider(minor_units: i64, currency: Currency) -> Option<Amount> {
    convert(minor_units, exponent(currency), currency.exponent()).and_then(Amount::new)
}

fn exponent(currency: Currency) -> u8 {
    let deviating = DEVIATING.iter().find(|(code, _)| *code == currency.code());
    deviating.map_or(currency.exponent(), |(_, exponent)| *exponent)
}

fn convert(minor_units: i64, from: u8, to: u8) -> Option<i64> {
    let factor = 10_i64.pow(u32::from(from.abs_diff(to)));
    if to >= from {
        minor_units.checked_mul(factor)
    } else {
        (minor_units % factor == 0).then_some(minor_units / factor)
    }
}
