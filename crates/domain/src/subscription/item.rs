//! What a subscription sells, as it is sent, stored and shown.

use deserr::Deserr;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use serde_with::skip_serializing_none;
use utoipa::ToSchema;

use super::ItemRisk;
use crate::money::{Amount, PositiveAmount};
use crate::problems::Problems;
use crate::wire::{INTEGER_MAX, Integer, NOT_A_NUMBER, Rule, Text, Verbatim};

/// One item; each cycle charges all of them.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = SubscriptionItem)]
pub struct Item {
    /// What it is.
    #[deserr(from(Text<1, 255>) = Text::into_string)]
    #[schema(value_type = Text<1, 255>)]
    pub name: String,
    /// The price of one, in cents.
    #[deserr(from(PositiveAmount) = Amount::from)]
    #[schema(value_type = PositiveAmount)]
    pub amount: Amount,
    /// How many.
    #[deserr(from(Count) = Count::get)]
    #[schema(value_type = Count)]
    pub quantity: i64,
    /// More about it.
    #[deserr(default, from(Option<Text<0, 2048>>) = owned)]
    #[schema(value_type = Option<Text<0, 2048>>)]
    pub description: Option<String>,
    /// The merchant's own code of it.
    #[deserr(default, from(Option<Line>) = owned)]
    #[schema(value_type = Option<Line>)]
    pub sku: Option<String>,
    /// The merchant's own category.
    #[deserr(default, from(Option<Line>) = owned)]
    #[schema(value_type = Option<Line>)]
    pub category_id: Option<String>,
    /// Where it is.
    #[deserr(default, from(Option<Line>) = owned)]
    #[schema(value_type = Option<Line>)]
    pub locality: Option<String>,
    /// Its genre.
    #[deserr(default, from(Option<Line>) = owned)]
    #[schema(value_type = Option<Line>)]
    pub genre: Option<String>,
    /// How often such items are abused.
    #[deserr(default)]
    pub risk: Option<ItemRisk>,
    /// The day of the event.
    #[deserr(default)]
    pub date: Option<Date>,
    /// A number whose meaning is the merchant's.
    #[serde(rename = "type")]
    #[deserr(rename = "type", default, from(Option<AnyInteger>) = integer)]
    #[schema(value_type = Option<AnyInteger>)]
    pub kind: Option<i64>,
    /// Tickets of an event.
    #[deserr(default, from(Option<Tickets>) = kept)]
    #[schema(value_type = Option<Tickets>)]
    pub tickets: Option<Box<Value>>,
    /// Where an event is.
    #[deserr(default, from(Option<Location>) = kept)]
    #[schema(value_type = Option<Location>)]
    pub location: Option<Box<Value>>,
}

type Count = Integer<1, INTEGER_MAX>;
type AnyInteger = Integer<{ -INTEGER_MAX }, INTEGER_MAX>;
type Line = Text<0, 255>;

/// Tickets of an event.
#[skip_serializing_none]
#[derive(Serialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = SubscriptionItemTickets)]
struct Tickets {
    /// Tickets on sale.
    #[deserr(default)]
    quantity_ticket_sale: Option<AnyInteger>,
    /// Tickets of the house.
    #[deserr(default)]
    quantity_event_house: Option<AnyInteger>,
    /// The convenience fee.
    #[deserr(default, try_from(Value) = number -> Rule)]
    #[schema(value_type = Option<f64>)]
    convenience_fee_value: Option<Number>,
    /// Tickets at the full price.
    #[deserr(default)]
    quantity_full: Option<AnyInteger>,
    /// Tickets at half the price.
    #[deserr(default)]
    quantity_half: Option<AnyInteger>,
    /// The batch.
    #[deserr(default)]
    batch: Option<AnyInteger>,
}

/// Where an event is.
#[skip_serializing_none]
#[derive(Serialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = SubscriptionItemLocation)]
struct Location {
    /// Street.
    #[deserr(default)]
    street: Option<Line>,
    /// Number in the street.
    #[deserr(default)]
    number: Option<Verbatim<0, 255>>,
    /// Apartment, floor and the like.
    #[deserr(default)]
    complement: Option<Line>,
    /// Postal code.
    #[deserr(default)]
    zip_code: Option<Verbatim<0, 255>>,
    /// City.
    #[deserr(default)]
    city: Option<Line>,
    /// State.
    #[deserr(default)]
    state: Option<Line>,
    /// Country.
    #[deserr(default)]
    country: Option<Line>,
    /// District.
    #[deserr(default)]
    district: Option<Line>,
    /// A place nearby.
    #[deserr(default)]
    reference: Option<Line>,
    /// Tickets at half the price.
    #[deserr(default)]
    quantity_half: Option<AnyInteger>,
    /// The batch.
    #[deserr(default)]
    batch: Option<AnyInteger>,
}

fn owned<const MAX: usize>(text: Option<Text<0, MAX>>) -> Option<String> {
    text.map(Text::into_string)
}

fn integer(number: Option<AnyInteger>) -> Option<i64> {
    number.map(Integer::get)
}

fn number(value: Value) -> Result<Option<Number>, Rule> {
    match value {
        Value::Null => Ok(None),
        Value::Number(number) => Ok(Some(number)),
        Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            Err(Rule::Borrowed(NOT_A_NUMBER))
        }
    }
}

/// An object of numbers and texts always has a value.
fn kept(sent: Option<impl Serialize>) -> Option<Box<Value>> {
    sent.and_then(|sent| serde_json::to_value(sent).ok()).map(Box::new)
}

impl Item {
    /// The price of all of them; `None` above [`Amount::MINOR_UNITS_MAX`].
    pub fn total(&self) -> Option<Amount> {
        self.amount.minor_units().checked_mul(self.quantity).and_then(Amount::new)
    }

    /// What it costs, without what its merchant says of it. Its name becomes `-`, since an item has a name of one letter at least.
    #[must_use]
    pub fn without_free_text(&self) -> Self {
        Self {
            name: "-".to_owned(),
            amount: self.amount,
            quantity: self.quantity,
            description: None,
            sku: None,
            category_id: None,
            locality: None,
            genre: None,
            risk: None,
            date: None,
            kind: None,
            tickets: None,
            location: None,
        }
    }
}

/// The amount of a cycle: the price of every item; `None` above [`Amount::MINOR_UNITS_MAX`].
pub fn sum(items: &[Item]) -> Option<Amount> {
    items.iter().try_fold(Amount::ZERO, |sum, item| sum.plus(item.total()?))
}
