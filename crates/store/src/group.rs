//! Code shared by the writers of both databases: binds batches, and sums counters over a commit.

use std::collections::BTreeMap;

use regente_domain::id::ClientId;
use tokio::sync::oneshot;

use crate::batch::{Batch, CounterDelta, CounterKey, Rows};
use crate::error::{Commit, Refusal, RefusalKind, StoreError};
use crate::sql::{DatabaseKind, Sql};
use crate::value::{Args, Value};
use crate::{args, sql};

sql! {
    /// Adds to a counter. Each writer has its own stripe, so that writers never wait for the same row.
    pub(crate) ADD_TO_COUNTER = "
        INSERT INTO charge_counters
            (client_id, hour, merchant_id, status, payment_type, provider_type, stripe, n)
        VALUES (:client_id, :hour, :merchant_id, :status, :payment_type, :provider_type, :stripe, :n)
        ON CONFLICT (client_id, hour, merchant_id, status, payment_type, provider_type, stripe)
        DO UPDATE SET n = charge_counters.n + excluded.n";
}

/// The result of `apply` for one batch.
pub(crate) type Answer = Result<Commit, StoreError>;

/// A bound batch and the channel for its answer.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) client_id: ClientId,
    pub(crate) steps: Vec<BoundStep>,
    pub(crate) counters: Vec<CounterDelta>,
    answer: oneshot::Sender<Answer>,
}

/// A statement with its arguments in order.
#[derive(Debug)]
pub(crate) struct BoundStep {
    pub(crate) sql: &'static Sql,
    pub(crate) values: Vec<Value>,
    pub(crate) rows: Rows,
}

/// Why a batch of a group cannot be applied.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// Only this batch fails: the others may go on.
    Own(Answer),
    /// The batch lost a race and may win the next time (deadlock, serialization); only on PostgreSQL.
    Race(StoreError),
    /// The database cannot be written to: every batch fails.
    Everybody(StoreError),
}

impl Work {
    /// Binds the statements of a batch, guards first. The caller runs it, to save the writer's time.
    pub(crate) fn bind(
        database: DatabaseKind,
        batch: Batch,
    ) -> Result<(Self, oneshot::Receiver<Answer>), StoreError> {
        let (answer, receiver) = oneshot::channel();
        let steps = batch
            .guards
            .into_iter()
            .chain(batch.steps)
            .map(|step| {
                let values = step.sql.bind(database, step.args)?;
                Ok(BoundStep { sql: step.sql, values, rows: step.rows })
            })
            .collect::<Result<_, StoreError>>()?;
        Ok((Self { client_id: batch.client_id, steps, counters: batch.counters, answer }, receiver))
    }

    pub(crate) fn answer(self, answer: Answer) {
        // The caller may be gone; the write stays.
        drop(self.answer.send(answer));
    }
}

impl BoundStep {
    /// Checks whether the statement changed the required number of rows.
    pub(crate) fn judge(&self, actual: u64) -> Result<(), Failure> {
        match self.rows {
            Rows::Any => Ok(()),
            Rows::AtMostOne if actual <= 1 => Ok(()),
            Rows::AtMostOne => Err(self.refuse(RefusalKind::RowCount { expected: 1, actual })),
            Rows::Exactly(expected) if expected == actual => Ok(()),
            Rows::Exactly(expected) => Err(self.refuse(RefusalKind::RowCount { expected, actual })),
        }
    }

    pub(crate) fn refuse(&self, why: RefusalKind) -> Failure {
        Failure::Own(Ok(Commit::Refused(Refusal { statement: self.sql.name(), why })))
    }
}

/// Sums the counters of several batches, in the order of writing. Sums of zero are dropped.
pub(crate) fn tally<'a>(works: impl Iterator<Item = &'a Work>) -> BTreeMap<CounterKey, i64> {
    let mut totals = BTreeMap::new();
    for delta in works.flat_map(|work| &work.counters) {
        *totals.entry(delta.key).or_insert(0) += delta.change;
    }
    totals.retain(|_, change| *change != 0);
    totals
}

/// The arguments of [`ADD_TO_COUNTER`] in their order.
pub(crate) fn counter_values(
    database: DatabaseKind,
    key: &CounterKey,
    stripe: i64,
    change: i64,
) -> Result<Vec<Value>, StoreError> {
    let CounterKey { client_id, hour, merchant_id, status, payment_type, provider_type } = *key;
    let args: Args =
        args! { client_id, hour, merchant_id, status, payment_type, provider_type, stripe, n: change };
    ADD_TO_COUNTER.bind(database, args)
}
