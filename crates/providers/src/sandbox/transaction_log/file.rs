//! The log in a SQLite file of its own. One thread owns the connection; whatever waits for it is written in one
//! commit with one sync, and answered after it.

use std::path::Path;
use std::thread;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::{Entry, Filter, Order, Stored, TransactionLogError};

mod rows;

/// Most requests that wait for the thread; more wait for a place in the queue.
const QUEUE_LENGTH_MAX: usize = 1024;
/// Most entries in one commit.
const GROUP_ENTRIES_MAX: usize = 256;

/// A hand on the thread that keeps the file. The file is closed when the last hand is dropped.
#[derive(Clone)]
pub(super) struct File(mpsc::Sender<Request>);

type Reply<T> = oneshot::Sender<Result<T, TransactionLogError>>;

enum Request {
    Put(Box<Entry>, Reply<Entry>),
    Find(Uuid, Reply<Option<Entry>>),
    History(Uuid, Reply<Vec<Entry>>),
    Page(Window, Reply<Vec<Stored>>),
    Entries(Reply<Vec<Entry>>),
}

/// Which entries, in which order, from where, and how many at most.
pub(super) struct Window {
    filter: Filter,
    order: Order,
    after: Option<u64>,
    limit: usize,
}

impl File {
    pub(super) fn open(path: &Path) -> Result<Self, TransactionLogError> {
        let connection = rows::open(path)?;
        let (sender, receiver) = mpsc::channel(QUEUE_LENGTH_MAX);
        thread::Builder::new()
            .name("sandbox-log".to_owned())
            .spawn(move || keep(connection, receiver))
            .map_err(|_spawn_error| TransactionLogError::Closed)?;
        Ok(Self(sender))
    }

    pub(super) async fn put(&self, entry: Entry) -> Result<Entry, TransactionLogError> {
        self.ask(|reply| Request::Put(Box::new(entry), reply)).await
    }

    pub(super) async fn find(&self, key: Uuid) -> Result<Option<Entry>, TransactionLogError> {
        self.ask(|reply| Request::Find(key, reply)).await
    }

    pub(super) async fn history(&self, authorization_key: Uuid) -> Result<Vec<Entry>, TransactionLogError> {
        self.ask(|reply| Request::History(authorization_key, reply)).await
    }

    pub(super) async fn page(
        &self,
        filter: Filter,
        order: Order,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Stored>, TransactionLogError> {
        self.ask(|reply| Request::Page(Window { filter, order, after, limit }, reply)).await
    }

    pub(super) async fn entries(&self) -> Result<Vec<Entry>, TransactionLogError> {
        self.ask(Request::Entries).await
    }

    async fn ask<T>(&self, request: impl FnOnce(Reply<T>) -> Request) -> Result<T, TransactionLogError> {
        let (reply, answer) = oneshot::channel();
        self.0.send(request(reply)).await.map_err(|_closed| TransactionLogError::Closed)?;
        answer.await.map_err(|_closed| TransactionLogError::Closed)?
    }
}

/// The thread. A caller that no longer waits is no reason to stop: what he asked for is done, and a probe finds it.
fn keep(mut connection: Connection, mut requests: mpsc::Receiver<Request>) {
    while let Some(first) = requests.blocking_recv() {
        let mut puts = Vec::new();
        let mut next = Some(first);
        while let Some(request) = next {
            match request {
                Request::Put(entry, reply) => puts.push((entry, reply)),
                Request::Find(key, reply) => {
                    put_all(&mut connection, std::mem::take(&mut puts));
                    let _ = reply.send(rows::find(&connection, key));
                }
                Request::History(authorization_key, reply) => {
                    put_all(&mut connection, std::mem::take(&mut puts));
                    let _ = reply.send(rows::history(&connection, authorization_key));
                }
                Request::Page(window, reply) => {
                    put_all(&mut connection, std::mem::take(&mut puts));
                    let _ = reply.send(rows::page(&connection, &window));
                }
                Request::Entries(reply) => {
                    put_all(&mut connection, std::mem::take(&mut puts));
                    let _ = reply.send(rows::all(&connection));
                }
            }
            next = if puts.len() < GROUP_ENTRIES_MAX { requests.try_recv().ok() } else { None };
        }
        put_all(&mut connection, puts);
    }
}

/// One commit for all. When it fails nothing was written by it, and each is told so on its own.
fn put_all(connection: &mut Connection, puts: Vec<(Box<Entry>, Reply<Entry>)>) {
    if puts.is_empty() {
        return;
    }
    let entries: Vec<&Entry> = puts.iter().map(|(entry, _)| entry.as_ref()).collect();
    match rows::put(connection, &entries) {
        Ok(standing) => {
            for ((_, reply), entry) in puts.into_iter().zip(standing) {
                let _ = reply.send(Ok(entry));
            }
        }
        Err(error) => {
            tracing::error!(%error, "the simulator's transaction log refused a commit");
            for (_, reply) in puts {
                let _ = reply.send(Err(TransactionLogError::NotWritten));
            }
        }
    }
}
