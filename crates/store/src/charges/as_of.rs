//! Charges as they were at a moment, by their kept versions, in the order of their creation.

use regente_domain::id::{ChargeId, ClientId, MerchantId};
use regente_domain::payment_type::PaymentType;
use regente_domain::time::Timestamp;

use super::{StoredCharge, columns, from_row};
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Charges after one and before a time, oldest first.
    pub CHARGES_IN_TIME = concat!("SELECT ", columns!(), " FROM charges
        WHERE client_id = :client_id AND id > :after AND id < :to_id
          AND (CAST(:ids AS JSONB) IS NULL OR id IN EACH_UUID(:ids))
          AND (CAST(:merchants AS JSONB) IS NULL OR merchant_id IN EACH_UUID(:merchants))
          AND (CAST(:payment_types AS JSONB) IS NULL OR payment_type IN EACH_TEXT(:payment_types))
        ORDER BY id LIMIT :limit");
    /// The kept versions of charges that there were at a moment, oldest first of each.
    pub CHARGE_VERSIONS_AT = "
        SELECT c.id, c.client_id, c.merchant_id, h.status, c.payment_type, h.provider_type, c.order_id,
            c.customer_id, h.amount, c.original_amount, c.currency, h.doc, c.private, c.key_id, h.version,
            h.updated_at
        FROM charge_history h JOIN charges c ON c.id = h.id AND c.client_id = h.client_id
        WHERE h.id IN EACH_UUID(:ids) AND h.client_id = :client_id AND h.updated_at <= :at
        ORDER BY h.id, h.version";
}

/// Which charges are read. What is absent is not filtered by; none of it ever changes of a charge.
#[derive(Clone, Debug, Default)]
pub struct InTime {
    /// One charge.
    pub id: Option<ChargeId>,
    /// Of one merchant.
    pub merchant_id: Option<MerchantId>,
    /// Paid in one of these ways.
    pub payment_types: Option<Vec<PaymentType>>,
    /// Created before.
    pub to: Timestamp,
}

/// Charges of a client after `after`, oldest first, as they are now.
///
/// # Errors
/// As [`Store::rows`].
pub async fn in_time(
    store: &Store,
    client_id: ClientId,
    which: &InTime,
    after: ChargeId,
    limit: i64,
) -> Result<Vec<StoredCharge>, StoreError> {
    let args = args! {
        client_id,
        after,
        to_id: ChargeId::first_at(which.to),
        ids: Json::list(which.id.as_ref().map(std::slice::from_ref), ToString::to_string),
        merchants: Json::list(which.merchant_id.as_ref().map(std::slice::from_ref), ToString::to_string),
        payment_types: Json::list(which.payment_types.as_deref(), |kind| kind.word().to_owned()),
        limit,
    };
    store.rows(&CHARGES_IN_TIME, args).await?.iter().map(from_row).collect()
}

/// The last kept version at a moment of each of these charges; none of a charge that was under way then, for the first time.
///
/// # Errors
/// As [`Store::rows`].
pub async fn versions_at(
    store: &Store,
    client_id: ClientId,
    ids: &[ChargeId],
    at: Timestamp,
) -> Result<Vec<StoredCharge>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let ids = Json::list(Some(ids), ToString::to_string);
    let mut newest: Vec<StoredCharge> = Vec::new();
    for row in &store.rows(&CHARGE_VERSIONS_AT, args! { ids, client_id, at }).await? {
        let version = from_row(row)?;
        match newest.last_mut() {
            Some(last) if last.charge.id == version.charge.id => *last = version,
            Some(_) | None => newest.push(version),
        }
    }
    Ok(newest)
}
