//! The setting of the days on which banks work.

use regente_domain::business_days::Calendar;
use serde::{Deserialize, Serialize};

/// `calendar.…`: the days on which banks work.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CalendarConfig {
    /// Holidays of the banks besides the national ones, separated by commas, each after the one before, such as
    /// `2026-11-26,2026-12-24`. Default none.
    pub extra_holidays: Option<String>,
}

impl CalendarConfig {
    /// The days on which banks work; `None` when the text is invalid.
    pub(super) fn calendar(&self) -> Option<Calendar> {
        let text = self.extra_holidays.as_deref().unwrap_or_default();
        let days = text.split(',').map(str::trim).filter(|day| !day.is_empty());
        Calendar::with_holidays(days.map(|day| day.parse().ok()).collect::<Option<_>>()?)
    }
}
