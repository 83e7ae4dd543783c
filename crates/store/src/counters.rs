//! Totals of charges. One function says what a change of a charge means for the counters, so that they cannot drift;
//! the writer adds the changes of a commit group up before it writes them.

use regente_domain::charge::{Charge, ChargeStatus, PaymentType};
use regente_domain::id::{ClientId, MerchantId};
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;

use crate::batch::{CounterDelta, CounterKey};
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Adds the counters of whole hours up, whatever the filters leave.
    pub SUM_COUNTERS = "
        SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) AS n FROM charge_counters
        WHERE client_id = :client_id AND hour >= :from_hour AND hour < :to_hour
          AND (CAST(:merchants AS JSONB) IS NULL OR merchant_id IN EACH_UUID(:merchants))
          AND (CAST(:statuses AS JSONB) IS NULL OR status IN EACH_TEXT(:statuses))
          AND (CAST(:payment_types AS JSONB) IS NULL OR payment_type IN EACH_TEXT(:payment_types))
          AND (CAST(:provider_types AS JSONB) IS NULL OR provider_type IN EACH_TEXT(:provider_types))";
    /// What the counters of a client say, for a recount.
    pub COUNTERS_OF_CLIENT = "
        SELECT hour, merchant_id, status, payment_type, provider_type, CAST(SUM(n) AS BIGINT) AS n
        FROM charge_counters WHERE client_id = :client_id
        GROUP BY hour, merchant_id, status, payment_type, provider_type
        HAVING SUM(n) <> 0
        ORDER BY hour, merchant_id, status, payment_type, provider_type";
}

/// What a change of a charge means for the counters: one less where it was, one more where it is.
pub fn delta(before: Option<&Charge>, after: &Charge) -> Vec<CounterDelta> {
    let mut deltas = Vec::with_capacity(2);
    if let Some(before) = before {
        deltas.push(CounterDelta { key: key(before), change: -1 });
    }
    deltas.push(CounterDelta { key: key(after), change: 1 });
    deltas
}

fn key(charge: &Charge) -> CounterKey {
    CounterKey {
        client_id: charge.client_id,
        hour: charge.id.created_at().hour(),
        merchant_id: charge.merchant_id,
        status: charge.state.status().word(),
        payment_type: charge.payment_type.word(),
        provider_type: charge.state.responsible().map_or("", ProviderType::code),
    }
}

/// What the counters can filter by. An absent list means all.
#[derive(Clone, Debug, Default)]
pub struct CounterFilter {
    /// Merchants.
    pub merchants: Option<Vec<MerchantId>>,
    /// Statuses.
    pub statuses: Option<Vec<ChargeStatus>>,
    /// Payment types.
    pub payment_types: Option<Vec<PaymentType>>,
    /// Types of the responsible provider.
    pub provider_types: Option<Vec<ProviderType>>,
}

/// The number of charges made in the whole hours `from..to`.
pub async fn sum(
    store: &Store,
    client_id: ClientId,
    from: Timestamp,
    to: Timestamp,
    filter: &CounterFilter,
) -> Result<i64, StoreError> {
    let row = store
        .row(
            &SUM_COUNTERS,
            args! {
                client_id,
                from_hour: from.hour(),
                to_hour: to.hour(),
                merchants: Json::list(filter.merchants.as_deref(), |id| id.to_string()),
                statuses: Json::list(filter.statuses.as_deref(), |status| status.word().to_owned()),
                payment_types: Json::list(filter.payment_types.as_deref(), |kind| kind.word().to_owned()),
                provider_types: Json::list(filter.provider_types.as_deref(), |kind| kind.code().to_owned()),
            },
        )
        .await?;
    row.map_or(Ok(0), |row| row.get("n"))
}
