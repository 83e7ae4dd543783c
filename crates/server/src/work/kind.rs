//! The kinds of jobs, the lane that each stands in, and what runs it.

use regente_store::jobs::Job;

use super::{Ended, purge, reservation, rotation};
use crate::api::error::ApiError;
use crate::app::App;
use crate::flows::purchase::{self, Rest};
use crate::webhooks::keys;

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
            Self::Purchase => purchase::KIND,
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

    /// Runs a job of this kind.
    pub async fn run(self, app: &App, job: &Job) -> Result<Ended, ApiError> {
        match self {
            Self::PurgeIdempotency => purge::idempotency(app).await,
            Self::PurgeTokens => purge::tokens(app).await,
            Self::PurgeCredentials => purge::credentials(app).await,
            Self::PurgeDeliveries => purge::deliveries(app).await,
            Self::Reseal => rotation::reseal(app).await,
            Self::ExpireReservation => reservation::expire(app, job).await,
            Self::Purchase => purchase(app, job).await,
            Self::EndKeyRotation => keys::finish(app, job).await,
            Self::PurgeListeners => purge::listeners(app).await,
        }
    }
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

async fn purchase(app: &App, job: &Job) -> Result<Ended, ApiError> {
    let Ok(id) = job.payload.parse() else {
        return Ok(Ended::GiveUp { why: "the payload names no purchase".to_owned() });
    };
    Ok(match purchase::run(app, job.client_id, id).await {
        Rest::Idle => Ended::Finished,
        Rest::Until(at) => Ended::Again { at },
    })
}
