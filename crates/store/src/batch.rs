//! A write as a value: statements with their arguments and the number of rows that each must change.

use regente_domain::id::{ClientId, MerchantId};
use regente_domain::ledger::Account;
use regente_domain::rates::RateKey;

use crate::sql::Sql;
use crate::value::Args;

/// Changes of one client that are applied all or not at all.
#[derive(Debug)]
pub struct Batch {
    pub(crate) client_id: ClientId,
    pub(crate) guards: Vec<BatchStatement>,
    pub(crate) steps: Vec<BatchStatement>,
    pub(crate) counters: Vec<CounterDelta>,
    pub(crate) balances: Vec<BalanceDelta>,
    pub(crate) rates: Vec<RateKey>,
}

/// One statement of a batch.
#[derive(Debug)]
pub(crate) struct BatchStatement {
    pub(crate) sql: &'static Sql,
    pub(crate) args: Args,
    pub(crate) rows: Rows,
}

/// How many rows a statement must change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    Exactly(u64),
    AtMostOne,
    Any,
}

impl Batch {
    /// An empty batch of a client. Rows without a client are written under the nil id.
    pub fn new(client_id: ClientId) -> Self {
        Self {
            client_id,
            guards: Vec::new(),
            steps: Vec::new(),
            counters: Vec::new(),
            balances: Vec::new(),
            rates: Vec::new(),
        }
    }

    /// The client whose rows it changes.
    pub fn client_id(&self) -> ClientId {
        self.client_id
    }

    /// Whether it writes a table that each server of a distributed database has whole.
    pub(crate) fn writes_whole(&self) -> bool {
        self.guards.iter().chain(&self.steps).any(|step| step.sql.writes_whole())
    }

    /// Whether it would change nothing.
    pub fn is_empty(&self) -> bool {
        self.guards.is_empty()
            && self.steps.is_empty()
            && self.counters.is_empty()
            && self.balances.is_empty()
            && self.rates.is_empty()
    }

    /// Number of statements, without counters.
    pub(crate) fn statements(&self) -> usize {
        self.guards.len() + self.steps.len()
    }

    /// Adds a statement that runs before all others and must change exactly one row, such as `UPDATE … WHERE version
    /// = :version`. If it does not, the batch is refused.
    pub fn guard(&mut self, sql: &'static Sql, args: Args) -> &mut Self {
        self.guards.push(BatchStatement { sql, args, rows: Rows::Exactly(1) });
        self
    }

    /// Adds a statement that must change exactly one row.
    pub fn push(&mut self, sql: &'static Sql, args: Args) -> &mut Self {
        self.push_n(sql, args, 1)
    }

    /// Adds a statement that must change exactly `rows` rows.
    pub fn push_n(&mut self, sql: &'static Sql, args: Args, rows: u64) -> &mut Self {
        self.steps.push(BatchStatement { sql, args, rows: Rows::Exactly(rows) });
        self
    }

    /// Adds a statement that changes one row or none. When several batches of one commit change the same row, the
    /// first one changes it and the others change none.
    pub fn push_at_most_one(&mut self, sql: &'static Sql, args: Args) -> &mut Self {
        self.steps.push(BatchStatement { sql, args, rows: Rows::AtMostOne });
        self
    }

    /// Adds a statement that may change any number of rows, also none.
    pub fn push_any(&mut self, sql: &'static Sql, args: Args) -> &mut Self {
        self.steps.push(BatchStatement { sql, args, rows: Rows::Any });
        self
    }

    /// Adds a change of a counter. The writer sums the changes of all batches of a commit and writes each counter
    /// once.
    pub fn count(&mut self, delta: CounterDelta) -> &mut Self {
        self.counters.push(delta);
        self
    }

    /// Counts a try for the rates. The writer sums these like counters.
    pub fn rate(&mut self, key: RateKey) -> &mut Self {
        self.rates.push(key);
        self
    }

    /// Adds to the balance of an account. The writer sums these like counters.
    pub(crate) fn add_to_balance(&mut self, delta: BalanceDelta) -> &mut Self {
        self.balances.push(delta);
        self
    }
}

/// A change of one counter of charges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterDelta {
    /// Which counter.
    pub key: CounterKey,
    /// The difference; negative when a charge leaves this counter.
    pub change: i64,
}

/// A counter of charges. Writers update counters in this order, so that they never deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterKey {
    /// The account.
    pub client_id: ClientId,
    /// The hour of creation, in hours since the epoch ([`Timestamp::hour`](regente_domain::time::Timestamp::hour)).
    pub hour: i64,
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The status by its wire name.
    pub status: &'static str,
    /// The payment type by its wire name.
    pub payment_type: &'static str,
    /// The provider type by its wire name.
    pub provider_type: &'static str,
}

/// What an entry adds to the balance of one of its accounts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BalanceDelta {
    pub(crate) key: BalanceKey,
    pub(crate) debited: i128,
    pub(crate) credited: i128,
}

/// An account of the ledger in an hour. Writers update balances in this order, after the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BalanceKey {
    pub(crate) client_id: ClientId,
    /// The hour of the entry, in hours since the epoch.
    pub(crate) hour: i64,
    pub(crate) account: Account,
}
