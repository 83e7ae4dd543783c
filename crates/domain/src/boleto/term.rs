//! The days of a boleto: when it may fall due, and until when a payment of it is awaited.

use jiff::ToSpan;
use jiff::civil::Date;

use crate::business_days::Calendar;
use crate::local_day;
use crate::time::Timestamp;

/// Days until a boleto falls due whose due date nobody has named.
const DUE_IN_DAYS: i64 = 7;
/// Most days until a boleto falls due: as far ahead as the banks read a due-date factor (FEBRABAN).
const DUE_IN_DAYS_MAX: i64 = 5_500;
/// Business days until a payment is cleared and known to the bank that issued the boleto.
const CLEARING_DAYS: u16 = 3;

/// The due date of a boleto when nobody has named one.
pub fn usual_due_date(today: Date) -> Date {
    today.saturating_add(DUE_IN_DAYS.days())
}

/// The last due date that a boleto of today can have.
pub fn latest_due_date(today: Date) -> Date {
    today.saturating_add(DUE_IN_DAYS_MAX.days())
}

/// When nobody expects a payment any more: a due date without banking moves to the next business day, and payments need
/// some days to be cleared.
pub fn awaited_until(calendar: &Calendar, due: Date) -> Timestamp {
    local_day::end_of(calendar.add(due, CLEARING_DAYS))
}
