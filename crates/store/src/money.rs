//! Reads the recorded money of charges page by page, to compare it with a provider's transaction log.

use regente_domain::charge::StateName;
use regente_domain::id::{ChargeId, ClientId};
use regente_domain::money::Amount;
use uuid::Uuid;

use crate::row::Row;
use crate::transaction_requests::{self, StoredRequest};
use crate::{Store, StoreError, args, sql};

macro_rules! columns {
    () => {
        "SELECT id, status, amount, version FROM charges WHERE client_id = :client_id AND id "
    };
}

sql! {
    /// The charges of a client after one of them, oldest first.
    pub MONEY_OF_CHARGES = concat!(columns!(), "> :after ORDER BY id LIMIT :limit");
    /// The same for one charge.
    pub MONEY_OF_CHARGE = concat!(columns!(), "= :id");
}

/// The recorded money of one charge.
#[derive(Clone, Debug)]
pub struct ChargeMoney {
    /// The charge.
    pub id: ChargeId,
    /// Its state.
    pub state: StateName,
    /// The amount reserved, or kept by the merchant.
    pub amount: Amount,
    /// Its version.
    pub version: i64,
    /// Its requests to providers, oldest first.
    pub requests: Vec<StoredRequest>,
}

/// The charges of a client after `after`, oldest first.
///
/// # Errors
/// [`StoreError::Unavailable`], [`StoreError::Corrupt`].
pub async fn page(
    store: &Store,
    client_id: ClientId,
    after: Option<ChargeId>,
    limit: i64,
) -> Result<Vec<ChargeMoney>, StoreError> {
    let after = after.map_or(Uuid::nil(), ChargeId::uuid);
    let rows = store.rows(&MONEY_OF_CHARGES, args! { client_id, after, limit }).await?;
    with_requests(store, client_id, rows).await
}

/// One charge; `None` when there is none.
///
/// # Errors
/// As [`page`].
pub async fn one(
    store: &Store,
    client_id: ClientId,
    id: ChargeId,
) -> Result<Option<ChargeMoney>, StoreError> {
    let rows = store.rows(&MONEY_OF_CHARGE, args! { client_id, id }).await?;
    Ok(with_requests(store, client_id, rows).await?.pop())
}

async fn with_requests(
    store: &Store,
    client_id: ClientId,
    rows: Vec<Row>,
) -> Result<Vec<ChargeMoney>, StoreError> {
    let mut charges: Vec<ChargeMoney> = rows.iter().map(from_row).collect::<Result<_, _>>()?;
    let ids: Vec<Uuid> = charges.iter().map(|charge| charge.id.uuid()).collect();
    for stored in transaction_requests::of_objects(store, client_id, &ids).await? {
        if let Ok(at) = ids.binary_search(&stored.request.object_id) {
            charges[at].requests.push(stored);
        }
    }
    Ok(charges)
}

fn from_row(row: &Row) -> Result<ChargeMoney, StoreError> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("charges.{what}"));
    let status: String = row.get("status")?;
    Ok(ChargeMoney {
        id: row.get("id")?,
        state: StateName::parse(&status).ok_or_else(|| corrupt("status"))?,
        amount: Amount::new(row.get("amount")?).ok_or_else(|| corrupt("amount"))?,
        version: row.get("version")?,
        requests: Vec::new(),
    })
}
