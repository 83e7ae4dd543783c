//! A subscription: what a customer is charged at each due date. [`schedule`] has the calendar, [`retries`] what is tried
//! again.

mod item;
mod retries;
mod schedule;
mod words;

use crate::currency::Currency;

pub use item::{Item, sum};
pub use retries::{
    AfterRetries, BillingRules, PolicyRefusal, RULES_MAX, RetryPolicy, STATEMENT_DESCRIPTOR_CHARS_MAX,
    SubscriptionSettings, WINDOW_DAYS_MAX, is_tried_again,
};
pub use schedule::{Schedule, billed_at};
pub use words::{AttemptStatus, CycleStatus, Interval, ItemRisk, SubscriptionStatus};

/// The only currency of subscriptions.
pub const CURRENCY: Currency = Currency::BRL;
/// Most characters of a name.
pub const NAME_CHARS_MAX: usize = 100;
/// Most installments of a cycle.
pub const INSTALLMENTS_MAX: u8 = 12;
