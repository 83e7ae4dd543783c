//! Says what an order would do, and does none of it.

use std::sync::Arc;

use regente_domain::card::record::CardFace;
use regente_domain::charge::Charge;
use regente_domain::id::ProviderId;
use regente_domain::split::Shares;
use regente_store::customers;

use super::PlacedBy;
use super::order::{ChargeOrder, Requester};
use super::resolve::{Intent, resolve};
use crate::app::App;
use crate::calls::merchants::KnownMerchant;
use crate::error::Error;
use crate::idempotency::Claim;

/// What an order would do.
pub struct DryRun {
    /// The charge, as it would begin. Its id, and the ids of a new card or customer, are not kept.
    pub charge: Charge,
    /// How the amount would be divided, if it is.
    pub shares: Option<Shares>,
    /// Whether its customer would be created.
    pub creates_customer: bool,
    /// The card that would pay.
    pub card: Option<CardFace>,
    merchant: Arc<KnownMerchant>,
}

impl DryRun {
    /// The merchant's name of a provider.
    pub fn name_of(&self, id: ProviderId) -> Option<&str> {
        let known = self.merchant.providers.iter().find(|provider| provider.id == id);
        known.map(|provider| provider.name.as_str())
    }
}

/// Resolves an order and routes it as [`place`](super::place()) would at this moment. Nothing is called and nothing is written but the
/// audit entry of a card token that is opened. The key of the request gives the draws of a flow that it gives when the charge is made.
///
/// # Errors
/// Why the order would be refused.
pub async fn dry_run(app: &App, order: ChargeOrder, requester: Requester) -> Result<DryRun, Error> {
    let claim = match &requester.key {
        Some(key) => Some(Claim::of(app, &key.of(&requester.caller)).await?),
        None => None,
    };
    let by = PlacedBy::Request(Box::new(requester));
    let new = resolve(app, order, &by, claim, Intent::DryRun).await?;
    let charge = new.charge;
    let creates_customer = match charge.customer_id {
        Some(id) => customers::find(&app.store, charge.client_id, id).await?.is_none(),
        None => false,
    };
    let shares = charge.split.as_deref().map(|split| split.shares(charge.amount, charge.original_amount));
    let card = new.source.card().map(|card| card.face.clone());
    Ok(DryRun { shares, creates_customer, card, merchant: new.merchant, charge })
}
