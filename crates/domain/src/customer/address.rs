//! Parses postal addresses of buyers (`docs/interface/customers.md#addresses`).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;
use utoipa::ToSchema;

use crate::country::Country;
use crate::problems::Problems;
use crate::text::chars_max;

/// An address. Which members are required depends on where it is sent.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Address {
    /// ISO 3166-1 alpha-2.
    #[schema(example = "BR")]
    pub country: Option<Country>,
    /// State or province.
    pub state: Option<String>,
    /// City.
    pub city: Option<String>,
    /// District.
    pub district: Option<String>,
    /// Postal code.
    pub zip_code: Option<String>,
    /// Street.
    pub street: Option<String>,
    /// Number in the street; text, since numbers such as `12B` exist.
    pub street_number: Option<String>,
    /// Apartment, floor and the like.
    pub complement: Option<String>,
}

/// Which members an address must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Everything but the complement; the default country is Brazil. For `address`.
    Complete,
    /// None. For `billingAddress` and `deliveryAddress`.
    Parts,
}

impl Address {
    /// The members that a complete address has and this one lacks.
    pub fn missing(&self) -> Vec<&'static str> {
        let is_blank = |text: &Option<String>| text.as_ref().is_none_or(|text| text.trim().is_empty());
        let texts = [
            ("street", is_blank(&self.street)),
            ("streetNumber", is_blank(&self.street_number)),
            ("zipCode", is_blank(&self.zip_code)),
            ("state", is_blank(&self.state)),
            ("city", is_blank(&self.city)),
            ("district", is_blank(&self.district)),
            ("country", self.country.is_none()),
        ];
        texts.into_iter().filter(|(_, is_missing)| *is_missing).map(|(name, _)| name).collect()
    }

    /// Parses an address; `path` is that of the object. `None` when it is empty: shipped checkouts send `{}` or
    /// blanks for unknown members, and these count as not sent (`docs/interface/customers.md#addresses`). Errors go
    /// to `problems`.
    pub fn parse(
        sent: &Map<String, Value>,
        demand: Demand,
        path: &str,
        problems: &mut Problems,
    ) -> Option<Self> {
        if sent.values().all(is_blank) {
            return None;
        }
        let mut reader = Reader { sent, demand, path, problems };
        let mut address = Self {
            street: reader.required("street"),
            street_number: reader.required("streetNumber"),
            zip_code: reader.required("zipCode"),
            state: reader.required("state"),
            city: reader.required("city"),
            district: reader.required("district"),
            country: reader.country(),
            complement: reader.text("complement"),
        };
        if demand == Demand::Complete {
            address.country.get_or_insert(Country::BR);
        }
        Some(address)
    }
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

struct Reader<'a> {
    sent: &'a Map<String, Value>,
    demand: Demand,
    path: &'a str,
    problems: &'a mut Problems,
}

impl Reader<'_> {
    /// A text that a complete address requires.
    fn required(&mut self, name: &str) -> Option<String> {
        let is_missing = match self.sent.get(name) {
            None | Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => false,
        };
        if is_missing && self.demand == Demand::Complete {
            self.add(name, "should not be empty");
            return None;
        }
        self.text(name)
    }

    fn text(&mut self, name: &str) -> Option<String> {
        match self.sent.get(name)? {
            Value::Null => None,
            Value::String(text) if text.chars().count() <= chars_max::LINE => Some(text.clone()),
            Value::String(_) => {
                self.add(
                    name,
                    format_args!("must be shorter than or equal to {} characters", chars_max::LINE),
                );
                None
            }
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                self.add(name, "must be a string");
                None
            }
        }
    }

    /// A blank country counts as not sent.
    fn country(&mut self) -> Option<Country> {
        let value = self.sent.get("country").filter(|value| !is_blank(value))?;
        let country = value.as_str().and_then(Country::parse);
        if country.is_none() {
            let codes = Country::all().map(Country::code).collect::<Vec<_>>().join(", ");
            self.add("country", format_args!("must be one of the following values: {codes}"));
        }
        country
    }

    fn add(&mut self, name: &str, rule: impl std::fmt::Display) {
        self.problems.add(format_args!("{}.{name}", self.path), rule);
    }
}
