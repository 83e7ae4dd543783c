//! The providers of a merchant: their records, their sealed credentials, and their changes. [`crate::merchants`] adds them.
//! The domain defines the credentials of each type, the adapter its options.

use futures_util::future::join_all;
use regente_domain::id::{ClientId, MerchantId, ProviderId};
use regente_domain::problems::Problems;
use regente_domain::provider_type::{ProviderType, merge_credentials, validate_changed_credentials};
use regente_domain::time::{Timestamp, later_of};
use regente_providers::provider::{CredentialsCheck, CredentialsRefusal, NotRefused};
use regente_providers::request::{Credentials, NotificationAddress};
use regente_store::Batch;
use regente_store::providers::{self, Provider};
use regente_store::sealed::Sealed;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::app::App;
use crate::audit;
use crate::caller::{Caller, RequestId};
use crate::error::Error;
use crate::races::{self, Changed};
use crate::transaction_requests::call;
use crate::vault::{Binding, Purpose};

/// A provider that is to be added to a merchant. It holds secrets and is never printed.
pub struct NewProvider {
    /// Where it is in what was sent, such as `providers[0]`.
    pub path: String,
    /// A free label.
    pub name: String,
    /// 1 is asked first.
    pub priority: i64,
    /// The type.
    pub provider_type: ProviderType,
    /// The credentials, with the type in its stored spelling.
    pub credentials: Map<String, Value>,
    /// Options, as they are stored.
    pub options: Option<Map<String, Value>>,
    /// Ids at the acquirer.
    pub acquirer: Option<Map<String, Value>>,
}

/// A change of a provider; what is absent stays. It holds secrets and is never printed.
pub struct ProviderChanges {
    /// A free label.
    pub name: Option<String>,
    /// 1 is asked first.
    pub priority: Option<i64>,
    /// Options, as they are stored.
    pub options: Option<Option<Map<String, Value>>>,
    /// Ids at the acquirer.
    pub acquirer: Option<Option<Map<String, Value>>>,
    /// The credentials that change, in their stored spelling.
    pub credentials: Option<Map<String, Value>>,
}

/// A provider that is used.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn find(app: &App, client_id: ClientId, id: ProviderId) -> Result<Provider, Error> {
    providers::find_live(&app.store, client_id, id).await?.ok_or(Error::NotFound)
}

/// Where a provider of this release is to send its notifications.
pub fn notification_address(app: &App, provider: &Provider) -> Option<NotificationAddress> {
    let service =
        app.settings.base_url.clone().filter(|_| app.providers.has_adapter(provider.provider_type))?;
    Some(NotificationAddress { service, provider_id: provider.id.uuid() })
}

/// Asks the providers whether they know the credentials.
///
/// # Errors
/// The members that a provider does not accept.
pub async fn check_credentials(app: &App, new: &[NewProvider]) -> Result<(), Error> {
    let checks = new.iter().map(async |NewProvider { path, provider_type, credentials, options, .. }| {
        let options = options.clone().unwrap_or_default();
        refused(app, *provider_type, credentials, options, path).await
    });
    let mut problems = Problems::new();
    for refused in join_all(checks).await {
        problems.extend(refused);
    }
    problems.into_result().map_err(Error::from)
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

fn member(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// The record of a new provider of a merchant, with sealed credentials.
pub(crate) fn record_of(
    app: &App,
    client_id: ClientId,
    merchant_id: MerchantId,
    new: &NewProvider,
    now: Timestamp,
) -> Result<Provider, Error> {
    let id: ProviderId = app.chance.id(now);
    Ok(Provider {
        id,
        client_id,
        merchant_id,
        provider_type: new.provider_type,
        priority: new.priority,
        credentials: seal_credentials(app, client_id, id, &new.credentials)?,
        name: new.name.clone(),
        options: new.options.clone(),
        acquirer: new.acquirer.clone(),
        unknown: Map::new(),
        version: 1,
        updated_at: id.created_at(),
    })
}

/// Changes a provider. What comes of its credentials or options counts for the charges that come after it.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Invalid`] when the credentials would not be complete, or the provider does not know them;
/// [`Error::Conflict`] when they may be of another account while a request is open at the present one.
pub async fn change(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    id: ProviderId,
    changes: &ProviderChanges,
) -> Result<(), Error> {
    races::change(|| async {
        let before = find(app, caller.client_id, id).await?;
        let Some(after) = changed(app, &before, changes).await? else { return Ok(Changed::Already(())) };
        let mut batch = Batch::new(caller.client_id);
        providers::update(&mut batch, &after)?;
        audit::record(app, &mut batch, caller, request_id, "provider.updated", id.uuid());
        let _admission = app.store.admit(caller.client_id)?;
        Ok(Changed::Written(app.change_merchant(batch).await?, ()))
    })
    .await
}

/// The provider after a change; `None` when nothing changes.
async fn changed(app: &App, before: &Provider, changes: &ProviderChanges) -> Result<Option<Provider>, Error> {
    let stored = open_credentials(app, before).await?;
    let mut after = before.clone();
    after.name = changes.name.as_ref().unwrap_or(&before.name).clone();
    after.priority = changes.priority.unwrap_or(before.priority);
    if let Some(options) = &changes.options {
        after.options.clone_from(options);
    }
    if let Some(acquirer) = &changes.acquirer {
        after.acquirer.clone_from(acquirer);
    }
    let credentials = match &changes.credentials {
        Some(sent) => merged(before.provider_type, &stored, sent)?,
        None => stored.clone(),
    };
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

/// The stored credentials merged with those that were sent; the type never changes.
///
/// # Errors
/// What is wrong with them, by its path in a change.
pub fn merged(
    provider_type: ProviderType,
    stored: &Map<String, Value>,
    sent: &Map<String, Value>,
) -> Result<Map<String, Value>, Problems> {
    let mut problems = Problems::new();
    let named = sent.get("type").filter(|named| !named.is_null());
    if named.is_some_and(|named| named.as_str().and_then(ProviderType::parse_shown) != Some(provider_type)) {
        problems.add("credentials.type", format_args!("must be {}", provider_type.shown()));
    }
    let mut merged = merge_credentials(stored, sent);
    merged.insert("type".to_owned(), provider_type.code().into());
    if let Err(found) = validate_changed_credentials(provider_type, stored, &merged, "credentials") {
        problems.extend(found);
    }
    problems.into_result().map(|()| merged)
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

/// The credentials of a provider in the clear.
///
/// # Errors
/// [`Error::Internal`] when they do not open.
pub async fn open_credentials(app: &App, provider: &Provider) -> Result<Map<String, Value>, Error> {
    let binding = credentials_binding(provider.client_id, provider.id);
    let bytes = app.vault.open(binding, &provider.credentials).await?;
    serde_json::from_slice(&bytes).map_err(Error::internal)
}

fn seal_credentials(
    app: &App,
    client_id: ClientId,
    id: ProviderId,
    credentials: &Map<String, Value>,
) -> Result<Sealed, Error> {
    let bytes = serde_json::to_vec(credentials).map(Zeroizing::new).map_err(Error::internal)?;
    Ok(app.vault.seal(credentials_binding(client_id, id), &bytes))
}

fn credentials_binding(client_id: ClientId, id: ProviderId) -> Binding {
    Binding::new(Purpose::ProviderCredentials, client_id, id.uuid())
}
