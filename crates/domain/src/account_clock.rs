//! The clock of an account whose owner moves its time, in the sandbox (`docs/interface/sandbox.md#clock`): it goes on with
//! the deployment's, stands, or is being advanced. It never goes back but by [`AccountClock::reset`].

mod span;

use std::collections::BTreeMap;

use deserr::Deserr;
use jiff::ToSpan;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::problems::Problems;
use crate::time::Timestamp;
use crate::words::words;

pub use span::Span;

/// Years that one advance leads ahead at most.
pub const ADVANCE_YEARS_MAX: i64 = 5;
/// No clock is moved past the beginning of this year: ids and dates have to stand what is added to it.
pub const YEAR_MAX: i16 = 2200;

/// How the clock of an account runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Running {
    /// With the deployment's.
    GoesOn {
        /// By how many milliseconds it is ahead; negative behind it, 0 when it is the deployment's own time.
        ahead_millis: i64,
    },
    /// It stands.
    Frozen {
        /// Where.
        at: Timestamp,
    },
    /// It is being advanced: it stands wherever something is due, until that is done.
    Advancing {
        /// Where it stands now.
        at: Timestamp,
        /// Where it is to stand in the end.
        to: Timestamp,
        /// What it does then.
        then: Then,
    },
}

words! {
    /// What a clock does after an advance: what it did before.
    Then {
        /// It goes on with the deployment's.
        GoesOn = "goes_on",
        /// It stands.
        Stands = "stands",
    }
}

words! {
    /// What has become of an advance.
    #[schema(as = ClockAdvanceStatus)]
    AdvanceStatus {
        /// It is under way.
        Running = "running",
        /// The clock has reached its end.
        Reached = "reached",
        /// The clock was frozen on the way.
        Stopped = "stopped",
    }
}

/// The last advance of a clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advance {
    /// Which one: the version of the clock with which it began.
    pub number: i64,
    /// Where it began.
    pub from: Timestamp,
    /// Where it ends.
    pub to: Timestamp,
    /// How far it has come.
    pub reached: Timestamp,
    /// What has become of it.
    pub status: AdvanceStatus,
    /// How often something was done on the way, by what it was.
    pub done: BTreeMap<String, u64>,
}

/// The clock of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountClock {
    /// How it runs.
    pub running: Running,
    /// Its last advance since it was reset.
    pub advance: Option<Advance>,
}

/// Why a clock cannot be changed now: it is being advanced to this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsAdvancing {
    /// The end of the advance.
    pub to: Timestamp,
}

/// How far a clock is advanced; exactly one of both.
#[derive(Clone, Debug, Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewClockAdvance, example = json!({ "by": "3mo" }))]
pub struct NewAdvance {
    /// By so much, by the calendar in UTC: `1d`, `3mo`, `1y 2mo`, or as in ISO 8601, `P3M`. The 31st and a month are the last
    /// day of the next month.
    #[deserr(default)]
    #[schema(example = "3mo")]
    pub by: Option<Span>,
    /// To this moment.
    #[deserr(default)]
    pub to: Option<Timestamp>,
}

impl Running {
    /// The deployment's own time.
    pub const OF_THE_DEPLOYMENT: Self = Self::GoesOn { ahead_millis: 0 };

    /// What the clock shows when the deployment's time is `deployment`.
    pub const fn now(self, deployment: Timestamp) -> Timestamp {
        match self {
            Self::GoesOn { ahead_millis } => {
                Timestamp::from_millis(deployment.as_millis().saturating_add(ahead_millis))
            }
            Self::Frozen { at } | Self::Advancing { at, .. } => at,
        }
    }

    /// What the deployment's time is when the clock shows `at`. A clock that stands before it never shows it by itself;
    /// when it stands there or later, that time has come.
    pub fn deployment_at(self, at: Timestamp, deployment: Timestamp) -> Option<Timestamp> {
        match self {
            Self::GoesOn { ahead_millis } => {
                Some(Timestamp::from_millis(at.as_millis().saturating_sub(ahead_millis)))
            }
            Self::Frozen { at: stands } | Self::Advancing { at: stands, .. } => {
                (at <= stands).then(|| at.min(deployment))
            }
        }
    }

    /// Going on from `now`, which is the clock's time when the deployment's is `deployment`.
    const fn going_on(now: Timestamp, deployment: Timestamp) -> Self {
        Self::GoesOn { ahead_millis: now.as_millis().saturating_sub(deployment.as_millis()) }
    }
}

impl Default for AccountClock {
    fn default() -> Self {
        Self { running: Running::OF_THE_DEPLOYMENT, advance: None }
    }
}

impl AccountClock {
    /// Begins to advance to `to`; it stands where it is until what is due there is done. `number` is the version with which
    /// this is written.
    ///
    /// # Errors
    /// [`IsAdvancing`].
    pub fn begin_advance(
        &self,
        to: Timestamp,
        number: i64,
        deployment: Timestamp,
    ) -> Result<Self, IsAdvancing> {
        let from = self.running.now(deployment);
        let then = match self.running {
            Running::GoesOn { .. } => Then::GoesOn,
            Running::Frozen { .. } => Then::Stands,
            Running::Advancing { to, .. } => return Err(IsAdvancing { to }),
        };
        let (status, done) = (AdvanceStatus::Running, BTreeMap::new());
        let advance = Advance { number, from, to, reached: from, status, done };
        Ok(Self { running: Running::Advancing { at: from, to, then }, advance: Some(advance) })
    }

    /// The next stop of an advance, `at`; without one, its end. `done` is added to what was done on the way.
    pub fn step(&self, at: Option<Timestamp>, done: &BTreeMap<String, u64>, deployment: Timestamp) -> Self {
        let Running::Advancing { at: stands, to, then } = self.running else { return self.clone() };
        let (running, reached, status) = match at.filter(|at| *at <= to) {
            Some(at) => {
                let at = at.max(stands);
                (Running::Advancing { at, to, then }, at, AdvanceStatus::Running)
            }
            None => {
                let running = match then {
                    Then::GoesOn => Running::going_on(to, deployment),
                    Then::Stands => Running::Frozen { at: to },
                };
                (running, to, AdvanceStatus::Reached)
            }
        };
        let Self { advance, .. } = self.counting(done);
        Self { running, advance: advance.map(|advance| Advance { reached, status, ..advance }) }
    }

    /// With what was done on the way of its last advance.
    pub fn counting(&self, done: &BTreeMap<String, u64>) -> Self {
        let mut counted = self.clone();
        if let Some(advance) = &mut counted.advance {
            for (what, times) in done {
                *advance.done.entry(what.clone()).or_default() += times;
            }
        }
        counted
    }

    /// Stands still where it is; an advance stops.
    pub fn freeze(&self, deployment: Timestamp) -> Self {
        let advance = self.advance.clone().map(|advance| match advance.status {
            AdvanceStatus::Running => Advance { status: AdvanceStatus::Stopped, ..advance },
            AdvanceStatus::Reached | AdvanceStatus::Stopped => advance,
        });
        Self { running: Running::Frozen { at: self.running.now(deployment) }, advance }
    }

    /// Goes on from where it stands.
    ///
    /// # Errors
    /// [`IsAdvancing`].
    pub fn unfreeze(&self, deployment: Timestamp) -> Result<Self, IsAdvancing> {
        match self.running {
            Running::GoesOn { .. } => Ok(self.clone()),
            Running::Frozen { at } => {
                let running = Running::going_on(at, deployment);
                Ok(Self { running, advance: self.advance.clone() })
            }
            Running::Advancing { to, .. } => Err(IsAdvancing { to }),
        }
    }

    /// The deployment's own time again; an advance stops.
    pub fn reset() -> Self {
        Self::default()
    }

    /// Whether an advance is under way.
    pub const fn is_advancing(&self) -> bool {
        matches!(self.running, Running::Advancing { .. })
    }
}

impl NewAdvance {
    /// Where a clock that shows `now` is moved to.
    ///
    /// # Errors
    /// The member that says nothing, or nothing possible.
    pub fn target(&self, now: Timestamp) -> Result<Timestamp, Problems> {
        let (member, to) = match (&self.by, self.to) {
            (Some(span), None) => ("by", span.after(now).ok_or_else(|| too_far("by"))?),
            (None, Some(to)) => ("to", to),
            (None, None) => return Err(Problems::one("by", "should not be empty, unless to is given")),
            (Some(_), Some(_)) => return Err(Problems::one("to", "must not be given with by")),
        };
        if to <= now {
            let rule = format!("must be later than the account's time, {now}: time does not go back");
            return Err(Problems::one(member, rule));
        }
        let furthest = Span::from(ADVANCE_YEARS_MAX.years()).after(now).ok_or_else(|| too_far(member))?;
        if to > furthest || year_of(to).is_none_or(|year| year >= YEAR_MAX) {
            return Err(too_far(member));
        }
        Ok(to)
    }
}

fn year_of(at: Timestamp) -> Option<i16> {
    let at = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
    Some(at.to_zoned(TimeZone::UTC).year())
}

fn too_far(member: &str) -> Problems {
    let rule =
        format!("must lead ahead by {ADVANCE_YEARS_MAX} years at most, and not into the year {YEAR_MAX}");
    Problems::one(member, rule)
}
