//! Stores claims of idempotency keys. The unique key decides races. A claim points to the charge that answers, and is
//! written once, or ends with a sealed body. Unfinished claims are never purged.

use regente_domain::charge::Charge;
use regente_domain::id::{ChargeId, ClientId};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::accounts::{Accounts, listed};
use crate::batch::Batch;
use crate::sealed::Sealed;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

// An answer is kept for its time; that of a charge also while the charge is under way, and for as long again after it
// last changed: a charge that ended late keeps its answer as long as any other.
macro_rules! is_expired {
    ($client_id:literal) => {
        concat!(
            "expires_at <= :now AND state <> 'running' AND NOT (state = 'charge' AND EXISTS (\
                SELECT 1 FROM charges c WHERE c.id = idempotency.object_id AND c.client_id = ",
            $client_id,
            " AND (c.status IN STATES_UNDER_WAY OR c.updated_at > :moved_after)))"
        )
    };
}

// When what a claim stands for moved last: a request that has not ended and a charge under way move all the time. Null if
// nothing keeps the claim.
macro_rules! moved_at {
    ($client_id:literal) => {
        concat!(
            "CASE state WHEN 'running' THEN :now WHEN 'charge' THEN (\
                SELECT CASE WHEN c.status IN STATES_UNDER_WAY THEN :now ELSE c.updated_at END FROM charges c \
                WHERE c.id = idempotency.object_id AND c.client_id = ",
            $client_id,
            ") END AS moved_at"
        )
    };
}

sql! {
    /// Claims a key. Any other claim refuses the batch, also an expired one: [`purge`] forgets that.
    pub CLAIM_KEY = "
        INSERT INTO idempotency (digest, client_id, fingerprint, state, http_status, object_kind, object_id,
            version, body, key_id, expires_at)
        VALUES (:digest, :client_id, :fingerprint, :state, :http_status, :object_kind, :object_id,
            :version, :body, :key_id, :expires_at)
        ON CONFLICT (digest, client_id) DO NOTHING";
    /// Ends a running claim with a sealed body.
    pub END_KEY_WITH_BODY = "
        UPDATE idempotency SET state = 'done', http_status = :http_status, body = :body, key_id = :key_id,
            expires_at = :expires_at
        WHERE digest = :digest AND client_id = :client_id AND state = 'running'";
    /// One claim.
    pub FIND_KEY = "
        SELECT fingerprint, state, http_status, object_id, version, body, key_id, expires_at
        FROM idempotency WHERE digest = :digest AND client_id = :client_id";
    /// Answers of a client that are bodies, in the order of their digests.
    pub ANSWERS_AFTER = "
        SELECT digest, body, key_id FROM idempotency
        WHERE client_id = :client_id AND digest > :after AND body IS NOT NULL ORDER BY digest LIMIT :limit";
    /// Replaces the answer of a key.
    pub REPLACE_ANSWER = "
        UPDATE idempotency SET http_status = COALESCE(:http_status, http_status), body = :body, key_id = :key_id
        WHERE digest = :digest AND client_id = :client_id AND state = 'done'";
    /// Claims whose time has come, the oldest first, of all clients but some, each with the time from which on it is kept
    /// nevertheless.
    pub EXPIRED_KEYS = concat!("
        SELECT digest, client_id, ", moved_at!("idempotency.client_id"), " FROM idempotency
        WHERE REACHABLE(client_id) AND client_id NOT IN EACH_UUID(:apart) AND expires_at <= :now
        ORDER BY expires_at LIMIT :limit");
    /// The same of one client.
    pub EXPIRED_KEYS_OF = concat!("
        SELECT digest, client_id, ", moved_at!(":client_id"), " FROM idempotency
        WHERE client_id = :client_id AND expires_at <= :now
        ORDER BY expires_at LIMIT :limit");
    /// Keeps a claim until a later time, unless its key has been claimed anew since it was found.
    pub KEEP_KEY = "
        UPDATE idempotency SET expires_at = :until
        WHERE digest = :digest AND client_id = :client_id AND expires_at <= :now";
    /// Forgets those of these answers that are kept no longer: a key may have been claimed anew since it was found.
    pub PURGE_KEYS = concat!("
        DELETE FROM idempotency WHERE client_id = :client_id AND digest IN EACH_UUID(:digests) AND ",
        is_expired!(":client_id"));
}

/// The digest and fingerprint of one use of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Half of a keyed digest of scope and key: enough to be unique, and short, since the index holds one for each
    /// key.
    pub digest: Uuid,
    /// Keyed digest of the canonical body.
    pub fingerprint: [u8; 32],
}

/// A stored claim.
#[derive(Clone, Debug)]
pub struct StoredClaim {
    /// Digest of the body of its request.
    pub fingerprint: [u8; 32],
    /// Its state.
    pub state: ClaimState,
    /// Until when it is kept.
    pub expires_at: Timestamp,
}

/// The state of a claim.
#[derive(Clone, Debug)]
pub enum ClaimState {
    /// The request is unfinished, or its outcome is unknown.
    Running {
        /// The version of its charge that a request in several batches began with.
        begun: Option<i64>,
    },
    /// The answer is a charge: its first settled version from the one that the request began.
    /// [`charges::settled`](crate::charges::settled) finds it; the claim is written once.
    Charge {
        /// HTTP status of the answer.
        http_status: u16,
        /// The charge.
        id: ChargeId,
        /// The version that the request began.
        begun: i64,
    },
    /// The answer is a body.
    Done {
        /// HTTP status.
        http_status: u16,
        /// The body that the vault has sealed.
        body: Sealed,
    },
}

/// Claims a key for a request whose answer is a settled version of `charge`, which this batch writes.
pub fn claim_for_charge(
    batch: &mut Batch,
    claim: &Claim,
    http_status: u16,
    charge: &Charge,
    expires_at: Timestamp,
) {
    batch.guard(
        &CLAIM_KEY,
        args! {
            digest: claim.digest, client_id: batch.client_id(), fingerprint: claim.fingerprint, state: "charge",
            http_status, object_kind: "charge", object_id: charge.id, version: charge.version,
            body: None::<Vec<u8>>, key_id: None::<Uuid>, expires_at,
        },
    );
}

/// Claims a key for a request that goes on after this batch and ends with a body.
pub fn claim_running(
    batch: &mut Batch,
    claim: &Claim,
    object_kind: &'static str,
    object_id: Uuid,
    expires_at: Timestamp,
) {
    batch.guard(
        &CLAIM_KEY,
        args! {
            digest: claim.digest, client_id: batch.client_id(), fingerprint: claim.fingerprint, state: "running",
            http_status: None::<i64>, object_kind, object_id, version: None::<i64>, body: None::<Vec<u8>>,
            key_id: None::<Uuid>, expires_at,
        },
    );
}

/// Claims a key for a request that moves `charge` in several batches, from its present version on, and ends with a body.
pub fn claim_begun(batch: &mut Batch, claim: &Claim, charge: &Charge, expires_at: Timestamp) {
    batch.guard(
        &CLAIM_KEY,
        args! {
            digest: claim.digest, client_id: batch.client_id(), fingerprint: claim.fingerprint, state: "running",
            http_status: None::<i64>, object_kind: "charge", object_id: charge.id, version: charge.version,
            body: None::<Vec<u8>>, key_id: None::<Uuid>, expires_at,
        },
    );
}

/// Claims a key for a request that this batch finishes.
pub fn claim_done(batch: &mut Batch, claim: &Claim, http_status: u16, body: Sealed, expires_at: Timestamp) {
    batch.guard(
        &CLAIM_KEY,
        args! {
            digest: claim.digest, client_id: batch.client_id(), fingerprint: claim.fingerprint, state: "done",
            http_status, object_kind: None::<&str>, object_id: None::<Uuid>, version: None::<i64>,
            body: body.bytes, key_id: body.key_id, expires_at,
        },
    );
}

/// Ends a running claim with a sealed body.
pub fn end_with_body(batch: &mut Batch, digest: Uuid, http_status: u16, body: Sealed, expires_at: Timestamp) {
    let client_id = batch.client_id();
    batch.push(
        &END_KEY_WITH_BODY,
        args! { digest, client_id, http_status, body: body.bytes, key_id: body.key_id, expires_at },
    );
}

/// One claim of a client.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    digest: Uuid,
) -> Result<Option<StoredClaim>, StoreError> {
    let Some(row) = store.row(&FIND_KEY, args! { digest, client_id }).await? else {
        return Ok(None);
    };
    let corrupt = |what: &str| StoreError::Corrupt(format!("idempotency.{what}"));
    let http_status = || u16::try_from(row.get::<i64>("http_status")?).map_err(|_| corrupt("http_status"));
    let state = match row.get("state")? {
        "running" => ClaimState::Running { begun: row.get("version")? },
        "charge" => ClaimState::Charge {
            http_status: http_status()?,
            id: row.get("object_id")?,
            begun: row.get("version")?,
        },
        "done" => ClaimState::Done {
            http_status: http_status()?,
            body: Sealed { key_id: row.get("key_id")?, bytes: row.get("body")? },
        },
        _ => return Err(corrupt("state")),
    };
    Ok(Some(StoredClaim { fingerprint: row.get("fingerprint")?, state, expires_at: row.get("expires_at")? }))
}

/// A claim whose time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpiredKey {
    /// Its digest.
    pub digest: Uuid,
    /// When what it stands for moved last, if that keeps it.
    pub moved_at: Option<Timestamp>,
}

/// Claims whose time has come, oldest first, each with its account.
pub async fn expired(
    store: &Store,
    accounts: &Accounts,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<(ClientId, ExpiredKey)>, StoreError> {
    let (sql, args) = match accounts {
        Accounts::AllBut(apart) => (&EXPIRED_KEYS, args! { apart: listed(apart), now, limit }),
        Accounts::One(client_id) => (&EXPIRED_KEYS_OF, args! { client_id: *client_id, now, limit }),
    };
    let rows = store.rows(sql, args).await?;
    rows.iter()
        .map(|row| {
            let key = ExpiredKey { digest: row.get("digest")?, moved_at: row.get("moved_at")? };
            Ok((row.get("client_id")?, key))
        })
        .collect()
}

/// Keeps an expired claim of the batch's client until a later time: the next look does not come upon it before.
pub fn keep(batch: &mut Batch, digest: Uuid, now: Timestamp, until: Timestamp) {
    let client_id = batch.client_id();
    batch.push_any(&KEEP_KEY, args! { digest, client_id, now, until });
}

/// Deletes those of these answers of the batch's client that are still expired.
pub fn purge(batch: &mut Batch, digests: &[Uuid], now: Timestamp, moved_after: Timestamp) {
    let client_id = batch.client_id();
    let digests = Json::list(Some(digests), Uuid::to_string);
    batch.push_any(&PURGE_KEYS, args! { client_id, digests, now, moved_after });
}

/// The answers of a client that are bodies, each with the digest of its claim, after `after`.
///
/// # Errors
/// As [`Store::rows`].
pub async fn answers(
    store: &Store,
    client_id: ClientId,
    after: Uuid,
    limit: i64,
) -> Result<Vec<(Uuid, Sealed)>, StoreError> {
    let rows = store.rows(&ANSWERS_AFTER, args! { client_id, after, limit }).await?;
    rows.iter()
        .map(|row| Ok((row.get("digest")?, Sealed { key_id: row.get("key_id")?, bytes: row.get("body")? })))
        .collect()
}

/// Replaces the answer of a key, and its status unless `http_status` is `None`.
pub fn replace_answer(batch: &mut Batch, digest: Uuid, http_status: Option<u16>, body: Sealed) {
    let (client_id, Sealed { key_id, bytes }) = (batch.client_id(), body);
    batch.push_any(&REPLACE_ANSWER, args! { digest, client_id, http_status, body: bytes, key_id });
}
