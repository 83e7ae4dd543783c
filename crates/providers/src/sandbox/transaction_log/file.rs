//! The log in a SQLite file. One thread owns the connection; it writes all waiting entries in one commit with one sync
//! and answers afterwards.

use std::path::Path;
use std::thread;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::{
    AnalysisEntry, AuthenticationEntry, Decision, Entry, Filter, Order, SellerEntry, Stored,
    TransactionLogError,
};
use crate::outcome::Finding;

mod analyses;
mod authentications;
mod rows;
mod sellers;

/// Most requests in the thread's queue; further ones wait for room.
const QUEUE_LENGTH_MAX: usize = 1024;
/// Most entries in one commit.
const GROUP_ENTRIES_MAX: usize = 256;

/// A handle of the thread that owns the file. Dropping the last handle closes the file.
#[derive(Clone)]
pub(super) struct File(mpsc::Sender<Request>);

type Reply<T> = oneshot::Sender<Result<T, TransactionLogError>>;

enum Request {
    Put(Box<Entry>, Reply<Entry>),
    Find(Uuid, Reply<Option<Entry>>),
    History(Uuid, Reply<Vec<Entry>>),
    Page(Window, Reply<Vec<Stored>>),
    Entries(Reply<Vec<Entry>>),
    Authenticate(Box<AuthenticationEntry>, Reply<AuthenticationEntry>),
    Authentication(Uuid, Reply<Option<AuthenticationEntry>>),
    Decide(Uuid, Decision, Box<Finding>, Reply<Option<AuthenticationEntry>>),
    Assess(Box<AnalysisEntry>, Reply<AnalysisEntry>),
    Analysis(Uuid, Reply<Option<AnalysisEntry>>),
    Analyses(Reply<Vec<AnalysisEntry>>),
    Seller(Uuid, Reply<Option<SellerEntry>>),
    RegisterSeller(Box<SellerEntry>, Reply<SellerEntry>),
    ChangeSeller(Box<SellerEntry>, Reply<SellerEntry>),
}

/// Selects a page: which entries, in which order, after which position, and how many at most.
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

    pub(super) async fn authenticate(
        &self,
        entry: AuthenticationEntry,
    ) -> Result<AuthenticationEntry, TransactionLogError> {
        self.ask(|reply| Request::Authenticate(Box::new(entry), reply)).await
    }

    pub(super) async fn authentication(
        &self,
        key: Uuid,
    ) -> Result<Option<AuthenticationEntry>, TransactionLogError> {
        self.ask(|reply| Request::Authentication(key, reply)).await
    }

    pub(super) async fn decide(
        &self,
        key: Uuid,
        decision: Decision,
        concluded: Finding,
    ) -> Result<Option<AuthenticationEntry>, TransactionLogError> {
        self.ask(|reply| Request::Decide(key, decision, Box::new(concluded), reply)).await
    }

    pub(super) async fn assess(&self, entry: AnalysisEntry) -> Result<AnalysisEntry, TransactionLogError> {
        self.ask(|reply| Request::Assess(Box::new(entry), reply)).await
    }

    pub(super) async fn analysis(&self, key: Uuid) -> Result<Option<AnalysisEntry>, TransactionLogError> {
        self.ask(|reply| Request::Analysis(key, reply)).await
    }

    pub(super) async fn analyses(&self) -> Result<Vec<AnalysisEntry>, TransactionLogError> {
        self.ask(Request::Analyses).await
    }

    pub(super) async fn seller(&self, key: Uuid) -> Result<Option<SellerEntry>, TransactionLogError> {
        self.ask(|reply| Request::Seller(key, reply)).await
    }

    pub(super) async fn register_seller(
        &self,
        entry: SellerEntry,
    ) -> Result<SellerEntry, TransactionLogError> {
        self.ask(|reply| Request::RegisterSeller(Box::new(entry), reply)).await
    }

    pub(super) async fn change_seller(&self, entry: SellerEntry) -> Result<SellerEntry, TransactionLogError> {
        self.ask(|reply| Request::ChangeSeller(Box::new(entry), reply)).await
    }

    async fn ask<T>(&self, request: impl FnOnce(Reply<T>) -> Request) -> Result<T, TransactionLogError> {
        let (reply, answer) = oneshot::channel();
        self.0.send(request(reply)).await.map_err(|_closed| TransactionLogError::Closed)?;
        answer.await.map_err(|_closed| TransactionLogError::Closed)?
    }
}

/// The thread's loop. It completes a request even when the caller no longer waits: a probe finds the result.
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
                Request::Authenticate(entry, reply) => {
                    let _ = reply.send(authentications::put(&connection, &entry));
                }
                Request::Authentication(key, reply) => {
                    let _ = reply.send(authentications::find(&connection, key));
                }
                Request::Decide(key, decision, concluded, reply) => {
                    put_all(&mut connection, std::mem::take(&mut puts));
                    let _ = reply.send(authentications::decide(&mut connection, key, decision, &concluded));
                }
                Request::Assess(entry, reply) => {
                    let _ = reply.send(analyses::put(&connection, &entry));
                }
                Request::Analysis(key, reply) => {
                    let _ = reply.send(analyses::find(&connection, key));
                }
                Request::Analyses(reply) => {
                    let _ = reply.send(analyses::all(&connection));
                }
                Request::Seller(key, reply) => {
                    let _ = reply.send(sellers::find(&connection, key));
                }
                Request::RegisterSeller(entry, reply) => {
                    let _ = reply.send(sellers::put(&connection, &entry));
                }
                Request::ChangeSeller(entry, reply) => {
                    let _ = reply.send(sellers::replace(&connection, &entry));
                }
            }
            next = if puts.len() < GROUP_ENTRIES_MAX { requests.try_recv().ok() } else { None };
        }
        put_all(&mut connection, puts);
    }
}

/// Writes all entries in one commit. If it fails, nothing is written and every caller gets the error.
fn put_all(connection: &mut Connection, puts: Vec<(Box<Entry>, Reply<Entry>)>) {
    if puts.is_empty() {
        return;
    }
    let entries: Vec<&Entry> = puts.iter().map(|(entry, _)| entry.as_ref()).collect();
    match rows::put(connection, &entries) {
        Ok(stored) => {
            for ((_, reply), entry) in puts.into_iter().zip(stored) {
                let _ = reply.send(Ok(entry));
            }
        }
        Err(error) => {
            tracing::error!(%error, "the simulator could not commit to its transaction log");
            for (_, reply) in puts {
                let _ = reply.send(Err(TransactionLogError::NotWritten));
            }
        }
    }
}
