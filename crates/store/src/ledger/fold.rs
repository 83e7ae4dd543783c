//! How balances of finished hours are folded into spans.

use regente_domain::ledger::Account;

use super::account;
use super::balances::{key, sums};
use crate::fold::{Summed, Sums};
use crate::row::Row;
use crate::sql::Sql;
use crate::sums::{ADD_TO_BALANCE, Halves, with_account, with_sums};
use crate::value::Args;
use crate::{StoreError, sql};

sql! {
    /// Clients with balances of hours before one that are not folded, by id, after one.
    CLIENTS_WITH_UNFOLDED_BALANCES = "
        SELECT DISTINCT client_id FROM ledger_balances
        WHERE REACHABLE(client_id) AND stripe >= 0 AND hour < :hour AND client_id > :after ORDER BY client_id LIMIT :limit";
    /// Balances of a client of hours before one that are not folded.
    UNFOLDED_BALANCES = concat!("SELECT hour, stripe, ", key!(), ", ", sums!(), " FROM ledger_balances
        WHERE client_id = :client_id AND stripe >= 0 AND (hour < :hour) IS TRUE
        ORDER BY stripe, hour LIMIT :limit");
    /// Adds to the balance of a span.
    ADD_TO_BALANCE_SPAN = "
        INSERT INTO ledger_balance_spans (client_id, hours, first_hour, merchant_id, provider_type, currency, purpose,
            seller_id, n, debits_high, debits_low, credits_high, credits_low)
        VALUES (:client_id, :hours, :first_hour, :merchant_id, :provider_type, :currency, :purpose,
            :seller_id, :n, :debits_high, :debits_low, :credits_high, :credits_low)
        ON CONFLICT (client_id, hours, first_hour, merchant_id, provider_type, currency, purpose, seller_id)
        DO UPDATE SET n = ledger_balance_spans.n + excluded.n,
            debits_high = ledger_balance_spans.debits_high + excluded.debits_high,
            debits_low = ledger_balance_spans.debits_low + excluded.debits_low,
            credits_high = ledger_balance_spans.credits_high + excluded.credits_high,
            credits_low = ledger_balance_spans.credits_low + excluded.credits_low";
    /// Deletes a row that nothing is left in.
    DELETE_EMPTY_BALANCE = "
        DELETE FROM ledger_balances
        WHERE client_id = :client_id AND hour = :hour AND merchant_id = :merchant_id
          AND provider_type = :provider_type AND currency = :currency AND purpose = :purpose
          AND seller_id = :seller_id AND stripe = :stripe AND n = 0
          AND debits_high = 0 AND debits_low = 0 AND credits_high = 0 AND credits_low = 0";
}

/// What a row of balances sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BalanceSums {
    n: i64,
    debits: Halves,
    credits: Halves,
}

impl Summed for Account {
    type Sums = BalanceSums;
    const CLIENTS_WITH_UNFOLDED: &'static Sql = &CLIENTS_WITH_UNFOLDED_BALANCES;
    const UNFOLDED: &'static Sql = &UNFOLDED_BALANCES;
    const ADD_TO_HOUR: &'static Sql = &ADD_TO_BALANCE;
    const ADD_TO_SPAN: &'static Sql = &ADD_TO_BALANCE_SPAN;
    const DELETE_EMPTY: &'static Sql = &DELETE_EMPTY_BALANCE;

    fn read(row: &Row) -> Result<(Self, BalanceSums), StoreError> {
        let sums = BalanceSums {
            n: row.get("n")?,
            debits: Halves::read(row, "debits_high", "debits_low")?,
            credits: Halves::read(row, "credits_high", "credits_low")?,
        };
        Ok((account(row)?, sums))
    }

    fn columns(&self) -> Args {
        with_account(Args::new(), self)
    }
}

impl Sums for BalanceSums {
    fn plus(self, other: Self) -> Self {
        let (debits, credits) = (self.debits.plus(other.debits), self.credits.plus(other.credits));
        Self { n: self.n + other.n, debits, credits }
    }

    fn negative(self) -> Self {
        Self { n: -self.n, debits: self.debits.negative(), credits: self.credits.negative() }
    }

    fn columns(self, args: Args) -> Args {
        with_sums(args.with("n", self.n), self.debits, self.credits)
    }
}
