//! Erases what sessions say of a person. Amounts, states and ids stay.

use regente_domain::id::{ClientId, SessionId};
use regente_domain::session::Session;

use super::{StoredSession, columns, doc_of, stored_from_row};
use crate::batch::Batch;
use crate::sealed::Sealed;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Sessions of an account, oldest first.
    pub SESSIONS_AFTER = concat!(
        "SELECT ", columns!(), " FROM sessions WHERE client_id = :client_id AND id > :after ORDER BY id LIMIT :limit");
    /// Replaces the terms and the sealed data of a session; guarded by the version.
    pub ERASE_SESSION_DATA = "
        UPDATE sessions SET doc = :doc, private = :private, key_id = :key_id, version = version + 1
        WHERE id = :id AND client_id = :client_id AND version = :version";
}

/// The sessions of an account after `after`, oldest first.
///
/// # Errors
/// As [`Store::rows`]; [`StoreError::Corrupt`].
pub async fn page(
    store: &Store,
    client_id: ClientId,
    after: SessionId,
    limit: i64,
) -> Result<Vec<StoredSession>, StoreError> {
    let rows = store.rows(&SESSIONS_AFTER, args! { client_id, after, limit }).await?;
    rows.iter().map(stored_from_row).collect()
}

/// Replaces the terms and the sealed data of a session. The version grows, so that whoever has read the session before writes none
/// of it again. The history holds no texts of the merchant.
///
/// # Errors
/// [`StoreError::Programming`].
pub fn erase(batch: &mut Batch, erased: &Session, private: Option<Sealed>) -> Result<(), StoreError> {
    let (id, client_id, version) = (erased.id, erased.client_id, erased.version);
    let (private, key_id) = private.map_or((None, None), |sealed| (Some(sealed.bytes), Some(sealed.key_id)));
    batch.guard(&ERASE_SESSION_DATA, args! { id, client_id, version, doc: doc_of(erased)?, private, key_id });
    Ok(())
}
