//! Answers calls and probes. Each runs in a task of its own, so a caller that disconnects changes nothing. Faults of
//! the answer are applied to the connection.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use futures_util::stream;
use regente_providers::outcome::{Answer, Finding, Probe};
use regente_providers::sandbox::Delivery;
use regente_providers::sandbox::http::{
    AnswerMessage, AssessedMessage, CallMessage, CardholderAnswerMessage, CardholderMessage, InquiryMessage,
    ProbeMessage, RiskMessage, SellerAnswerMessage, SellerMessage, StagedAnswer, StagedMessage,
};
use regente_providers::staged::StageRefusal;
use serde::Serialize;
use uuid::Uuid;

use super::Simulator;
use super::connection::Wire;
use super::error::Refusal;

/// Sent in place of an answer for a fault that makes it unreadable.
const GARBAGE: &[u8] = b"{\"key\":\"\xff\xfe\x00\",\"answer\":{\"appro";

pub(super) async fn call(
    State(simulator): State<Simulator>,
    Extension(wire): Extension<Wire>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    let (call, recipient) = CallMessage::read(&body?)?;
    let (key, sandbox) = (call.key, Arc::clone(&simulator.sandbox));
    let doing = tokio::spawn(async move { sandbox.act(&call, || recipient).await });
    let delivery = doing.await.map_err(|_panic| Refusal::failed())?;
    Ok(deliver(delivery.map(|answer| answer_body(key, answer)), &wire).await)
}

pub(super) async fn probe(
    State(simulator): State<Simulator>,
    Extension(wire): Extension<Wire>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    let lookup = InquiryMessage::read(&body?)?;
    let (key, sandbox) = (lookup.key, Arc::clone(&simulator.sandbox));
    let looking = tokio::spawn(async move { sandbox.look(&lookup).await });
    let delivery = looking.await.map_err(|_panic| Refusal::failed())?;
    Ok(deliver(delivery.map(|probe| probe_body(key, probe)), &wire).await)
}

pub(super) async fn authenticate(
    State(simulator): State<Simulator>,
    Extension(wire): Extension<Wire>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    let question = CardholderMessage::read(&body?)?;
    let (key, sandbox) = (question.key, Arc::clone(&simulator.sandbox));
    let doing = tokio::spawn(async move { sandbox.authenticate_cardholder(&question).await });
    let delivery = doing.await.map_err(|_panic| Refusal::failed())?;
    let body = |cardholder| json(&CardholderAnswerMessage { key, cardholder });
    Ok(deliver(delivery.map(body), &wire).await)
}

pub(super) async fn assess(
    State(simulator): State<Simulator>,
    Extension(wire): Extension<Wire>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    let question = RiskMessage::read(&body?)?;
    let (key, sandbox) = (question.key, Arc::clone(&simulator.sandbox));
    let doing = tokio::spawn(async move { sandbox.assess(&question).await });
    let delivery = doing.await.map_err(|_panic| Refusal::failed())?;
    Ok(deliver(delivery.map(|assessed| json(&AssessedMessage { key, assessed })), &wire).await)
}

pub(super) async fn seller(
    State(simulator): State<Simulator>,
    Extension(wire): Extension<Wire>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    let question = SellerMessage::read(&body?)?;
    let (key, sandbox) = (question.key, Arc::clone(&simulator.sandbox));
    let doing = tokio::spawn(async move { sandbox.answer_about_seller(&question).await });
    let delivery = doing.await.map_err(|_panic| Refusal::failed())?;
    Ok(deliver(delivery.map(|seller| json(&SellerAnswerMessage { key, seller })), &wire).await)
}

/// What a tester stages. No fault applies to it.
pub(super) async fn stage(
    State(simulator): State<Simulator>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    let event = StagedMessage::read(&body?)?;
    let (key, sandbox) = (event.key, Arc::clone(&simulator.sandbox));
    let staging = tokio::spawn(async move { sandbox.stage(event).await });
    match staging.await.map_err(|_panic| Refusal::failed())? {
        Ok(()) => Ok(ok(json(&StagedAnswer { staged: key }).map(Body::from))),
        Err(refusal @ StageRefusal::NothingWaits) => {
            Err(Refusal::new(StatusCode::CONFLICT, "nothing_waits", refusal.to_string()))
        }
        Err(StageRefusal::NoSimulator | StageRefusal::Unanswered) => Err(Refusal::failed()),
    }
}

/// An answer that cannot be serialized is an error of the simulator.
fn answer_body(key: Uuid, answer: Answer) -> Result<Bytes, Refusal> {
    let answer = match answer {
        Answer::Approved(approval) => Finding::Approved(approval),
        Answer::Declined(decline) => Finding::Declined(decline),
        Answer::Accepted(approval) => Finding::Accepted(approval),
        Answer::Pending(pending) => Finding::Pending(pending),
        Answer::NotSent | Answer::Unknown(_) => return Err(Refusal::failed()),
    };
    json(&AnswerMessage { key, answer })
}

fn probe_body(key: Uuid, probe: Probe) -> Result<Bytes, Refusal> {
    let found = match probe {
        Probe::Found(finding) => Some(finding),
        Probe::Absent => None,
        Probe::Unknown => return Err(Refusal::failed()),
    };
    json(&ProbeMessage { key, found })
}

fn json(message: &impl Serialize) -> Result<Bytes, Refusal> {
    serde_json::to_vec(message).map(Bytes::from).map_err(|_| Refusal::failed())
}

async fn deliver(delivery: Delivery<Result<Bytes, Refusal>>, wire: &Wire) -> Response {
    match delivery {
        Delivery::Whole(body) => ok(body.map(Body::from)),
        Delivery::Slowly(body, duration) => ok(body.map(|body| slow(body, duration))),
        Delivery::Twice(body) => {
            wire.repeat();
            ok(body.map(Body::from))
        }
        Delivery::Never => std::future::pending().await,
        Delivery::Reset => {
            wire.reset();
            ok(Ok(Body::empty()))
        }
        Delivery::ServerError => {
            Refusal::new(StatusCode::BAD_GATEWAY, "fault", "a fault of the plan wants this").into_response()
        }
        Delivery::Garbage => ok(Ok(Body::from(GARBAGE))),
    }
}

fn ok(body: Result<Body, Refusal>) -> Response {
    match body {
        Ok(body) => {
            let json = HeaderValue::from_static("application/json");
            ([(header::CONTENT_TYPE, json)], body).into_response()
        }
        Err(refusal) => refusal.into_response(),
    }
}

/// Sends the first half at once and the second half after `duration`.
fn slow(body: Bytes, duration: Duration) -> Body {
    let (first, rest) = (body.slice(..body.len() / 2), body.slice(body.len() / 2..));
    let later = stream::once(async move {
        tokio::time::sleep(duration).await;
        Ok::<_, Infallible>(rest)
    });
    Body::from_stream(stream::once(async { Ok(first) }).chain(later))
}
