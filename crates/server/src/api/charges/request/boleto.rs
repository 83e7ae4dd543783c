//! Reads a boleto (`docs/interface/charges.md#boleto`).

use regente_domain::boleto::{Fine, FineRate, Interest, InterestRate, LATE_DAYS_MAX, LateCharges};
use regente_domain::money::Amount;
use regente_domain::percentage::Percentage;
use regente_domain::text::chars_max;
use regente_engine::charges::NewBoleto;

use super::method::read_item_or_items;
use crate::api::fields::Fields;

/// The size of an interest or a fine.
enum Rate {
    Amount(Amount),
    Percentage(Percentage),
}

pub(super) fn read_boleto(fields: &Fields<'_>) -> Option<NewBoleto> {
    let due = fields.optional("expiresDate").date();
    let instructions = fields.optional("instructions").non_empty_text(chars_max::LINE);
    let interest = fields.optional("interest").object(read_late_charge).flatten().map(|(days, rate)| {
        let rate = match rate {
            Rate::Amount(amount) => InterestRate::AmountPerDay(amount),
            Rate::Percentage(percentage) => InterestRate::PercentagePerMonth(percentage),
        };
        Interest { days, rate }
    });
    let fine = fields.optional("fine").object(read_late_charge).flatten().map(|(days, rate)| {
        let rate = match rate {
            Rate::Amount(amount) => FineRate::Amount(amount),
            Rate::Percentage(percentage) => FineRate::Percentage(percentage),
        };
        Fine { days, rate }
    });
    let items = read_item_or_items(fields.optional("items"));
    Some(NewBoleto { due, instructions, late_charges: LateCharges { interest, fine }, items })
}

/// The day on which it begins, and how much it is. Zero counts as not sent, and nothing sent as no charge: that is what
/// forms send that nobody has filled in.
fn read_late_charge(fields: &Fields<'_>) -> Option<Option<(u16, Rate)>> {
    let days = fields.optional("days").integer(0..=i64::from(LATE_DAYS_MAX)).unwrap_or(0);
    let amount = fields.optional("amount").amount().filter(|amount| *amount > Amount::ZERO);
    let percentage =
        fields.optional("percentage").hundredths(0..=i64::from(Percentage::HUNDRED.hundredths()));
    let percentage = percentage.filter(|hundredths| *hundredths > 0);
    let rate = match (amount, percentage) {
        (Some(_), Some(_)) => {
            fields.problem("percentage", "must be absent where there is an amount");
            return None;
        }
        (Some(amount), None) => Rate::Amount(amount),
        (None, Some(hundredths)) => {
            Rate::Percentage(Percentage::from_hundredths(u32::try_from(hundredths).ok()?))
        }
        (None, None) if days == 0 || fields.has("amount") || fields.has("percentage") => return Some(None),
        (None, None) => {
            fields.problem("amount", "should not be empty where there is no percentage");
            return None;
        }
    };
    Some(Some((u16::try_from(days).ok()?, rate)))
}
