//! On which day money is due, when a day is paid out, and how an amount is divided over installments.

use jiff::ToSpan;
use jiff::civil::Date;

use crate::business_days::Calendar;
use crate::local_day;
use crate::plan::{Policy, Recurrence};
use crate::time::Timestamp;

/// The hour at which a day is paid out, in São Paulo.
const PAID_OUT_AT: i8 = 6;
/// Days between the days of two installments.
const DAYS_PER_INSTALLMENT: i64 = 30;
/// Days that are looked at for the day of a recurrence: two months have each day of a month.
const LOOK_AHEAD: i64 = 62;

/// The day of an installment, from 1, of what was captured on a day: the term of the policy, 30 days more for each further
/// installment, then the next day of the recurrence, then the next business day.
pub fn due_on(calendar: &Calendar, captured_on: Date, policy: &Policy, installment: u8) -> Date {
    let later = i64::from(installment.saturating_sub(1)) * DAYS_PER_INSTALLMENT;
    let days = i64::from(policy.payout_term_days) + later;
    calendar.on_or_after(recurring(captured_on.saturating_add(days.days()), policy))
}

/// When a day is paid out.
pub fn moment_of(day: Date) -> Timestamp {
    local_day::hour_of(day, PAID_OUT_AT)
}

/// The next day that is paid out: the first business day whose moment has not come.
pub fn next_payday(calendar: &Calendar, now: Timestamp) -> Date {
    let today = local_day::day_of(now);
    if now < moment_of(today) { calendar.on_or_after(today) } else { calendar.after(today) }
}

/// The day itself when money is paid out on it, otherwise the next such day.
fn recurring(day: Date, policy: &Policy) -> Date {
    let Some(wanted) = policy.payout_day.and_then(|wanted| i8::try_from(wanted).ok()) else { return day };
    let is_wanted = |day: &Date| match policy.payout_recurrence {
        Recurrence::Daily => true,
        Recurrence::Weekly => day.weekday().to_monday_one_offset() == wanted,
        Recurrence::Monthly => day.day() == wanted.min(day.days_in_month()),
    };
    let mut days = (0..LOOK_AHEAD).map(|later| day.saturating_add(later.days()));
    days.find(is_wanted).unwrap_or(day)
}

/// An amount in `parts` equal parts, the first of them a cent more each until all is divided.
pub fn divided(amount: i64, parts: u8) -> Vec<i64> {
    let count = i64::from(parts.max(1));
    let (each, more) = (amount.div_euclid(count), amount.rem_euclid(count));
    (0..count).map(|part| each + i64::from(part < more)).collect()
}
