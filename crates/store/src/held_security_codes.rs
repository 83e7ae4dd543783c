//! Stores security codes of charges that await their payers, for the next provider. A charge has at most one; it is
//! deleted when it is used, when the charge ends, or after some minutes.

use regente_domain::id::{ChargeId, ClientId};
use regente_domain::time::Timestamp;

use crate::batch::Batch;
use crate::expiring::{self, Expiring};
use crate::sealed::Sealed;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Stores the code of a charge.
    pub HOLD_SECURITY_CODE = "
        INSERT INTO held_security_codes (charge_id, client_id, sealed, key_id, expires_at)
        VALUES (:charge_id, :client_id, :sealed, :key_id, :expires_at)
        ON CONFLICT (charge_id, client_id) DO UPDATE SET sealed = excluded.sealed, key_id = excluded.key_id,
            expires_at = excluded.expires_at";
    /// The code of a charge, unless it has expired.
    pub FIND_SECURITY_CODE = "
        SELECT sealed, key_id FROM held_security_codes
        WHERE charge_id = :charge_id AND client_id = :client_id AND expires_at > :now";
    /// Deletes the code of a charge, if there is one.
    pub DISCARD_SECURITY_CODE = "
        DELETE FROM held_security_codes WHERE charge_id = :charge_id AND client_id = :client_id";
    /// Deletes the code of a charge, if it has expired.
    pub DISCARD_EXPIRED_SECURITY_CODE = "
        DELETE FROM held_security_codes
        WHERE charge_id = :charge_id AND client_id = :client_id AND expires_at <= :now";
    /// The clients of the first expired codes, except some.
    pub CLIENTS_WITH_EXPIRED_SECURITY_CODES =
        expiring::clients_of_first!("held_security_codes", "REACHABLE(client_id) AND client_id NOT IN EACH_UUID(:apart)");
    /// One client, if it has expired codes.
    pub CLIENT_WITH_EXPIRED_SECURITY_CODES = expiring::clients_of_first!("held_security_codes", "client_id = :client_id");
    /// Deletes expired codes of a client, a bounded number at once.
    pub PURGE_SECURITY_CODES = "
        DELETE FROM held_security_codes WHERE client_id = :client_id AND charge_id IN (
            SELECT charge_id FROM held_security_codes
            WHERE client_id = :client_id AND expires_at <= :now LIMIT :limit)";
}

/// Codes that have expired.
pub static EXPIRING: Expiring = Expiring {
    all_but: &CLIENTS_WITH_EXPIRED_SECURITY_CODES,
    one: &CLIENT_WITH_EXPIRED_SECURITY_CODES,
    purge: &PURGE_SECURITY_CODES,
};

/// Stores the code of a charge until `expires_at`; replaces an earlier one.
pub fn hold(batch: &mut Batch, charge_id: ChargeId, sealed: Sealed, expires_at: Timestamp) {
    let client_id = batch.client_id();
    let Sealed { bytes: sealed, key_id } = sealed;
    batch.push(&HOLD_SECURITY_CODE, args! { charge_id, client_id, sealed, key_id, expires_at });
}

/// The code of a charge, unless it has expired.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    charge_id: ChargeId,
    now: Timestamp,
) -> Result<Option<Sealed>, StoreError> {
    let row = store.row(&FIND_SECURITY_CODE, args! { charge_id, client_id, now }).await?;
    row.map(|row| Ok(Sealed { bytes: row.get("sealed")?, key_id: row.get("key_id")? })).transpose()
}

/// Deletes the code of a charge, if there is one.
pub fn discard(batch: &mut Batch, charge_id: ChargeId) {
    let client_id = batch.client_id();
    batch.push_any(&DISCARD_SECURITY_CODE, args! { charge_id, client_id });
}

/// Deletes the code of a charge, if it has expired.
pub fn discard_expired(batch: &mut Batch, charge_id: ChargeId, now: Timestamp) {
    let client_id = batch.client_id();
    batch.push_any(&DISCARD_EXPIRED_SECURITY_CODE, args! { charge_id, client_id, now });
}
