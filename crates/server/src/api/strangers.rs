//! Callers without a key, who name what only a link tells. A stranger who asks too often waits, and longer if most of that does
//! not exist, like one with wrong keys.

use axum::extract::Request;
use regente_engine::error::Error;

use crate::app::App;
use crate::http::error::ApiError;
use crate::http::peer::PeerAddress;
use crate::http::rates::{Network, RateKey};

/// Who asks without a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stranger(Network);

pub(super) fn stranger(app: &App, request: &Request) -> Stranger {
    let PeerAddress(address) = app.limits.proxies.peer_of(request);
    Stranger(address.into())
}

impl Stranger {
    /// Counts the request.
    ///
    /// # Errors
    /// [`ApiError::TooManyRequests`] for who asked or guessed too often.
    pub(super) fn check(self, app: &App) -> Result<(), ApiError> {
        app.limiters.strangers.check(&RateKey::Authentication(self.0))?;
        app.limiters.pages.check(&RateKey::Page(self.0))
    }

    /// Counts a guess: there is nothing by that name.
    pub(super) fn has_guessed(self, app: &App) {
        app.limiters.strangers.fail(&RateKey::Authentication(self.0));
    }
}

/// What a stranger named; `None` counts as a guess.
///
/// # Errors
/// [`ApiError::TooManyRequests`] for who asked or guessed too often; otherwise what `finding` answers.
pub(super) async fn unless_guessed<T>(
    app: &App,
    stranger: Stranger,
    finding: impl Future<Output = Result<Option<T>, Error>>,
) -> Result<Option<T>, ApiError> {
    stranger.check(app)?;
    let found = finding.await?;
    if found.is_none() {
        stranger.has_guessed(app);
    }
    Ok(found)
}
