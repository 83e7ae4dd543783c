//! Callers without a key, who name what only a link tells. A stranger who names too much that does not exist waits, like one
//! with wrong keys.

use axum::extract::Request;
use regente_engine::error::Error;

use crate::app::App;
use crate::http::error::ApiError;
use crate::http::peer::PeerAddress;
use crate::http::rates::RateKey;

pub(super) fn stranger(app: &App, request: &Request) -> RateKey {
    let PeerAddress(address) = app.limits.proxies.peer_of(request);
    RateKey::Authentication(address.into())
}

/// What a stranger named; `None` counts as a guess.
///
/// # Errors
/// [`ApiError::TooManyRequests`] for who guessed too often; otherwise what `finding` answers.
pub(super) async fn unless_guessed<T>(
    app: &App,
    stranger: RateKey,
    finding: impl Future<Output = Result<Option<T>, Error>>,
) -> Result<Option<T>, ApiError> {
    app.limiters.strangers.check(&stranger)?;
    let found = finding.await?;
    if found.is_none() {
        app.limiters.strangers.fail(&stranger);
    }
    Ok(found)
}
