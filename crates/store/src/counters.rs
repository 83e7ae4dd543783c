//! Counts charges. Only [`delta`] maps a change of a charge to changes of counters, so that they cannot drift. The
//! writer sums the changes of a commit group before it writes them, as rows of hours. A job folds the rows of finished
//! hours into longer spans ([`crate::fold`]), so that totals and places in a list are found in few rows ([`spans`]).

mod fold;
mod spans;

use regente_domain::charge::{Charge, ChargeStatus, StateName};
use regente_domain::id::MerchantId;
use regente_domain::payment_type::PaymentType;
use regente_domain::provider_type::ProviderType;

pub use self::fold::Kind;
pub use self::spans::{Count, Hour, Span, wrong_spans};
use crate::batch::{CounterDelta, CounterKey};
use crate::sql;
use crate::value::{Args, Json};

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

sql! {
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
