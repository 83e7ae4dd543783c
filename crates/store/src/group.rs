//! Code shared by the writers of both databases: binds batches, and sums counters, balances and rates over a commit.

use std::collections::BTreeMap;

use regente_domain::id::ClientId;
use regente_domain::rates::RateKey;
use tokio::sync::oneshot;

use crate::args;
use crate::batch::{BalanceDelta, BalanceKey, Batch, CounterDelta, CounterKey, Rows};
use crate::error::{Commit, Refusal, RefusalKind, StoreError};
use crate::sql::{DatabaseKind, Sql};
use crate::sums::{ADD_TO_BALANCE, ADD_TO_COUNTER, ADD_TO_RATE, Halves, with_account, with_rate, with_sums};
use crate::value::{Args, Value};

/// The result of `apply` for one batch.
pub(crate) type Answer = Result<Commit, StoreError>;

/// A bound batch and the channel for its answer.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) client_id: ClientId,
    pub(crate) steps: Vec<BoundStep>,
    pub(crate) counters: Vec<CounterDelta>,
    pub(crate) balances: Vec<BalanceDelta>,
    pub(crate) rates: Vec<RateKey>,
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
        let Batch { client_id, guards, steps, counters, balances, rates } = batch;
        let steps = guards
            .into_iter()
            .chain(steps)
            .map(|step| {
                let values = step.sql.bind(database, step.args)?;
                Ok(BoundStep { sql: step.sql, values, rows: step.rows })
            })
            .collect::<Result<_, StoreError>>()?;
        Ok((Self { client_id, steps, counters, balances, rates, answer }, receiver))
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

/// A sum that several batches of a commit add to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SumKey {
    Counter(CounterKey),
    Balance(BalanceKey),
    Rate(ClientId, RateKey),
}

/// What a commit adds to a sum.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Added {
    n: i64,
    debited: i128,
    credited: i128,
}

impl Work {
    /// The statements that add to sums.
    pub(crate) fn sums(&self) -> impl Iterator<Item = &'static Sql> {
        let counters = self.counters.first().map(|_| &ADD_TO_COUNTER);
        let balances = self.balances.first().map(|_| &ADD_TO_BALANCE);
        counters.into_iter().chain(balances).chain(self.rates.first().map(|_| &ADD_TO_RATE))
    }
}

/// Sums what several batches add to counters and balances: the statements with their values, in the order of writing.
/// What cancels out is left away.
pub(crate) fn tally<'a>(
    database: DatabaseKind,
    stripe: i64,
    works: impl Iterator<Item = &'a Work>,
) -> Result<Vec<(&'static Sql, Vec<Value>)>, StoreError> {
    let mut totals: BTreeMap<SumKey, Added> = BTreeMap::new();
    for work in works {
        for delta in &work.counters {
            totals.entry(SumKey::Counter(delta.key)).or_default().n += delta.change;
        }
        for delta in &work.balances {
            let added = totals.entry(SumKey::Balance(delta.key)).or_default();
            added.n += 1;
            added.debited += delta.debited;
            added.credited += delta.credited;
        }
        for key in &work.rates {
            totals.entry(SumKey::Rate(work.client_id, *key)).or_default().n += 1;
        }
    }
    totals.retain(|_, added| *added != Added::default());
    totals.iter().map(|(key, added)| values(database, stripe, key, *added)).collect()
}

fn values(
    database: DatabaseKind,
    stripe: i64,
    key: &SumKey,
    added: Added,
) -> Result<(&'static Sql, Vec<Value>), StoreError> {
    let (sql, args): (&'static Sql, Args) = match *key {
        SumKey::Counter(key) => {
            let CounterKey { client_id, hour, merchant_id, status, payment_type, provider_type } = key;
            let n = added.n;
            (
                &ADD_TO_COUNTER,
                args! { client_id, hour, merchant_id, status, payment_type, provider_type, stripe, n },
            )
        }
        SumKey::Balance(BalanceKey { client_id, hour, account }) => {
            let (debits, credits) = (Halves::of(added.debited), Halves::of(added.credited));
            let args = args! { client_id, hour, stripe, n: added.n };
            (&ADD_TO_BALANCE, with_sums(with_account(args, &account), debits, credits))
        }
        SumKey::Rate(client_id, key) => {
            (&ADD_TO_RATE, with_rate(args! { client_id, stripe, n: added.n }, &key))
        }
    };
    Ok((sql, sql.bind(database, args)?))
}
