//! Parses new providers and changes of stored ones. The domain defines the credentials of each type, the adapter its
//! options.

use std::ops::RangeInclusive;

use regente_domain::problems::Problems;
use regente_domain::provider_type::{ProviderType, stored_spelling, validate_credentials};
use regente_domain::text::chars_max;
use regente_engine::providers::{NewProvider, ProviderChanges, merged};
use regente_providers::provider::Providers;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::super::fields::{Fields, INTEGER_MAX};
use crate::app::App;

/// The most bytes of `credentials`: enough for a few certificates in Base64.
const CREDENTIALS_BYTES_MAX: usize = 256 * 1024;
/// The most bytes of `options` or `acquirer`.
const OPTIONS_BYTES_MAX: usize = 64 * 1024;
/// The most entries of `acquirer.bin`.
const ACQUIRER_BINS_MAX: usize = 100;

/// The valid priorities; 1 is asked first.
const PRIORITIES: RangeInclusive<i64> = 0..=INTEGER_MAX;

/// Reads a new provider; `path` is that of its object, for example `providers[0]`.
pub fn new_provider(fields: &Fields<'_>, path: &str, app: &App) -> Option<NewProvider> {
    let name = fields.required("name").non_empty_text(chars_max::NAME);
    let priority = fields.required("priority").integer(PRIORITIES);
    let credentials = fields.required("credentials").verbatim().raw_object(CREDENTIALS_BYTES_MAX);
    let credentials = credentials.and_then(|sent| read_credentials(fields, sent, path, app));
    let provider_type = credentials.as_ref().map(|(provider_type, _)| *provider_type);
    let options = read_options(fields, provider_type, path, &app.providers);
    let acquirer = read_acquirer(fields);
    let (provider_type, credentials) = credentials?;
    let path = path.to_owned();
    Some(NewProvider {
        path,
        name: name?,
        priority: priority?,
        provider_type,
        credentials,
        options,
        acquirer,
    })
}

/// The type, and the credentials with the type in its stored spelling.
fn read_credentials(
    fields: &Fields<'_>,
    mut sent: Map<String, Value>,
    path: &str,
    app: &App,
) -> Option<(ProviderType, Map<String, Value>)> {
    let path = member(path, "credentials");
    let Some(provider_type) = sent.get("type").and_then(Value::as_str).and_then(ProviderType::parse_shown)
    else {
        let codes: Vec<&str> = ProviderType::all().map(ProviderType::shown).collect();
        let rule = format!("must be one of the following values: {}", codes.join(", "));
        fields.problems(Problems::one(member(&path, "type"), rule));
        return None;
    };
    if !app.settings.simulators.permit(provider_type) {
        fields.problems(Problems::one(member(&path, "type"), "must not be a simulator in production"));
        return None;
    }
    sent.insert("type".to_owned(), provider_type.code().into());
    let sent = stored_spelling(provider_type, sent);
    match validate_credentials(provider_type, &sent, &path) {
        Ok(()) => Some((provider_type, sent)),
        Err(problems) => {
            fields.problems(problems);
            None
        }
    }
}

/// The options as they are stored; `None` when the type is unknown, since the type defines them.
fn read_options(
    fields: &Fields<'_>,
    provider_type: Option<ProviderType>,
    path: &str,
    adapters: &Providers,
) -> Option<Map<String, Value>> {
    let sent = fields.optional("options").raw_object(OPTIONS_BYTES_MAX)?;
    let stored = adapters.validate_options(provider_type?, &sent, &member(path, "options"));
    stored.map_err(|problems| fields.problems(problems)).ok()
}

/// The ids at the acquirer: one for all brands, or one in each entry of `bin`, or both
/// (`docs/interface/merchants-and-providers.md#acquirer`). Stored as sent.
fn read_acquirer(fields: &Fields<'_>) -> Option<Map<String, Value>> {
    let sent = fields.optional("acquirer").verbatim().raw_object(OPTIONS_BYTES_MAX)?;
    fields.optional("acquirer").object(|acquirer| {
        acquirer.optional("merchantId").verbatim().non_empty_text(chars_max::LINE);
        let each_has_its_own = !acquirer.has("merchantId");
        let bin = if each_has_its_own { acquirer.required("bin") } else { acquirer.optional("bin") };
        bin.array(usize::from(each_has_its_own)..=ACQUIRER_BINS_MAX, |entry| {
            entry.object(|entry| {
                let own = if each_has_its_own {
                    entry.required("merchantId")
                } else {
                    entry.optional("merchantId")
                };
                own.verbatim().non_empty_text(chars_max::LINE);
                entry.optional("brand").non_empty_text(chars_max::LINE);
                entry.optional("value").non_empty_text(chars_max::LINE);
                Some(())
            })
        });
        Some(())
    })?;
    Some(sent)
}

fn member(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Reads a change of a provider of this type, which has these credentials: what is wrong with both together is told with the
/// other problems of the body.
pub(super) fn provider_changes(
    fields: &Fields<'_>,
    provider_type: ProviderType,
    stored: &Map<String, Value>,
    adapters: &Providers,
) -> ProviderChanges {
    let is_named = |name: &str| fields.has(name) || fields.is_null(name);
    ProviderChanges {
        name: fields.optional("name").non_empty_text(chars_max::NAME),
        priority: fields.optional("priority").integer(PRIORITIES),
        options: is_named("options").then(|| read_options(fields, Some(provider_type), "", adapters)),
        acquirer: is_named("acquirer").then(|| read_acquirer(fields)),
        credentials: read_changed_credentials(fields, provider_type, stored),
    }
}

fn read_changed_credentials(
    fields: &Fields<'_>,
    provider_type: ProviderType,
    stored: &Map<String, Value>,
) -> Option<Map<String, Value>> {
    let sent = fields.optional("credentials").verbatim().raw_object(CREDENTIALS_BYTES_MAX)?;
    let sent = stored_spelling(provider_type, sent);
    match merged(provider_type, stored, &sent) {
        Ok(_) => Some(sent),
        Err(problems) => {
            fields.problems(problems);
            None
        }
    }
}

/// A provider to be created.
#[derive(Debug, ToSchema)]
#[schema(as = NewProvider, rename_all = "camelCase")]
pub struct NewProviderBody {
    /// A free label.
    #[schema(example = "Main", min_length = 1, max_length = 256)]
    pub name: String,
    /// 1 is asked first.
    #[schema(example = 1, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    pub priority: i64,
    /// How the merchant is known to the provider.
    pub credentials: CredentialsBody,
    /// Options of the types that have any.
    #[schema(value_type = Option<Object>)]
    pub options: Option<Map<String, Value>>,
    /// Ids at the acquirer for authentication.
    pub acquirer: Option<AcquirerBody>,
}

/// Credentials: the type of the provider, and the members that this type needs, all of them strings. Members that no
/// type needs are kept.
#[derive(Debug, ToSchema)]
#[schema(as = NewCredentials, rename_all = "camelCase", example = json!({ "type": "SANDBOX", "apiKey": "any" }))]
pub struct CredentialsBody {
    /// The code of the provider type.
    #[schema(rename = "type", example = "SANDBOX")]
    pub kind: String,
    /// What `SANDBOX` takes, and some others; the members differ by type.
    #[schema(example = "any")]
    pub api_key: Option<String>,
}

/// Ids at the acquirer: `merchantId` for all brands, or one in each entry of `bin`, which wins.
#[derive(Debug, ToSchema)]
#[schema(as = Acquirer, rename_all = "camelCase")]
pub struct AcquirerBody {
    /// The id for all brands; required unless each entry of `bin` has one.
    #[schema(example = "2222222222", min_length = 1, max_length = 255)]
    pub merchant_id: Option<String>,
    /// What is known for each brand.
    #[schema(max_items = 100)]
    pub bin: Option<Vec<AcquirerBinBody>>,
}

/// What the acquirer knows of one brand.
#[derive(Debug, ToSchema)]
#[schema(as = AcquirerBin, rename_all = "camelCase")]
pub struct AcquirerBinBody {
    /// The id for this brand; required unless there is one for all brands.
    #[schema(min_length = 1, max_length = 255)]
    pub merchant_id: Option<String>,
    /// The brand.
    #[schema(example = "Mastercard", min_length = 1, max_length = 255)]
    pub brand: Option<String>,
    /// The acquirer's BIN.
    #[schema(example = "550259", min_length = 1, max_length = 255)]
    pub value: Option<String>,
}

/// Changes of a provider; what is absent stays.
#[derive(Debug, ToSchema)]
#[schema(as = ProviderChanges, rename_all = "camelCase", example = json!({
    "name": "PagSeguro main", "credentials": { "type": "PAGSEGURO", "token": "NEWTOKEN", "email": "pay@example.com" }
}))]
pub struct ProviderChangesBody {
    /// A free label.
    #[schema(min_length = 1, max_length = 256)]
    pub name: Option<String>,
    /// 1 is asked first.
    #[schema(minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    pub priority: Option<i64>,
    /// The members that change. `type`, when it is sent, is the type that the provider has. A value as an answer shows
    /// it (masked) changes nothing; null removes a member that is not required.
    #[schema(value_type = Option<Object>)]
    pub credentials: Option<Map<String, Value>>,
    /// New options as a whole; null removes them.
    #[schema(value_type = Option<Object>)]
    pub options: Option<Map<String, Value>>,
    /// New ids at the acquirer as a whole; null removes them.
    pub acquirer: Option<AcquirerBody>,
}
