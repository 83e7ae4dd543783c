//! When the money of a seller is transferred to its bank account.

use std::ops::RangeInclusive;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde::{Deserialize, Serialize};
use serde_json::Number;
use serde_with::skip_serializing_none;
use utoipa::ToSchema;

use crate::problems::Problems;
use crate::wire::{NOT_A_NUMBER, Text, integer_of, read_with, refused, within};
use crate::words::words;

words! {
    /// How often the money of a seller is transferred.
    #[schema(as = SellerTransferInterval)]
    TransferInterval {
        /// Each day.
        Daily = "daily",
        /// Each week.
        Weekly = "weekly",
        /// Each month.
        Monthly = "monthly",
    }
}

/// When a seller's money is transferred.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewTransferPolicy)]
pub struct TransferPolicy {
    /// The day within the interval: an integer or its text, as sent.
    #[deserr(default)]
    pub transfer_day: Option<TransferDay>,
    /// Whether transfers are made by themselves.
    #[deserr(default)]
    pub transfer_enabled: Option<bool>,
    /// How often.
    #[deserr(default)]
    pub transfer_interval: Option<TransferInterval>,
    /// Whether receivables are anticipated by themselves.
    #[deserr(default)]
    pub automatic_anticipation_enabled: Option<bool>,
    /// How much of them, as sent.
    #[deserr(default)]
    pub anticipatable_volume_percentage: Option<Text<0, 255>>,
    /// How, as sent.
    #[deserr(default)]
    pub automatic_anticipation_type: Option<Text<0, 255>>,
    /// On which days, as sent.
    #[deserr(default)]
    pub automatic_anticipation_days: Option<Text<0, 255>>,
    /// With which delay, as sent.
    #[serde(rename = "automaticAnticipation1025Delay")]
    #[deserr(rename = "automaticAnticipation1025Delay", default)]
    pub automatic_anticipation_delay: Option<Text<0, 255>>,
}

/// A day within the interval, as sent: daily 1 or 0, weekly 1 to 5, monthly 1 to 31.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum TransferDay {
    /// As an integer.
    #[schema(value_type = u8)]
    Number(Number),
    /// As its text.
    Text(String),
}

impl TransferDay {
    fn day(&self) -> Option<i64> {
        match self {
            Self::Number(number) => integer_of(number),
            Self::Text(text) => text.trim().parse().ok(),
        }
    }
}

impl Deserr<Problems> for TransferDay {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let sent = match value {
            Value::String(text) => Some(Self::Text(text)),
            Value::Integer(number) => Some(Self::Number(number.into())),
            Value::NegativeInteger(number) => Some(Self::Number(number.into())),
            Value::Float(number) => Number::from_f64(number).map(Self::Number),
            Value::Null | Value::Boolean(_) | Value::Sequence(_) | Value::Map(_) => None,
        };
        let sent = sent.filter(|sent| sent.day().is_some());
        sent.ok_or_else(|| refused(location, NOT_A_NUMBER))
    }
}

/// A policy as sent: its day is within its interval.
pub(super) struct SentTransferPolicy(pub(super) TransferPolicy);

impl Deserr<Problems> for SentTransferPolicy {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        read_with(value, location, |members, problems| {
            let interval =
                members.get("transferInterval").and_then(|word| TransferInterval::parse(word.as_str()?));
            let day = members.get("transferDay").and_then(|day| TransferDay::deserialize(day).ok()?.day());
            if let Some(Err(rule)) = day.map(|day| within(day, days_of(interval))) {
                problems.extend(refused(location.push_key("transferDay"), rule));
            }
        })
        .map(Self)
    }
}

fn days_of(interval: Option<TransferInterval>) -> RangeInclusive<i64> {
    match interval {
        Some(TransferInterval::Daily) => 0..=1,
        Some(TransferInterval::Weekly) => 1..=5,
        Some(TransferInterval::Monthly) => 1..=31,
        None => 0..=31,
    }
}
