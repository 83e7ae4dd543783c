//! The audit trail: who did what to which object. Rows are only added. Charges have no entries here: their
//! transaction requests and events record the same.

use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, Id, of};
use uuid::Uuid;

use crate::{Batch, Row, Store, StoreError, args, sql};

sql! {
    /// Adds an entry.
    pub INSERT_AUDIT_ENTRY = "
        INSERT INTO audit (id, client_id, actor, action, object_kind, object_id, request_id)
        VALUES (:id, :client_id, :actor, :action, :object_kind, :object_id, :request_id)";
    /// The entries of one object, newest first.
    pub AUDIT_OF_OBJECT = "
        SELECT id, actor, action, object_kind, object_id, request_id FROM audit
        WHERE client_id = :client_id AND object_id = :object_id ORDER BY id DESC LIMIT :limit";
}

/// An entry to add. Its time is that of its id.
#[derive(Clone, Debug)]
pub struct AuditEntry {
    /// A time-ordered id.
    pub id: Id<of::Audit>,
    /// Who did it.
    pub actor: Actor,
    /// The action, as `object.past_participle`, such as `secret_key.created`.
    pub action: &'static str,
    /// The kind of the object, such as `credential`.
    pub object_kind: &'static str,
    /// The id of the object.
    pub object_id: Uuid,
    /// The request that asked for the action.
    pub request_id: Option<String>,
}

/// A stored entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAuditEntry {
    /// Contains the time.
    pub id: Id<of::Audit>,
    /// Who did it, in the text form of [`Actor`].
    pub actor: String,
    /// The action.
    pub action: String,
    /// The kind of the object.
    pub object_kind: String,
    /// The id of the object.
    pub object_id: Uuid,
    /// The request that asked for the action.
    pub request_id: Option<String>,
}

/// Adds an entry to the batch of the change it describes, for the client of the batch.
pub fn record(batch: &mut Batch, entry: AuditEntry) {
    let AuditEntry { id, actor, action, object_kind, object_id, request_id } = entry;
    let client_id = batch.client_id();
    batch.push(
        &INSERT_AUDIT_ENTRY,
        args! { id, client_id, actor: actor.to_string(), action, object_kind, object_id, request_id },
    );
}

/// The entries of one object of a client, newest first, at most `limit`.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn of_object(
    store: &Store,
    client_id: ClientId,
    object_id: Uuid,
    limit: i64,
) -> Result<Vec<StoredAuditEntry>, StoreError> {
    let rows = store.rows(&AUDIT_OF_OBJECT, args! { client_id, object_id, limit }).await?;
    rows.iter().map(from_row).collect()
}

fn from_row(row: &Row) -> Result<StoredAuditEntry, StoreError> {
    Ok(StoredAuditEntry {
        id: row.get("id")?,
        actor: row.get("actor")?,
        action: row.get("action")?,
        object_kind: row.get("object_kind")?,
        object_id: row.get("object_id")?,
        request_id: row.get("request_id")?,
    })
}
