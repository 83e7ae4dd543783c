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
use regente_domain::id::{ChargeId, ClientId, ProviderId};
use regente_domain::provider_type::ShownProviderType;
use regente_domain::routing::explanation::{CircuitNote, Skipped, Stopped};
use regente_engine::caller::{Authority, Caller};
use regente_engine::error::Error;
use regente_engine::events::transaction_request::ShownRequestType;
use regente_store::transaction_requests::{self, StoredRequest};
use regente_store::{Store, StoreError, charges, providers};
use serde::{Deserialize, Serialize};
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
    /// The merchant's providers in the order of the route.
    providers: Vec<CandidateView>,
    /// Every call to a provider, oldest first.
    steps: Vec<StepView>,
    /// Why nobody else was asked, when the charge ended without approval.
    #[schema(example = "no_provider_left", required = true)]
    stopped: Option<Stopped>,
    /// The same in sentences, one a line.
    pub text: String,
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
        Authority::SecretKey => Audience::Merchant,
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
    let timeline = timeline::tell(&charge, &asked, &names, audience);
    Ok(Some(ExplanationView::of(id, charge.state.status(), &timeline)))
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
    fn of(id: ChargeId, status: ChargeStatus, timeline: &Timeline) -> Self {
        Self {
            charge_id: id.uuid(),
            status,
            providers: timeline.providers.iter().map(CandidateView::of).collect(),
            steps: timeline.steps.iter().map(StepView::of).collect(),
            stopped: timeline.stopped,
            text: timeline.lines.join("\n"),
        }
    }
}

impl CandidateView {
    fn of(candidate: &Candidate) -> Self {
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
