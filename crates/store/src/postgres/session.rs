//! A connection that writes: it prepares statements and runs groups as transactions, with their statements pipelined.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, MaybeDone, maybe_done};
use tokio::task::JoinHandle;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, Statement};

use super::failure;
use super::part::Source;
use super::reach::Reach;
use super::stages::{Stage, stages};
use super::values;
use crate::error::{Commit, StoreError};
use crate::group::{Answer, BoundStep, Failure, Work, tally};
use crate::placement::Placement;
use crate::sql::{DatabaseKind, Many, Sql};
use crate::value::Value;

/// The name of transaction control in error texts.
const CONTROL: &str = "transaction control";

/// A connection that writes.
pub(super) struct Session {
    client: Client,
    task: JoinHandle<()>,
    statements: HashMap<usize, Statement>,
    /// The same statements, rewritten for many rows, by the number of rows that their text is made for.
    statements_for_many: HashMap<(usize, usize), Statement>,
    stripe: i64,
    placement: Placement,
    limit: Duration,
    reach: Arc<Reach>,
    /// Set after a timeout: later answers can no longer be matched to requests.
    is_given_up: AtomicBool,
}

/// The rows of one statement, and the statement prepared for that many.
pub(super) struct Ready<'a> {
    stage: Stage<'a>,
    statement: Statement,
}

/// How a transaction ended.
pub(super) enum Ended {
    /// It is committed.
    Committed,
    /// It is rolled back.
    RolledBack(Failure),
    /// The commit was not answered, or with an error that proves no rollback.
    Unknown,
}

impl Session {
    /// Connects. The server itself aborts what takes longer than a group may, so that a node that is cut off holds no
    /// locks. Writers find rows by their keys: a plan made while a table was empty must not scan it later.
    pub(super) async fn connect(source: &Source, stripe: i64, reach: Arc<Reach>) -> Result<Self, Error> {
        let Source { options, connector, placement, plan_cache, .. } = source;
        let (client, task) = connector.connect().await?;
        let limit_ms = options.group_timeout.as_millis().max(2);
        let session = Self {
            client,
            task,
            statements: HashMap::new(),
            statements_for_many: HashMap::new(),
            stripe,
            placement: *placement,
            limit: options.group_timeout,
            reach,
            is_given_up: AtomicBool::new(false),
        };
        session
            .client
            .batch_execute(&format!(
                "SET idle_in_transaction_session_timeout = {limit_ms}; SET statement_timeout = {limit_ms};
                 SET lock_timeout = {};
                 SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; {}",
                limit_ms / 2,
                plan_cache.setting()
            ))
            .await?;
        Ok(session)
    }

    /// Resolves when the connection ends.
    pub(super) async fn ended(&mut self) {
        if !self.client.is_closed() {
            // The task has logged how it ended.
            drop((&mut self.task).await);
        }
    }

    /// Whether it can no longer be used.
    pub(super) fn is_lost(&self) -> bool {
        self.client.is_closed() || self.is_given_up.load(Ordering::Relaxed)
    }

    /// Waits for the server at most as long as a group may take, and as its part can be reached.
    pub(super) async fn in_time<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        self.answered(work).await.unwrap_or_else(|| {
            Err(Failure::Everybody(StoreError::unavailable("PostgreSQL did not answer in time")))
        })
    }

    /// The same; without an answer the session is given up.
    async fn answered<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let answer = tokio::time::timeout(self.limit, self.reach.during(work)).await.ok().flatten();
        if answer.is_none() {
            self.is_given_up.store(true, Ordering::Relaxed);
        }
        answer
    }

    /// Prepares the statements of a batch and checks its arguments, outside any transaction.
    pub(super) async fn prepare(&mut self, work: &Work) -> Result<(), Failure> {
        for step in &work.steps {
            let statement = self.prepared(step.sql).await?;
            values::check(step.sql, &step.values, statement.params())
                .map_err(|error| Failure::Own(Err(error)))?;
        }
        for sql in work.sums() {
            self.prepared(sql).await?;
        }
        Ok(())
    }

    async fn prepared(&mut self, sql: &'static Sql) -> Result<&Statement, Failure> {
        match self.statements.entry(sql.address()) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => {
                let statement = self
                    .client
                    .prepare(sql.text(DatabaseKind::Postgres))
                    .await
                    .map_err(|error| failure::of_statement(sql.name(), error))?;
                Ok(new.insert(statement))
            }
        }
    }

    /// The stages of a group, prepared outside any transaction.
    pub(super) async fn stages<'a>(&mut self, group: &[&'a Work]) -> Result<Vec<Ready<'a>>, Failure> {
        let mut ready = Vec::new();
        for stage in stages(self.placement, group) {
            let statement = match stage.many() {
                None => self.prepared(stage.sql).await?.clone(),
                Some(many) => self.prepared_for_many(stage.sql, many, stage.rows()).await?.clone(),
            };
            ready.push(Ready { stage, statement });
        }
        Ok(ready)
    }

    async fn prepared_for_many(
        &mut self,
        sql: &'static Sql,
        many: &Many,
        rows: usize,
    ) -> Result<&Statement, Failure> {
        let one = self.prepared(sql).await?.clone();
        match self.statements_for_many.entry((sql.address(), many.rows_of_text(rows))) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => {
                let types: Vec<&str> = one.params().iter().map(Type::name).collect();
                let prepared = self.client.prepare(&many.text(&types, rows)).await;
                Ok(new.insert(prepared.map_err(|error| failure::of_statement(sql.name(), error))?))
            }
        }
    }

    /// Applies all batches in one transaction; the first failure ends it.
    pub(super) async fn apply_as_one(&self, group: &[&Work], stages: &[Ready<'_>]) -> Result<(), Failure> {
        let sums = self.sums(group)?;
        let mut requests = vec![self.control("BEGIN")];
        requests.extend(stages.iter().map(|ready| self.stage(ready)));
        requests.extend(sums.iter().map(|(sql, values)| self.send(sql, values)));
        let mut answers = in_one_go(requests).await.into_iter();
        judge_control(answers.next())?;
        for (Ready { stage, .. }, answer) in stages.iter().zip(answers.by_ref()) {
            match answer {
                Ok(rows) => stage.judge(rows)?,
                Err(error) => return Err(failure::of_step(stage.first, error)),
            }
        }
        judge_sums(&sums, answers)
    }

    /// Applies the batches in one transaction, each in its own savepoint, until one loses a race or the group ends.
    /// The answers are those of the first batches; they count only once the transaction is committed.
    pub(super) async fn apply_each(
        &self,
        group: &[&Work],
        answers: &mut Vec<Answer>,
    ) -> Result<Option<StoreError>, Failure> {
        let mut control = "BEGIN; SAVEPOINT batch";
        let mut raced = None;
        for work in group {
            let mut requests = vec![self.control(control)];
            requests.extend(work.steps.iter().map(|step| self.step(step)));
            let mut results = in_one_go(requests).await.into_iter();
            judge_control(results.next())?;
            match judge_steps(work, &mut results) {
                Ok(()) => {
                    answers.push(Ok(Commit::Applied));
                    control = "RELEASE batch; SAVEPOINT batch";
                }
                Err(Failure::Own(answer)) => {
                    answers.push(answer);
                    control = "ROLLBACK TO batch";
                }
                Err(Failure::Race(error)) => {
                    raced = Some(error);
                    control = "ROLLBACK TO batch";
                    break;
                }
                Err(everybody @ Failure::Everybody(_)) => return Err(everybody),
            }
        }
        if control == "ROLLBACK TO batch" {
            judge_control(Some(self.control(control).await))?;
        }
        self.write_sums(group, answers).await?;
        Ok(raced)
    }

    async fn write_sums(&self, group: &[&Work], answers: &[Answer]) -> Result<(), Failure> {
        let applied: Vec<&Work> = group
            .iter()
            .zip(answers)
            .filter_map(|(work, answer)| match answer {
                Ok(Commit::Applied) => Some(*work),
                Ok(Commit::Refused(_) | Commit::Unknown) | Err(_) => None,
            })
            .collect();
        let sums = self.sums(&applied)?;
        let requests = sums.iter().map(|(sql, values)| self.send(sql, values)).collect();
        judge_sums(&sums, in_one_go(requests).await.into_iter())
    }

    pub(super) async fn commit(&self) -> Ended {
        let lost: Box<dyn std::error::Error + Send + Sync> =
            match self.answered(self.client.batch_execute("COMMIT")).await {
                Some(Ok(())) => return Ended::Committed,
                Some(Err(error)) if failure::proves_rollback(&error) => {
                    return Ended::RolledBack(failure::of_statement(CONTROL, error));
                }
                Some(Err(error)) => error.into(),
                None => "PostgreSQL did not answer in time".into(),
            };
        self.is_given_up.store(true, Ordering::Relaxed);
        tracing::error!(error = &*lost as &dyn std::error::Error, "nothing tells whether a commit succeeded");
        Ended::Unknown
    }

    pub(super) async fn roll_back(&self) {
        if self.is_lost() {
            return;
        }
        // Without an answer it is given up already.
        if let Some(Err(_)) = self.answered(self.client.batch_execute("ROLLBACK")).await {
            self.is_given_up.store(true, Ordering::Relaxed);
        }
    }

    fn sums(&self, group: &[&Work]) -> Result<Vec<(&'static Sql, Vec<Value>)>, Failure> {
        tally(DatabaseKind::Postgres, self.stripe, group.iter().copied()).map_err(Failure::Everybody)
    }

    fn control<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<u64, Error>> {
        self.client.batch_execute(text).map(|done| done.map(|()| 0)).boxed()
    }

    fn stage<'a>(&'a self, ready: &'a Ready<'a>) -> BoxFuture<'a, Result<u64, Error>> {
        let Ready { stage, statement } = ready;
        match stage.many() {
            None => self.client.execute_raw(statement, &stage.first.values).boxed(),
            Some(many) => self.client.execute_raw(statement, stage.arguments(many)).boxed(),
        }
    }

    fn step<'a>(&'a self, step: &'a BoundStep) -> BoxFuture<'a, Result<u64, Error>> {
        self.send(step.sql, &step.values)
    }

    fn send<'a>(&'a self, sql: &'static Sql, values: &'a [Value]) -> BoxFuture<'a, Result<u64, Error>> {
        match self.statements.get(&sql.address()) {
            Some(statement) => self.client.execute_raw(statement, values).boxed(),
            // Every statement is prepared already; if one is not, the driver prepares it here.
            None => self.client.execute_raw(sql.text(DatabaseKind::Postgres), values).boxed(),
        }
    }
}

/// Ends the task, which would wait for a server that no longer answers.
impl Drop for Session {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sends all requests in order before it waits for the first answer.
async fn in_one_go<F: Future>(requests: Vec<F>) -> Vec<F::Output> {
    let mut requests: Vec<Pin<Box<MaybeDone<F>>>> =
        requests.into_iter().map(|request| Box::pin(maybe_done(request))).collect();
    // The first poll sends a request.
    poll_fn(|context| {
        for request in &mut requests {
            // It is polled again below in either case.
            let _sent = request.as_mut().poll(context);
        }
        Poll::Ready(())
    })
    .await;
    let mut answers = Vec::with_capacity(requests.len());
    for request in &mut requests {
        request.as_mut().await;
        answers.extend(request.as_mut().take_output());
    }
    answers
}

fn judge_control(answer: Option<Result<u64, Error>>) -> Result<(), Failure> {
    match answer {
        Some(Err(error)) => Err(Failure::Everybody(failure::store_error(CONTROL, error))),
        Some(Ok(_)) | None => Ok(()),
    }
}

fn judge_steps(work: &Work, answers: &mut impl Iterator<Item = Result<u64, Error>>) -> Result<(), Failure> {
    for (step, answer) in work.steps.iter().zip(answers) {
        match answer {
            Ok(rows) => step.judge(rows)?,
            Err(error) => return Err(failure::of_step(step, error)),
        }
    }
    Ok(())
}

fn judge_sums(
    sums: &[(&'static Sql, Vec<Value>)],
    answers: impl Iterator<Item = Result<u64, Error>>,
) -> Result<(), Failure> {
    for ((sql, _), answer) in sums.iter().zip(answers) {
        if let Err(error) = answer {
            return Err(match failure::of_statement(sql.name(), error) {
                race @ Failure::Race(_) => race,
                Failure::Everybody(error) | Failure::Own(Err(error)) => Failure::Everybody(error),
                Failure::Own(Ok(commit)) => {
                    Failure::Everybody(StoreError::Programming(format!("sums: {commit:?}")))
                }
            });
        }
    }
    Ok(())
}
