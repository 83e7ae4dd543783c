//! Interest and fine of a boleto as they are sent (`docs/interface/charges.md#boleto`).

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde_json::{Map, Value as Json};
use utoipa::ToSchema;

use crate::boleto::{Fine, FineRate, Interest, InterestRate, LATE_DAYS_MAX};
use crate::money::Amount;
use crate::percentage::{Percent, Percentage};
use crate::problems::Problems;
use crate::wire::tagged::peek;
use crate::wire::{Integer, read_with, refused};

type Days = Integer<0, { LATE_DAYS_MAX as i64 }>;

const DAYS: &str = "days";
const AMOUNT: &str = "amount";
const PERCENTAGE: &str = "percentage";

/// What a late payer owes: an `amount` or a `percentage`, not both. 0 counts as not sent.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
pub struct LateCharge {
    /// The day after the due date from which it is owed: 1 is the day after, and 0 means the same.
    #[deserr(default)]
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 365, default = 0)]
    days: Option<Days>,
    #[deserr(default)]
    amount: Option<Amount>,
    /// In percent, with at most two decimals.
    #[deserr(default)]
    #[schema(value_type = Option<Percent>)]
    percentage: Option<Percentage>,
}

/// The day from which a late payer owes something, and how much; `None` where nothing was filled in, as forms send it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentLateCharge(Option<(u16, Rate)>);

#[derive(Clone, Copy, Debug)]
enum Rate {
    Amount(Amount),
    Percentage(Percentage),
}

impl Deserr<Problems> for SentLateCharge {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let LateCharge { days, amount, percentage } = read_with(value, location, |members, problems| {
            look(members, location, problems);
        })?;
        let days = days.and_then(|days| u16::try_from(days.get()).ok()).unwrap_or(0);
        let amount = amount.filter(is_more).map(Rate::Amount);
        let percentage = percentage.filter(is_some_part).map(Rate::Percentage);
        Ok(Self(amount.or(percentage).map(|rate| (days, rate))))
    }
}

fn is_more(amount: &Amount) -> bool {
    *amount > Amount::ZERO
}

fn is_some_part(percentage: &Percentage) -> bool {
    percentage.hundredths() > 0
}

/// What goes with what.
fn look(members: &Map<String, Json>, location: ValuePointerRef<'_>, problems: &mut Problems) {
    let has_amount = peek::<Amount>(members, AMOUNT).is_some_and(|amount| is_more(&amount));
    let has_percentage = peek::<Percentage>(members, PERCENTAGE).is_some_and(|part| is_some_part(&part));
    let has_days = peek::<Days>(members, DAYS).is_some_and(|days| days.get() > 0);
    let says_how_much = members.contains_key(AMOUNT) || members.contains_key(PERCENTAGE);
    if has_amount && has_percentage {
        let at = location.push_key(PERCENTAGE);
        problems.extend(refused(at, "must be absent where there is an amount"));
    } else if has_days && !says_how_much {
        let at = location.push_key(AMOUNT);
        problems.extend(refused(at, "should not be empty where there is no percentage"));
    }
}

impl LateCharge {
    /// What each day costs a late payer.
    pub(super) fn interest(sent: Option<SentLateCharge>) -> Option<Interest> {
        let (days, rate) = sent?.0?;
        let rate = match rate {
            Rate::Amount(amount) => InterestRate::AmountPerDay(amount),
            Rate::Percentage(percentage) => InterestRate::PercentagePerMonth(percentage),
        };
        Some(Interest { days, rate })
    }

    /// What a late payer owes once.
    pub(super) fn fine(sent: Option<SentLateCharge>) -> Option<Fine> {
        let (days, rate) = sent?.0?;
        let rate = match rate {
            Rate::Amount(amount) => FineRate::Amount(amount),
            Rate::Percentage(percentage) => FineRate::Percentage(percentage),
        };
        Some(Fine { days, rate })
    }
}
