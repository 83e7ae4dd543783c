//! Receives the notifications of providers (`docs/interface/merchants-and-providers.md#notifications`): authenticated, then
//! stored with the job that settles it, and only then answered. What a notification says is decided by that job
//! ([`settle`]), never while the provider waits.

mod apply;
mod settle;
pub mod stored;

use regente_domain::id::ProviderId;
use regente_providers::notification::{Authentic, NotificationRefusal, NotificationRequest};
use regente_store::provider_notifications::{self, ProviderNotification, State};
use regente_store::providers::{self, Provider};
use regente_store::{Batch, Commit};
use reqwest::header::{HeaderMap, HeaderName};
use uuid::Uuid;

pub use settle::settle;

use crate::app::App;
use crate::error::Error;
use crate::metrics::{self, NotificationOutcome};
use crate::queue::{self, Kind};
use crate::transaction_requests::call;
use crate::vault::{Binding, Purpose, half_of, sha256};

/// Separates digests of ids from digests of bodies.
const BY_ID: &[u8] = b"id";
const BY_BODY: &[u8] = b"body";

/// Why a notification is not taken.
#[derive(Debug)]
pub enum Refused {
    /// The provider did not send it. Nothing of it is stored.
    NotAuthentic,
    /// There is no such provider, it sends none, or the notification could not be stored.
    Failed(Error),
}

impl<E: Into<Error>> From<E> for Refused {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Stores a notification, once, with the job that settles it. After an error the provider sends it again.
pub async fn receive(
    app: &App,
    provider_id: ProviderId,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<(), Refused> {
    let provider = provider(app, provider_id).await?;
    let authentic = authenticate(app, &provider, headers, body).await?;
    let _admission = app.store.admit(provider.client_id)?;
    app.vault.keep_current().await?;
    let id = half_of(&match &authentic.id {
        Some(id) => sha256(&[provider_id.uuid().as_bytes(), BY_ID, id.as_bytes()]),
        None => sha256(&[provider_id.uuid().as_bytes(), BY_BODY, body]),
    });
    let now = app.clock.of(provider.client_id);
    let notification = ProviderNotification {
        id,
        client_id: provider.client_id,
        provider_id,
        provider_type: provider.provider_type,
        headers: kept(headers, authentic.kept_headers),
        body: app.vault.seal(binding(&provider, id), body),
        state: State::Waiting,
        received_at: now,
        waits: None,
    };
    let mut batch = Batch::new(provider.client_id);
    provider_notifications::insert(&mut batch, &notification)?;
    queue::enqueue(app, &mut batch, Kind::ProviderNotification, &id.to_string(), &id.to_string(), now);
    let outcome = match app.store.apply(batch).await? {
        Commit::Applied => NotificationOutcome::Stored,
        Commit::Refused(refusal) if provider_notifications::is_repetition(&refusal) => {
            NotificationOutcome::Repeated
        }
        Commit::Refused(_) | Commit::Unknown => return Err(Error::unavailable().into()),
    };
    metrics::provider_notification(provider.provider_type, outcome);
    Ok(())
}

/// The provider, also that of a deleted merchant: what became of its charges is still told.
pub(crate) async fn provider(app: &App, provider_id: ProviderId) -> Result<Provider, Error> {
    let client_id = providers::client_of(&app.store, provider_id).await?.ok_or(Error::NotFound)?;
    providers::find(&app.store, client_id, provider_id).await?.ok_or(Error::NotFound)
}

async fn authenticate(
    app: &App,
    provider: &Provider,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Authentic, Refused> {
    let credentials = call::credentials(app, provider).await?;
    let options = provider.options.clone().unwrap_or_default();
    let request = NotificationRequest {
        headers,
        body,
        credentials: &credentials,
        options: &options,
        // A provider signs by the time of the world, whatever the clock of the account shows.
        now: app.clock.deployment(),
    };
    match app.providers.authenticate(provider.provider_type, &request) {
        Ok(authentic) => Ok(authentic),
        Err(NotificationRefusal::NotSupported) => Err(Error::NotFound.into()),
        Err(
            NotificationRefusal::NotAuthentic
            | NotificationRefusal::TooLong
            | NotificationRefusal::NotReadable(_)
            | NotificationRefusal::UnknownKind(_),
        ) => {
            metrics::provider_notification(provider.provider_type, NotificationOutcome::NotAuthentic);
            if let Some(count) = app.forged_notifications.count(provider.id, app.clock.machine()) {
                tracing::warn!(
                    provider = %provider.id, client = %provider.client_id, count,
                    "notifications that the provider did not sign were refused"
                );
            }
            Err(Refused::NotAuthentic)
        }
    }
}

fn kept(headers: &HeaderMap, names: &[HeaderName]) -> Vec<(String, String)> {
    let value = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let kept = names.iter().filter_map(|name| Some((name.as_str().to_owned(), value(name)?.to_owned())));
    kept.collect()
}

fn binding(provider: &Provider, id: Uuid) -> Binding {
    Binding::new(Purpose::ProviderNotification, provider.client_id, id)
}
