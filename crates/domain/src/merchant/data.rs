//! What is sent of merchants, as structs that read themselves (decision 36).

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde_json::Value as Json;
use utoipa::ToSchema;

use super::NewProvider;
use crate::mcc::Mcc;
use crate::problems::Problems;
use crate::text::chars_max;
use crate::wire::{Located, OneOrMany, Patch, Text};

/// The most providers of one merchant; every charge reads all of them.
pub const PROVIDERS_MAX: usize = 50;

type Name = Text<0, { chars_max::NAME }>;
type Address = Text<0, { chars_max::FREE }>;
type NewProviders = OneOrMany<Located<NewProvider>, 1, PROVIDERS_MAX>;

/// A merchant to be created.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase", example = json!({
    "mcc": "5812", "name": "Loja Centro",
    "providers": [{ "name": "Main", "priority": 1, "credentials": { "type": "SANDBOX", "apiKey": "any" } }]
}))]
pub struct NewMerchant {
    /// The category code held at the providers: one to four digits, as a string or as an integer.
    pub mcc: Mcc,
    /// The name that people see in lists.
    #[deserr(default)]
    pub name: Option<Name>,
    /// The name shown when a buyer is authenticated.
    #[deserr(default)]
    pub merchant_name: Option<Name>,
    /// The address shown when a buyer is authenticated.
    #[deserr(default)]
    pub merchant_url: Option<Address>,
    /// At least one provider; a single object counts as an array of one.
    pub providers: NewProviders,
}

/// Changes of a merchant; what is absent stays.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase", example = json!({ "name": "Loja Norte" }))]
pub struct MerchantChanges {
    /// The category code held at the providers.
    #[deserr(default, from(Mcc) = Some)]
    pub mcc: Option<Mcc>,
    /// The name that people see in lists; null removes it.
    #[deserr(default)]
    #[schema(value_type = Option<Name>)]
    pub name: Patch<Name>,
    /// The name shown when a buyer is authenticated; null removes it.
    #[deserr(default)]
    #[schema(value_type = Option<Name>)]
    pub merchant_name: Patch<Name>,
    /// The address shown when a buyer is authenticated; null removes it.
    #[deserr(default)]
    #[schema(value_type = Option<Address>)]
    pub merchant_url: Patch<Address>,
    /// Providers that are added. Entries with an `id` are those that exist already and are left as they are.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<NewProvider>>)]
    pub providers: Option<OneOrMany<AddedProvider, 0, PROVIDERS_MAX>>,
}

/// An entry of the providers in a change (`docs/interface/merchants-and-providers.md#merchants`).
pub enum AddedProvider {
    /// It has an `id`: it exists, and is changed through its own route.
    Known,
    /// It is added.
    New(Box<Located<NewProvider>>),
}

impl AddedProvider {
    /// Whether the entry, as sent, is of a provider that exists.
    pub fn is_known(sent: &Json) -> bool {
        sent.get("id").is_some_and(|id| !id.is_null())
    }
}

impl Deserr<Problems> for AddedProvider {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let sent: Json = Deserr::<Problems>::deserialize_from_value(value, location)?;
        if Self::is_known(&sent) {
            return Ok(Self::Known);
        }
        Located::deserialize_from_value(sent.into_value(), location).map(|new| Self::New(Box::new(new)))
    }
}
