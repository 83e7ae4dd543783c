//! Chooses the route of a charge from the stored providers of its merchant.

use std::sync::Arc;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::analysis::{Feeding, Progress, Rules, Screening};
use regente_domain::id::{ClientId, MerchantId};
use regente_domain::payment_type::PaymentType;
use regente_domain::routing::explanation::Explanation;
use regente_domain::routing::{self, Candidate, Needs, SellersThere};
use regente_domain::seller::Seller;
use regente_providers::provider::Providers;
use regente_store::StoreError;
use regente_store::merchants::{self, MerchantWithProviders};
use regente_store::providers::Provider;
use serde_json::Map;

use crate::app::App;

/// The merchant with its live providers; `None` when the account has no merchant with this id.
pub async fn merchant(
    app: &App,
    client_id: ClientId,
    id: MerchantId,
) -> Result<Option<Arc<MerchantWithProviders>>, StoreError> {
    let known = app.merchants.get(&(client_id, id));
    if known.is_some() {
        return Ok(known);
    }
    let asked = app.merchants.ask();
    let found = merchants::with_providers(&app.store, client_id, id).await?.map(Arc::new);
    if let Some(found) = &found {
        app.merchants.keep((client_id, id), Arc::clone(found), asked);
    }
    Ok(found)
}

/// Whether a charge comes with data for an analysis of its risk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RiskData {
    /// It does: `fraudAnalysis` was sent.
    Sent,
    /// It does not.
    Absent,
}

/// What the merchant's anti-fraud provider has to do with a charge: the first one by priority analyses credit cards that
/// come with data, and may be told of every other charge (`docs/interface/charges.md#fraud-analysis`).
pub fn screening(
    app: &App,
    merchant: &MerchantWithProviders,
    payment_type: PaymentType,
    data: RiskData,
) -> Option<Box<Screening>> {
    let analyses = |provider: &&Provider| {
        provider.provider_type.capabilities().anti_fraud.is_some()
            && app.settings.simulators.permit(provider.provider_type)
    };
    let found = merchant.providers.iter().filter(analyses);
    let provider = found.min_by_key(|provider| (provider.priority, provider.id))?;
    let none = Map::new();
    let options = provider.options.as_ref().unwrap_or(&none);
    let rules = (payment_type == PaymentType::Credit && data == RiskData::Sent).then(|| Rules::of(options));
    let feeding = Feeding::of(options);
    (rules.is_some() || feeding == Feeding::Wanted).then(|| {
        Box::new(Screening {
            provider_id: provider.id,
            provider_type: provider.provider_type,
            rules,
            progress: Progress::NotAnalysed,
            feeding,
        })
    })
}

/// The capture mode that the providers of a route must know: an analysed charge is reserved first.
pub fn capture_needed(
    screening: Option<&Screening>,
    payment_type: PaymentType,
    asked: CaptureMode,
) -> CaptureMode {
    match screening.and_then(|screening| screening.rules) {
        Some(_) => CaptureMode::Manual,
        None => payment_type.capture(asked),
    }
}

/// The route; `None` when no provider of the merchant can serve the charge, which is divided among `sellers`.
pub fn choose(
    app: &App,
    merchant: &MerchantWithProviders,
    needs: &Needs,
    sellers: &[Seller],
) -> Option<Explanation> {
    let candidate = |provider| candidate(&app.providers, provider, sellers);
    let candidates = merchant.providers.iter().map(candidate).collect();
    let explanation = routing::route(candidates, needs, app.settings.simulators);
    routing::first(&explanation).is_some().then_some(explanation)
}

fn candidate(adapters: &Providers, provider: &Provider, sellers: &[Seller]) -> Candidate {
    let options = provider.options.as_ref();
    let narrowed = options.map(|options| adapters.narrowed(provider.provider_type, options));
    Candidate {
        id: provider.id,
        provider_type: provider.provider_type,
        priority: provider.priority,
        narrowed: narrowed.unwrap_or_default(),
        sellers: match sellers {
            [] => SellersThere::None,
            _ if sellers.iter().all(|seller| seller.is_active_at(provider.id)) => SellersThere::Active,
            _ => SellersThere::NotActive,
        },
    }
}
