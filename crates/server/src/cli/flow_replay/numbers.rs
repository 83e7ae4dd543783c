//! The numbers of a replay for people, and what is to be known about them.

#![allow(clippy::float_arithmetic, reason = "expectations of tries, never money that moves")]

use regente_domain::currency::Currency;
use regente_domain::flow_replay::{Place, Prediction, Untold};
use regente_domain::money::Amount;

use super::Replayed;
use crate::terminal::printable;

pub(super) fn count(number: f64) -> String {
    format!("{number:.0}")
}

pub(super) fn part_of(number: f64, of: u64) -> String {
    format!("{:.2} %", number / of as f64 * 100.0)
}

pub(super) fn money(currency: &str, minor_units: f64) -> String {
    let amount = Amount::new(minor_units.round() as i64);
    match Currency::parse(currency).zip(amount) {
        Some((currency, amount)) => amount.shown_in(currency),
        None => format!("{minor_units:.0} minor units"),
    }
}

/// A dash where the terms of the provider are not known.
pub(super) fn fees(currency: &str, fees: Option<f64>) -> String {
    fees.map_or_else(|| "-".to_owned(), |fees| money(currency, fees))
}

/// What is to be known about the numbers, a sentence each.
pub(super) fn sentences(replayed: &Replayed) -> Vec<String> {
    let Prediction { charges, moved, estimated, unserved, untold, providers, .. } = &replayed.prediction;
    let (recorded, then) = providers.iter().fold((0.0, 0.0), |(recorded, then), line| {
        (recorded + line.recorded.tries, then + line.replayed.tries)
    });
    let of_charge = |tries: f64| tries / *charges as f64;
    let mut sentences = vec![
        format!("Another provider is asked first for {moved} charges."),
        format!(
            "Tries for each charge: {:.3} recorded, {:.3} replayed.",
            of_charge(recorded),
            of_charge(then)
        ),
        format!(
            "For {estimated} charges a provider would be asked that has not been asked: they are approved as such tries were \
             on average. For the others the records tell."
        ),
    ];
    if *unserved > 0 {
        sentences.push(format!("No provider of its branch can serve {unserved} charges: they are refused."));
    }
    let Untold { not_analysed, unknown, no_rate } = untold;
    let mut cannot =
        |number: String, why: &str| sentences.push(format!("Cannot be told for {number} charges: {why}."));
    if *not_analysed > 0 {
        cannot(not_analysed.to_string(), "the flow has another analysis of risk for them");
    }
    if *unknown > 0 {
        cannot(unknown.to_string(), "their recorded outcome is unknown");
    }
    for (Place { provider_id, is_later }, number) in no_rate {
        let name = replayed.name_of(Some(*provider_id));
        let what = if *is_later { "after a refusal elsewhere" } else { "first" };
        cannot(count(*number), &format!("too few such charges have come to {} {what}", printable(&name)));
    }
    if untold.charges() > 0.0 {
        sentences.push("Charges for which it cannot be told count as not approved.".to_owned());
    }
    if replayed.learns {
        sentences.push("Balances that learn were replayed with the shares that they begin with.".to_owned());
    }
    sentences
}
