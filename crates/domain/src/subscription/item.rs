//! What a subscription sells.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ItemRisk;
use crate::money::Amount;

/// One item; each cycle charges all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// What it is.
    pub name: String,
    /// The price of one, in cents, at least 1.
    pub amount: Amount,
    /// How many, at least 1.
    pub quantity: i64,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The merchant's own code of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sku: Option<String>,
    /// The merchant's own category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category_id: Option<String>,
    /// Where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locality: Option<String>,
    /// Its genre.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub genre: Option<String>,
    /// How often such items are abused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<ItemRisk>,
    /// The day of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<Date>,
    /// `type`, a number whose meaning is the merchant's.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<i64>,
    /// `tickets`, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tickets: Option<Box<Value>>,
    /// `location`, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Box<Value>>,
}

impl Item {
    /// The price of all of them; `None` above [`Amount::MINOR_UNITS_MAX`].
    pub fn total(&self) -> Option<Amount> {
        self.amount.minor_units().checked_mul(self.quantity).and_then(Amount::new)
    }
}

/// The amount of a cycle: the price of every item; `None` above [`Amount::MINOR_UNITS_MAX`].
pub fn sum(items: &[Item]) -> Option<Amount> {
    items.iter().try_fold(Amount::ZERO, |sum, item| sum.plus(item.total()?))
}
