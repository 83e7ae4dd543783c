//! Chooses the route of a charge from the stored providers of its merchant.

use std::sync::Arc;

use regente_domain::charge::explanation::Explanation;
use regente_domain::id::{ClientId, MerchantId};
use regente_domain::routing::{self, Candidate, Needs};
use regente_providers::provider::Providers;
use regente_store::StoreError;
use regente_store::merchants::{self, MerchantWithProviders};
use regente_store::providers::Provider;

use crate::app::App;
use crate::error::Error;

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

/// Refuses risk data where the merchant has a provider that analyses it: no release so far asks such a provider, and to
/// leave the analysis out without a word would take what the merchant wants held back
/// (`docs/interface/charges.md#fraud-analysis`).
///
/// # Errors
/// [`Error::Invalid`].
pub fn refuse_analysis(merchant: &MerchantWithProviders) -> Result<(), Error> {
    let analyses = |provider: &Provider| provider.provider_type.capabilities().anti_fraud.is_some();
    if merchant.providers.iter().any(analyses) {
        return Err(Error::invalid("fraudAnalysis", "is not available in this release"));
    }
    Ok(())
}

/// The route; `None` when no provider of the merchant can serve the charge.
pub fn choose(app: &App, merchant: &MerchantWithProviders, needs: &Needs) -> Option<Explanation> {
    let candidates = merchant.providers.iter().map(|provider| candidate(&app.providers, provider)).collect();
    let explanation = routing::route(candidates, needs, app.settings.simulators);
    routing::first(&explanation).is_some().then_some(explanation)
}

fn candidate(adapters: &Providers, provider: &Provider) -> Candidate {
    let options = provider.options.as_ref();
    let narrowed = options.map(|options| adapters.narrowed(provider.provider_type, options));
    Candidate {
        id: provider.id,
        provider_type: provider.provider_type,
        priority: provider.priority,
        narrowed: narrowed.unwrap_or_default(),
    }
}
