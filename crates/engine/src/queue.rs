//! The kinds of jobs, the queue that each stands in, how one is enqueued and how its run ends. What runs a kind is in
//! `jobs/kind.rs`.

use regente_domain::time::Timestamp;
use regente_store::Batch;
use regente_store::jobs::{self, NewJob};

use crate::app::App;

/// A kind of job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Forgets idempotency records that are kept no longer.
    PurgeIdempotency,
    /// Deletes tokens that nobody used in time.
    PurgeTokens,
    /// Deletes client tokens whose life is over.
    PurgeCredentials,
    /// Deletes deliveries that ended long ago, and events that nobody needs.
    PurgeDeliveries,
    /// Seals again what stands under a former data key.
    Reseal,
    /// Voids a reservation that nobody captured.
    ExpireReservation,
    /// Drives a purchase until nothing is under way.
    Purchase,
    /// Ends the replacement of a webhook's key.
    EndKeyRotation,
    /// Deletes listeners that are over, with what nobody fetched.
    PurgeListeners,
}

/// Whether every deployment has one job of a kind, for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recurs {
    Yes,
    No,
}

/// What is known of each kind, in the order of [`Kind`]; its word is its name in the jobs table.
#[rustfmt::skip]
const KINDS: [(Kind, &str, Queue, Recurs); 9] = [
    (Kind::PurgeIdempotency,  "purge_idempotency",  Queue::Housekeeping, Recurs::Yes),
    (Kind::PurgeTokens,       "purge_tokens",       Queue::Housekeeping, Recurs::Yes),
    (Kind::PurgeCredentials,  "purge_credentials",  Queue::Housekeeping, Recurs::Yes),
    (Kind::PurgeDeliveries,   "purge_deliveries",   Queue::Housekeeping, Recurs::Yes),
    (Kind::Reseal,            "reseal",             Queue::Housekeeping, Recurs::Yes),
    (Kind::ExpireReservation, "expire_reservation", Queue::Money,        Recurs::No),
    (Kind::Purchase,          "purchase",           Queue::Purchases,    Recurs::No),
    (Kind::EndKeyRotation,    "end_key_rotation",   Queue::Housekeeping, Recurs::No),
    (Kind::PurgeListeners,    "purge_listeners",    Queue::Housekeeping, Recurs::Yes),
];

const _: () = {
    let mut row = 0;
    while row < KINDS.len() {
        assert!(KINDS[row].0 as usize == row, "a kind has no row, or stands in the wrong place");
        row += 1;
    }
};

impl Kind {
    /// Its name in the jobs table.
    pub const fn word(self) -> &'static str {
        KINDS[self as usize].1
    }

    /// From its name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::all().find(|kind| kind.word() == word)
    }

    /// Where it stands.
    pub const fn queue(self) -> Queue {
        KINDS[self as usize].2
    }

    /// Whether every deployment has one job of it, for ever.
    pub fn recurs(self) -> bool {
        KINDS[self as usize].3 == Recurs::Yes
    }

    /// The kinds that recur.
    pub fn recurring() -> impl Iterator<Item = Self> {
        Self::all().filter(|kind| kind.recurs())
    }

    fn all() -> impl Iterator<Item = Self> {
        KINDS.into_iter().map(|(kind, ..)| kind)
    }
}

/// Has a job run from `run_at` on. One with the same kind and `key` is there at most once; it is brought forward.
pub fn enqueue(app: &App, batch: &mut Batch, kind: Kind, key: &str, payload: &str, run_at: Timestamp) {
    jobs::enqueue(batch, &job(app, kind, key, payload, run_at));
}

/// Brings the job of a kind that recurs forward to now, in a batch of the deployment.
pub fn bring_forward(app: &App, batch: &mut Batch, kind: Kind) {
    enqueue(app, batch, kind, RECURRING_KEY, NO_PAYLOAD, app.clock.now());
}

/// Makes sure that the job of a kind that recurs is there, in a batch of the deployment.
pub(crate) fn ensure(app: &App, batch: &mut Batch, kind: Kind) {
    jobs::ensure(batch, &job(app, kind, RECURRING_KEY, NO_PAYLOAD, app.clock.now()));
}

/// The key of the one job of a kind that recurs.
const RECURRING_KEY: &str = "";
/// The payload of a job that needs none.
pub(crate) const NO_PAYLOAD: &str = "{}";

fn job<'a>(app: &App, kind: Kind, key: &'a str, payload: &'a str, run_at: Timestamp) -> NewJob<'a> {
    let id = app.chance.id(app.clock.now());
    NewJob { id, kind: kind.word(), queue: kind.queue().word(), key, payload, run_at }
}

/// How a run of a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// There is no more to do.
    Finished,
    /// It is to run again.
    Again {
        /// When, by business time.
        at: Timestamp,
    },
    /// It can never succeed; the operator must look.
    GiveUp {
        /// Why.
        why: String,
    },
}

/// Jobs that share a bound. Those of one queue are not held up by those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// Works on the database alone.
    Housekeeping,
    /// Asks providers about single charges.
    Money,
    /// Drives purchases, which wait for providers most of the time.
    Purchases,
}

impl Queue {
    /// Every queue.
    pub const ALL: [Self; 3] = [Self::Housekeeping, Self::Money, Self::Purchases];

    /// Its name in the jobs table.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Housekeeping => "housekeeping",
            Self::Money => "money",
            Self::Purchases => "purchases",
        }
    }

    /// Jobs of it that a process runs at once.
    pub const fn concurrent_max(self) -> usize {
        match self {
            Self::Housekeeping => 8,
            Self::Money => 16,
            Self::Purchases => 128,
        }
    }
}
