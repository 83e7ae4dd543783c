//! Work that runs side by side: a bounded number of pieces at once, and of each client at most half of them. What takes
//! long holds nothing up: whatever ends makes room for what waits.
//!
//! What is under way is remembered here, what is due is a row: a runner that is gone loses nothing.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use regente_domain::id::{ClientId, Id};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::DEPLOYMENT;
use crate::error::Error;

/// Clients looked at together.
const CLIENTS_MAX: usize = 100;
/// How long nothing is looked for when there is room: other nodes and the command line write work as well.
const POLL: Duration = Duration::from_secs(1);

/// Where work comes from, and how a piece of it is done.
pub(super) trait Source: Clone + Send + Sync + 'static {
    /// A piece of work.
    type Piece: Send + 'static;

    /// How many pieces may be under way at once.
    fn concurrent_max(&self) -> usize;

    /// Clients that have work due, in the order of their ids, from this one on.
    fn clients(
        &self,
        from: ClientId,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<ClientId>, Error>> + Send;

    /// The work of a client that is due, longest waiting first.
    fn due(
        &self,
        client_id: ClientId,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Self::Piece>, Error>> + Send;

    /// What a piece is recognized by.
    fn id(piece: &Self::Piece) -> Uuid;

    /// Does a piece of work, to its end.
    fn run(self, piece: Self::Piece) -> impl Future<Output = Did> + Send;
}

/// Whether anything was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Did {
    /// It was.
    Something,
    /// Somebody else has it, or it has to wait.
    Nothing,
}

/// Runs the work of a source.
pub(super) struct Runner<S: Source> {
    source: S,
    under_way: HashMap<ClientId, HashSet<Uuid>>,
    pieces: HashMap<tokio::task::Id, (ClientId, Uuid)>,
    tasks: JoinSet<Did>,
    /// Where the next look begins.
    from: ClientId,
}

/// What a look left behind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    Nothing,
    /// There was no room for it, or no time.
    Work,
}

impl<S: Source> Runner<S> {
    pub(super) fn new(source: S) -> Self {
        let (under_way, pieces) = (HashMap::new(), HashMap::new());
        Self { source, under_way, pieces, tasks: JoinSet::new(), from: DEPLOYMENT }
    }

    /// Does everything that is due now, and waits until it has ended; answers how much was done.
    pub(super) async fn round(mut self) -> Result<usize, Error> {
        let mut did = 0;
        loop {
            let left = self.begin().await?;
            while !self.tasks.is_empty() {
                did += usize::from(self.next_ended().await == Did::Something);
            }
            match left {
                Left::Nothing => return Ok(did),
                Left::Work => {}
            }
        }
    }

    /// Goes on until `stop` ends; what has begun is finished.
    pub(super) async fn run_until(mut self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        loop {
            let left = self.begin().await.unwrap_or_else(|error| {
                tracing::error!(error = &error as &dyn std::error::Error, "work waits for the database");
                Left::Nothing
            });
            let enough = match left {
                Left::Nothing => None,
                // Not with each piece that ends: looking costs something, too.
                Left::Work => Some(self.tasks.len() / 2),
            };
            let pause = tokio::time::sleep(POLL);
            tokio::select! {
                () = &mut stop => break,
                () = pause => {}
                () = self.until_under_way(enough) => {}
            }
        }
        while !self.tasks.is_empty() {
            self.next_ended().await;
        }
    }

    /// Waits until pieces have ended and so few are under way that it is worth looking again.
    async fn until_under_way(&mut self, enough: Option<usize>) {
        while !self.tasks.is_empty() {
            self.next_ended().await;
            if enough.is_some_and(|enough| self.tasks.len() <= enough) {
                return;
            }
        }
        std::future::pending().await
    }

    async fn next_ended(&mut self) -> Did {
        let (task, did) = match self.tasks.join_next_with_id().await {
            None => return Did::Nothing,
            Some(Ok(ended)) => ended,
            Some(Err(error)) => {
                tracing::error!(%error, "a piece of work ended badly; it is done again");
                (error.id(), Did::Nothing)
            }
        };
        if let Some((client_id, id)) = self.pieces.remove(&task)
            && let Some(of_client) = self.under_way.get_mut(&client_id)
        {
            of_client.remove(&id);
            if of_client.is_empty() {
                self.under_way.remove(&client_id);
            }
        }
        did
    }

    /// Begins what is due as far as there is room, of one client after the other; the next look goes on behind them.
    async fn begin(&mut self) -> Result<Left, Error> {
        if self.room() == 0 {
            return Ok(Left::Work);
        }
        let clients = self.source.clients(self.from, CLIENTS_MAX).await?;
        let is_last = clients.len() < CLIENTS_MAX;
        let mut left = if is_last { Left::Nothing } else { Left::Work };
        for client_id in clients {
            if self.room() == 0 {
                self.from = client_id;
                return Ok(Left::Work);
            }
            // What cannot be read of one client must not keep the others waiting.
            match self.begin_of(client_id).await {
                Ok(Left::Nothing) => {}
                Ok(Left::Work) => left = Left::Work,
                Err(error) => tracing::error!(
                    client = %client_id, error = &error as &dyn std::error::Error,
                    "the work of a client cannot be read"
                ),
            }
            self.from = after(client_id);
        }
        if is_last {
            self.from = DEPLOYMENT;
        }
        Ok(left)
    }

    async fn begin_of(&mut self, client_id: ClientId) -> Result<Left, Error> {
        let under_way = self.under_way.get(&client_id).map_or(0, HashSet::len);
        let of_client_max = self.source.concurrent_max().div_ceil(2);
        let room = self.room().min(of_client_max.saturating_sub(under_way));
        if room == 0 {
            return Ok(Left::Work);
        }
        // What has just begun may look as if it were still waiting.
        let due = self.source.due(client_id, room + under_way).await?;
        let left = if due.len() < room + under_way { Left::Nothing } else { Left::Work };
        for piece in due {
            let id = S::id(&piece);
            let of_client = self.under_way.entry(client_id).or_default();
            if of_client.len() < under_way + room && of_client.insert(id) {
                let task = self.tasks.spawn(self.source.clone().run(piece));
                self.pieces.insert(task.id(), (client_id, id));
            }
        }
        Ok(left)
    }

    fn room(&self) -> usize {
        self.source.concurrent_max().saturating_sub(self.tasks.len())
    }
}

/// The id behind that of a client.
fn after(client_id: ClientId) -> ClientId {
    Id::new(Uuid::from_u128(client_id.uuid().as_u128().wrapping_add(1)))
}
