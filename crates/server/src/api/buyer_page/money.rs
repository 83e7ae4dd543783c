//! Amounts as the languages of the pages write them.

use regente_domain::currency::Currency;

use super::Language;

/// The digits between two marks of thousands.
const GROUP: usize = 3;

/// An amount in minor units with the sign of its currency.
pub fn amount(minor_units: i64, currency: Currency, language: Language) -> String {
    let (group, point, space) = match language {
        Language::Portuguese | Language::Spanish => ('.', ',', "\u{a0}"),
        Language::English => (',', '.', ""),
    };
    let (sign, space) = match currency.code() {
        "BRL" => ("R$", space),
        "USD" => ("US$", space),
        "EUR" => ("€", space),
        code => (code, "\u{a0}"),
    };
    let decimals = u32::from(currency.exponent());
    let unit = 10_i64.pow(decimals);
    let whole = grouped(&(minor_units / unit).to_string(), group);
    match decimals {
        0 => format!("{sign}{space}{whole}"),
        _ => {
            let width = usize::from(currency.exponent());
            format!("{sign}{space}{whole}{point}{:0width$}", minor_units % unit)
        }
    }
}

fn grouped(digits: &str, mark: char) -> String {
    let first = digits.len() % GROUP;
    digits.chars().enumerate().fold(String::new(), |mut text, (place, digit)| {
        if place > 0 && place % GROUP == first % GROUP {
            text.push(mark);
        }
        text.push(digit);
        text
    })
}
