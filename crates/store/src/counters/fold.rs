//! How counters of finished hours are folded into spans.

use regente_domain::id::MerchantId;

use crate::fold::{Summed, Sums};
use crate::row::Row;
use crate::sql::Sql;
use crate::sums::ADD_TO_COUNTER;
use crate::value::Args;
use crate::{StoreError, args, sql};

sql! {
    /// Clients with counters of hours before one that are not folded, by id, after one.
    CLIENTS_WITH_UNFOLDED_COUNTERS = "
        SELECT DISTINCT client_id FROM charge_counters
        WHERE REACHABLE(client_id) AND stripe >= 0 AND hour < :hour AND client_id > :after ORDER BY client_id LIMIT :limit";
    /// Counters of a client of hours before one that are not folded.
    UNFOLDED_COUNTERS = "
        SELECT hour, merchant_id, status, payment_type, provider_type, stripe, n FROM charge_counters
        WHERE client_id = :client_id AND stripe >= 0 AND (hour < :hour) IS TRUE
        ORDER BY stripe, hour LIMIT :limit";
    /// Adds to the sum of a span.
    ADD_TO_SPAN = "
        INSERT INTO charge_counter_spans
            (client_id, hours, first_hour, merchant_id, status, payment_type, provider_type, n)
        VALUES (:client_id, :hours, :first_hour, :merchant_id, :status, :payment_type, :provider_type, :n)
        ON CONFLICT (client_id, hours, first_hour, merchant_id, status, payment_type, provider_type)
        DO UPDATE SET n = charge_counter_spans.n + excluded.n";
    /// Deletes a row that nothing is left in.
    DELETE_EMPTY_COUNTER = "
        DELETE FROM charge_counters
        WHERE client_id = :client_id AND hour = :hour AND merchant_id = :merchant_id AND status = :status
          AND payment_type = :payment_type AND provider_type = :provider_type AND stripe = :stripe AND n = 0";
}

/// Which charges are counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    merchant_id: MerchantId,
    status: String,
    payment_type: String,
    provider_type: String,
}

impl Summed for Kind {
    type Sums = i64;
    const CLIENTS_WITH_UNFOLDED: &'static Sql = &CLIENTS_WITH_UNFOLDED_COUNTERS;
    const UNFOLDED: &'static Sql = &UNFOLDED_COUNTERS;
    const ADD_TO_HOUR: &'static Sql = &ADD_TO_COUNTER;
    const ADD_TO_SPAN: &'static Sql = &ADD_TO_SPAN;
    const DELETE_EMPTY: &'static Sql = &DELETE_EMPTY_COUNTER;

    fn read(row: &Row) -> Result<(Self, i64), StoreError> {
        let kind = Self {
            merchant_id: row.get("merchant_id")?,
            status: row.get("status")?,
            payment_type: row.get("payment_type")?,
            provider_type: row.get("provider_type")?,
        };
        Ok((kind, row.get("n")?))
    }

    fn columns(&self) -> Args {
        let Self { merchant_id, status, payment_type, provider_type } = self;
        args! { merchant_id: *merchant_id, status, payment_type, provider_type }
    }
}

impl Sums for i64 {
    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn negative(self) -> Self {
        -self
    }

    fn columns(self, args: Args) -> Args {
        args.with("n", self)
    }
}
