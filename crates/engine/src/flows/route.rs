//! The route of a charge, from the providers of its merchant as they are stored.

use std::sync::Arc;

use regente_domain::charge::explanation::Explanation;
use regente_domain::id::{ClientId, MerchantId};
use regente_domain::provider_type::ProviderType;
use regente_domain::routing::{self, Candidate, Narrowed, Needs};
use regente_providers::sandbox;
use regente_store::StoreError;
use regente_store::merchants::{self, MerchantWithProviders};
use regente_store::providers::Provider;

use crate::app::App;

/// The merchant that a payment names, with its live providers; `None` when the client has none of this id.
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

/// The route; nothing when no provider of the merchant can serve the charge.
pub fn choose(merchant: &MerchantWithProviders, needs: &Needs) -> Option<Explanation> {
    let candidates = merchant.providers.iter().map(candidate).collect();
    let explanation = routing::route(candidates, needs);
    routing::first(&explanation).is_some().then_some(explanation)
}

fn candidate(provider: &Provider) -> Candidate {
    let narrowed = match (provider.provider_type, &provider.options) {
        (ProviderType::Sandbox, Some(options)) => {
            sandbox::Options::parse(options, "options").map(|options| options.supports).unwrap_or_default()
        }
        _ => Narrowed::default(),
    };
    Candidate {
        id: provider.id,
        provider_type: provider.provider_type,
        priority: provider.priority,
        narrowed,
    }
}
