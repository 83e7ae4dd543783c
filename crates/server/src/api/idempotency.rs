//! One answer for one idempotency key (contract 00 §5, quality I1–I6).
//!
//! A claim is written in the same batch as the effect: a unique key decides races, and what is refused leaves no claim.
//! Requests that end in one batch go through [`commit_once`]. Charges and card checks call a provider in between: the claim
//! of a charge points at it, and the charge answers once nothing is under way; the claim of a check is held open and ended
//! with the outcome.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Body as HttpBody;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use regente_domain::charge::Charge;
use regente_domain::id::{ChargeId, ClientId};
use regente_domain::time::Timestamp;
use regente_store::charges;
use regente_store::idempotency::{self as claims, ClaimState};
use regente_store::{Batch, Commit, Refusal};
use serde::Serialize;
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

/// For how long after a repeated key others are looked for.
const REPEATS_LIKELY_FOR: Duration = Duration::from_secs(1);

/// How often a plan is made anew after losing a race, before the caller is told to come back.
const PLANS_MAX: usize = 4;

/// One use of an idempotency key.
#[derive(Clone, Debug)]
pub struct Claim {
    claim: claims::Claim,
    client_id: ClientId,
    /// Whether it was looked for, and was free.
    was_free: bool,
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
    /// A version of a charge, shown as it was then.
    Charge {
        /// HTTP status.
        status: StatusCode,
        /// The charge.
        id: ChargeId,
        /// Its version.
        version: i64,
    },
}

impl Finished {
    /// The answer of an operation whose answers are bodies.
    pub fn into_body_response(self) -> Result<Response, ApiError> {
        match self {
            Self::Body { status, bytes } => Ok(replayed(json_response(status, bytes))),
            Self::Charge { id, .. } => {
                Err(ApiError::internal(format!("this answer is a body, not charge {id}")))
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
        match Self::of(app, caller, headers, route, body).await? {
            None => Ok(Claimed::Without),
            Some(claim) => claim.look(app).await,
        }
    }

    /// The same for a request whose batch claims the key before anything else and that does nothing earlier: most keys are
    /// new, so it is taken to be, and the claim itself finds out; only while callers repeat theirs it is looked for before.
    pub async fn presume_new(
        app: &App,
        caller: &Caller,
        headers: &HeaderMap,
        route: &str,
        body: &Body,
    ) -> Result<Claimed, ApiError> {
        match Self::of(app, caller, headers, route, body).await? {
            None => Ok(Claimed::Without),
            Some(claim) if app.repeats.are_likely(app) => claim.look(app).await,
            Some(claim) => Ok(Claimed::Free(claim)),
        }
    }

    async fn of(
        app: &App,
        caller: &Caller,
        headers: &HeaderMap,
        route: &str,
        body: &Body,
    ) -> Result<Option<Self>, ApiError> {
        let Some(key) = idempotency_key(headers).map_err(ApiError::Invalid)? else { return Ok(None) };
        let client_id = caller.client_id;
        let keys = app.vault.client_keys(client_id).await?;
        let claim = claims::Claim {
            digest: keys.idempotency_digest(&[&caller.idempotency_scope(), route, key.as_str()]),
            fingerprint: keys.request_fingerprint(&body.canonical_bytes()),
        };
        Ok(Some(Self { claim, client_id, was_free: false }))
    }

    async fn look(self, app: &App) -> Result<Claimed, ApiError> {
        Ok(match self.look_up(app).await? {
            Some(finished) => Claimed::Answered(finished),
            None => Claimed::Free(Self { was_free: true, ..self }),
        })
    }

    /// The stored answer, or nothing while the key is free.
    async fn look_up(&self, app: &App) -> Result<Option<Finished>, ApiError> {
        let Some(stored) = claims::find(&app.store, self.client_id, self.claim.digest).await? else {
            return Ok(None);
        };
        let settled = match stored.state {
            ClaimState::Charge { id, begun, .. } => {
                charges::settled(&app.store, self.client_id, id, begun).await?
            }
            ClaimState::Running | ClaimState::Done { .. } => None,
        };
        let kept_until = match (&stored.state, settled) {
            (ClaimState::Done { .. }, _) => Some(stored.expires_at),
            // A charge that ended late keeps its answer as long as any other.
            (ClaimState::Charge { .. }, Some(settled)) => {
                Some(stored.expires_at.max(settled.moved_at + app.settings.idempotency_retention))
            }
            (ClaimState::Running | ClaimState::Charge { .. }, _) => None,
        };
        if kept_until.is_some_and(|end| end <= app.clock.now()) {
            return Ok(None);
        }
        app.repeats.note(app);
        if stored.fingerprint != self.claim.fingerprint {
            metrics::idempotency_conflict(IdempotencyConflict::Mismatch);
            return Err(ApiError::IdempotencyMismatch);
        }
        let status = |http_status| StatusCode::from_u16(http_status).map_err(ApiError::internal);
        match (stored.state, settled) {
            (ClaimState::Charge { http_status, id, .. }, Some(settled)) => {
                Ok(Some(Finished::Charge { status: status(http_status)?, id, version: settled.version }))
            }
            (ClaimState::Done { http_status, body }, _) => {
                let binding = body_binding(self.client_id, self.claim.digest);
                let bytes = app.vault.open(binding, &body).await?.to_vec();
                Ok(Some(Finished::Body { status: status(http_status)?, bytes }))
            }
            (ClaimState::Running | ClaimState::Charge { .. }, _) => {
                metrics::idempotency_conflict(IdempotencyConflict::Running);
                Err(ApiError::IdempotencyRunning { retry_after: RUNNING_RETRY_AFTER })
            }
        }
    }

    /// Claims the key for a request that a charge answers once nothing is under way any more. `charge` is as this batch
    /// writes it.
    pub fn answer_with(&self, app: &App, batch: &mut Batch, status: StatusCode, charge: &Charge) {
        let now = app.clock.now();
        claims::claim_for_charge(batch, &self.claim, status.as_u16(), charge, now, keep_until(app));
    }

    /// Claims the key for a request that goes on after this batch, and ends with a body.
    pub fn run(&self, app: &App, batch: &mut Batch, object_kind: &str, object_id: Uuid) {
        let now = app.clock.now();
        claims::claim_running(batch, &self.claim, object_kind, object_id, now, keep_until(app));
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
        if self.was_free {
            metrics::idempotency_conflict(IdempotencyConflict::LostRace);
        }
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
    let sealed = app.vault.seal(body_binding(batch.client_id(), digest), &bytes);
    claims::end_with_body(batch, digest, status.as_u16(), sealed, keep_until(app));
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
            let sealed = app.vault.seal(body_binding(claim.client_id, claim.claim.digest), &bytes);
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
fn body_binding(client_id: ClientId, digest: Uuid) -> Binding {
    Binding::new(Purpose::AnswerBody, client_id, digest)
}

/// The digest of a claim in hexadecimal. Records of earlier releases carry twice as much of it.
fn digest_of(claim_hex: &str) -> Result<Uuid, ApiError> {
    let bytes = hex::decode(claim_hex).map_err(ApiError::internal)?;
    let half = bytes.first_chunk().ok_or_else(|| ApiError::internal("a claim that is too short"))?;
    Ok(Uuid::from_bytes(*half))
}

/// Whether callers repeat their keys lately. Only then is a key looked for before it is claimed: one that is not new makes
/// the whole commit group begin anew on PostgreSQL.
#[derive(Debug, Default)]
pub struct Repeats {
    /// The machine time, in milliseconds, until which they are likely.
    likely_until: AtomicU64,
}

impl Repeats {
    fn note(&self, app: &App) {
        self.likely_until
            .store(millis(app.clock.machine().elapsed() + REPEATS_LIKELY_FOR), Ordering::Relaxed);
    }

    fn are_likely(&self, app: &App) -> bool {
        millis(app.clock.machine().elapsed()) < self.likely_until.load(Ordering::Relaxed)
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
