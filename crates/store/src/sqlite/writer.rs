//! The writer thread: takes all waiting batches, commits them with one sync, then answers each.

#![allow(clippy::disallowed_methods, reason = "how far apart commits begin is the machine's time")]

use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, TryRecvError};
use rusqlite::{Connection, Error, Statement};

use super::checkpoint::Checkpoints;
use super::connection::FileLock;
use super::failure;
use super::options::SqliteOptions;
use super::statements::Statements;
use crate::driver::CommitCounts;
use crate::error::{Commit, Refusal, RefusalKind, StoreError};
use crate::group::{Answer, BoundStep, Failure, Work, tally};
use crate::sql::DatabaseKind;

/// The one writer has one stripe of sums.
const STRIPE: i64 = 0;

/// A command to the writer.
pub(super) enum Command {
    /// Apply a batch.
    Apply(Work),
    /// Run something while no group is applied: a migration, a restore.
    Exclusive(Box<dyn FnOnce(&Connection) + Send>),
    /// Apply the queued batches, then end.
    Close,
}

/// Runs the thread. It releases the lock on the file at its end, after the last connection is closed.
pub(super) fn run(
    connection: Connection,
    queue: &Receiver<Command>,
    options: &SqliteOptions,
    checkpoints: Checkpoints,
    commits: &CommitCounts,
    lock: FileLock,
) {
    match Writer::new(&connection, options, checkpoints, commits) {
        Ok(writer) => writer.serve(queue),
        Err(error) => tracing::error!(%error, "the writer cannot prepare its statements"),
    }
    if let Err((_, error)) = connection.close() {
        tracing::warn!(%error, "the write connection did not close cleanly");
    }
    drop(lock);
}

struct Writer<'c> {
    statements: Statements<'c>,
    begin: Statement<'c>,
    commit: Statement<'c>,
    rollback: Statement<'c>,
    savepoint: Statement<'c>,
    release: Statement<'c>,
    rollback_to: Statement<'c>,
    group_max: usize,
    commits_apart: Duration,
    checkpoints: Checkpoints,
    commits: &'c CommitCounts,
    /// When the next group may start.
    next_at: Option<Instant>,
}

/// Why a batch was not applied, and at which statement.
struct Stopped {
    /// The index of the statement in the batch.
    at: usize,
    why: Failure,
}

impl<'c> Writer<'c> {
    fn new(
        connection: &'c Connection,
        options: &SqliteOptions,
        checkpoints: Checkpoints,
        commits: &'c CommitCounts,
    ) -> Result<Self, Error> {
        Ok(Self {
            statements: Statements::new(connection),
            begin: connection.prepare("BEGIN IMMEDIATE")?,
            commit: connection.prepare("COMMIT")?,
            rollback: connection.prepare("ROLLBACK")?,
            savepoint: connection.prepare("SAVEPOINT batch")?,
            release: connection.prepare("RELEASE batch")?,
            rollback_to: connection.prepare("ROLLBACK TO batch")?,
            group_max: options.group_max.max(1),
            commits_apart: options.commits_apart,
            checkpoints,
            commits,
            next_at: None,
        })
    }

    fn serve(mut self, queue: &Receiver<Command>) {
        let mut next = queue.recv().ok();
        while let Some(command) = next {
            next = match command {
                Command::Apply(first) => {
                    self.pace();
                    let (group, beyond) = self.gather(first, queue);
                    self.next_at = (group.len() > 1).then(|| Instant::now() + self.commits_apart);
                    self.commit_group(group);
                    self.checkpoints.after_commit(self.statements.connection());
                    beyond
                }
                Command::Exclusive(run) => {
                    run(self.statements.connection());
                    self.checkpoints.after_commit(self.statements.connection());
                    None
                }
                Command::Close => break,
            };
            next = next.or_else(|| queue.recv().ok());
        }
        // Apply batches that arrived before the close: their callers were not refused.
        while let Ok(command) = queue.try_recv() {
            if let Command::Apply(work) = command {
                self.commit_group(vec![work]);
            }
        }
        let Self { checkpoints, statements, .. } = self;
        checkpoints.finish(statements.connection());
    }

    fn pace(&self) {
        let wait = self.next_at.map(|next_at| next_at.saturating_duration_since(Instant::now()));
        if let Some(wait) = wait.filter(|wait| !wait.is_zero()) {
            std::thread::sleep(wait);
        }
    }

    /// The waiting batches, and the first other command after them.
    fn gather(&self, first: Work, queue: &Receiver<Command>) -> (Vec<Work>, Option<Command>) {
        let mut group = vec![first];
        while group.len() < self.group_max {
            match queue.try_recv() {
                Ok(Command::Apply(work)) => group.push(work),
                Ok(other @ (Command::Exclusive(_) | Command::Close)) => return (group, Some(other)),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
            }
        }
        (group, None)
    }

    /// Applies a group as one; if a batch fails, applies each by itself.
    fn commit_group(&mut self, group: Vec<Work>) {
        let answers = match self.apply_as_one(&group) {
            Ok(answers) => answers,
            Err(Failure::Everybody(error) | Failure::Race(error)) => vec![Err(error); group.len()],
            Err(Failure::Own(answer)) if group.len() == 1 => vec![answer],
            Err(Failure::Own(_)) => self.apply_each(&group),
        };
        self.commits.add(&answers);
        for (work, answer) in group.into_iter().zip(answers) {
            work.answer(answer);
        }
    }

    /// Applies all batches in one transaction; one failure rolls all back.
    fn apply_as_one(&mut self, group: &[Work]) -> Result<Vec<Answer>, Failure> {
        self.try_as_one(group).inspect_err(|_| self.roll_back())
    }

    fn try_as_one(&mut self, group: &[Work]) -> Result<Vec<Answer>, Failure> {
        control(&mut self.begin)?;
        let mut answers = Vec::with_capacity(group.len());
        for work in group {
            match self.run_steps(work) {
                Ok(()) => answers.push(Ok(Commit::Applied)),
                // Nothing needs to be undone. Most often this is a repeated key.
                Err(Stopped { at: 0, why: Failure::Own(answer) }) if has_touched_nothing(&answer) => {
                    answers.push(answer);
                }
                Err(Stopped { why, .. }) => return Err(why),
            }
        }
        self.write_sums(applied(group, &answers))?;
        control(&mut self.commit)?;
        Ok(answers)
    }

    /// Applies the batches in one transaction, each in its own savepoint.
    fn apply_each(&mut self, group: &[Work]) -> Vec<Answer> {
        let mut answers = Vec::with_capacity(group.len());
        match self.try_each(group, &mut answers) {
            Ok(()) => answers,
            Err(failure) => {
                self.roll_back();
                let error = match failure {
                    Failure::Everybody(error) | Failure::Race(error) | Failure::Own(Err(error)) => error,
                    Failure::Own(Ok(commit)) => {
                        StoreError::Programming(format!("sums or commit: {commit:?}"))
                    }
                };
                // Refusals do not count either: the rows that refused them may be rolled back too.
                vec![Err(error); group.len()]
            }
        }
    }

    fn try_each(&mut self, group: &[Work], answers: &mut Vec<Answer>) -> Result<(), Failure> {
        control(&mut self.begin)?;
        for work in group {
            control(&mut self.savepoint)?;
            match self.run_steps(work) {
                Ok(()) => answers.push(Ok(Commit::Applied)),
                Err(Stopped { why: Failure::Own(answer), .. }) => {
                    control(&mut self.rollback_to)?;
                    answers.push(answer);
                }
                Err(Stopped { why: why @ (Failure::Everybody(_) | Failure::Race(_)), .. }) => {
                    return Err(why);
                }
            }
            control(&mut self.release)?;
        }
        self.write_sums(applied(group, answers))?;
        control(&mut self.commit)
    }

    fn run_steps(&mut self, work: &Work) -> Result<(), Stopped> {
        for (at, step) in work.steps.iter().enumerate() {
            self.run_step(step).map_err(|why| Stopped { at, why })?;
        }
        Ok(())
    }

    fn run_step(&mut self, step: &BoundStep) -> Result<(), Failure> {
        let executed = self.statements.execute(step.sql, &step.values);
        step.judge(executed.map_err(|error| failure::of_step(step, error))?)
    }

    fn write_sums<'a>(&mut self, works: impl Iterator<Item = &'a Work>) -> Result<(), Failure> {
        for (sql, values) in tally(DatabaseKind::Sqlite, STRIPE, works).map_err(Failure::Everybody)? {
            self.statements
                .execute(sql, &values)
                .map_err(|error| Failure::Everybody(failure::store_error(sql.name(), error)))?;
        }
        Ok(())
    }

    fn roll_back(&mut self) {
        // SQLite rolls back by itself when the disk is full.
        if self.statements.connection().is_autocommit() {
            return;
        }
        if let Err(failure) = control(&mut self.rollback) {
            tracing::error!(?failure, "rolling back failed");
        }
    }
}

/// Whether the statement with this answer has changed no row.
fn has_touched_nothing(answer: &Answer) -> bool {
    match answer {
        Ok(Commit::Refused(Refusal { why: RefusalKind::RowCount { actual, .. }, .. })) => *actual == 0,
        // SQLite undoes a failed statement.
        Ok(Commit::Refused(Refusal {
            why: RefusalKind::Unique | RefusalKind::ForeignKey | RefusalKind::Constraint(_),
            ..
        }))
        | Err(_) => true,
        Ok(Commit::Applied | Commit::Unknown) => false,
    }
}

/// The batches that were applied.
fn applied<'a>(group: &'a [Work], answers: &'a [Answer]) -> impl Iterator<Item = &'a Work> {
    group.iter().zip(answers).filter_map(|(work, answer)| match answer {
        Ok(Commit::Applied) => Some(work),
        Ok(Commit::Refused(_) | Commit::Unknown) | Err(_) => None,
    })
}

fn control(statement: &mut Statement<'_>) -> Result<(), Failure> {
    match statement.raw_execute() {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::Everybody(failure::store_error("transaction control", error))),
    }
}
