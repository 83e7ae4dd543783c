//! Parses new merchants and changes of stored ones.

use regente_domain::mcc::Mcc;
use regente_domain::platform_fee::Fees;
use regente_domain::text::chars_max;
use regente_engine::merchants::{MerchantChanges, NewMerchant, PROVIDERS_MAX};
use regente_engine::providers::NewProvider;
use regente_store::merchants::MerchantDetails;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::super::fields::{Fields, text_change};
use super::super::providers::{NewProviderBody, new_provider};
use crate::app::App;

pub(super) fn new_merchant(fields: &Fields<'_>, app: &App) -> Option<NewMerchant> {
    let mcc = fields.required("mcc").mcc();
    let name = fields.optional("name").text(chars_max::NAME);
    let merchant_name = fields.optional("merchantName").text(chars_max::NAME);
    let merchant_url = fields.optional("merchantUrl").text(chars_max::FREE);
    let mut index = 0;
    let is_array = fields.members().get("providers").is_some_and(Value::is_array);
    let providers = fields.required("providers").one_or_many(1..=PROVIDERS_MAX, |entry| {
        let path = if is_array { format!("providers[{index}]") } else { "providers".to_owned() };
        index += 1;
        entry.object(|provider| new_provider(provider, &path, app))
    });
    let details = MerchantDetails {
        mcc: mcc?,
        name,
        merchant_name,
        merchant_url,
        platform_fee: Fees::default(),
        unknown: Map::new(),
    };
    Some(NewMerchant { details, providers: providers? })
}

pub(super) fn merchant_changes(fields: &Fields<'_>, app: &App) -> Option<MerchantChanges> {
    if fields.is_null("mcc") {
        fields.problem("mcc", "should not be empty");
    }
    let changes = MerchantChanges {
        mcc: fields.optional("mcc").mcc(),
        name: text_change(fields, "name", |field| field.text(chars_max::NAME)),
        merchant_name: text_change(fields, "merchantName", |field| field.text(chars_max::NAME)),
        merchant_url: text_change(fields, "merchantUrl", |field| field.text(chars_max::FREE)),
        providers: added_providers(fields, app).unwrap_or_default(),
    };
    Some(changes)
}

/// The new providers: the entries without an `id` (`docs/interface/merchants-and-providers.md#merchants`). Those with
/// one exist and are changed through their own route.
fn added_providers(fields: &Fields<'_>, app: &App) -> Option<Vec<NewProvider>> {
    let mut index = 0;
    let is_array = fields.members().get("providers").is_some_and(Value::is_array);
    let entries = fields.optional("providers").one_or_many(0..=PROVIDERS_MAX, |entry| {
        let path = if is_array { format!("providers[{index}]") } else { "providers".to_owned() };
        index += 1;
        entry.object(|provider| {
            if provider.has("id") { Some(None) } else { new_provider(provider, &path, app).map(Some) }
        })
    });
    Some(entries?.into_iter().flatten().collect())
}

/// A merchant to be created.
#[derive(Debug, ToSchema)]
#[schema(as = NewMerchant, rename_all = "camelCase", example = json!({
    "mcc": "5812", "name": "Loja Centro",
    "providers": [{ "name": "Main", "priority": 1, "credentials": { "type": "SANDBOX", "apiKey": "any" } }]
}))]
pub struct NewMerchantBody {
    /// The category code held at the providers: one to four digits, as a string or as an integer.
    pub mcc: Mcc,
    /// The name that people see in lists.
    #[schema(max_length = 256)]
    pub name: Option<String>,
    /// The name shown when a buyer is authenticated.
    #[schema(max_length = 256)]
    pub merchant_name: Option<String>,
    /// The address shown when a buyer is authenticated.
    #[schema(max_length = 2048)]
    pub merchant_url: Option<String>,
    /// At least one provider; a single object counts as an array of one.
    #[schema(min_items = 1, max_items = 50)]
    pub providers: Vec<NewProviderBody>,
}

/// Changes of a merchant; what is absent stays.
#[derive(Debug, ToSchema)]
#[schema(as = MerchantChanges, rename_all = "camelCase", example = json!({ "name": "Loja Norte" }))]
pub struct MerchantChangesBody {
    /// The category code held at the providers.
    pub mcc: Option<Mcc>,
    /// The name that people see in lists; null removes it.
    #[schema(max_length = 256)]
    pub name: Option<String>,
    /// The name shown when a buyer is authenticated; null removes it.
    #[schema(max_length = 256)]
    pub merchant_name: Option<String>,
    /// The address shown when a buyer is authenticated; null removes it.
    #[schema(max_length = 2048)]
    pub merchant_url: Option<String>,
    /// Providers that are added. Entries with an `id` are those that exist already and are left as they are.
    pub providers: Option<Vec<NewProviderBody>>,
}
