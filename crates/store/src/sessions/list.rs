//! Lists sessions, newest first, with every filter of `docs/interface/sessions.md#listing`.

use regente_domain::id::{ClientId, Id, MerchantId, SessionId, of};
use regente_domain::session::{Availability, SessionStatus};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use super::{StoredSession, columns, stored_from_row};
use crate::value::{Args, Json};
use crate::{Store, StoreError, args, sql};

// PostgreSQL cannot guess the type of an argument that is only compared with NULL, hence the casts.
macro_rules! filtered {
    () => {
        " FROM sessions WHERE client_id = :client_id AND id >= :from_id AND id < :to_id \
           AND (CAST(:ids AS JSONB) IS NULL OR id IN EACH_UUID(:ids)) \
           AND (CAST(:merchants AS JSONB) IS NULL OR merchant_id IN EACH_UUID(:merchants)) \
           AND (CAST(:orders AS JSONB) IS NULL OR order_id IN EACH_TEXT(:orders)) \
           AND (CAST(:statuses AS JSONB) IS NULL OR status IN EACH_TEXT(:statuses)) \
           AND (CAST(:actives AS JSONB) IS NULL OR CAST(active AS TEXT) IN EACH_TEXT(:actives)) \
           AND (CAST(:availabilities AS JSONB) IS NULL OR CASE \
               WHEN status IN ('canceled', 'voided') THEN 'canceled' \
               WHEN status = 'created' AND active = 1 AND (due_at IS NULL OR due_at > :now) \
                 AND (max_payments = -1 OR paid + CASE WHEN COALESCE(max_payments, 1) = 1 THEN 0 ELSE pending END \
                   < COALESCE(max_payments, 1)) THEN 'active' \
               ELSE 'disabled' END IN EACH_TEXT(:availabilities))"
    };
}

sql! {
    /// A page of sessions, newest first.
    LIST_SESSIONS = concat!("SELECT ", columns!(), filtered!(), " ORDER BY id DESC LIMIT :limit OFFSET :offset");
    /// Counts them.
    COUNT_SESSIONS = concat!("SELECT COUNT(*) AS n", filtered!());
}

/// The filter of a list. An absent member means all.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    /// Ids.
    pub ids: Option<Vec<SessionId>>,
    /// Merchants.
    pub merchants: Option<Vec<MerchantId>>,
    /// The merchant's references.
    pub orders: Option<Vec<String>>,
    /// Statuses.
    pub statuses: Option<Vec<SessionStatus>>,
    /// Whether they are switched on.
    pub actives: Option<Vec<bool>>,
    /// Whether a payment can start.
    pub availabilities: Option<Vec<Availability>>,
    /// Created at or after.
    pub from: Option<Timestamp>,
    /// Created before.
    pub to: Option<Timestamp>,
}

impl SessionFilter {
    fn args(&self, client_id: ClientId, now: Timestamp) -> Args {
        args! {
            client_id,
            from_id: self.from.map_or_else(Uuid::nil, |from| Id::<of::Session>::first_at(from).uuid()),
            to_id: self.to.map_or_else(Uuid::max, |to| Id::<of::Session>::first_at(to).uuid()),
            ids: Json::list(self.ids.as_deref(), ToString::to_string),
            merchants: Json::list(self.merchants.as_deref(), ToString::to_string),
            orders: Json::list(self.orders.as_deref(), Clone::clone),
            statuses: Json::list(self.statuses.as_deref(), |status| status.word().to_owned()),
            actives: Json::list(self.actives.as_deref(), |active| i64::from(*active).to_string()),
            availabilities: Json::list(self.availabilities.as_deref(), |word| word.word().to_owned()),
            now,
        }
    }
}

/// A page of the sessions of a client, with their sealed data.
pub async fn page(
    store: &Store,
    client_id: ClientId,
    filter: &SessionFilter,
    now: Timestamp,
    limit: i64,
    offset: i64,
) -> Result<Vec<StoredSession>, StoreError> {
    let args = filter.args(client_id, now).with("limit", limit).with("offset", offset);
    store.rows(&LIST_SESSIONS, args).await?.iter().map(stored_from_row).collect()
}

/// How many sessions of a client match.
pub async fn count(
    store: &Store,
    client_id: ClientId,
    filter: &SessionFilter,
    now: Timestamp,
) -> Result<i64, StoreError> {
    let found = store.row(&COUNT_SESSIONS, filter.args(client_id, now)).await?;
    found.map_or(Ok(0), |row| row.get("n"))
}
