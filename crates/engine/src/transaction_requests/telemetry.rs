//! Measures and traces calls to providers: how long they took and how they ended.

use futures_util::FutureExt;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::authentication::{Authenticated, Found};
use regente_providers::anti_fraud::{AnalysisFailure, Verdict};
use regente_providers::authentication::Enrolled;
use regente_providers::outcome::{Answer, Finding, Probe};
use tracing::Instrument;

use crate::app::App;
use crate::metrics::{self, CallKind, CallOutcome};
use crate::spans;

/// Waits for the answer to a call and records it in metrics and traces.
pub(crate) fn call<'a>(
    app: &'a App,
    request: &'a TransactionRequest,
    call: impl Future<Output = Answer> + Send + 'a,
) -> impl Future<Output = Answer> + Send + 'a {
    watch(app, request, CallKind::ToDo(request.request_type), call, |answer| match answer {
        Answer::Approved(_) => CallOutcome::Approved,
        Answer::Declined(_) => CallOutcome::Declined,
        Answer::Pending(_) | Answer::Accepted(_) => CallOutcome::Pending,
        Answer::NotSent | Answer::Unknown(_) => CallOutcome::Unknown,
    })
}

/// Waits for the answer to a probe and records it in metrics and traces.
pub(crate) fn probe<'a>(
    app: &'a App,
    request: &'a TransactionRequest,
    probe: impl Future<Output = Probe> + Send + 'a,
) -> impl Future<Output = Probe> + Send + 'a {
    watch(app, request, CallKind::WhatBecameOf, probe, |probe| match probe {
        Probe::Found(Finding::Approved(_) | Finding::Paid(_) | Finding::Reversed { .. }) => {
            CallOutcome::Approved
        }
        Probe::Found(Finding::Declined(_)) => CallOutcome::Declined,
        Probe::Found(Finding::Pending(_) | Finding::Accepted(_)) => CallOutcome::Pending,
        Probe::Absent => CallOutcome::Absent,
        Probe::Unknown => CallOutcome::Unknown,
    })
}

/// Waits for the answer to a risk analysis and records it in metrics and traces.
pub(crate) fn analysis<'a>(
    app: &'a App,
    request: &'a TransactionRequest,
    analysis: impl Future<Output = Verdict> + Send + 'a,
) -> impl Future<Output = Verdict> + Send + 'a {
    watch(app, request, CallKind::ToDo(request.request_type), analysis, of_verdict)
}

/// Waits for the verdict of a pending analysis and records it in metrics and traces.
pub(crate) fn verdict<'a>(
    app: &'a App,
    request: &'a TransactionRequest,
    result: impl Future<Output = Result<Verdict, AnalysisFailure>> + Send + 'a,
) -> impl Future<Output = Result<Verdict, AnalysisFailure>> + Send + 'a {
    watch(app, request, CallKind::WhatBecameOf, result, |told| {
        told.as_ref().map_or(CallOutcome::Unknown, of_verdict)
    })
}

/// Waits until a provider of risk has taken note of a charge and records it in metrics and traces.
pub(crate) fn feeding<'a>(
    app: &'a App,
    request: &'a TransactionRequest,
    feeding: impl Future<Output = Result<(), AnalysisFailure>> + Send + 'a,
) -> impl Future<Output = Result<(), AnalysisFailure>> + Send + 'a {
    watch(app, request, CallKind::ToDo(request.request_type), feeding, |fed| match fed {
        Ok(()) => CallOutcome::Approved,
        Err(_) => CallOutcome::Unknown,
    })
}

/// Waits for the answer of a 3DS server and records it in metrics and traces.
pub(crate) fn enrollment<'a>(
    app: &'a App,
    request: &'a TransactionRequest,
    enrollment: impl Future<Output = Enrolled> + Send + 'a,
) -> impl Future<Output = Enrolled> + Send + 'a {
    watch(app, request, CallKind::ToDo(request.request_type), enrollment, |enrolled| match enrolled {
        Enrolled::Decided(authenticated) => of_authentication(authenticated),
        Enrolled::Challenge { .. } => CallOutcome::Pending,
    })
}

/// Waits until a 3DS server tells how a challenge has ended and records it in metrics and traces.
pub(crate) fn validation<'a>(
    app: &'a App,
    request: &'a TransactionRequest,
    validation: impl Future<Output = Option<Authenticated>> + Send + 'a,
) -> impl Future<Output = Option<Authenticated>> + Send + 'a {
    watch(app, request, CallKind::WhatBecameOf, validation, |told| {
        told.as_ref().map_or(CallOutcome::Pending, of_authentication)
    })
}

const fn of_authentication(authenticated: &Authenticated) -> CallOutcome {
    match authenticated.found {
        Found::Authenticated | Found::Attempted | Found::NotEnrolled | Found::DataShared => {
            CallOutcome::Approved
        }
        Found::ChallengeWanted => CallOutcome::Pending,
        Found::Failed | Found::NotCompleted | Found::Error => CallOutcome::Declined,
        Found::Unavailable => CallOutcome::Unknown,
    }
}

const fn of_verdict(verdict: &Verdict) -> CallOutcome {
    match verdict {
        Verdict::Approved { .. } => CallOutcome::Approved,
        Verdict::Reproved { .. } => CallOutcome::Declined,
        Verdict::Pending { .. } => CallOutcome::Pending,
        Verdict::Failed(_) => CallOutcome::Unknown,
    }
}

fn watch<'a, T: Send + 'a>(
    app: &'a App,
    request: &'a TransactionRequest,
    asked: CallKind,
    waiting: impl Future<Output = T> + Send + 'a,
    outcome: fn(&T) -> CallOutcome,
) -> impl Future<Output = T> + Send + 'a {
    let span = spans::provider_call(request.provider_type, asked.word());
    let started = app.clock.machine();
    waiting.instrument(span.clone()).inspect(move |answer| {
        let (duration, outcome) = (app.clock.machine().since(started), outcome(answer));
        spans::end_provider_call(&span, outcome.word());
        metrics::provider_call(request.provider_type, asked, outcome, duration);
    })
}
