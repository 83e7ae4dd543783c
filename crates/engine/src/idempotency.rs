//! One answer for one idempotency key (`docs/interface/conventions.md#idempotency`).
//!
//! The claim of a key is in the batch of the effect: a unique key decides races, and a refused batch leaves no claim.
//! Requests that need one batch use [`commit_once`]. Charges and card checks call a provider in between: the claim of a
//! charge refers to the charge, which answers once nothing is under way; the claim of a check stays open until the
//! outcome ends it.

use regente_domain::charge::Charge;
use regente_domain::id::{ChargeId, ClientId};
use regente_domain::idempotency::RUNNING_RETRY_AFTER;
use regente_domain::time::Timestamp;
use regente_store::charges;
use regente_store::idempotency::{self as claims, ClaimState};
use regente_store::{Batch, Commit};
use serde::Serialize;
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::app::{Answer, App};
use crate::caller::Caller;
use crate::error::Error;
use crate::metrics::{self, IdempotencyConflict};
use crate::races;
use crate::vault::{Binding, Purpose};

/// The status of an answer that shows a new record or an operation on one: HTTP 201, as stored.
const CREATED: u16 = 201;
/// Bytes of most answers that show a charge: the buffer of a larger one grows.
const ANSWER_BYTES: usize = 2048;

/// A use of an idempotency key.
#[derive(Clone, Debug)]
pub struct Claim {
    claim: claims::Claim,
    client_id: ClientId,
    /// Whether the key was looked up and was free.
    was_free: bool,
    /// The version of its charge with which an earlier try began, which has not ended.
    begun: Option<i64>,
}

/// The state of an idempotency key.
pub enum Claimed {
    /// The key is free: claim it in the batch of the effect.
    Free(Claim),
    /// The key has an answer.
    Answered(Finished),
}

/// A stored answer to replay.
pub enum Finished {
    /// The body, byte for byte.
    Body(Answer),
    /// A charge, shown as of this version.
    Charge {
        /// HTTP status.
        status: u16,
        /// The charge.
        id: ChargeId,
        /// Its version.
        version: i64,
    },
}

/// A request with an idempotency key.
pub struct KeyedRequest<'a> {
    /// The sender.
    pub caller: &'a Caller,
    /// The key.
    pub key: &'a str,
    /// The operation and the ids of its records: a key counts for one operation on one record.
    pub route: &'a str,
    /// The request in a canonical form: equal requests have equal bytes.
    pub payload: &'a [u8],
}

/// The key that came with a request, and what it counts for.
pub struct Key {
    /// The key.
    pub text: String,
    /// As [`KeyedRequest::route`].
    pub route: String,
    /// As [`KeyedRequest::payload`]. It may hold card data.
    pub payload: Zeroizing<Vec<u8>>,
}

impl Key {
    /// The request of this caller.
    pub fn of<'a>(&'a self, caller: &'a Caller) -> KeyedRequest<'a> {
        KeyedRequest { caller, key: &self.text, route: &self.route, payload: &self.payload }
    }
}

impl Claim {
    /// A number that looks random and is the same for the same key.
    pub fn seed(&self) -> u64 {
        self.claim.digest.as_u64_pair().0
    }

    /// Looks up the key of a request.
    pub async fn read(app: &App, request: &KeyedRequest<'_>) -> Result<Claimed, Error> {
        Self::of(app, request).await?.look(app).await
    }

    /// Like [`Self::read`], but without a look-up unless callers have just repeated keys: most keys are new, and the
    /// claim itself detects a used one. Only for a request whose batch claims the key first and that has no earlier
    /// effects.
    pub async fn presume_new(app: &App, request: &KeyedRequest<'_>) -> Result<Claimed, Error> {
        let claim = Self::of(app, request).await?;
        if app.repeats.are_likely(app.clock.machine()) {
            claim.look(app).await
        } else {
            Ok(Claimed::Free(claim))
        }
    }

    /// The key of a request, which is not looked up: for its [`seed`](Self::seed).
    pub async fn of(app: &App, request: &KeyedRequest<'_>) -> Result<Self, Error> {
        let client_id = request.caller.client_id;
        let keys = app.vault.client_keys(client_id).await?;
        let scope = request.caller.idempotency_scope();
        let claim = claims::Claim {
            digest: keys.idempotency_digest(&[&scope, request.route, request.key]),
            fingerprint: keys.request_fingerprint(request.payload),
        };
        Ok(Self { claim, client_id, was_free: false, begun: None })
    }

    async fn look(self, app: &App) -> Result<Claimed, Error> {
        Ok(match self.look_up(app).await? {
            Some(finished) => Claimed::Answered(finished),
            None => Claimed::Free(Self { was_free: true, ..self }),
        })
    }

    /// Looks up the key of a request that moves a charge in several batches: what an earlier try has begun is gone on with.
    async fn read_or_resume(app: &App, request: &KeyedRequest<'_>) -> Result<Claimed, Error> {
        let claim = Self::of(app, request).await?;
        let stored = claims::find(&app.store, claim.client_id, claim.claim.digest).await?;
        match stored.map(|stored| (stored.state, stored.fingerprint == claim.claim.fingerprint)) {
            Some((ClaimState::Running { begun: begun @ Some(_) }, true)) => {
                Ok(Claimed::Free(Self { begun, ..claim }))
            }
            Some(_) | None => claim.look(app).await,
        }
    }

    /// The stored answer; `None` while the key is free.
    async fn look_up(&self, app: &App) -> Result<Option<Finished>, Error> {
        let Some(stored) = claims::find(&app.store, self.client_id, self.claim.digest).await? else {
            return Ok(None);
        };
        let settled = match stored.state {
            ClaimState::Charge { id, begun, .. } => {
                charges::settled(&app.store, self.client_id, id, begun).await?
            }
            ClaimState::Running { .. } | ClaimState::Done { .. } => None,
        };
        let kept_until = match (&stored.state, settled) {
            (ClaimState::Done { .. }, _) => Some(stored.expires_at),
            // The retention of a charge's answer begins when the charge settles.
            (ClaimState::Charge { .. }, Some(settled)) => {
                Some(stored.expires_at.max(settled.moved_at + app.settings.idempotency_retention))
            }
            (ClaimState::Running { .. } | ClaimState::Charge { .. }, _) => None,
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
            (ClaimState::Running { .. }, _) if self.begun.is_some() => Ok(None),
            (ClaimState::Running { .. } | ClaimState::Charge { .. }, _) => {
                metrics::idempotency_conflict(IdempotencyConflict::Running);
                Err(Error::IdempotencyRunning { retry_after: RUNNING_RETRY_AFTER })
            }
        }
    }

    /// Claims the key for a request that is answered with its charge once nothing is under way. `charge` is as this
    /// batch writes it.
    pub fn answer_with(&self, app: &App, batch: &mut Batch, charge: &Charge) {
        claims::claim_for_charge(batch, &self.claim, CREATED, charge, keep_until(app, self.client_id));
    }

    /// Claims the key for a request that continues after this batch and ends with a body.
    pub fn run(&self, app: &App, batch: &mut Batch, object_kind: &'static str, object_id: Uuid) {
        claims::claim_running(batch, &self.claim, object_kind, object_id, keep_until(app, self.client_id));
    }

    /// The digest in hexadecimal. A record that waits for its outcome stores it, so that the task that ends the record
    /// also ends the claim.
    pub fn to_hex(&self) -> String {
        hex::encode(self.claim.digest)
    }

    /// The answer of the request that claimed the key first. `None` if its answer is kept no longer: then its claim is
    /// forgotten, and the key can be claimed.
    async fn of_winner(&self, app: &App) -> Result<Option<Finished>, Error> {
        let winner = self.look_up(app).await;
        if !matches!(winner, Ok(None)) {
            if self.was_free {
                metrics::idempotency_conflict(IdempotencyConflict::LostRace);
            }
            return winner;
        }
        let now = app.clock.of(self.client_id);
        let mut batch = Batch::new(self.client_id);
        claims::purge(&mut batch, &[self.claim.digest], now, now - app.settings.idempotency_retention);
        match app.store.apply(batch).await? {
            // The next claim finds out what became of it.
            Commit::Applied | Commit::Refused(_) | Commit::Unknown => Ok(None),
        }
    }
}

/// The charge that a key of this caller has begun, whatever was sent with the key. A page that never saw the answer to its
/// request has nothing else to ask by.
pub async fn charge_begun_with(
    app: &App,
    caller: &Caller,
    route: &str,
    key: &str,
) -> Result<Option<ChargeId>, Error> {
    let request = KeyedRequest { caller, key, route, payload: &[] };
    let digest = Claim::of(app, &request).await?.claim.digest;
    let stored = claims::find(&app.store, caller.client_id, digest).await?;
    Ok(match stored.map(|stored| stored.state) {
        Some(ClaimState::Charge { id, .. }) => Some(id),
        Some(ClaimState::Running { .. } | ClaimState::Done { .. }) | None => None,
    })
}

/// How a batch that claims a key was answered.
pub enum Claiming {
    /// By the store; not refused because of the key.
    Ended(Commit),
    /// Another request with the same key came first; this is its answer.
    Overtaken(Finished),
}

/// Applies the batch that `batch` makes, which claims the key if there is one.
pub async fn apply_claiming(
    app: &App,
    claim: Option<&Claim>,
    batch: impl Fn() -> Result<Batch, Error>,
) -> Result<Claiming, Error> {
    for _ in races::tries() {
        match (app.store.apply(batch()?).await?, claim) {
            (Commit::Refused(refusal), Some(claim)) if refusal.is(&claims::CLAIM_KEY) => {
                if let Some(finished) = claim.of_winner(app).await? {
                    return Ok(Claiming::Overtaken(finished));
                }
            }
            (commit, _) => return Ok(Claiming::Ended(commit)),
        }
    }
    Err(Error::IdempotencyRunning { retry_after: RUNNING_RETRY_AFTER })
}

/// The plan of a request before it claims its key.
pub enum Plan<T> {
    /// The request's own plan.
    Own(T),
    /// No plan: another request with the same key came first; this is its answer.
    Overtaken(Finished),
}

/// Returns the plan. If planning failed, it first checks whether another request with the same key has used up what is
/// missing, such as a token: then that request's answer is returned.
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

/// The answer to a request that created a record.
pub fn created(view: &impl Serialize) -> Result<Answer, Error> {
    let mut bytes = Vec::with_capacity(ANSWER_BYTES);
    serde_json::to_writer(&mut bytes, view).map_err(Error::internal)?;
    Ok(Answer { status: CREATED, bytes })
}

/// Ends the claim of a record with this answer.
pub fn end_with_body(app: &App, batch: &mut Batch, claim_hex: &str, answer: &Answer) -> Result<(), Error> {
    let digest = digest_of(claim_hex)?;
    let sealed = app.vault.seal(body_binding(batch.client_id(), digest), &answer.bytes);
    let kept_until = keep_until(app, batch.client_id());
    claims::end_with_body(batch, digest, answer.status, sealed, kept_until);
    Ok(())
}

/// The effect of a request in one batch, with its answer.
pub struct Planned {
    /// The whole effect.
    pub batch: Batch,
    /// HTTP status of the answer.
    pub status: u16,
    /// Body of the answer.
    pub body: serde_json::Value,
    /// The time of the account after the effect, if that moves it: the answer is kept from then on.
    pub moves_time_to: Option<Timestamp>,
}

impl Planned {
    /// An effect whose answer shows the record.
    ///
    /// # Errors
    /// [`Error::Internal`] when what is shown is no JSON.
    pub fn showing(batch: Batch, status: u16, view: &impl Serialize) -> Result<Self, Error> {
        let body = serde_json::to_value(view).map_err(Error::internal)?;
        Ok(Self { batch, status, body, moves_time_to: None })
    }
}

/// How a request was answered.
pub enum Committed {
    /// The effect was committed; this is its answer.
    Now(Answer),
    /// Another request with the same key came first; this is its answer.
    Before(Finished),
}

/// Plans and commits once for a key. After a lost race (a version or a unique key) it plans again from the stored
/// state, a limited number of times.
pub async fn commit_once<E: From<Error>, Planning: Future<Output = Result<Planned, E>> + Send>(
    app: &App,
    request: Option<KeyedRequest<'_>>,
    plan: impl FnMut() -> Planning + Send,
) -> Result<Committed, E> {
    let claim = match request {
        None => None,
        Some(request) => match Claim::read(app, &request).await? {
            Claimed::Free(claim) => Some(claim),
            Claimed::Answered(finished) => return Ok(Committed::Before(finished)),
        },
    };
    commit_claiming(app, claim.as_ref(), plan).await
}

/// As [`commit_once`] for a request that goes on after its batch: `then` makes the answer. Until then, and when the process
/// stops meanwhile, the answer of the plan is the one that is repeated.
pub async fn commit_once_then<Planning, Going>(
    app: &App,
    request: Option<KeyedRequest<'_>>,
    plan: impl FnMut() -> Planning + Send,
    then: impl FnOnce(Answer) -> Going + Send,
) -> Result<Committed, Error>
where
    Planning: Future<Output = Result<Planned, Error>> + Send,
    Going: Future<Output = Result<Answer, Error>> + Send,
{
    let claim = match request {
        None => None,
        Some(request) => match Claim::read(app, &request).await? {
            Claimed::Free(claim) => Some(claim),
            Claimed::Answered(finished) => return Ok(Committed::Before(finished)),
        },
    };
    let planned = match commit_claiming(app, claim.as_ref(), plan).await? {
        Committed::Now(planned) => planned,
        before @ Committed::Before(_) => return Ok(before),
    };
    let answer = then(planned.clone()).await?;
    let Some(claim) = claim else { return Ok(Committed::Now(answer)) };
    let mut batch = Batch::new(claim.client_id);
    let digest = claim.claim.digest;
    let sealed = app.vault.seal(body_binding(claim.client_id, digest), &answer.bytes);
    claims::replace_answer(&mut batch, digest, Some(answer.status), sealed);
    let _admission = app.store.admit_waiting().await?;
    Ok(Committed::Now(match app.store.apply(batch).await? {
        Commit::Applied => answer,
        // What is repeated is what was answered.
        Commit::Refused(_) | Commit::Unknown => planned,
    }))
}

/// As [`commit_once`] for a request that has others move a charge, each in a batch of its own, before it ends with its own
/// batch. `begins` tells the charge as it is before, if that will be so. A try that is repeated after the process stopped goes
/// on: `plan` is told the version of the charge before the first one.
pub async fn commit_once_in_steps<Planning: Future<Output = Result<Planned, Error>> + Send>(
    app: &App,
    request: Option<KeyedRequest<'_>>,
    begins: impl Future<Output = Result<Option<Charge>, Error>> + Send,
    mut plan: impl FnMut(Option<i64>) -> Planning + Send,
) -> Result<Committed, Error> {
    let Some(request) = request else { return commit_claiming(app, None, || plan(None)).await };
    let mut claim = match Claim::read_or_resume(app, &request).await? {
        Claimed::Free(claim) => claim,
        Claimed::Answered(finished) => return Ok(Committed::Before(finished)),
    };
    if claim.begun.is_none()
        && let Some(charge) = begins.await?
    {
        let batch = || {
            let mut batch = Batch::new(claim.client_id);
            claims::claim_begun(&mut batch, &claim.claim, &charge, keep_until(app, claim.client_id));
            Ok(batch)
        };
        let _admission = app.store.admit(claim.client_id)?;
        match apply_claiming(app, Some(&claim), batch).await? {
            Claiming::Ended(Commit::Applied) => claim.begun = Some(charge.version),
            Claiming::Ended(Commit::Refused(_) | Commit::Unknown) => return Err(Error::unavailable()),
            Claiming::Overtaken(finished) => return Ok(Committed::Before(finished)),
        }
    }
    let begun = claim.begun;
    commit_claiming(app, Some(&claim), || plan(begun)).await
}

async fn commit_claiming<E: From<Error>, Planning: Future<Output = Result<Planned, E>> + Send>(
    app: &App,
    claim: Option<&Claim>,
    mut plan: impl FnMut() -> Planning + Send,
) -> Result<Committed, E> {
    for _ in races::tries() {
        let Planned { mut batch, status, body: answer, moves_time_to } =
            match unless_overtaken(app, claim, plan().await).await? {
                Plan::Own(planned) => planned,
                Plan::Overtaken(finished) => return Ok(Committed::Before(finished)),
            };
        let bytes = serde_json::to_vec(&answer).map_err(Error::internal)?;
        if let Some(claim) = claim {
            let sealed = app.vault.seal(body_binding(claim.client_id, claim.claim.digest), &bytes);
            let moved = moves_time_to.map(|moved| moved + app.settings.idempotency_retention);
            let kept_until = keep_until(app, claim.client_id);
            let kept_until = moved.map_or(kept_until, |moved| moved.max(kept_until));
            match claim.begun {
                Some(_) => {
                    claims::end_with_body(&mut batch, claim.claim.digest, status, sealed, kept_until);
                }
                None => claims::claim_done(&mut batch, &claim.claim, status, sealed, kept_until),
            }
        }
        let _admission = app.store.admit(batch.client_id()).map_err(Error::from)?;
        match app.store.apply(batch).await.map_err(Error::from)? {
            Commit::Applied => return Ok(Committed::Now(Answer { status, bytes })),
            Commit::Refused(refusal)
                if refusal.is(&claims::CLAIM_KEY) || refusal.is(&claims::END_KEY_WITH_BODY) =>
            {
                if let Some(claim) = claim
                    && let Some(finished) = claim.of_winner(app).await?
                {
                    return Ok(Committed::Before(finished));
                }
            }
            Commit::Refused(_) => {}
            Commit::Unknown => return Err(Error::unavailable().into()),
        }
    }
    Err(Error::unavailable().into())
}

/// The binding of a sealed answer to its claim.
pub(crate) fn body_binding(client_id: ClientId, digest: Uuid) -> Binding {
    Binding::new(Purpose::AnswerBody, client_id, digest)
}

/// Parses the digest of a claim. Records of earlier releases contain twice as many digits.
fn digest_of(claim_hex: &str) -> Result<Uuid, Error> {
    let bytes = hex::decode(claim_hex).map_err(Error::internal)?;
    let half = bytes.first_chunk().ok_or_else(|| Error::internal("a claim that is too short"))?;
    Ok(Uuid::from_bytes(*half))
}
