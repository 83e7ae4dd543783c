//! Claims of idempotency keys. The unique key decides races; a finished claim is a pointer to a version of a record,
//! or a sealed body. Running claims are never purged.

use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::batch::Batch;
use crate::sealed::Sealed;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Claims a key. A finished claim whose time is over is taken over; any other one refuses the batch. `kept_ms` is for
    /// how long the new claim is kept from now on: the same for all claims of a commit group, unlike the time itself.
    pub CLAIM_KEY = "
        INSERT INTO idempotency (digest, client_id, fingerprint, state, http_status, object_kind, object_id,
            version, body, key_id, expires_at)
        VALUES (:digest, :client_id, :fingerprint, :state, :http_status, :object_kind, :object_id,
            NULL, :body, :key_id, :expires_at)
        ON CONFLICT (digest, client_id) DO UPDATE SET fingerprint = excluded.fingerprint,
            state = excluded.state, http_status = excluded.http_status, object_kind = excluded.object_kind,
            object_id = excluded.object_id, version = NULL, body = excluded.body, key_id = excluded.key_id,
            expires_at = excluded.expires_at
        WHERE idempotency.state = 'done' AND idempotency.expires_at <= excluded.expires_at - :kept_ms";
    /// Ends a running claim with a pointer to a version of a record. An end that stays as it was lets PostgreSQL change
    /// the row in place.
    pub END_KEY_WITH_RECORD = "
        UPDATE idempotency SET state = 'done', http_status = :http_status, object_id = :object_id,
            version = :version, expires_at = CASE WHEN expires_at < :expires_at THEN :expires_at ELSE expires_at END
        WHERE digest = :digest AND client_id = :client_id AND state = 'running'";
    /// Ends a running claim with a sealed body.
    pub END_KEY_WITH_BODY = "
        UPDATE idempotency SET state = 'done', http_status = :http_status, body = :body, key_id = :key_id,
            expires_at = :expires_at
        WHERE digest = :digest AND client_id = :client_id AND state = 'running'";
    /// One claim.
    pub FIND_KEY = "
        SELECT fingerprint, state, http_status, object_kind, object_id, version, body, key_id, expires_at
        FROM idempotency WHERE digest = :digest AND client_id = :client_id";
    /// Clients with answers that are kept no longer.
    pub CLIENTS_WITH_EXPIRED_KEYS = "
        SELECT DISTINCT client_id FROM idempotency
        WHERE expires_at <= :now AND state = 'done' LIMIT :limit";
    /// Forgets answers of a client that are kept no longer, a bounded number at once.
    pub PURGE_KEYS = "
        DELETE FROM idempotency WHERE client_id = :client_id AND state = 'done' AND digest IN (
            SELECT digest FROM idempotency
            WHERE client_id = :client_id AND expires_at <= :now AND state = 'done' LIMIT :limit)";
}

/// The digest and fingerprint of one use of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Keyed digest of the scope and the key.
    pub digest: [u8; 32],
    /// Keyed digest of the canonical body.
    pub fingerprint: [u8; 32],
}

/// A finished answer.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A version of a record, shown as it was then.
    Record {
        /// Its id.
        id: Uuid,
        /// Its version.
        version: i64,
    },
    /// A body that the vault has sealed.
    Body(Sealed),
}

/// A claim as stored.
#[derive(Clone, Debug)]
pub struct StoredClaim {
    /// Digest of the body it was made with.
    pub fingerprint: [u8; 32],
    /// Its state.
    pub state: ClaimState,
    /// Until when it is kept.
    pub expires_at: Timestamp,
}

/// What has become of a claim.
#[derive(Clone, Debug)]
pub enum ClaimState {
    /// The request is not finished, or its outcome is unknown.
    Running,
    /// The answer.
    Done {
        /// HTTP status.
        http_status: u16,
        /// What the body was.
        answer: Answer,
    },
}

/// Claims a key for a request that goes on after this batch.
pub fn claim_running(
    batch: &mut Batch,
    claim: &Claim,
    object_kind: &str,
    object_id: Uuid,
    now: Timestamp,
    expires_at: Timestamp,
) {
    batch.guard(
        &CLAIM_KEY,
        args! {
            digest: claim.digest, client_id: batch.client_id(), fingerprint: claim.fingerprint, state: "running",
            http_status: None::<i64>, object_kind, object_id, body: None::<Vec<u8>>, key_id: None::<Uuid>,
            expires_at, kept_ms: expires_at.as_millis() - now.as_millis(),
        },
    );
}

/// Claims a key for a request that this very batch finishes.
pub fn claim_done(
    batch: &mut Batch,
    claim: &Claim,
    http_status: u16,
    body: Sealed,
    now: Timestamp,
    expires_at: Timestamp,
) {
    batch.guard(
        &CLAIM_KEY,
        args! {
            digest: claim.digest, client_id: batch.client_id(), fingerprint: claim.fingerprint, state: "done",
            http_status, object_kind: None::<&str>, object_id: None::<Uuid>, body: body.bytes,
            key_id: body.key_id, expires_at, kept_ms: expires_at.as_millis() - now.as_millis(),
        },
    );
}

/// Ends a running claim with the version of the record that the answer shows.
pub fn end_with_record(
    batch: &mut Batch,
    digest: &[u8; 32],
    http_status: u16,
    object_id: Uuid,
    version: i64,
    expires_at: Timestamp,
) {
    let client_id = batch.client_id();
    batch.push(
        &END_KEY_WITH_RECORD,
        args! { digest: *digest, client_id, http_status, object_id, version, expires_at },
    );
}

/// Ends a running claim with a sealed body.
pub fn end_with_body(
    batch: &mut Batch,
    digest: &[u8; 32],
    http_status: u16,
    body: Sealed,
    expires_at: Timestamp,
) {
    let client_id = batch.client_id();
    batch.push(
        &END_KEY_WITH_BODY,
        args! { digest: *digest, client_id, http_status, body: body.bytes, key_id: body.key_id, expires_at },
    );
}

/// One claim of a client.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    digest: &[u8; 32],
) -> Result<Option<StoredClaim>, StoreError> {
    let Some(row) = store.row(&FIND_KEY, args! { digest: *digest, client_id }).await? else {
        return Ok(None);
    };
    let corrupt = |what: &str| StoreError::Corrupt(format!("idempotency.{what}"));
    let state: String = row.get("state")?;
    let state = if state == "running" {
        ClaimState::Running
    } else {
        let body: Option<Vec<u8>> = row.get("body")?;
        let answer = match body {
            Some(bytes) => Answer::Body(Sealed { key_id: row.get("key_id")?, bytes }),
            None => Answer::Record { id: row.get("object_id")?, version: row.get("version")? },
        };
        let http_status: i64 = row.get("http_status")?;
        ClaimState::Done {
            http_status: u16::try_from(http_status).map_err(|_| corrupt("http_status"))?,
            answer,
        }
    };
    Ok(Some(StoredClaim { fingerprint: row.get("fingerprint")?, state, expires_at: row.get("expires_at")? }))
}

/// Clients with answers that are kept no longer.
pub async fn clients_with_expired(
    store: &Store,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<ClientId>, StoreError> {
    let rows = store.rows(&CLIENTS_WITH_EXPIRED_KEYS, args! { now, limit }).await?;
    rows.iter().map(|row| row.get("client_id")).collect()
}

/// Forgets answers of the batch's client that are kept no longer, `limit` at most.
pub fn purge(batch: &mut Batch, now: Timestamp, limit: i64) {
    let client_id = batch.client_id();
    batch.push_any(&PURGE_KEYS, args! { client_id, now, limit });
}
