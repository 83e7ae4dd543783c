//! Erases what the charges of a person say of them. Amounts, states and ids stay.

use regente_domain::charge::Charge;
use regente_domain::id::{ChargeId, ClientId, CustomerId};
use uuid::Uuid;

use super::{FORMER_DOCS, StoredCharge, document, keep};
use crate::batch::Batch;
use crate::sealed::Sealed;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Charges of an account, oldest first: whose each is.
    pub BUYERS_OF_CHARGES = "
        SELECT id, customer_id FROM charges
        WHERE client_id = :client_id AND id > :after ORDER BY id LIMIT :limit";
    /// The same with their sealed data, which may name others than the buyer.
    pub CHARGES_WITH_DATA = "
        SELECT id, customer_id, private, key_id FROM charges
        WHERE client_id = :client_id AND id > :after ORDER BY id LIMIT :limit";
    /// Replaces the sealed data of a charge; guarded by the version and by the data itself.
    pub REPLACE_CHARGE_DATA = "
        UPDATE charges SET private = :private, key_id = :key_id
        WHERE id = :id AND client_id = :client_id AND version = :version AND private = :private_before";
    /// Takes the sealed data and the free texts from a charge; guarded by the version.
    pub ERASE_CHARGE_DATA = "
        UPDATE charges SET private = NULL, key_id = NULL, doc = :doc, version = version + 1
        WHERE id = :id AND client_id = :client_id AND version = :version";
    /// Replaces the document of an earlier version.
    pub ERASE_FORMER_DOC = "
        UPDATE charge_history SET doc = :doc WHERE id = :id AND version = :version AND client_id = :client_id";
}

/// A charge as the search for a person sees it.
#[derive(Clone, Debug)]
pub struct ChargeOf {
    /// The charge.
    pub id: ChargeId,
    /// Its buyer.
    pub customer_id: Option<CustomerId>,
    /// Its sealed data.
    pub private: Option<Sealed>,
}

/// The charges of an account after `after` with their buyers, oldest first.
///
/// # Errors
/// As [`Store::rows`].
pub async fn buyers(
    store: &Store,
    client_id: ClientId,
    after: ChargeId,
    limit: i64,
) -> Result<Vec<(ChargeId, Option<CustomerId>)>, StoreError> {
    let rows = store.rows(&BUYERS_OF_CHARGES, args! { client_id, after, limit }).await?;
    rows.iter().map(|row| Ok((row.get("id")?, row.get("customer_id")?))).collect()
}

/// The charges of an account after `after` with their sealed data, oldest first.
///
/// # Errors
/// As [`Store::rows`].
pub async fn with_data(
    store: &Store,
    client_id: ClientId,
    after: ChargeId,
    limit: i64,
) -> Result<Vec<ChargeOf>, StoreError> {
    let rows = store.rows(&CHARGES_WITH_DATA, args! { client_id, after, limit }).await?;
    rows.iter()
        .map(|row| {
            let private: Option<Vec<u8>> = row.get("private")?;
            let key_id: Option<Uuid> = row.get("key_id")?;
            Ok(ChargeOf {
                id: row.get("id")?,
                customer_id: row.get("customer_id")?,
                private: private.zip(key_id).map(|(bytes, key_id)| Sealed { key_id, bytes }),
            })
        })
        .collect()
}

/// Replaces the sealed data of a charge, without what names a person who is not its buyer. Nothing that moves a charge on writes
/// its sealed data, so the version stays.
pub fn replace_private(batch: &mut Batch, stored: &StoredCharge, before: Sealed, after: Sealed) {
    let Charge { id, client_id, version, .. } = stored.charge;
    let (private, key_id, private_before) = (after.bytes, after.key_id, before.bytes);
    batch.guard(&REPLACE_CHARGE_DATA, args! { id, client_id, version, private, key_id, private_before });
}

/// Earlier versions of a charge that hold free texts, without these.
pub struct FormerDocs(Vec<(i64, Json)>);

/// Reads the earlier versions of a charge.
///
/// # Errors
/// As [`Store::rows`]; [`StoreError::Corrupt`].
pub async fn former_docs(store: &Store, charge: &Charge) -> Result<FormerDocs, StoreError> {
    let rows = store.rows(&FORMER_DOCS, args! { id: charge.id, client_id: charge.client_id }).await?;
    let mut found = Vec::new();
    for row in &rows {
        let stored: StoredCharge = super::from_row(row)?;
        let erased = stored.charge.without_free_text();
        if erased != stored.charge {
            found.push((stored.charge.version, document::write(&erased)?));
        }
    }
    Ok(FormerDocs(found))
}

/// Erases the sealed data of a charge and the free texts of all its versions; answers whether there was anything. The version
/// grows, so that whoever has read the charge before writes none of it again; the former one stays readable, because answers
/// and events refer to it.
///
/// # Errors
/// [`StoreError::Programming`].
pub fn erase(batch: &mut Batch, stored: &StoredCharge, former: FormerDocs) -> Result<bool, StoreError> {
    let charge = &stored.charge;
    let (id, client_id) = (charge.id, charge.client_id);
    let erased = charge.without_free_text();
    let is_clean = stored.private.is_none() && erased == *charge;
    if is_clean && former.0.is_empty() {
        return Ok(false);
    }
    if !is_clean {
        let (version, doc) = (charge.version, document::write(&erased)?);
        batch.guard(&ERASE_CHARGE_DATA, args! { id, client_id, version, doc });
        keep(batch, &erased)?;
    }
    for (version, doc) in former.0 {
        batch.push_any(&ERASE_FORMER_DOC, args! { id, version, client_id, doc });
    }
    Ok(true)
}
