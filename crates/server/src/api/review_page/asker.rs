//! Who asks a seller to confirm its registration. A page that does not say so looks like one of somebody who collects data.

use regente_domain::seller::review::Review;
use regente_engine::charges::routing;
use regente_engine::error::Error;

use crate::app::App;

/// The names of those who ask.
pub(super) struct Asker {
    /// What the merchant calls itself.
    pub(super) merchant: Option<String>,
    /// What the merchant calls its provider.
    pub(super) provider: Option<String>,
}

impl Asker {
    /// Of a review.
    pub(super) async fn of(app: &App, review: &Review) -> Result<Self, Error> {
        let known = routing::merchant(app, review.client_id, review.merchant_id).await?;
        let Some(known) = known else { return Ok(Self { merchant: None, provider: None }) };
        let provider = known.providers.iter().find(|provider| provider.id == review.provider_id);
        Ok(Self {
            merchant: known.merchant.details.shown_name().map(str::to_owned),
            provider: provider.map(|provider| provider.name.clone()).filter(|name| !name.is_empty()),
        })
    }
}
