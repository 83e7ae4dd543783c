//! Amounts as the languages of the pages write them, and as their readers type them.

use regente_domain::currency::Currency;

use super::Language;

/// The digits between two marks of thousands.
const GROUP: usize = 3;

/// An amount in minor units with the sign of its currency.
pub fn amount(minor_units: i64, currency: Currency, language: Language) -> String {
    let Marks { group, point, space } = Marks::of(language);
    let sign = sign(currency);
    let space = if sign == currency.code() { "\u{a0}" } else { space };
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

/// An amount in minor units that was typed as the language writes amounts, with or without a sign and marks of thousands. None
/// where it is something else: what would be another amount in another language is not guessed.
pub fn typed(text: &str, currency: Currency, language: Language) -> Option<i64> {
    let Marks { group, point, .. } = Marks::of(language);
    let plain: String = text.chars().filter(|character| !character.is_whitespace()).collect();
    let without_sign = plain.strip_prefix(sign(currency)).or_else(|| plain.strip_prefix(currency.code()));
    let plain = without_sign.unwrap_or(&plain);
    let (whole, decimals) = match plain.split_once(point) {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None => (plain, ""),
    };
    let width = usize::from(currency.exponent());
    let whole = ungrouped(whole, group)?;
    if decimals.len() > width || !is_digits(decimals) {
        return None;
    }
    format!("{whole}{decimals:0<width$}").parse().ok()
}

/// How a language writes amounts.
struct Marks {
    group: char,
    point: char,
    /// Between a sign and the amount.
    space: &'static str,
}

impl Marks {
    const fn of(language: Language) -> Self {
        match language {
            Language::Portuguese | Language::Spanish => Self { group: '.', point: ',', space: "\u{a0}" },
            Language::English => Self { group: ',', point: '.', space: "" },
        }
    }
}

fn sign(currency: Currency) -> &'static str {
    match currency.code() {
        "BRL" => "R$",
        "USD" => "US$",
        "EUR" => "€",
        code => code,
    }
}

/// The digits of a whole number, whose marks of thousands are where they belong.
fn ungrouped(text: &str, mark: char) -> Option<String> {
    let mut groups = text.split(mark);
    let first = groups.next().filter(|first| !first.is_empty() && is_digits(first))?;
    let others: Vec<&str> = groups.collect();
    let are_thousands = others.iter().all(|group| group.len() == GROUP && is_digits(group));
    let is_short = others.is_empty() || first.len() <= GROUP;
    (are_thousands && is_short).then(|| format!("{first}{}", others.concat()))
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
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
