//! Documents in bodies.

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, ValuePointerRef};
use serde_json::Value;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::{Document, NO_DOCUMENT};
use crate::country::CountryOrBlank;
use crate::problems::Problems;
use crate::wire::{Path, Text, Verbatim, read_with, refused};

/// A document.
#[derive(Debug, Deserr, ToSchema)]
#[deserr(error = Problems)]
#[schema(as = NewDocument, example = json!({ "type": "cpf", "number": "97055503019", "country": "BR" }))]
struct SentDocument {
    /// A document type of the country in upper or lower case, or `noDocument`.
    #[deserr(rename = "type")]
    #[schema(rename = "type", value_type = String)]
    kind: Text<0, 255>,
    /// With or without punctuation; may be left out with `noDocument`.
    #[deserr(default)]
    #[schema(value_type = String, max_length = 40)]
    number: Option<Verbatim<0, 255>>,
    /// ISO 3166-1 alpha-2; `BR` by default.
    #[deserr(default)]
    #[schema(value_type = Option<CountryOrBlank>, default = "BR")]
    country: Option<Text<0, 255>>,
}

impl Deserr<Problems> for Document {
    fn deserialize_from_value<V: IntoValue>(
        value: deserr::Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let sent = read_with(value, location, |members, problems| {
            let kind = members.get("type").and_then(Value::as_str);
            let needs_number = !kind.is_some_and(|kind| kind.eq_ignore_ascii_case(NO_DOCUMENT));
            if needs_number && !members.contains_key("number") {
                problems.extend(refused(location.push_key("number"), "should not be empty"));
            }
        })?;
        let SentDocument { kind, number, country } = sent;
        let country = country.as_deref().filter(|code| !code.trim().is_empty());
        let path = Path(location).to_string();
        let mut problems = Problems::new();
        let document =
            Self::parse(&kind, number.as_deref().unwrap_or_default(), country, &path, &mut problems);
        problems.into_result()?;
        document.ok_or_else(|| refused(location, "is not valid"))
    }
}

impl PartialSchema for Document {
    fn schema() -> RefOr<Schema> {
        SentDocument::schema()
    }
}

impl ToSchema for Document {
    fn name() -> Cow<'static, str> {
        SentDocument::name()
    }

    fn schemas(found: &mut Vec<(String, RefOr<Schema>)>) {
        SentDocument::schemas(found);
    }
}
