//! Chooses the route of a charge: by the active flow of its merchant, or from the merchant's providers by priority.

use std::sync::Arc;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::analysis::{Feeding, Progress, Rules, Screening};
use regente_domain::flow::{Choice, Draws, Facts, Flow, FlowMethod, Group, LearnedNode};
use regente_domain::id::{ClientId, FlowId, MerchantId, ProviderId};
use regente_domain::payment_type::PaymentType;
use regente_domain::rates::band;
use regente_domain::routing::explanation::{Explanation, Taken};
use regente_domain::routing::{self, Candidate, Needs, SellersThere};
use regente_domain::seller::Seller;
use regente_providers::provider::Providers;
use regente_store::merchants::{self, MerchantWithProviders};
use regente_store::providers::Provider;
use regente_store::{StoreError, flows};
use serde_json::Map;

use crate::app::App;
use crate::calls::merchants::{ActiveFlow, KnownMerchant};
use crate::learned;

/// The merchant with its live providers and active flows; `None` when the account has no merchant with this id.
pub async fn merchant(
    app: &App,
    client_id: ClientId,
    id: MerchantId,
) -> Result<Option<Arc<KnownMerchant>>, StoreError> {
    let known = app.merchants.get(&(client_id, id));
    if known.is_some() {
        return Ok(known);
    }
    let asked = app.merchants.ask();
    let Some(found) = merchants::with_providers(&app.store, client_id, id).await? else { return Ok(None) };
    let active = flows::active(&app.store, client_id, id).await?;
    let compiled = active.into_iter().map(|version| {
        let flow = Flow::published(&version.details.flow);
        ActiveFlow { id: version.id, method: version.method, learns: !flow.learned().is_empty(), flow }
    });
    let known = Arc::new(KnownMerchant { found, flows: compiled.collect() });
    app.merchants.keep((client_id, id), Arc::clone(&known), asked);
    Ok(Some(known))
}

/// What a flow says for a charge.
#[derive(Clone, Debug)]
pub struct FlowChoice {
    /// The version of the flow.
    pub id: FlowId,
    /// The branch that it chose.
    pub choice: Choice,
}

impl KnownMerchant {
    /// The flow that charges of a payment type follow; `None` where their providers go by priority.
    pub fn flow(&self, payment_type: PaymentType) -> Option<&ActiveFlow> {
        let method = FlowMethod::of(payment_type)?;
        self.flows.iter().find(|active| active.method == method)
    }

    /// What the flow of the merchant says for a charge; `None` where the providers go by priority. `draws` is called where
    /// there is a flow.
    ///
    /// # Errors
    /// [`StoreError`] when the rates that a balance learns from cannot be read.
    pub async fn choose(
        &self,
        app: &App,
        payment_type: PaymentType,
        facts: &Facts<'_>,
        draws: impl FnOnce() -> Draws<'static>,
    ) -> Result<Option<FlowChoice>, StoreError> {
        let Some(active) = self.flow(payment_type) else { return Ok(None) };
        let choice = match learned::known(app, self.found.merchant.client_id, active).await? {
            None => active.flow.choose(facts, draws()),
            Some(known) => {
                let group = Group {
                    brand: facts.brand.map_or_else(String::new, |brand| brand.name().to_owned()),
                    currency: facts.currency.code().to_owned(),
                    band: band(facts.amount),
                };
                let shares = |node: &LearnedNode| learned::shares(active, &known, node, &group);
                active.flow.choose_by(facts, draws(), &shares)
            }
        };
        Ok(Some(FlowChoice { id: active.id, choice }))
    }
}

/// Whether a charge comes with data for an analysis of its risk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RiskData {
    /// It does: `fraudAnalysis` was sent.
    Sent,
    /// It does not.
    Absent,
}

/// What the merchant's anti-fraud provider has to do with a charge: the one in the branch of its flow, or else the first one by
/// priority. It analyses credit cards that come with data, unless a flow leaves the analysis out, and may be told of every
/// other charge (`docs/interface/charges.md#fraud-analysis`).
pub fn screening(
    app: &App,
    merchant: &MerchantWithProviders,
    payment_type: PaymentType,
    data: RiskData,
    flow: Option<&FlowChoice>,
) -> Option<Box<Screening>> {
    let analyses = |provider: &&Provider| {
        provider.provider_type.capabilities().anti_fraud.is_some()
            && app.settings.simulators.permit(provider.provider_type)
    };
    let found = merchant.providers.iter().filter(analyses);
    let in_branch = flow.and_then(|flow| flow.choice.anti_fraud());
    let is_in_branch = |provider: &Provider| Some(provider.id) == in_branch;
    let provider = found.min_by_key(|provider| (!is_in_branch(provider), provider.priority, provider.id))?;
    let may_analyse = flow.is_none() || is_in_branch(provider);
    let none = Map::new();
    let options = provider.options.as_ref().unwrap_or(&none);
    let is_analysed = may_analyse && payment_type == PaymentType::Credit && data == RiskData::Sent;
    let rules = is_analysed.then(|| Rules::of(options));
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

/// The route; `None` when no provider of the merchant, or of the branch of its flow, can serve the charge, which is divided
/// among `sellers`.
pub fn choose(
    app: &App,
    merchant: &MerchantWithProviders,
    needs: &Needs,
    sellers: &[Seller],
    flow: Option<FlowChoice>,
) -> Option<Explanation> {
    let candidate = |provider| candidate(&app.providers, provider, sellers);
    let candidates = merchant.providers.iter().map(candidate).collect();
    let simulators = app.settings.simulators;
    let explanation = match flow {
        None => routing::route(candidates, needs, simulators),
        Some(FlowChoice { id, choice }) => {
            let branch: Vec<ProviderId> = choice.providers().collect();
            let taken = Box::new(Taken { id, turns: choice.turns });
            routing::route_by_flow(candidates, (taken, &branch), needs, simulators)
        }
    };
    routing::first(&explanation).is_some().then_some(explanation)
}

/// Whether a charge with these needs, of which nothing else is known yet, might find a provider: by the flow of the merchant in
/// any of its branches.
pub fn may_be_served(app: &App, merchant: &KnownMerchant, needs: &Needs) -> bool {
    let in_flow = merchant.flow(needs.payment_type).map(|active| active.flow.providers());
    let takes_part = |provider: &&Provider| in_flow.as_ref().is_none_or(|ids| ids.contains(&provider.id));
    let providers = merchant.providers.iter().filter(takes_part);
    let candidates = providers.map(|provider| candidate(&app.providers, provider, &[])).collect();
    routing::first(&routing::route(candidates, needs, app.settings.simulators)).is_some()
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
