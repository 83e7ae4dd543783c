//! Calls to providers as those who watch see them: how long they took and how they ended. Nothing is decided here.

use regente_domain::charge::attempt::TransactionRequest;
use regente_providers::outcome::{Answer, Finding, Probe};
use tracing::Instrument;

use crate::app::App;
use crate::metrics::{self, Asked, CallOutcome};
use crate::telemetry::spans;

/// Waits for the answer to a call.
pub(super) async fn call(
    app: &App,
    request: &TransactionRequest,
    call: impl Future<Output = Answer>,
) -> Answer {
    watch(app, request, Asked::ToDo(request.request_type), call, |answer| match answer {
        Answer::Approved(_) => CallOutcome::Approved,
        Answer::Declined(_) => CallOutcome::Declined,
        Answer::Unknown(_) => CallOutcome::Unknown,
    })
    .await
}

/// Waits for the answer to the question what became of a call.
pub(super) async fn probe(
    app: &App,
    request: &TransactionRequest,
    probe: impl Future<Output = Probe>,
) -> Probe {
    watch(app, request, Asked::WhatBecameOf, probe, |probe| match probe {
        Probe::Found(Finding::Approved(_)) => CallOutcome::Approved,
        Probe::Found(Finding::Declined(_)) => CallOutcome::Declined,
        Probe::Absent => CallOutcome::Absent,
        Probe::Unknown => CallOutcome::Unknown,
    })
    .await
}

async fn watch<T>(
    app: &App,
    request: &TransactionRequest,
    asked: Asked,
    waiting: impl Future<Output = T>,
    outcome: impl FnOnce(&T) -> CallOutcome,
) -> T {
    let span = spans::provider_call(request.provider_type, asked.word());
    let started = app.clock.machine();
    let answer = waiting.instrument(span.clone()).await;
    let (duration, outcome) = (app.clock.machine().since(started), outcome(&answer));
    spans::end_provider_call(&span, outcome.word());
    metrics::provider_call(request.provider_type, asked, outcome, duration);
    answer
}
