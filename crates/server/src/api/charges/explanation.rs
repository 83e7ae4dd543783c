//! `GET /v1/charges/{id}/explanation`: explains the course of a charge. The domain builds the explanation
//! (`charge/timeline.rs`); the command line prints the same.

use std::collections::HashMap;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use regente_domain::charge::ChargeStatus;
use regente_domain::charge::attempt::{OpenReason, ToldBy};
use regente_domain::charge::timeline::{
    self, Attempt, Audience, Candidate, Ended, Named, Then, Timeline, TimelineStep,
};
use regente_domain::decline::Decline;
use regente_domain::flow::{NodeRule, Visited, visited};
use regente_domain::id::{ChargeId, ClientId, FlowId, ProviderId};
use regente_domain::learned::{BranchShare, Millionths};
use regente_domain::provider_type::ShownProviderType;
use regente_domain::routing::explanation::{CircuitNote, Skipped, Stopped, Taken};
use regente_engine::caller::{Authority, Caller};
use regente_engine::error::Error;
use regente_engine::events::transaction_request::ShownRequestType;
use regente_store::flows::FlowVersion;
use regente_store::transaction_requests::{self, StoredRequest};
use regente_store::{Store, StoreError, charges, flows, providers};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::path::{Path, path_id};
use crate::api::schema::words;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// Why a charge went the way it went.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChargeExplanation)]
pub struct ExplanationView {
    charge_id: Uuid,
    #[schema(example = "authorized")]
    status: ChargeStatus,
    /// The flow that chose the order, with the nodes that the charge visited. Null where the priorities of the providers did.
    #[schema(required = true)]
    flow: Option<FlowTakenView>,
    /// The merchant's providers, or those of the branch of its flow, in the order of the route.
    providers: Vec<CandidateView>,
    /// Every call to a provider, oldest first.
    steps: Vec<StepView>,
    /// Why nobody else was asked, when the charge ended without approval.
    #[schema(example = "no_provider_left", required = true)]
    stopped: Option<Stopped>,
    /// The same in sentences, one a line.
    pub text: String,
}

/// The way of a charge through a flow.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = FlowTaken)]
pub struct FlowTakenView {
    /// The version of the flow.
    id: FlowId,
    /// Its label.
    #[schema(required = true)]
    name: Option<String>,
    /// The nodes that the charge visited, in their order.
    nodes: Vec<VisitedNodeView>,
}

/// A node of a flow that a charge visited.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = VisitedFlowNode)]
pub struct VisitedNodeView {
    /// Where it is in the tree.
    #[schema(example = "root[0].yes[0]")]
    node: String,
    rule: NodeRule,
    /// Of a provider or an analysis: which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider_id: Option<String>,
    /// Of a condition: what it asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    when: Option<Value>,
    /// Of a condition or a balance: the way that was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "yes")]
    taken: Option<String>,
    /// Of a balance: what was drawn, in millionths. The first way is taken below its percentage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = 250_000)]
    draw: Option<u32>,
    /// Of a balance that learns: the share of each branch for charges like this one, and what it follows from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shares: Option<Vec<LearnedShareView>>,
}

/// The share of a branch of a balance that learns.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LearnedShare)]
pub struct LearnedShareView {
    /// In percent: so many of the charges like this one go this way.
    #[schema(value_type = f64, example = 82.1234)]
    share: Option<Number>,
    /// The approval rate to expect here, in percent: what was counted together with what is presumed.
    #[schema(value_type = f64, example = 75.5)]
    approval_rate: Option<Number>,
    /// How many charges of the narrowest group were counted, by the weight of their age.
    #[schema(example = 120)]
    charges: u64,
}

impl LearnedShareView {
    fn of(BranchShare { share, rate, charges }: &BranchShare) -> Self {
        Self { share: percent(*share), approval_rate: percent(*rate), charges: *charges }
    }

    /// In words, such as `82.1234 % by a rate of 75.5 % of 120`.
    fn words(&self) -> String {
        let shown = |number: &Option<Number>| number.as_ref().map(ToString::to_string).unwrap_or_default();
        let Self { share, approval_rate, charges } = self;
        format!("{} % by a rate of {} % after {charges} charges", shown(share), shown(approval_rate))
    }
}

fn percent(part: Millionths) -> Option<Number> {
    let (whole, rest) = (part.get() / 10_000, part.get() % 10_000);
    format!("{whole}.{rest:04}").parse().ok()
}

/// A provider of the route.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConsideredProvider)]
pub struct CandidateView {
    provider: NamedView,
    /// Why it was left out. Null when it might be asked.
    #[schema(example = "circuit_open", required = true)]
    skipped: Option<Skipped>,
    /// Why it might be asked although it had stopped answering.
    #[schema(example = "trial", required = true)]
    circuit: Option<CircuitNote>,
}

/// A provider.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NamedProvider)]
pub struct NamedView {
    provider_id: Uuid,
    #[schema(value_type = ShownProviderType, example = "SANDBOX")]
    provider_type: String,
    /// The merchant's name for it.
    #[schema(example = "Main", required = true)]
    name: Option<String>,
    /// Its priority when the charge was made; 1 is asked first.
    #[schema(example = 1, required = true)]
    priority: Option<i64>,
}

/// One call to a provider.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ExplanationStep)]
pub struct StepView {
    /// The id of the transaction request.
    transaction_request_id: Uuid,
    provider: NamedView,
    #[schema(value_type = ShownRequestType, example = "authorization")]
    request_type: String,
    /// In the minor unit of the charge's currency.
    #[schema(example = 150)]
    amount: i64,
    /// `no_effect`: no answer came, and it is proved that nothing happened.
    #[schema(example = "declined")]
    outcome: Ended,
    #[schema(value_type = Option<words::DeclinedCode>, example = "try_again", required = true)]
    declined_code: Option<String>,
    /// Whether the next provider might be asked after the refusal.
    #[schema(required = true)]
    retryable: Option<bool>,
    /// Until the outcome was known.
    #[schema(example = 35, required = true)]
    duration_ms: Option<u64>,
    #[schema(format = DateTime)]
    began_at: String,
    #[schema(format = DateTime, required = true)]
    ended_at: Option<String>,
    /// Why the outcome was not known at once.
    #[schema(example = "timed_out", required = true)]
    open_reason: Option<OpenReason>,
    /// What told the outcome. Null when it was the answer to the call.
    #[schema(example = "probe", required = true)]
    told_by: Option<ToldBy>,
    /// How often the provider was asked since what became of it.
    #[schema(example = 0)]
    probes: i64,
    /// When it is asked next.
    #[schema(format = DateTime, required = true)]
    next_probe_at: Option<String>,
    /// Since when it is asked no more.
    #[schema(format = DateTime, required = true)]
    given_up_at: Option<String>,
    /// Whether a tester set it, and no provider was asked.
    set_by_hand: bool,
    /// What came after it; `waiting` while the outcome is unknown.
    #[schema(example = "next_asked")]
    then: Then,
}

/// Explains a charge.
///
/// An extension of this service: why the charge went the way it went. Which providers were considered, which were left
/// out and why, what each was asked, how that ended, and what came next; `text` tells the same in sentences. Public
/// keys are told of the providers that were asked, and nothing of how the merchant is set up.
#[utoipa::path(
    get,
    path = "/v1/charges/{id}/explanation",
    operation_id = "explainCharge",
    tag = "Charges",
    params(("id" = Uuid, Path, description = "The charge.")),
    responses(
        (status = 200, description = "The explanation.", body = ExplanationView),
        (status = 404, description = "There is no such charge.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn explain(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let audience = match caller.authority {
        Authority::SecretKey | Authority::Member { .. } => Audience::Merchant,
        Authority::ClientToken { .. } | Authority::SessionKey { .. } => Audience::Payer,
    };
    let told = tell(&app.store, caller.client_id, path_id(&id)?, audience).await?;
    Ok(axum::Json(told.ok_or(Error::NotFound)?).into_response())
}

/// Builds the explanation of a client's charge.
///
/// # Errors
/// As the store.
pub async fn tell(
    store: &Store,
    client_id: ClientId,
    id: ChargeId,
    audience: Audience,
) -> Result<Option<ExplanationView>, StoreError> {
    let Some(stored) = charges::find(store, client_id, id).await? else { return Ok(None) };
    let charge = stored.charge;
    let asked: Vec<Attempt> = transaction_requests::of_object(store, client_id, id.uuid())
        .await?
        .into_iter()
        .map(as_asked)
        .collect();
    let mut names: HashMap<ProviderId, String> = HashMap::new();
    for considered in &charge.explanation.considered {
        if let Some(provider) = providers::find(store, client_id, considered.provider_id).await? {
            names.insert(provider.id, provider.name);
        }
    }
    let flow = match (&charge.explanation.flow, audience) {
        (Some(taken), Audience::Merchant) => {
            flows::find(store, client_id, taken.id).await?.map(|version| FlowTakenView::of(&version, taken))
        }
        (Some(_), Audience::Payer) | (None, _) => None,
    };
    let timeline = timeline::tell(&charge, &asked, &names, audience);
    Ok(Some(ExplanationView::of(id, charge.state.status(), &timeline, flow)))
}

impl FlowTakenView {
    pub(super) fn of(version: &FlowVersion, taken: &Taken) -> Self {
        let visited = visited(&version.details.flow, &taken.turns);
        Self {
            id: version.id,
            name: version.details.name.clone(),
            nodes: visited.iter().filter_map(VisitedNodeView::of).collect(),
        }
    }

    /// In a sentence, one line.
    fn sentence(&self) -> String {
        let turns = self
            .nodes
            .iter()
            .filter_map(|node| Some(format!("{} {}{}", node.node, node.taken.as_ref()?, node.why())));
        let turns: Vec<String> = turns.collect();
        let name = self.name.as_ref().map(|name| format!(" \"{name}\"")).unwrap_or_default();
        match turns.is_empty() {
            true => format!("The flow {}{name} chose the order.", self.id),
            false => format!("The flow {}{name} chose the order: {}.", self.id, turns.join(", ")),
        }
    }
}

impl VisitedNodeView {
    /// At a balance that learns: the shares, and what was drawn.
    fn why(&self) -> String {
        let (Some(shares), Some(draw)) = (&self.shares, self.draw) else { return String::new() };
        let shares: Vec<String> = shares.iter().map(LearnedShareView::words).collect();
        format!(" ({}; {draw} of 1000000 was drawn)", shares.join(", "))
    }

    fn of(visited: &Visited<'_>) -> Option<Self> {
        let rule = visited.node.get("rule").and_then(Value::as_str).and_then(NodeRule::parse)?;
        Some(Self {
            node: visited.path.clone(),
            rule,
            provider_id: visited.node.get("id").and_then(Value::as_str).map(str::to_owned),
            when: visited.node.get("when").cloned(),
            taken: visited.way.map(str::to_owned),
            draw: visited.turn.and_then(|turn| turn.draw),
            shares: visited
                .turn
                .and_then(|turn| turn.shares)
                .map(|shares| shares.iter().map(LearnedShareView::of).collect()),
        })
    }
}

fn as_asked(stored: StoredRequest) -> Attempt {
    Attempt {
        request: stored.request,
        probes: stored.probes,
        next_probe_at: stored.due_at,
        given_up_at: stored.given_up_at,
    }
}

impl ExplanationView {
    fn of(id: ChargeId, status: ChargeStatus, timeline: &Timeline, flow: Option<FlowTakenView>) -> Self {
        let mut lines = timeline.lines.clone();
        lines.extend(flow.as_ref().map(FlowTakenView::sentence));
        Self {
            flow,
            charge_id: id.uuid(),
            status,
            providers: timeline.providers.iter().map(CandidateView::of).collect(),
            steps: timeline.steps.iter().map(StepView::of).collect(),
            stopped: timeline.stopped,
            text: lines.join("\n"),
        }
    }
}

impl CandidateView {
    pub(super) fn of(candidate: &Candidate) -> Self {
        Self {
            provider: NamedView::of(&candidate.provider),
            skipped: candidate.skipped,
            circuit: candidate.circuit,
        }
    }
}

impl NamedView {
    fn of(provider: &Named) -> Self {
        Self {
            provider_id: provider.id.uuid(),
            provider_type: provider.provider_type.shown().to_owned(),
            name: provider.name.clone(),
            priority: provider.priority,
        }
    }
}

impl StepView {
    fn of(step: &TimelineStep) -> Self {
        let decline: Option<&Decline> = step.decline.as_ref();
        let millis = |duration: std::time::Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Self {
            transaction_request_id: step.id.uuid(),
            provider: NamedView::of(&step.provider),
            request_type: step.request_type.word().to_owned(),
            amount: step.amount.minor_units(),
            outcome: step.ended,
            declined_code: decline.map(|decline| decline.code.code().to_owned()),
            retryable: decline.map(|decline| decline.retryable),
            duration_ms: step.duration.map(millis),
            began_at: step.began_at.to_string(),
            ended_at: step.ended_at.map(|at| at.to_string()),
            open_reason: step.open_reason,
            told_by: step.told_by,
            probes: step.probes,
            next_probe_at: step.next_probe_at.map(|at| at.to_string()),
            given_up_at: step.given_up_at.map(|at| at.to_string()),
            set_by_hand: step.set_by_hand,
            then: step.then,
        }
    }
}
