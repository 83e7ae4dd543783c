//! Lists subscriptions, newest first, with every filter of `docs/interface/subscriptions.md#listing`.

use regente_domain::id::{ClientId, CustomerId, MerchantId};
use regente_domain::subscription::{Subscription, SubscriptionStatus};

use super::{columns, from_row};
use crate::value::{Args, Json};
use crate::{Store, StoreError, args, sql};

// PostgreSQL cannot guess the type of an argument that is only compared with NULL, hence the casts.
macro_rules! filtered {
    () => {
        " FROM subscriptions WHERE client_id = :client_id \
           AND (CAST(:statuses AS JSONB) IS NULL OR status IN EACH_TEXT(:statuses)) \
           AND (CAST(:customers AS JSONB) IS NULL OR customer_id IN EACH_UUID(:customers)) \
           AND (CAST(:merchants AS JSONB) IS NULL OR merchant_id IN EACH_UUID(:merchants)) \
           AND (CAST(:reference_keys AS JSONB) IS NULL OR reference_key IN EACH_TEXT(:reference_keys))"
    };
}

sql! {
    /// A page of subscriptions, newest first.
    LIST_SUBSCRIPTIONS = concat!("SELECT ", columns!(), filtered!(), " ORDER BY id DESC LIMIT :limit OFFSET :offset");
    /// Counts them.
    COUNT_SUBSCRIPTIONS = concat!("SELECT COUNT(*) AS n", filtered!());
}

/// The filter of a list. An absent member means all.
#[derive(Clone, Debug, Default)]
pub struct SubscriptionFilter {
    /// Statuses.
    pub statuses: Option<Vec<SubscriptionStatus>>,
    /// Buyers.
    pub customers: Option<Vec<CustomerId>>,
    /// Merchants.
    pub merchants: Option<Vec<MerchantId>>,
    /// The merchant's references.
    pub reference_keys: Option<Vec<String>>,
}

impl SubscriptionFilter {
    fn args(&self, client_id: ClientId) -> Args {
        args! {
            client_id,
            statuses: Json::list(self.statuses.as_deref(), |status| status.word().to_owned()),
            customers: Json::list(self.customers.as_deref(), ToString::to_string),
            merchants: Json::list(self.merchants.as_deref(), ToString::to_string),
            reference_keys: Json::list(self.reference_keys.as_deref(), Clone::clone),
        }
    }
}

/// A page of the subscriptions of a client.
pub async fn page(
    store: &Store,
    client_id: ClientId,
    filter: &SubscriptionFilter,
    limit: i64,
    offset: i64,
) -> Result<Vec<Subscription>, StoreError> {
    let args = filter.args(client_id).with("limit", limit).with("offset", offset);
    store.rows(&LIST_SUBSCRIPTIONS, args).await?.iter().map(from_row).collect()
}

/// How many subscriptions of a client match.
pub async fn count(
    store: &Store,
    client_id: ClientId,
    filter: &SubscriptionFilter,
) -> Result<i64, StoreError> {
    let found = store.row(&COUNT_SUBSCRIPTIONS, filter.args(client_id)).await?;
    found.map_or(Ok(0), |row| row.get("n"))
}
