//! Amounts as the provider writes them: minor units of ISO 4217, but for three currencies.

use regente_domain::currency::Currency;
use regente_domain::money::Amount;

/// How an amount is written.
enum Written {
    /// As in ISO 4217.
    AsIs,
    /// With two decimals that ISO 4217 does not have; they are always zero.
    InHundredths,
    /// Without the two decimals of ISO 4217.
    InWholes,
}

const HUNDRED: i64 = 100;

fn written(currency: Currency) -> Written {
    match currency.code() {
        "ISK" | "UGX" => Written::InHundredths,
        "MGA" => Written::InWholes,
        _ => Written::AsIs,
    }
}

/// The amount to send; `None` when the provider cannot express it.
pub(super) fn sent(amount: Amount, currency: Currency) -> Option<i64> {
    let minor_units = amount.minor_units();
    match written(currency) {
        Written::AsIs => Some(minor_units),
        Written::InHundredths => minor_units.checked_mul(HUNDRED),
        Written::InWholes => (minor_units % HUNDRED == 0).then_some(minor_units / HUNDRED),
    }
}

/// The code to send.
pub(super) fn code(currency: Currency) -> String {
    currency.code().to_ascii_lowercase()
}

/// The currency with a code of the provider; `None` when it is not listed.
pub(super) fn parse(code: &str) -> Option<Currency> {
    Currency::parse(&code.to_ascii_uppercase())
}

/// An amount that the provider has sent; `None` when its currency is not listed.
pub(super) fn received(amount: i64, code: &str) -> Option<Amount> {
    let currency = parse(code)?;
    let minor_units = match written(currency) {
        Written::AsIs => amount,
        Written::InHundredths => amount / HUNDRED,
        Written::InWholes => amount.checked_mul(HUNDRED)?,
    };
    Amount::new(minor_units)
}
