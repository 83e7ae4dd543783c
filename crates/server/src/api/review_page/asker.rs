//! Who asks a seller to confirm its registration. A page that does not say so looks like one of somebody who collects data.

use regente_domain::seller::review::Review;
use regente_engine::charges::routing;
use regente_engine::error::Error;
use regente_engine::link_settings;

use crate::api::buyer_page::logo::Logo;
use crate::api::settings::SettingsView;
use crate::app::App;

/// The names of those who ask.
pub(super) struct Asker {
    /// What the merchant calls itself.
    pub(super) merchant: Option<String>,
    /// What the merchant calls its provider.
    pub(super) provider: Option<String>,
    /// The picture that the merchant's buyers know.
    pub(super) logo: Option<Logo>,
}

impl Asker {
    /// Of a review.
    pub(super) async fn of(app: &App, review: &Review) -> Result<Self, Error> {
        let known = routing::merchant(app, review.client_id, review.merchant_id).await?;
        let Some(known) = known else { return Ok(Self { merchant: None, provider: None, logo: None }) };
        let settings = link_settings::in_force(app, review.client_id, Some(review.merchant_id)).await?;
        let provider = known.providers.iter().find(|provider| provider.id == review.provider_id);
        Ok(Self {
            merchant: known.merchant.details.shown_name().map(str::to_owned),
            provider: provider.map(|provider| provider.name.clone()).filter(|name| !name.is_empty()),
            logo: settings.and_then(|settings| Logo::of(&SettingsView::of(app, &settings))),
        })
    }
}
