//! `POST /providers/{providerId}/notifications`: what a provider tells by itself
//! (`docs/interface/merchants-and-providers.md#notifications`). The provider's own signature is its key; the adapter of its
//! type checks it.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use regente_domain::id::ProviderId;
use regente_engine::error::Error;
use regente_engine::notifications::{self, Refused};
use regente_providers::notification::NOTIFICATION_BYTES_MAX;

use super::path::Path;
use crate::app::App;
use crate::http::error::{ApiError, ErrorEnvelope};
use crate::http::limits::read_bytes_within;
use crate::http::rates::RateKey;

/// Takes a notification of a provider.
///
/// Providers call it, in the form of their type and with their own signature instead of an API key. It is answered once
/// the notification is stored; what it says is applied afterwards.
#[utoipa::path(
    post, path = "/providers/{providerId}/notifications", operation_id = "notifyProvider", tag = "Providers",
    params(("providerId" = Uuid, Path, description = "Id of the provider")),
    responses((status = 200, description = "The notification is stored, now or before; the body is empty."),
        (status = 400, description = "The body did not arrive completely.", body = ErrorEnvelope),
        (status = 401, description = "The provider did not sign it.", body = ErrorEnvelope),
        (status = 404, description = "There is no such provider, or its type sends no notifications.",
            body = ErrorEnvelope),
        (status = 413, description = "It has more than 262,144 bytes.", body = ErrorEnvelope),
        (status = 429, description = "Too many notifications from this address were refused.", body = ErrorEnvelope),
        (status = 500, description = "A fault of the service; the provider sends it again.", body = ErrorEnvelope),
        (status = 503, description = "It could not be stored; the provider sends it again.", body = ErrorEnvelope)),
)]
pub async fn receive(
    State(app): State<App>,
    Path(provider_id): Path<String>,
    request: Request,
) -> Result<StatusCode, ApiError> {
    let network = app.limits.proxies.peer_of(&request).0.into();
    let provider_id = provider_id.parse::<ProviderId>();
    let stranger = RateKey::Notification(network);
    app.limiters.strangers.check(&stranger)?;
    let Ok(provider_id) = provider_id else {
        app.limiters.strangers.fail(&stranger);
        return Err(Error::NotFound.into());
    };
    let unsigned = RateKey::UnsignedNotification(provider_id.uuid(), network);
    app.limiters.strangers.check(&unsigned)?;
    let headers = request.headers().clone();
    let body = read_bytes_within(request, NOTIFICATION_BYTES_MAX).await?;
    match notifications::receive(&app, provider_id, &headers, &body).await {
        Ok(()) => Ok(StatusCode::OK),
        Err(Refused::NotAuthentic) => {
            app.limiters.strangers.fail(&unsigned);
            Err(ApiError::Unauthorized)
        }
        Err(Refused::Failed(Error::NotFound)) => {
            app.limiters.strangers.fail(&stranger);
            Err(Error::NotFound.into())
        }
        Err(Refused::Failed(error)) => Err(error.into()),
    }
}
