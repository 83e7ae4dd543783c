//! One answer for one idempotency key (`docs/interface/conventions.md#idempotency`).
//!
//! A claim is written in the same batch as the effect: a unique key decides races, and what is refused leaves no claim.
//! Requests that end in one batch go through [`commit_once`]. Charges and card checks call a provider in between: the claim
//! of a charge points at it, and the charge answers once nothing is under way; the claim of a check is held open and ended
//! with the outcome.

use regente_domain::charge::Charge;
use regente_domain::id::{ChargeId, ClientId};
use regente_domain::idempotency::RUNNING_RETRY_AFTER;
use regente_domain::time::Timestamp;
use regente_store::charges;
use regente_store::idempotency::{self as claims, ClaimState};
use regente_store::{Batch, Commit, Refusal};
use serde::Serialize;
use uuid::Uuid;

use crate::app::{Answer, App};
use crate::caller::Caller;
use crate::error::Error;
use crate::metrics::{self, IdempotencyConflict};
use crate::vault::{Binding, Purpose};

/// The status of an answer that shows what was made, or done with it: the HTTP status 201, as the store keeps it.
const CREATED: u16 = 201;

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
    /// The key is free: claim it in the batch of the effect.
    Free(Claim),
    /// There is an answer.
    Answered(Finished),
}

/// A finished answer, to be replayed.
pub enum Finished {
    /// A body, byte for byte as it was.
    Body(Answer),
    /// A version of a charge, shown as it was then.
    Charge {
        /// HTTP status.
        status: u16,
        /// The charge.
        id: ChargeId,
        /// Its version.
        version: i64,
    },
}

/// A request that brings an idempotency key.
pub struct KeyedRequest<'a> {
    /// Who sends it.
    pub caller: &'a Caller,
    /// The key.
    pub key: &'a str,
    /// The operation and the ids of the records that it works on, so that a key counts for one operation on one record.
    pub route: &'a str,
    /// What is asked for, in a form in which the same request is always the same bytes.
    pub payload: &'a [u8],
}

impl Claim {
    /// What is stored for the key of a request.
    pub async fn read(app: &App, request: &KeyedRequest<'_>) -> Result<Claimed, Error> {
        Self::of(app, request).await?.look(app).await
    }

    /// The same for a request whose batch claims the key before anything else and that does nothing earlier: most keys are
    /// new, so it is taken to be, and the claim itself finds out; only while callers repeat theirs it is looked for before.
    pub async fn presume_new(app: &App, request: &KeyedRequest<'_>) -> Result<Claimed, Error> {
        let claim = Self::of(app, request).await?;
        if app.repeats.are_likely(app.clock.machine()) {
            claim.look(app).await
        } else {
            Ok(Claimed::Free(claim))
        }
    }

    async fn of(app: &App, request: &KeyedRequest<'_>) -> Result<Self, Error> {
        let client_id = request.caller.client_id;
        let keys = app.vault.client_keys(client_id).await?;
        let scope = request.caller.idempotency_scope();
        let claim = claims::Claim {
            digest: keys.idempotency_digest(&[&scope, request.route, request.key]),
            fingerprint: keys.request_fingerprint(request.payload),
        };
        Ok(Self { claim, client_id, was_free: false })
    }

    async fn look(self, app: &App) -> Result<Claimed, Error> {
        Ok(match self.look_up(app).await? {
            Some(finished) => Claimed::Answered(finished),
            None => Claimed::Free(Self { was_free: true, ..self }),
        })
    }

    /// The stored answer, or nothing while the key is free.
    async fn look_up(&self, app: &App) -> Result<Option<Finished>, Error> {
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
        if kept_until.is_some_and(|end| end <= app.clock.of(self.client_id)) {
            return Ok(None);
        }
        app.repeats.note(app.clock.machine());
        if stored.fingerprint != self.claim.fingerprint {
            metrics::idempotency_conflict(IdempotencyConflict::Mismatch);
            return Err(Error::IdempotencyMismatch);
        }
        match (stored.state, settled) {
            (ClaimState::Charge { http_status, id, .. }, Some(settled)) => {
                Ok(Some(Finished::Charge { status: http_status, id, version: settled.version }))
            }
            (ClaimState::Done { http_status, body }, _) => {
                let binding = body_binding(self.client_id, self.claim.digest);
                let bytes = app.vault.open(binding, &body).await?.to_vec();
                Ok(Some(Finished::Body(Answer { status: http_status, bytes })))
            }
            (ClaimState::Running | ClaimState::Charge { .. }, _) => {
                metrics::idempotency_conflict(IdempotencyConflict::Running);
                Err(Error::IdempotencyRunning { retry_after: RUNNING_RETRY_AFTER })
            }
        }
    }

    /// Claims the key for a request that a charge answers once nothing is under way any more. `charge` is as this batch
    /// writes it.
    pub fn answer_with(&self, app: &App, batch: &mut Batch, charge: &Charge) {
        let now = app.clock.of(self.client_id);
        claims::claim_for_charge(batch, &self.claim, CREATED, charge, now, keep_until(app, self.client_id));
    }

    /// Claims the key for a request that goes on after this batch, and ends with a body.
    pub fn run(&self, app: &App, batch: &mut Batch, object_kind: &str, object_id: Uuid) {
        let now = app.clock.of(self.client_id);
        claims::claim_running(
            batch,
            &self.claim,
            object_kind,
            object_id,
            now,
            keep_until(app, self.client_id),
        );
    }

    /// The digest in hexadecimal: the record that waits for its outcome carries it, so that whoever ends the record
    /// ends the claim.
    pub fn to_hex(&self) -> String {
        hex::encode(self.claim.digest)
    }

    /// Whether this refusal of a batch means that another request was first with the key.
    pub fn lost(refusal: &Refusal) -> bool {
        refusal.is(&claims::CLAIM_KEY)
    }

    /// What the one that was first has answered. Called after [`Claim::lost`].
    pub async fn of_winner(&self, app: &App) -> Result<Finished, Error> {
        if self.was_free {
            metrics::idempotency_conflict(IdempotencyConflict::LostRace);
        }
        self.look_up(app).await?.ok_or(Error::IdempotencyRunning { retry_after: RUNNING_RETRY_AFTER })
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
pub async fn unless_overtaken<T, E: From<Error>>(
    app: &App,
    claim: Option<&Claim>,
    planned: Result<T, E>,
) -> Result<Plan<T>, E> {
    match (planned, claim) {
        (Ok(planned), _) => Ok(Plan::Own(planned)),
        (Err(error), None) => Err(error),
        (Err(error), Some(claim)) => claim.look_up(app).await?.map(Plan::Overtaken).ok_or(error),
    }
}

/// Until when an answer given to an account now is kept.
pub fn keep_until(app: &App, client_id: ClientId) -> Timestamp {
    app.clock.of(client_id) + app.settings.idempotency_retention
}

/// The answer to a request that made something.
pub fn created(view: &impl Serialize) -> Result<Answer, Error> {
    Ok(Answer { status: CREATED, bytes: serde_json::to_vec(view).map_err(Error::internal)? })
}

/// Ends the claim that a record carries with an answer of its own.
pub fn end_with_body(app: &App, batch: &mut Batch, claim_hex: &str, answer: &Answer) -> Result<(), Error> {
    let digest = digest_of(claim_hex)?;
    let sealed = app.vault.seal(body_binding(batch.client_id(), digest), &answer.bytes);
    let kept_until = keep_until(app, batch.client_id());
    claims::end_with_body(batch, digest, answer.status, sealed, kept_until);
    Ok(())
}

/// An effect that one batch makes, and its answer.
pub struct Planned {
    /// The whole effect.
    pub batch: Batch,
    /// HTTP status of the answer.
    pub status: u16,
    /// Its body.
    pub body: serde_json::Value,
}

/// How a request was answered.
pub enum Committed {
    /// Its own effect was made, and this is its answer.
    Now(Answer),
    /// Another request with the same key was first, and this is its answer.
    Before(Finished),
}

/// Makes a plan and applies it once for its key. A plan that loses a race (a version, a unique key) is made anew from
/// what is stored by then, a bounded number of times.
pub async fn commit_once<E: From<Error>, Planning: Future<Output = Result<Planned, E>> + Send>(
    app: &App,
    request: Option<KeyedRequest<'_>>,
    mut plan: impl FnMut() -> Planning + Send,
) -> Result<Committed, E> {
    let claim = match request {
        None => None,
        Some(request) => match Claim::read(app, &request).await? {
            Claimed::Free(claim) => Some(claim),
            Claimed::Answered(finished) => return Ok(Committed::Before(finished)),
        },
    };
    for _ in 0..PLANS_MAX {
        let Planned { mut batch, status, body: answer } =
            match unless_overtaken(app, claim.as_ref(), plan().await).await? {
                Plan::Own(planned) => planned,
                Plan::Overtaken(finished) => return Ok(Committed::Before(finished)),
            };
        let bytes = serde_json::to_vec(&answer).map_err(Error::internal)?;
        if let Some(claim) = &claim {
            let sealed = app.vault.seal(body_binding(claim.client_id, claim.claim.digest), &bytes);
            let now = app.clock.of(claim.client_id);
            let kept_until = keep_until(app, claim.client_id);
            claims::claim_done(&mut batch, &claim.claim, status, sealed, now, kept_until);
        }
        let _admission = app.store.admit().map_err(Error::from)?;
        match app.store.apply(batch).await.map_err(Error::from)? {
            Commit::Applied => return Ok(Committed::Now(Answer { status, bytes })),
            Commit::Refused(refusal) if Claim::lost(&refusal) => {
                if let Some(claim) = &claim {
                    return Ok(Committed::Before(claim.of_winner(app).await?));
                }
            }
            Commit::Refused(_) => {}
            Commit::Unknown => return Err(Error::unavailable().into()),
        }
    }
    Err(Error::unavailable().into())
}

/// Binds a sealed answer to its claim.
fn body_binding(client_id: ClientId, digest: Uuid) -> Binding {
    Binding::new(Purpose::AnswerBody, client_id, digest)
}

/// The digest of a claim in hexadecimal. Records of earlier releases carry twice as much of it.
fn digest_of(claim_hex: &str) -> Result<Uuid, Error> {
    let bytes = hex::decode(claim_hex).map_err(Error::internal)?;
    let half = bytes.first_chunk().ok_or_else(|| Error::internal("a claim that is too short"))?;
    Ok(Uuid::from_bytes(*half))
}
