//! Reads what a stored notification of a provider says.

use regente_providers::notification::{Notification, NotificationRefusal, ProviderEvent};
use regente_store::provider_notifications::{self, ProviderNotification};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::app::App;
use crate::error::Error;
use crate::vault::{Binding, Purpose};

/// What a stored notification says; a refusal when this release does not understand it.
///
/// # Errors
/// As the store and the vault.
pub async fn events_of(
    app: &App,
    stored: &ProviderNotification,
) -> Result<Result<Vec<ProviderEvent>, NotificationRefusal>, Error> {
    let binding = Binding::new(Purpose::ProviderNotification, stored.client_id, stored.id);
    let body = match app.vault.open(binding, &stored.body).await {
        Ok(body) => body,
        // The body was sealed again after it was read, and the former key was destroyed.
        Err(crate::vault::VaultError::UnknownKey(_)) => {
            let again = provider_notifications::find(&app.store, stored.client_id, stored.id).await?;
            let again = again.ok_or(Error::NotFound)?;
            app.vault.open(binding, &again.body).await?
        }
        Err(error) => return Err(error.into()),
    };
    let mut headers = HeaderMap::new();
    for (name, value) in &stored.headers {
        let header = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value));
        if let (Ok(name), Ok(value)) = header {
            headers.append(name, value);
        }
    }
    Ok(app.providers.events(stored.provider_type, &Notification { headers: &headers, body: &body }))
}
