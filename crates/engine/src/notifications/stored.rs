//! Reads what a stored notification of a provider says.

use regente_providers::notification::{Notification, NotificationRefusal, ProviderEvent};
use regente_store::provider_notifications::{self, ProviderNotification};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use zeroize::Zeroizing;

use crate::app::App;
use crate::error::Error;
use crate::vault::{Binding, Purpose};

/// What a stored notification says; a refusal when this release does not understand it.
///
/// # Errors
/// As [`body_of`].
pub async fn events_of(
    app: &App,
    stored: &ProviderNotification,
) -> Result<Result<Vec<ProviderEvent>, NotificationRefusal>, Error> {
    Ok(events_in(app, stored, &body_of(app, stored).await?))
}

/// The body of a stored notification as the provider has sent it.
///
/// # Errors
/// As the store and the vault.
pub async fn body_of(app: &App, stored: &ProviderNotification) -> Result<Zeroizing<Vec<u8>>, Error> {
    let binding = Binding::new(Purpose::ProviderNotification, stored.client_id, stored.id);
    match app.vault.open(binding, &stored.body).await {
        Ok(body) => Ok(body),
        // The body was sealed again after it was read, and the former key was destroyed.
        Err(crate::vault::VaultError::UnknownKey(_)) => {
            let again = provider_notifications::find(&app.store, stored.client_id, stored.id).await?;
            let again = again.ok_or(Error::NotFound)?;
            Ok(app.vault.open(binding, &again.body).await?)
        }
        Err(error) => Err(error.into()),
    }
}

/// As [`events_of`], of its body.
///
/// # Errors
/// This release does not understand it.
pub fn events_in(
    app: &App,
    stored: &ProviderNotification,
    body: &[u8],
) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
    let mut headers = HeaderMap::new();
    for (name, value) in &stored.headers {
        let header = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value));
        if let (Ok(name), Ok(value)) = header {
            headers.append(name, value);
        }
    }
    app.providers.events(stored.provider_type, &Notification { headers: &headers, body })
}
