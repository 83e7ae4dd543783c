//! The jobs of sellers: one for each seller and provider, for as long as the seller exists, and one for each file that comes
//! to its end.

use regente_domain::id::{MerchantId, ProviderId, RegistrationReviewId, SellerDocumentId, SellerId};
use regente_domain::time::Timestamp;
use regente_store::Batch;

use super::Kind;
use crate::app::App;

/// What a job of a seller is about: its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// The seller.
    pub seller_id: SellerId,
    /// The provider.
    pub provider_id: ProviderId,
}

impl About {
    /// Parses the key of a job.
    pub fn parse(key: &str) -> Option<Self> {
        let (seller_id, provider_id) = key.split_once('/')?;
        Some(Self { seller_id: seller_id.parse().ok()?, provider_id: provider_id.parse().ok()? })
    }
}

/// Enqueues the job that registers a seller at a provider, or brings it forward.
pub fn register(app: &App, batch: &mut Batch, about: About, run_at: Timestamp) {
    let key = format!("{}/{}", about.seller_id, about.provider_id);
    super::enqueue(app, batch, Kind::RegisterSeller, &key, super::NO_PAYLOAD, run_at);
}

/// Enqueues the job that registers the sellers of a merchant at its new provider.
pub fn link(app: &App, batch: &mut Batch, merchant_id: MerchantId, provider_id: ProviderId) {
    let now = app.clock.of(batch.client_id());
    let payload = merchant_id.to_string();
    super::enqueue(app, batch, Kind::LinkSellers, &provider_id.to_string(), &payload, now);
}

/// Enqueues the job that deletes a file.
pub fn end_document(app: &App, batch: &mut Batch, id: SellerDocumentId, run_at: Timestamp) {
    super::enqueue(app, batch, Kind::EndSellerDocument, &id.to_string(), super::NO_PAYLOAD, run_at);
}

/// Enqueues the job that looks at a review, or brings it forward.
pub fn review(app: &App, batch: &mut Batch, id: RegistrationReviewId, run_at: Timestamp) {
    super::enqueue(app, batch, Kind::RegistrationReview, &id.to_string(), super::NO_PAYLOAD, run_at);
}
