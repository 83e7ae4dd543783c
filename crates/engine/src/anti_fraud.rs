//! The risk analysis of a charge: asks the merchant's anti-fraud provider, and applies a verdict that came after the
//! charge was answered. What follows a verdict is decided by the domain; a capture or void that does is sent like one
//! that the merchant asks for ([`captures_and_voids`]).

pub mod feeding;

use regente_domain::actor::Actor;
use regente_domain::charge::analysis::{Analysed, Failure, SimulatedVerdict, Verdict, pending_analysis};
use regente_domain::charge::attempt::{Asks, Outcome, TransactionRequest};
use regente_domain::charge::{Charge, ChargeState, approved_authorization};
use regente_domain::id::{ChargeId, ClientId};
use regente_providers::anti_fraud::{self as providers, Analysis, AnalysisFailure, AnalysisInquiry, Analyst};
use regente_store::charges::StoredCharge;
use regente_store::providers::Provider;
use regente_store::transaction_requests::{self, ObjectKind};
use regente_store::{Batch, Commit, cards, charges};
use serde_json::{Map, Value};

use crate::app::App;
use crate::caller::{Caller, RequestId};
use crate::card_data::FundingSource;
use crate::charges::stored::{self, Ran, provider_of, reread};
use crate::charges::write_outcome;
use crate::error::Error;
use crate::queue::{self, purchases};
use crate::transaction_requests::call::{CallResult, SimulatorOverrides, credentials};
use crate::transaction_requests::telemetry;
use crate::vault::{Binding, Purpose};
use crate::{audit, captures_and_voids, races};

/// The member of a charge's sealed data with what the provider analyses.
pub const FRAUD_ANALYSIS: &str = "fraudAnalysis";

/// Asks the provider to analyse the charge. Without an answer the analysis has failed; a repetition under the same key
/// gets the same verdict. The data of the buyer and the card are opened for the call alone.
pub(crate) async fn analyse(
    app: &App,
    charge: &Charge,
    request: &TransactionRequest,
    overrides: &SimulatorOverrides,
) -> Result<CallResult, Error> {
    let _running = app.in_flight.enter(request.id);
    let started = app.clock.machine();
    let found = match question(app, charge, request, overrides).await? {
        Some(question) => telemetry::analysis(app, request, app.anti_fraud.analyse(question)).await,
        None => providers::Verdict::Failed(AnalysisFailure::reported("card_not_found")),
    };
    let Analysed { reference, verdict } = analysed(None, found);
    let verdict = charge.judged(verdict);
    let outcome = Outcome::Analysed(Box::new(Analysed { reference, verdict }));
    let duration = app.clock.machine().since(started);
    let sent_at = request.sent_at;
    Ok(CallResult { outcome, authenticated: None, open_reason: None, told_by: None, duration, sent_at })
}

/// Finds out an analysis whose answer is not stored, or the verdict of a pending one. A provider that does not tell the
/// verdict is asked again later.
pub(crate) async fn look(app: &App, charge: &Charge, request: &TransactionRequest) -> Result<Outcome, Error> {
    let overrides = SimulatorOverrides::of(app, charge, None);
    if request.outcome == Outcome::Open {
        return Ok(analyse(app, charge, request, &overrides).await?.outcome);
    }
    let provider = provider_of(app, request).await?;
    let inquiry = AnalysisInquiry {
        key: request.provider_key(),
        reference: request.transaction_id().map(str::to_owned),
        sent_at: request.sent_at,
        analyst: analyst(app, &provider, &overrides).await?,
    };
    let told = telemetry::verdict(app, request, app.anti_fraud.result(inquiry)).await;
    let found = told.unwrap_or_else(|failure| {
        tracing::warn!(
            transaction_request = %request.id, provider = %request.provider_type.code(), ?failure,
            "an anti-fraud provider did not tell its verdict; it is asked again"
        );
        providers::Verdict::Pending { reference: None }
    });
    Ok(Outcome::Analysed(Box::new(analysed(request.transaction_id(), found))))
}

/// The question to the provider; `None` when the card no longer exists.
async fn question(
    app: &App,
    charge: &Charge,
    request: &TransactionRequest,
    overrides: &SimulatorOverrides,
) -> Result<Option<Analysis>, Error> {
    let Some(card_id) = charge.method.card_id() else { return Ok(None) };
    let Some(found) = cards::find_with_number(&app.store, charge.client_id, card_id).await? else {
        return Ok(None);
    };
    // The security code is for payment providers alone.
    let opened = FundingSource::StoredCard { found: Box::new(found), cvv: None }.open(app).await?;
    let stored = charges::find(&app.store, charge.client_id, charge.id).await?;
    let stored = stored.ok_or_else(|| Error::internal("an analysis of a charge that is gone"))?;
    let provider = provider_of(app, request).await?;
    Ok(Some(Analysis {
        key: request.provider_key(),
        at: app.clock.of(request.client_id),
        analyst: analyst(app, &provider, overrides).await?,
        amount: request.amount,
        currency: charge.currency,
        method: charge.method.clone(),
        order_id: charge.order_id.clone(),
        instrument: opened.instrument,
        fraud_analysis: fraud_analysis(app, &stored).await?,
    }))
}

async fn analyst(app: &App, provider: &Provider, overrides: &SimulatorOverrides) -> Result<Analyst, Error> {
    Ok(Analyst {
        provider_type: provider.provider_type,
        credentials: credentials(app, provider).await?,
        options: provider.options.clone().unwrap_or_default(),
        mode: app.settings.mode,
        test_overrides: overrides.of_call(),
    })
}

/// `fraudAnalysis` of a charge in the clear; empty when it came without.
async fn fraud_analysis(app: &App, stored: &StoredCharge) -> Result<Map<String, Value>, Error> {
    let Some(sealed) = &stored.private else { return Ok(Map::new()) };
    let binding = Binding::new(Purpose::ChargeData, stored.charge.client_id, stored.charge.id.uuid());
    let plain = app.vault.open(binding, sealed).await?;
    let mut private: Map<String, Value> = serde_json::from_slice(&plain).map_err(Error::internal)?;
    match private.shift_remove(FRAUD_ANALYSIS) {
        Some(Value::Object(data)) => Ok(data),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) | None => {
            Ok(Map::new())
        }
    }
}

/// What a provider told of an analysis. `known` is its id of it, as far as it is known.
fn analysed(known: Option<&str>, found: providers::Verdict) -> Analysed {
    let (verdict, given) = match found {
        providers::Verdict::Approved { score } => (Verdict::Approved { score }, None),
        providers::Verdict::Reproved { score } => (Verdict::Reproved { score, decline: None }, None),
        providers::Verdict::Pending { reference } => (Verdict::Pending, reference),
        providers::Verdict::Failed(failure) => (failed(failure), None),
    };
    Analysed { reference: given.or_else(|| known.map(str::to_owned)), verdict }
}

fn failed(failure: AnalysisFailure) -> Verdict {
    let (failure, reason, message) = match failure {
        AnalysisFailure::TimedOut => (
            Failure::Unanswered,
            "timeout".to_owned(),
            "The anti-fraud provider did not answer in time".to_owned(),
        ),
        AnalysisFailure::NoAdapter => (
            Failure::Reported,
            "no_adapter".to_owned(),
            "This release cannot ask the anti-fraud provider".to_owned(),
        ),
        AnalysisFailure::Provider { reason, message } => (Failure::Reported, reason, message),
    };
    Verdict::Failed { failure, reason, message }
}

/// Applies a verdict that came after the charge was answered: records it, and captures or voids the reservation as the
/// merchant's options say. `with` adds to the batch that records it. `None` when no analysis of the charge waits for a
/// verdict; a verdict that is still pending changes nothing.
///
/// # Errors
/// [`Error::Processing`] while another operation on the charge is under way.
pub async fn take(
    app: &App,
    (client_id, charge_id): (ClientId, ChargeId),
    verdict: &Verdict,
    actor: &Actor,
    with: impl Fn(&mut Batch) + Send + Sync,
) -> Result<Option<Ran>, Error> {
    for _ in races::tries() {
        let found = stored::find(app, client_id, charge_id).await?;
        let Ran { charge, requests } = found.ok_or(Error::NotFound)?;
        let Some(taken) = Taken::of(app, charge, requests, verdict)? else { return Ok(None) };
        let mut batch = taken.batch(app, actor)?;
        with(&mut batch);
        match app.store.apply(batch).await? {
            Commit::Applied => return taken.go_on(app, actor).await.map(Some),
            // Another node moved the charge: decide again.
            Commit::Refused(_) => {}
            // The commit may have succeeded although its answer was lost: read the request.
            Commit::Unknown => {
                let Ran { requests, .. } = reread(app, &taken.before).await?;
                if requests.iter().any(|stored| stored.id == taken.told.id) {
                    return taken.go_on(app, actor).await.map(Some);
                }
                return Err(Error::unavailable());
            }
        }
    }
    Err(Error::busy())
}

/// A later verdict with what it leads to.
struct Taken {
    before: Charge,
    after: Charge,
    /// The requests before it, oldest first.
    requests: Vec<TransactionRequest>,
    /// The analysis that waited for the verdict.
    pending: TransactionRequest,
    /// The request that records it.
    told: TransactionRequest,
    /// The capture or void that follows.
    follow_up: Option<TransactionRequest>,
}

impl Taken {
    fn of(
        app: &App,
        before: Charge,
        requests: Vec<TransactionRequest>,
        verdict: &Verdict,
    ) -> Result<Option<Self>, Error> {
        let Some(pending) = pending_analysis(&requests).cloned() else { return Ok(None) };
        if *verdict == Verdict::Pending {
            return Ok(None);
        }
        must_be_answered(&before)?;
        let now = app.clock.of(before.client_id);
        let counted = before.clone().with_one_more_request();
        let told = counted.begin_request(app.chance.id(now), pending.later_verdict(before.amount), now);
        let analysed =
            Analysed { reference: pending.transaction_id().map(str::to_owned), verdict: verdict.clone() };
        let told = TransactionRequest { outcome: Outcome::Analysed(Box::new(analysed)), ..told };
        let follow_up = before.follow_up_after(verdict).zip(approved_authorization(&requests));
        // What the holder of the reservation cannot do is left to the merchant.
        let opened = follow_up.and_then(|(kind, authorization)| {
            let (opened, open) = counted.open(kind, None, now).ok()?;
            Some((opened, Asks::about(authorization, kind.request_type(), open.amount)))
        });
        let (after, follow_up) = match opened {
            Some((opened, asks)) => {
                let request = opened.begin_request(app.chance.id(now), asks, now);
                (opened, Some(request))
            }
            None => (before.noting_one_more_request(now), None),
        };
        Ok(Some(Self { before, after, requests, pending, told, follow_up }))
    }

    fn batch(&self, app: &App, actor: &Actor) -> Result<Batch, Error> {
        let Self { before, after, pending, told, follow_up, .. } = self;
        let mut batch = Batch::new(before.client_id);
        charges::update(&mut batch, before, after, actor)?;
        queue::follow(app, &mut batch, before, after, Some(told));
        transaction_requests::stop_probing(&mut batch, pending.client_id, pending.object_id, pending.id);
        transaction_requests::insert_ended(&mut batch, told, ObjectKind::Charge, actor)?;
        if let Some(request) = follow_up {
            write_outcome::begin(app, &mut batch, request, None, actor, app.clock.of(before.client_id));
        }
        purchases::wake(app, &mut batch, after);
        Ok(batch)
    }

    /// Sends what follows the verdict.
    async fn go_on(self, app: &App, actor: &Actor) -> Result<Ran, Error> {
        let Self { after, mut requests, told, follow_up, .. } = self;
        requests.push(told);
        let Some(request) = follow_up else { return Ok(Ran { charge: after, requests }) };
        let overrides = SimulatorOverrides::of(app, &after, None);
        captures_and_voids::send(app, after, request, requests, &overrides, actor).await
    }
}

/// A verdict waits until nothing else is under way with the charge.
fn must_be_answered(charge: &Charge) -> Result<(), Error> {
    match charge.state {
        ChargeState::Processing
        | ChargeState::AwaitingPayer { .. }
        | ChargeState::CapturePending { .. }
        | ChargeState::RefundPending { .. }
        | ChargeState::RefundAccepted { .. } => Err(Error::processing(charge.state.status().word())),
        ChargeState::PreAuthorized { .. }
        | ChargeState::Authorized { .. }
        | ChargeState::Failed { .. }
        | ChargeState::Canceled { .. }
        | ChargeState::Voided { .. }
        | ChargeState::ChargedBack { .. } => Ok(()),
    }
}

/// Applies the verdict that a tester sets (`docs/interface/sandbox.md#risk-analysis`), to the end also when the caller hangs up.
///
/// # Errors
/// [`Error::Impossible`] when no analysis of the charge waits for a verdict; or as [`take`].
pub async fn set_verdict(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    charge_id: ChargeId,
    verdict: SimulatedVerdict,
) -> Result<Ran, Error> {
    let admission = app.store.admit(caller.client_id)?;
    let (flow_app, author, request_id) = (app.clone(), caller.clone(), request_id.clone());
    let taking = app.in_flight.run(async move {
        let _admission = admission;
        let (app, caller) = (flow_app, author);
        let verdict = simulated(verdict);
        let audited = |batch: &mut Batch| {
            audit::record(&app, batch, &caller, &request_id, "charge.antifraud_set", charge_id.uuid());
        };
        take(&app, (caller.client_id, charge_id), &verdict, &caller.actor(), audited).await
    });
    taking.await?.ok_or_else(|| Error::impossible("charge has no pending anti-fraud analysis"))
}

fn simulated(verdict: SimulatedVerdict) -> Verdict {
    match verdict {
        SimulatedVerdict::Approved => Verdict::Approved { score: Some(SIMULATED_APPROVAL.into()) },
        SimulatedVerdict::Reproved => {
            Verdict::Reproved { score: Some(SIMULATED_REPROVAL.into()), decline: None }
        }
        SimulatedVerdict::Failed => failed(AnalysisFailure::reported("processing_error")),
    }
}

/// The scores of verdicts that a tester sets.
const SIMULATED_APPROVAL: u8 = 85;
const SIMULATED_REPROVAL: u8 = 97;
