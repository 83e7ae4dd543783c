//! Runs pieces of work concurrently: a limited number at once, and at most half of them for one client. A piece that
//! ends makes room for a waiting one, so slow pieces do not block the others.
//!
//! Pieces under way are in memory, due work is in rows: a runner that dies loses nothing.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use regente_domain::id::ClientId;
use regente_store::due::{self, Found};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::DEPLOYMENT;
use super::pace::Pace;
use crate::app::App;
use crate::deliveries::backoff::Backoff;
use crate::error::Error;

/// The polling interval while there is room: other nodes and the command line also add work.
const POLL: Duration = Duration::from_secs(1);

/// A source of work.
pub(super) trait Source: Clone + Send + Sync + 'static {
    /// A piece of work.
    type Piece: Send + 'static;

    /// The application that the work belongs to.
    fn app(&self) -> &App;

    /// Most pieces under way at once.
    fn concurrent_max(&self) -> usize;

    /// How many pieces may begin in a time; `None` is no limit.
    fn pace(&self) -> Option<Pace>;

    /// Clients with due work, by id; while there is much of it, those from this one on are searched for.
    fn clients(&self, from: ClientId) -> impl Future<Output = Result<Found, Error>> + Send;

    /// Due work of a client, longest waiting first.
    fn due(
        &self,
        client_id: ClientId,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Self::Piece>, Error>> + Send;

    /// The id of a piece.
    fn id(piece: &Self::Piece) -> Uuid;

    /// Runs a piece to its end.
    fn run(self, piece: Self::Piece) -> impl Future<Output = Did> + Send;
}

/// Whether a run did anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Did {
    /// It did.
    Something,
    /// Another worker has the piece, or it has to wait.
    Nothing,
}

/// Runs the work of a source.
pub(super) struct Runner<S: Source> {
    source: S,
    under_way: HashMap<ClientId, HashSet<Uuid>>,
    pieces: HashMap<tokio::task::Id, (ClientId, Uuid)>,
    tasks: JoinSet<Did>,
    /// The client with which the next look begins.
    from: ClientId,
    /// Clients whose work could not be read.
    backoff: Backoff<ClientId>,
    /// Absent in a round, which is run to its end.
    pace: Option<Pace>,
    /// How many pieces this look may begin by the pace.
    paced_room: usize,
}

/// Whether due work remains after a look.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DueWork {
    Nothing,
    /// There was no room or no time for it.
    Work,
}

impl<S: Source> Runner<S> {
    pub(super) fn new(source: S) -> Self {
        let (under_way, pieces) = (HashMap::new(), HashMap::new());
        Self {
            source,
            under_way,
            pieces,
            tasks: JoinSet::new(),
            from: DEPLOYMENT,
            backoff: Backoff::default(),
            pace: None,
            paced_room: usize::MAX,
        }
    }

    /// Runs everything that is due now to its end; returns how many pieces did something.
    pub(super) async fn round(mut self) -> Result<usize, Error> {
        let mut did = 0;
        loop {
            let left = self.begin().await?;
            while !self.tasks.is_empty() {
                did += usize::from(self.next_ended().await == Did::Something);
            }
            match left {
                DueWork::Nothing => return Ok(did),
                DueWork::Work => {}
            }
        }
    }

    /// Runs until `stop` completes; then finishes what has begun.
    pub(super) async fn run_until(mut self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        self.pace = self.source.pace();
        loop {
            let left = self.begin().await.unwrap_or_else(|error| {
                tracing::error!(error = &error as &dyn std::error::Error, "jobs wait for the database");
                DueWork::Nothing
            });
            let enough = match left {
                DueWork::Nothing => None,
                // Look again only after half of the pieces have ended, because each look queries the database.
                DueWork::Work => Some(self.tasks.len() / 2),
            };
            let pause = tokio::time::sleep(self.pause(left));
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

    /// The time until the next look, if no piece ends before.
    fn pause(&self, left: DueWork) -> Duration {
        match (left, &self.pace) {
            (DueWork::Work, Some(pace)) => {
                let wait = pace.wait(self.machine());
                if wait.is_zero() { POLL } else { wait.min(POLL) }
            }
            (DueWork::Work, None) | (DueWork::Nothing, _) => POLL,
        }
    }

    /// Waits until so many pieces have ended that another look is worth it.
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
                tracing::error!(%error, "a piece of work panicked; it runs again");
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

    /// Begins due work as far as there is room, client by client. The next look goes on with the first client that found none.
    async fn begin(&mut self) -> Result<DueWork, Error> {
        if let Some(pace) = &self.pace {
            self.paced_room = pace.room(self.machine());
        }
        if self.room() == 0 {
            return Ok(DueWork::Work);
        }
        let from = self.from;
        let Found { clients, searched_to } = self.source.clients(from).await?;
        let next = searched_to.filter(|to| *to < due::END);
        let mut left = if next.is_some() { DueWork::Work } else { DueWork::Nothing };
        self.from = next.unwrap_or(DEPLOYMENT);
        // Those that were not searched for have their turn when they are; until then they get the room that is left.
        let has_turn = |id: &ClientId| searched_to.is_none_or(|to| (from..to).contains(id));
        let (mut turns, others): (Vec<_>, Vec<_>) = clients.into_iter().partition(has_turn);
        let first = turns.partition_point(|id| *id < from);
        turns.rotate_left(first);
        for client_id in turns.into_iter().chain(others) {
            if self.room() == 0 {
                if has_turn(&client_id) {
                    self.from = client_id;
                }
                return Ok(DueWork::Work);
            }
            if self.backoff.applies_to(&client_id, self.source.app().clock.machine()) {
                continue;
            }
            // Unreadable work of one client must not block the others.
            match self.begin_of(client_id).await {
                Ok(DueWork::Nothing) => {}
                Ok(DueWork::Work) => left = DueWork::Work,
                Err(error) => {
                    tracing::error!(
                        client = %client_id, error = &error as &dyn std::error::Error,
                        "the work of a client cannot be read"
                    );
                    self.backoff.begin(client_id, self.source.app().clock.machine());
                }
            }
        }
        Ok(left)
    }

    async fn begin_of(&mut self, client_id: ClientId) -> Result<DueWork, Error> {
        let under_way = self.under_way.get(&client_id).map_or(0, HashSet::len);
        let of_client_max = self.source.concurrent_max().div_ceil(2);
        let room = self.room().min(of_client_max.saturating_sub(under_way));
        if room == 0 {
            return Ok(DueWork::Work);
        }
        let now = self.machine();
        // Pieces that have just begun may still be reported as due.
        let due = self.source.due(client_id, room + under_way).await?;
        let left = if due.len() < room + under_way { DueWork::Nothing } else { DueWork::Work };
        for piece in due {
            let id = S::id(&piece);
            let of_client = self.under_way.entry(client_id).or_default();
            if of_client.len() < under_way + room && of_client.insert(id) {
                let task = self.tasks.spawn(self.source.clone().run(piece));
                self.pieces.insert(task.id(), (client_id, id));
                if let Some(pace) = &mut self.pace {
                    pace.use_up_one(now);
                    self.paced_room = self.paced_room.saturating_sub(1);
                }
            }
        }
        Ok(left)
    }

    /// Machine time, from the start of the process.
    fn machine(&self) -> Duration {
        self.source.app().clock.machine().elapsed()
    }

    fn room(&self) -> usize {
        self.source.concurrent_max().saturating_sub(self.tasks.len()).min(self.paced_room)
    }
}
