//! One answer for one idempotency key (contract 00 §5, quality I1–I6).
//!
//! A claim is written in the same batch as the effect: a unique key decides races, and what is refused leaves no claim.
//! Requests that end in one batch go through [`commit_once`]; charges and card checks, which call a provider in
//! between, hold their [`Claim`] open and end it with the outcome.

use axum::body::Body as HttpBody;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use regente_store::idempotency::{self as claims, Answer, ClaimState};
use regente_store::{Batch, Commit, Refusal};
use serde::Serialize;
use std::time::Duration;
use uuid::Uuid;

use super::error::ApiError;
use super::fields::Body;
use super::headers::{IDEMPOTENT_REPLAYED, idempotency_key};
use crate::access::Caller;
use crate::app::App;
use crate::metrics::{self, IdempotencyConflict};
use crate::vault::{Binding, Purpose};

/// When a caller whose first request is still running may ask again (contract 00 §5).
const RUNNING_RETRY_AFTER: Duration = Duration::from_secs(10);

/// How long a request may run before its end moves the end of its claim. Nearly all end sooner, and their rows keep it.
const RUNNING_MARGIN: Duration = Duration::from_secs(60);

/// How often a plan is made anew after losing a race, before the caller is told to come back.
const PLANS_MAX: usize = 4;

/// One use of an idempotency key.
#[derive(Clone, Debug)]
pub struct Claim {
    claim: claims::Claim,
    client_id: ClientId,
}

/// What a claim says about a request.
pub enum Claimed {
    /// No key was sent.
    Without,
    /// The key is free: claim it in the batch of the effect.
    Free(Claim),
    /// There is an answer.
    Answered(Finished),
}

/// A finished answer, to be replayed.
pub enum Finished {
    /// A body, byte for byte as it was.
    Body {
        /// HTTP status.
        status: StatusCode,
        /// The body.
        bytes: Vec<u8>,
    },
    /// A version of a record, shown as it was then.
    Record {
        /// HTTP status.
        status: StatusCode,
        /// The record's id.
        id: Uuid,
        /// Its version.
        version: i64,
    },
}

impl Finished {
    /// The answer of an operation whose answers are bodies.
    pub fn into_body_response(self) -> Result<Response, ApiError> {
        match self {
            Self::Body { status, bytes } => Ok(replayed(json_response(status, bytes))),
            Self::Record { id, .. } => {
                Err(ApiError::internal(format!("this answer is a body, not record {id}")))
            }
        }
    }
}

impl Claim {
    /// Reads the key, and what is stored for it. `route` is the method and the path with its ids, so that a key counts
    /// for one operation on one record (I2).
    pub async fn read(
        app: &App,
        caller: &Caller,
        headers: &HeaderMap,
        route: &str,
        body: &Body,
    ) -> Result<Claimed, ApiError> {
        let Some(key) = idempotency_key(headers).map_err(ApiError::Invalid)? else {
            return Ok(Claimed::Without);
        };
        let client_id = caller.client_id;
        let keys = app.vault.client_keys(client_id).await?;
        let claim = claims::Claim {
            digest: keys.idempotency_digest(&[&caller.idempotency_scope(), route, key.as_str()]),
            fingerprint: keys.request_fingerprint(&body.canonical_bytes()),
        };
        let claim = Self { claim, client_id };
        Ok(match claim.look_up(app).await? {
            Some(finished) => Claimed::Answered(finished),
            None => Claimed::Free(claim),
        })
    }

    /// The stored answer, or nothing while the key is free.
    async fn look_up(&self, app: &App) -> Result<Option<Finished>, ApiError> {
        let Some(stored) = claims::find(&app.store, self.client_id, &self.claim.digest).await? else {
            return Ok(None);
        };
        match stored.state {
            ClaimState::Done { .. } if stored.expires_at <= app.clock.now() => Ok(None),
            _ if stored.fingerprint != self.claim.fingerprint => {
                metrics::idempotency_conflict(IdempotencyConflict::Mismatch);
                Err(ApiError::IdempotencyMismatch)
            }
            ClaimState::Running => {
                metrics::idempotency_conflict(IdempotencyConflict::Running);
                Err(ApiError::IdempotencyRunning { retry_after: RUNNING_RETRY_AFTER })
            }
            ClaimState::Done { http_status, answer } => {
                let status = StatusCode::from_u16(http_status).map_err(ApiError::internal)?;
                Ok(Some(match answer {
                    Answer::Record { id, version } => Finished::Record { status, id, version },
                    Answer::Body(sealed) => {
                        let binding = body_binding(self.client_id, &self.claim.digest);
                        Finished::Body { status, bytes: app.vault.open(binding, &sealed).await?.to_vec() }
                    }
                }))
            }
        }
    }

    /// Claims the key for a request that goes on after this batch.
    pub fn run(&self, app: &App, batch: &mut Batch, object_kind: &str, object_id: Uuid) {
        let now = app.clock.now();
        let expires_at = keep_until(app) + RUNNING_MARGIN;
        claims::claim_running(batch, &self.claim, object_kind, object_id, now, expires_at);
    }

    /// The digest in hexadecimal: the record that waits for its outcome carries it, so that whoever ends the record
    /// ends the claim.
    pub fn to_hex(&self) -> String {
        hex::encode(self.claim.digest)
    }

    /// Whether this refusal of a batch means that another request was first with the key.
    pub fn lost(refusal: &Refusal) -> bool {
        refusal.statement == claims::CLAIM_KEY.name()
    }

    /// What the one that was first has answered. Called after [`Claim::lost`].
    pub async fn of_winner(&self, app: &App) -> Result<Finished, ApiError> {
        metrics::idempotency_conflict(IdempotencyConflict::LostRace);
        self.look_up(app).await?.ok_or(ApiError::IdempotencyRunning { retry_after: RUNNING_RETRY_AFTER })
    }
}

/// What a request has made up its mind to do before it claims its key.
pub enum Plan<T> {
    /// Its own plan.
    Own(T),
    /// None: another request with the same key was first, and this is its answer.
    Overtaken(Finished),
}

/// The plan of a request. One that failed may have failed because another request with the same key was first and has
/// used up what is missing now, such as a token: then that one's answer counts.
pub async fn unless_overtaken<T>(
    app: &App,
    claim: Option<&Claim>,
    planned: Result<T, ApiError>,
) -> Result<Plan<T>, ApiError> {
    match (planned, claim) {
        (Ok(planned), _) => Ok(Plan::Own(planned)),
        (Err(error), None) => Err(error),
        (Err(error), Some(claim)) => claim.look_up(app).await?.map(Plan::Overtaken).ok_or(error),
    }
}

/// Until when an answer given now is kept.
pub fn keep_until(app: &App) -> Timestamp {
    app.clock.now() + app.settings.idempotency_retention
}

/// Ends the claim that a record carries with the version of the record that its answer shows.
pub fn end_with_record(
    app: &App,
    batch: &mut Batch,
    claim_hex: &str,
    status: StatusCode,
    id: Uuid,
    version: i64,
) -> Result<(), ApiError> {
    claims::end_with_record(batch, &digest_of(claim_hex)?, status.as_u16(), id, version, keep_until(app));
    Ok(())
}

/// Ends the claim that a record carries with a body of its own.
pub fn end_with_body(
    app: &App,
    batch: &mut Batch,
    claim_hex: &str,
    status: StatusCode,
    body: &impl Serialize,
) -> Result<(), ApiError> {
    let digest = digest_of(claim_hex)?;
    let bytes = serde_json::to_vec(body).map_err(ApiError::internal)?;
    let sealed = app.vault.seal(body_binding(batch.client_id(), &digest), &bytes);
    claims::end_with_body(batch, &digest, status.as_u16(), sealed, keep_until(app));
    Ok(())
}

/// An effect that one batch makes, and its answer.
pub struct Planned {
    /// The whole effect.
    pub batch: Batch,
    /// HTTP status of the answer.
    pub status: StatusCode,
    /// Its body.
    pub body: serde_json::Value,
}

/// Makes a plan and applies it once for its key. A plan that loses a race (a version, a unique key) is made anew from
/// what is stored by then, a bounded number of times.
pub async fn commit_once<Planning: Future<Output = Result<Planned, ApiError>> + Send>(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    route: &str,
    body: &Body,
    mut plan: impl FnMut() -> Planning + Send,
) -> Result<Response, ApiError> {
    let claim = match Claim::read(app, caller, headers, route, body).await? {
        Claimed::Without => None,
        Claimed::Free(claim) => Some(claim),
        Claimed::Answered(finished) => return finished.into_body_response(),
    };
    for _ in 0..PLANS_MAX {
        let Planned { mut batch, status, body: answer } =
            match unless_overtaken(app, claim.as_ref(), plan().await).await? {
                Plan::Own(planned) => planned,
                Plan::Overtaken(finished) => return finished.into_body_response(),
            };
        let bytes = serde_json::to_vec(&answer).map_err(ApiError::internal)?;
        if let Some(claim) = &claim {
            let sealed = app.vault.seal(body_binding(claim.client_id, &claim.claim.digest), &bytes);
            let now = app.clock.now();
            claims::claim_done(&mut batch, &claim.claim, status.as_u16(), sealed, now, keep_until(app));
        }
        let _admission = app.store.admit()?;
        match app.store.apply(batch).await? {
            Commit::Applied => return Ok(json_response(status, bytes)),
            Commit::Refused(refusal) if Claim::lost(&refusal) => {
                if let Some(claim) = &claim {
                    return claim.of_winner(app).await?.into_body_response();
                }
            }
            Commit::Refused(_) => {}
            Commit::Unknown => return Err(ApiError::unavailable()),
        }
    }
    Err(ApiError::unavailable())
}

/// Marks an answer as replayed.
pub fn replayed(mut response: Response) -> Response {
    metrics::idempotency_replay();
    response.headers_mut().insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
    response
}

/// A JSON answer from bytes that are JSON already.
pub fn json_response(status: StatusCode, bytes: Vec<u8>) -> Response {
    if status == StatusCode::NO_CONTENT {
        return status.into_response();
    }
    (status, [(header::CONTENT_TYPE, "application/json")], HttpBody::from(bytes)).into_response()
}

/// Binds a sealed answer to its claim.
fn body_binding(client_id: ClientId, digest: &[u8; 32]) -> Binding {
    Binding::of_digest(Purpose::AnswerBody, client_id, digest)
}

fn digest_of(claim_hex: &str) -> Result<[u8; 32], ApiError> {
    let mut digest = [0; 32];
    hex::decode_to_slice(claim_hex, &mut digest).map_err(ApiError::internal)?;
    Ok(digest)
}
