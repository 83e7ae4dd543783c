//! A write as a value: statements with their arguments and the rows that each must touch.

use regente_domain::id::{ClientId, MerchantId};

use crate::sql::Sql;
use crate::value::Args;

/// Changes that are applied all or not at all, all of one client.
#[derive(Debug)]
pub struct Batch {
    pub(crate) client_id: ClientId,
    pub(crate) guards: Vec<BatchStatement>,
    pub(crate) steps: Vec<BatchStatement>,
    pub(crate) counters: Vec<CounterDelta>,
}

/// One statement of a batch.
#[derive(Debug)]
pub(crate) struct BatchStatement {
    pub(crate) sql: &'static Sql,
    pub(crate) args: Args,
    pub(crate) rows: Rows,
}

/// How many rows a statement must touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    Exactly(u64),
    AtMostOne,
    Any,
}

impl Batch {
    /// An empty batch of a client. What belongs to no client is written under the nil id.
    pub fn new(client_id: ClientId) -> Self {
        Self { client_id, guards: Vec::new(), steps: Vec::new(), counters: Vec::new() }
    }

    /// The client whose rows it changes.
    pub fn client_id(&self) -> ClientId {
        self.client_id
    }

    /// Whether it would change nothing.
    pub fn is_empty(&self) -> bool {
        self.guards.is_empty() && self.steps.is_empty() && self.counters.is_empty()
    }

    /// How many statements it has, without counters.
    pub(crate) fn statements(&self) -> usize {
        self.guards.len() + self.steps.len()
    }

    /// A statement that runs before all others and must touch exactly one row: most often
    /// `UPDATE … WHERE version = :version`. One that does not hold refuses the batch.
    pub fn guard(&mut self, sql: &'static Sql, args: Args) -> &mut Self {
        self.guards.push(BatchStatement { sql, args, rows: Rows::Exactly(1) });
        self
    }

    /// A statement that must touch exactly one row.
    pub fn push(&mut self, sql: &'static Sql, args: Args) -> &mut Self {
        self.push_n(sql, args, 1)
    }

    /// A statement that must touch exactly `rows` rows.
    pub fn push_n(&mut self, sql: &'static Sql, args: Args, rows: u64) -> &mut Self {
        self.steps.push(BatchStatement { sql, args, rows: Rows::Exactly(rows) });
        self
    }

    /// A statement that touches one row or none. Of several batches of one commit that reach for the same row any one
    /// may be first, and the others find it changed.
    pub fn push_at_most_one(&mut self, sql: &'static Sql, args: Args) -> &mut Self {
        self.steps.push(BatchStatement { sql, args, rows: Rows::AtMostOne });
        self
    }

    /// A statement that may touch any number of rows, none among them.
    pub fn push_any(&mut self, sql: &'static Sql, args: Args) -> &mut Self {
        self.steps.push(BatchStatement { sql, args, rows: Rows::Any });
        self
    }

    /// A change of a counter. The writer adds up the changes of all batches of a commit and writes each counter once.
    pub fn count(&mut self, delta: CounterDelta) -> &mut Self {
        self.counters.push(delta);
        self
    }
}

/// A change of one counter of charges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterDelta {
    /// Which counter.
    pub key: CounterKey,
    /// By how much; negative when a charge leaves this counter.
    pub change: i64,
}

/// Which counter of charges. The order is that in which counters are written, so that two writers never wait for
/// each other in a circle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterKey {
    /// The account.
    pub client_id: ClientId,
    /// The hour of creation, in whole hours since the epoch ([`Timestamp::hour`](regente_domain::time::Timestamp::hour)).
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
