//! Counts charges. Only [`delta`] maps a change of a charge to changes of counters, so that they cannot drift. The
//! writer sums the changes of a commit group before it writes them.

use std::ops::Range;

use regente_domain::charge::{Charge, ChargeStatus, PaymentType, StateName};
use regente_domain::id::{ClientId, MerchantId};
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;

use crate::batch::{CounterDelta, CounterKey};
use crate::value::{Args, Json};
use crate::{Sql, Store, StoreError, args, sql};

// The filter shared by charges and counters. The casts tell PostgreSQL the type of an argument that is compared only
// with null; SQLite needs none.
macro_rules! is_counted {
    () => {
        " AND (CAST(:merchants AS JSONB) IS NULL OR merchant_id IN EACH_UUID(:merchants)) \
           AND (CAST(:statuses AS JSONB) IS NULL OR status IN EACH_TEXT(:statuses)) \
           AND (CAST(:payment_types AS JSONB) IS NULL OR payment_type IN EACH_TEXT(:payment_types)) \
           AND (CAST(:provider_types AS JSONB) IS NULL OR provider_type IN EACH_TEXT(:provider_types))"
    };
}
pub(crate) use is_counted;

macro_rules! counted {
    () => {
        concat!(
            " FROM charge_counters \
             WHERE client_id = :client_id AND hour >= :from_hour AND hour < :to_hour",
            is_counted!()
        )
    };
}

// Each hour with the number of charges in the hours before it, in the order of the list; keeps the hours that hold
// the wanted part.
macro_rules! hours {
    ($direction:literal) => {
        concat!(
            "SELECT hour, n, preceding FROM (
                SELECT hour, n, CAST(SUM(n) OVER (ORDER BY hour ",
            $direction,
            ") AS BIGINT) - n AS preceding
                FROM (SELECT hour, CAST(SUM(n) AS BIGINT) AS n",
            counted!(),
            " GROUP BY hour HAVING SUM(n) <> 0) AS by_hour) AS hours
             WHERE preceding < :up_to AND preceding + n > :after ORDER BY hour ",
            $direction
        )
    };
}

sql! {
    /// The hours that hold the wanted part of a list, newest first.
    pub HOURS_DESC = hours!("DESC");
    /// The hours that hold the wanted part of a list, oldest first.
    pub HOURS_ASC = hours!("ASC");
    /// Sums the counters of whole hours for any filter.
    pub SUM_COUNTERS = concat!("SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) AS n", counted!());
    /// All counters of a client, for a recount.
    pub COUNTERS_OF_CLIENT = "
        SELECT hour, merchant_id, status, payment_type, provider_type, CAST(SUM(n) AS BIGINT) AS n
        FROM charge_counters WHERE client_id = :client_id
        GROUP BY hour, merchant_id, status, payment_type, provider_type
        HAVING SUM(n) <> 0
        ORDER BY hour, merchant_id, status, payment_type, provider_type";
}

/// The counter changes for a change of a charge: minus one for the old state, plus one for the new.
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
        status: charge.state.name().word(),
        payment_type: charge.method.payment_type().word(),
        provider_type: charge.state.responsible().map_or("", ProviderType::code),
    }
}

/// The filters that counters support. An absent list means all.
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

impl CounterFilter {
    /// Whether it filters anything.
    pub const fn is_narrow(&self) -> bool {
        self.merchants.is_some()
            || self.statuses.is_some()
            || self.payment_types.is_some()
            || self.provider_types.is_some()
    }

    fn args(&self, client_id: ClientId, hours: Range<Timestamp>) -> Args {
        self.narrow(args! { client_id, from_hour: hours.start.hour(), to_hour: hours.end.hour() })
    }

    /// Adds the arguments of `is_counted`. One status of the interface may be several states.
    pub(crate) fn narrow(&self, args: Args) -> Args {
        let states = self.statuses.as_deref().map(|statuses| {
            statuses.iter().flat_map(|status| StateName::shown_as(*status)).collect::<Vec<_>>()
        });
        args.with("merchants", Json::list(self.merchants.as_deref(), ToString::to_string))
            .with("statuses", Json::list(states.as_deref(), |state| state.word().to_owned()))
            .with("payment_types", Json::list(self.payment_types.as_deref(), |kind| kind.word().to_owned()))
            .with("provider_types", Json::list(self.provider_types.as_deref(), |kind| kind.code().to_owned()))
    }
}

/// Number of charges created in these whole hours.
pub async fn sum(
    store: &Store,
    client_id: ClientId,
    hours: Range<Timestamp>,
    filter: &CounterFilter,
) -> Result<i64, StoreError> {
    store.row(&SUM_COUNTERS, filter.args(client_id, hours)).await?.map_or(Ok(0), |row| row.get("n"))
}

/// An hour of a list, with its counts.
#[derive(Clone, Copy, Debug)]
pub struct Hour {
    /// Its start.
    pub from: Timestamp,
    /// Number of the list's charges created in it.
    pub n: i64,
    /// Number of the list's charges before it.
    pub preceding: i64,
}

/// The whole hours that hold the charges `wanted` of a list, counted from 0 in the order of `sql` ([`HOURS_ASC`] or
/// [`HOURS_DESC`]).
pub async fn hours(
    store: &Store,
    sql: &'static Sql,
    client_id: ClientId,
    hours: Range<Timestamp>,
    filter: &CounterFilter,
    wanted: Range<i64>,
) -> Result<Vec<Hour>, StoreError> {
    let args = filter.args(client_id, hours).with("after", wanted.start).with("up_to", wanted.end);
    let rows = store.rows(sql, args).await?;
    rows.iter()
        .map(|row| {
            Ok(Hour {
                from: Timestamp::of_hour(row.get("hour")?),
                n: row.get("n")?,
                preceding: row.get("preceding")?,
            })
        })
        .collect()
}
