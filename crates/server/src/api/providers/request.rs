//! Parses new providers and changes of stored ones. The domain defines the credentials of each type, the adapter its
//! options.

use std::ops::RangeInclusive;

use futures_util::future::join_all;
use regente_domain::id::{ClientId, MerchantId, ProviderId};
use regente_domain::problems::Problems;
use regente_domain::provider_type::{
    ProviderType, merge_credentials, stored_spelling, validate_changed_credentials, validate_credentials,
};
use regente_domain::text::chars_max;
use regente_domain::time::{Timestamp, later_of};
use regente_engine::error::Error;
use regente_engine::transaction_requests::call;
use regente_providers::provider::{CredentialsCheck, CredentialsRefusal, NotRefused, Providers};
use regente_providers::request::Credentials;
use regente_store::providers::Provider;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::super::fields::{Body, Fields, INTEGER_MAX};
use super::{open_credentials, seal_credentials};
use crate::app::App;

/// The most bytes of `credentials`: enough for a few certificates in Base64.
const CREDENTIALS_BYTES_MAX: usize = 256 * 1024;
/// The most bytes of `options` or `acquirer`.
const OPTIONS_BYTES_MAX: usize = 64 * 1024;
/// The most entries of `acquirer.bin`.
const ACQUIRER_BINS_MAX: usize = 100;

/// The valid priorities; 1 is asked first.
const PRIORITIES: RangeInclusive<i64> = 0..=INTEGER_MAX;
/// A parsed new provider. It holds secrets and is never printed.
pub struct NewProvider {
    /// Where it is in the body.
    path: String,
    name: String,
    priority: i64,
    provider_type: ProviderType,
    credentials: Map<String, Value>,
    options: Option<Map<String, Value>>,
    acquirer: Option<Map<String, Value>>,
}

impl NewProvider {
    /// Reads a provider; `path` is that of its object, for example `providers[0]`.
    pub fn read(fields: &Fields<'_>, path: &str, app: &App) -> Option<Self> {
        let name = fields.required("name").non_empty_text(chars_max::NAME);
        let priority = fields.required("priority").integer(PRIORITIES);
        let credentials = fields.required("credentials").verbatim().raw_object(CREDENTIALS_BYTES_MAX);
        let credentials = credentials.and_then(|sent| read_credentials(fields, sent, path, app));
        let provider_type = credentials.as_ref().map(|(provider_type, _)| *provider_type);
        let options = read_options(fields, provider_type, path, &app.providers);
        let acquirer = read_acquirer(fields);
        let (provider_type, credentials) = credentials?;
        let path = path.to_owned();
        Some(Self { path, name: name?, priority: priority?, provider_type, credentials, options, acquirer })
    }

    /// Asks the providers whether they know the credentials.
    ///
    /// # Errors
    /// The members that a provider does not accept.
    pub async fn check_credentials(app: &App, new: &[Self]) -> Result<(), Error> {
        let checks = new.iter().map(async |Self { path, provider_type, credentials, options, .. }| {
            let options = options.clone().unwrap_or_default();
            refused(app, *provider_type, credentials, options, path).await
        });
        let mut problems = Problems::new();
        for refused in join_all(checks).await {
            problems.extend(refused);
        }
        problems.into_result().map_err(Error::from)
    }

    /// The stored record of this provider for a merchant, with sealed credentials.
    ///
    /// # Errors
    /// [`Error::Internal`] when the credentials cannot be written.
    pub fn to_record(
        &self,
        app: &App,
        client_id: ClientId,
        merchant_id: MerchantId,
        now: Timestamp,
    ) -> Result<Provider, Error> {
        let id: ProviderId = app.chance.id(now);
        Ok(Provider {
            id,
            client_id,
            merchant_id,
            provider_type: self.provider_type,
            priority: self.priority,
            credentials: seal_credentials(app, client_id, id, &self.credentials)?,
            name: self.name.clone(),
            options: self.options.clone(),
            acquirer: self.acquirer.clone(),
            unknown: Map::new(),
            version: 1,
            updated_at: id.created_at(),
        })
    }
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

/// What the provider itself says against the credentials.
async fn refused(
    app: &App,
    provider_type: ProviderType,
    credentials: &Map<String, Value>,
    options: Map<String, Value>,
    path: &str,
) -> Problems {
    let credentials = Credentials::new(credentials.clone());
    let check = CredentialsCheck { credentials, options, mode: app.settings.mode };
    match app.providers.check_credentials(provider_type, check).await {
        // What is not known is no problem: a provider that fails keeps nobody from registering it.
        Ok(NotRefused::Accepted | NotRefused::NotReached | NotRefused::NotTold | NotRefused::NotAsked) => {
            Problems::new()
        }
        Err(CredentialsRefusal { member: name, problem }) => {
            Problems::one(member(&member(path, "credentials"), name), problem)
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

/// The provider after a change; `None` when nothing changes.
pub(super) async fn changed(app: &App, before: &Provider, body: &Body) -> Result<Option<Provider>, Error> {
    let stored = open_credentials(app, before).await?;
    let (mut after, credentials) = body.read(|fields| {
        let mut after = before.clone();
        if let Some(name) = fields.optional("name").non_empty_text(chars_max::NAME) {
            after.name = name;
        }
        if let Some(priority) = fields.optional("priority").integer(PRIORITIES) {
            after.priority = priority;
        }
        if fields.has("options") || fields.is_null("options") {
            after.options = read_options(fields, Some(before.provider_type), "", &app.providers);
        }
        if fields.has("acquirer") || fields.is_null("acquirer") {
            after.acquirer = read_acquirer(fields);
        }
        let sent = fields.optional("credentials").verbatim().raw_object(CREDENTIALS_BYTES_MAX);
        let sent = sent.map(|sent| stored_spelling(before.provider_type, sent));
        Some((after, sent.and_then(|sent| merged(fields, before.provider_type, &stored, &sent))))
    })?;
    let credentials = credentials.unwrap_or_else(|| stored.clone());
    if after == *before && credentials == stored {
        return Ok(None);
    }
    if credentials != stored {
        let options = after.options.clone().unwrap_or_default();
        refused(app, before.provider_type, &credentials, options, "").await.into_result()?;
        stay_at_the_account(app, before, &stored, &credentials).await?;
    }
    // Sealed again even when unchanged: the old data key may be about to be retired.
    after.credentials = seal_credentials(app, before.client_id, before.id, &credentials)?;
    after.updated_at = later_of(app.clock.of(before.client_id), before.updated_at);
    Ok(Some(after))
}

/// Credentials are not moved to another account while something is open at the provider.
async fn stay_at_the_account(
    app: &App,
    provider: &Provider,
    stored: &Map<String, Value>,
    after: &Map<String, Value>,
) -> Result<(), Error> {
    let may_be_another = provider.provider_type.may_name_another_account(stored, after);
    if may_be_another
        && !call::may_replace_credentials(app, provider, Credentials::new(after.clone())).await?
    {
        return Err(Error::conflict(vec![
            "credentials are of another account, or cannot be shown to be of the same: charges are open at the provider. \
             Change them when these have ended, or add a provider for the other account"
                .to_owned(),
        ]));
    }
    Ok(())
}

/// The stored credentials merged with those of the body; the type never changes.
fn merged(
    fields: &Fields<'_>,
    provider_type: ProviderType,
    stored: &Map<String, Value>,
    sent: &Map<String, Value>,
) -> Option<Map<String, Value>> {
    let named = sent.get("type").filter(|named| !named.is_null());
    if named.is_some_and(|named| named.as_str().and_then(ProviderType::parse_shown) != Some(provider_type)) {
        fields.problems(Problems::one("credentials.type", format_args!("must be {}", provider_type.shown())));
    }
    let mut merged = merge_credentials(stored, sent);
    merged.insert("type".to_owned(), provider_type.code().into());
    if let Err(problems) = validate_changed_credentials(provider_type, stored, &merged, "credentials") {
        fields.problems(problems);
        return None;
    }
    Some(merged)
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
