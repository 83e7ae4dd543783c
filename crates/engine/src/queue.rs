//! The kinds of jobs, the lane that each stands in, how one is enqueued and how its run ends. What runs a kind is in
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

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::PurgeIdempotency,
        Self::PurgeTokens,
        Self::PurgeCredentials,
        Self::PurgeDeliveries,
        Self::Reseal,
        Self::ExpireReservation,
        Self::Purchase,
        Self::EndKeyRotation,
        Self::PurgeListeners,
    ];

    /// The kinds that every deployment has one job of, for ever.
    pub const RECURRING: [Self; 6] = [
        Self::PurgeIdempotency,
        Self::PurgeTokens,
        Self::PurgeCredentials,
        Self::PurgeDeliveries,
        Self::Reseal,
        Self::PurgeListeners,
    ];

    /// Its name in the jobs table.
    pub const fn word(self) -> &'static str {
        match self {
            Self::PurgeIdempotency => "purge_idempotency",
            Self::PurgeTokens => "purge_tokens",
            Self::PurgeCredentials => "purge_credentials",
            Self::PurgeDeliveries => "purge_deliveries",
            Self::Reseal => "reseal",
            Self::ExpireReservation => "expire_reservation",
            Self::Purchase => "purchase",
            Self::EndKeyRotation => "end_key_rotation",
            Self::PurgeListeners => "purge_listeners",
        }
    }

    /// From its name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Where it stands.
    pub const fn lane(self) -> Lane {
        match self {
            Self::PurgeIdempotency
            | Self::PurgeTokens
            | Self::PurgeCredentials
            | Self::PurgeDeliveries
            | Self::Reseal
            | Self::EndKeyRotation
            | Self::PurgeListeners => Lane::Housekeeping,
            Self::ExpireReservation => Lane::Money,
            Self::Purchase => Lane::Purchases,
        }
    }
}

/// Has a job run from `run_at` on. One with the same kind and `key` is there at most once.
pub fn enqueue(app: &App, batch: &mut Batch, kind: Kind, key: &str, payload: &str, run_at: Timestamp) {
    let (id, kind, lane) = (app.chance.id(app.clock.of(batch.client_id())), kind.word(), kind.lane().word());
    jobs::enqueue(batch, &NewJob { id, kind, lane, key, payload, run_at });
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

/// Jobs that share a bound. Those of one lane are not held up by those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Works on the database alone.
    Housekeeping,
    /// Asks providers about single charges.
    Money,
    /// Drives purchases, which wait for providers most of the time.
    Purchases,
}

impl Lane {
    /// Every lane.
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
