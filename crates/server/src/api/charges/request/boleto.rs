//! A boleto as it is sent (`docs/interface/charges.md#boleto`).

use jiff::civil::Date;
use regente_domain::boleto::{
    Fine, FineRate, Interest, InterestRate, LATE_DAYS_MAX, LateCharges, latest_due_date, usual_due_date,
};
use regente_domain::charge::{Boleto, PayerSource};
use regente_domain::money::Amount;
use regente_domain::percentage::Percentage;
use regente_domain::text::chars_max;
use regente_engine::error::Error;
use serde_json::Value;

use super::method::read_item_or_items;
use crate::api::fields::Fields;

/// A boleto before its payer is resolved.
pub struct NewBoleto {
    due: Option<Date>,
    instructions: Option<String>,
    late_charges: LateCharges,
    items: Option<Value>,
}

/// The size of an interest or a fine.
enum Rate {
    Amount(Amount),
    Percentage(Percentage),
}

impl NewBoleto {
    /// Checks the due date. Only here is the day known: a repeated key is answered also when the date has passed.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the member.
    pub(super) fn check(&self, today: Date) -> Result<(), Error> {
        const PATH: &str = "paymentMethod.expiresDate";
        let latest = latest_due_date(today);
        match self.due {
            Some(due) if due < today => Err(Error::invalid(PATH, "must not be in the past")),
            Some(due) if due > latest => {
                Err(Error::invalid(PATH, format!("must not be later than {latest}")))
            }
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn paid_by(self, source: PayerSource, today: Date) -> Boleto {
        let Self { due, instructions, late_charges, items } = self;
        let due = due.unwrap_or_else(|| usual_due_date(today));
        Boleto { source, due, instructions, late_charges, items: items.map(Box::new) }
    }
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
