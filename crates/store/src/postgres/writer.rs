//! The writer tasks: each takes waiting batches, commits them in one transaction on its own connection, and answers
//! them.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::failure;
use super::part::Source;
use super::queue::Queue;
use super::reach::Reach;
use super::session::{Ended, Session};
use crate::error::{Commit, StoreError};
use crate::group::{Answer, Failure, Work};

/// Most tries of a batch that loses races (deadlocks).
const RACES_MAX: usize = 5;
/// Backoff after the first failed attempt to connect; it doubles up to the longest.
const BACKOFF_FIRST: Duration = Duration::from_millis(50);
/// The longest backoff between attempts to connect.
const BACKOFF_MAX: Duration = Duration::from_secs(2);
/// How often a writer without a connection checks whether another has one.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// One of the writers.
pub(super) struct Writer {
    pub(super) source: Source,
    pub(super) stripe: i64,
    pub(super) queue: Arc<Queue>,
    /// The permit to run statements, released before the commit. Half of the writers have one, while the others wait for their
    /// commits, so that groups are large.
    pub(super) turns: Arc<Semaphore>,
    /// Number of writers with a connection. At 0, batches are refused at once instead of waiting.
    pub(super) connected: Arc<AtomicUsize>,
    pub(super) reach: Arc<Reach>,
}

impl Writer {
    pub(super) async fn connect(&self) -> Result<Session, tokio_postgres::Error> {
        Session::connect(&self.source, self.stripe, Arc::clone(&self.reach)).await
    }

    /// Runs the task, which connects first where it has no session.
    pub(super) async fn run(self, session: Option<Session>) {
        let mut session = match session {
            Some(session) => session,
            None => match self.reconnect().await {
                Some(session) => session,
                None => return,
            },
        };
        self.connected.fetch_add(1, Ordering::Relaxed);
        loop {
            let taken = tokio::select! {
                biased;
                () = session.ended() => None,
                taken = self.take() => match taken {
                    Some(taken) => Some(taken),
                    None => break,
                },
            };
            if let Some((turn, group)) = taken {
                let answers = commit_group(&mut session, &group, turn).await;
                self.source.commits.add(&answers);
                if let Some(has_room) = found_room(&answers) {
                    self.reach.note_room(has_room);
                }
                for (work, answer) in group.into_iter().zip(answers) {
                    work.answer(answer);
                }
            }
            if session.is_lost() {
                drop(session);
                self.connected.fetch_sub(1, Ordering::Relaxed);
                match self.reconnect().await {
                    Some(new) => session = new,
                    None => return,
                }
                self.connected.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.connected.fetch_sub(1, Ordering::Relaxed);
    }

    /// The next group, with the permit to run its statements; `None` when the store is closed. Cancelling the wait
    /// loses nothing.
    async fn take(&self) -> Option<(OwnedSemaphorePermit, Vec<Work>)> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.ok()?;
        let group = self.queue.take(self.source.options.group_max).await?;
        Some((turn, group))
    }

    /// Retries until it connects; `None` when the store is closed meanwhile.
    async fn reconnect(&self) -> Option<Session> {
        let mut attempts = pin!(self.connect_until_connected());
        loop {
            let group = tokio::select! {
                biased;
                session = &mut attempts => return Some(session),
                group = self.take_in_vain() => group?,
            };
            for work in group {
                work.answer(Err(StoreError::unavailable("there is no connection to PostgreSQL")));
            }
        }
    }

    async fn connect_until_connected(&self) -> Session {
        let mut pause = BACKOFF_FIRST;
        loop {
            match self.connect().await {
                Ok(session) => return session,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "no connection to PostgreSQL");
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(BACKOFF_MAX);
        }
    }

    /// Takes batches to refuse them while no writer is connected.
    async fn take_in_vain(&self) -> Option<Vec<Work>> {
        loop {
            if self.connected.load(Ordering::Relaxed) > 0 {
                tokio::time::sleep(LOOK_AGAIN).await;
            } else if let Ok(group) =
                tokio::time::timeout(LOOK_AGAIN, self.queue.take(self.source.options.group_max)).await
            {
                return group;
            }
        }
    }
}

/// Applies a group as one; if a batch fails, applies each by itself. One answer for each batch.
async fn commit_group(session: &mut Session, group: &[Work], turn: OwnedSemaphorePermit) -> Vec<Answer> {
    let mut answers: Vec<Option<Answer>> = Vec::with_capacity(group.len());
    for work in group {
        answers.push(match prepare(session, work).await {
            Ok(()) => None,
            Err(Failure::Own(answer)) => Some(answer),
            Err(Failure::Race(error) | Failure::Everybody(error)) => Some(Err(error)),
        });
    }
    let ready: Vec<&Work> =
        group.iter().zip(&answers).filter(|(_, answer)| answer.is_none()).map(|(work, _)| work).collect();
    let mut applied = apply(session, &ready, turn).await.into_iter();
    let missing = || Err(StoreError::Programming("a batch was not answered".to_owned()));
    answers.into_iter().map(|answer| answer.or_else(|| applied.next()).unwrap_or_else(missing)).collect()
}

/// Whether the server has room on its disk; `None` when these answers do not tell.
fn found_room(answers: &[Answer]) -> Option<bool> {
    if answers.iter().filter_map(|answer| answer.as_ref().err()).any(failure::is_disk_full) {
        return Some(false);
    }
    answers.iter().any(|answer| matches!(answer, Ok(Commit::Applied))).then_some(true)
}

async fn prepare(session: &mut Session, work: &Work) -> Result<(), Failure> {
    if session.is_lost() {
        return Err(Failure::Everybody(lost()));
    }
    session.prepare(work).await
}

async fn apply(session: &mut Session, ready: &[&Work], turn: OwnedSemaphorePermit) -> Vec<Answer> {
    if ready.is_empty() {
        return Vec::new();
    }
    match apply_as_one(session, ready, turn).await {
        Ended::Committed => vec![Ok(Commit::Applied); ready.len()],
        Ended::Unknown => vec![Ok(Commit::Unknown); ready.len()],
        Ended::RolledBack(Failure::Everybody(error)) => vec![Err(error); ready.len()],
        Ended::RolledBack(Failure::Own(answer)) if ready.len() == 1 => vec![answer],
        Ended::RolledBack(Failure::Own(_) | Failure::Race(_)) => apply_each(session, ready).await,
    }
}

async fn apply_as_one(session: &mut Session, ready: &[&Work], turn: OwnedSemaphorePermit) -> Ended {
    let stages = match session.stages(ready).await {
        Ok(stages) => stages,
        Err(failure) => return Ended::RolledBack(failure),
    };
    match session.in_time(session.apply_as_one(ready, &stages)).await {
        Ok(()) => {
            drop(turn);
            session.commit().await
        }
        Err(failure) => {
            session.roll_back().await;
            Ended::RolledBack(failure)
        }
    }
}

/// Applies each batch by itself, in as few transactions as races allow.
async fn apply_each(session: &Session, ready: &[&Work]) -> Vec<Answer> {
    let mut answers = Vec::with_capacity(ready.len());
    let mut races = 0;
    while answers.len() < ready.len() {
        let rest = &ready[answers.len()..];
        match try_each(session, rest).await {
            Round::Answered(some) => {
                races = 0;
                answers.extend(some);
            }
            Round::Raced(error) => {
                races += 1;
                if races == RACES_MAX {
                    races = 0;
                    answers.push(Err(error));
                }
            }
            Round::Failed(error) => answers.resize(ready.len(), Err(error)),
        }
    }
    answers
}

/// The result of one transaction of [`apply_each`].
enum Round {
    /// The first batches, at least one, have their answers.
    Answered(Vec<Answer>),
    /// The first batch lost a race, and nothing was written.
    Raced(StoreError),
    /// Nothing more can be written.
    Failed(StoreError),
}

async fn try_each(session: &Session, rest: &[&Work]) -> Round {
    if session.is_lost() {
        return Round::Failed(lost());
    }
    let mut answers = Vec::with_capacity(rest.len());
    let raced = match session.in_time(session.apply_each(rest, &mut answers)).await {
        Ok(raced) => raced,
        Err(failure) => {
            session.roll_back().await;
            return round_of(failure);
        }
    };
    match session.commit().await {
        Ended::Committed => match (raced, answers.is_empty()) {
            (Some(error), true) => Round::Raced(error),
            (Some(_) | None, _) => Round::Answered(answers),
        },
        Ended::Unknown if answers.is_empty() => Round::Failed(lost()),
        Ended::Unknown => Round::Answered(answers.into_iter().map(unknown).collect()),
        Ended::RolledBack(failure) => round_of(failure),
    }
}

/// After a rollback no batch is answered: the row that refused a batch may be rolled back too.
fn round_of(failure: Failure) -> Round {
    match failure {
        Failure::Race(error) => Round::Raced(error),
        Failure::Everybody(error) | Failure::Own(Err(error)) => Round::Failed(error),
        Failure::Own(Ok(commit)) => Round::Failed(StoreError::Programming(format!("commit: {commit:?}"))),
    }
}

/// The answer to a batch whose transaction may or may not be committed. A refused batch was not written in either
/// case, but the row that refused it may not have been written either.
fn unknown(answer: Answer) -> Answer {
    match answer {
        Ok(Commit::Applied | Commit::Unknown) => Ok(Commit::Unknown),
        Ok(Commit::Refused(_)) => Err(lost()),
        Err(error) => Err(error),
    }
}

fn lost() -> StoreError {
    StoreError::unavailable("the connection to PostgreSQL was lost")
}
