//! Dates, amounts and the terms of late payment in Portuguese.

use jiff::ToSpan;
use jiff::civil::Date;
use regente_domain::boleto::{FineRate, InterestRate, LateCharges};
use regente_domain::money::Amount;
use regente_domain::percentage::Percentage;

/// `31/12/2026`.
pub(super) fn date(date: Date) -> String {
    date.strftime("%d/%m/%Y").to_string()
}

/// `1.234,56`.
pub(super) fn money(amount: Amount) -> String {
    let (reais, cents) = (amount.minor_units() / 100, amount.minor_units() % 100);
    let digits = reais.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push('.');
        }
        grouped.push(digit);
    }
    format!("{grouped},{cents:02}")
}

/// `R$ 1.234,56`.
pub(super) fn reais(amount: Amount) -> String {
    format!("R$ {}", money(amount))
}

/// One line for the interest and one for the fine, each with the day on which it begins.
pub(super) fn late_charges(charges: &LateCharges, due: Date) -> String {
    let from = |days: u16| date(due.saturating_add(i64::from(days.max(1)).days()));
    let fine = charges.fine.map(|fine| {
        let rate = match fine.rate {
            FineRate::Amount(amount) => reais(amount),
            FineRate::Percentage(part) => percent(part),
        };
        format!("A partir de {}: multa de {rate}.", from(fine.days))
    });
    let interest = charges.interest.map(|interest| {
        let rate = match interest.rate {
            InterestRate::AmountPerDay(amount) => format!("{} ao dia", reais(amount)),
            InterestRate::PercentagePerMonth(part) => format!("{} ao mês", percent(part)),
        };
        format!("A partir de {}: juros de {rate}.", from(interest.days))
    });
    [fine, interest].into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// `1,5%`.
fn percent(part: Percentage) -> String {
    format!("{}%", part.to_string().replace('.', ","))
}
