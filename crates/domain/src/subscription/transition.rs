//! The states of a subscription in one table: what leads from one to another, and what is announced. What is not in the
//! table is refused.

use super::{AfterRetries, SubscriptionStatus};
use crate::webhook::EventName;

/// Something that may change the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// The trial is over.
    TrialEnded,
    /// A cycle was paid; of an unpaid subscription, the one that had failed.
    Paid(Activation),
    /// The last attempt of a cycle has failed.
    RetriesEnded(AfterRetries),
    /// Every cycle has passed and is settled.
    CyclesEnded,
    /// The merchant pauses it.
    Pause,
    /// The merchant resumes it.
    Resume(Activation),
    /// The merchant ends it, or the date comes that they have set.
    Cancel,
    /// The merchant changes it.
    Update,
}

/// Whether a cycle was ever paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activation {
    /// None was.
    Awaited,
    /// One was.
    Done,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The next status.
    pub to: SubscriptionStatus,
    /// What is announced.
    pub event: Option<EventName>,
}

impl SubscriptionStatus {
    /// What follows from `trigger`; `None` when it is refused or changes nothing.
    pub const fn on(self, trigger: Trigger) -> Option<Transition> {
        use SubscriptionStatus::{Active, Canceled, Created, Expired, Paused, Trialing, Unpaid};
        let (to, event) = match (self, trigger) {
            (Canceled | Expired, _) => return None,
            (_, Trigger::Update) => (self, Some(EventName::SubscriptionUpdated)),
            (_, Trigger::Cancel) => (Canceled, Some(EventName::SubscriptionCanceled)),

            (Trialing, Trigger::TrialEnded) => (Created, None),

            (Created | Unpaid, Trigger::Paid(_)) => (Active, Some(EventName::SubscriptionActivated)),
            (Active, Trigger::Paid(_)) => (Active, None),
            // The buyer has paid what was under way when it was paused.
            (Paused, Trigger::Paid(Activation::Awaited)) => (Paused, Some(EventName::SubscriptionActivated)),
            (Paused, Trigger::Paid(Activation::Done)) => (Paused, None),

            (Created | Active | Paused, Trigger::RetriesEnded(AfterRetries::Unpaid)) => {
                (Unpaid, Some(EventName::SubscriptionUnpaid))
            }
            (Created | Active | Paused, Trigger::RetriesEnded(AfterRetries::Canceled)) => {
                (Canceled, Some(EventName::SubscriptionCanceled))
            }
            (Unpaid, Trigger::RetriesEnded(_)) => (Unpaid, None),

            // Created: every cycle was skipped by a pause.
            (Created | Active, Trigger::CyclesEnded) => (Expired, Some(EventName::SubscriptionExpired)),

            (Created | Active, Trigger::Pause) => (Paused, Some(EventName::SubscriptionPaused)),
            (Paused, Trigger::Resume(Activation::Awaited)) => (Created, Some(EventName::SubscriptionResumed)),
            (Paused, Trigger::Resume(Activation::Done)) => (Active, Some(EventName::SubscriptionResumed)),
            // The failed cycle is tried once more; what comes of it changes the status.
            (Unpaid, Trigger::Resume(_)) => (Unpaid, None),

            (
                Trialing,
                Trigger::Paid(_)
                | Trigger::RetriesEnded(_)
                | Trigger::CyclesEnded
                | Trigger::Pause
                | Trigger::Resume(_),
            )
            | (Created | Active, Trigger::TrialEnded | Trigger::Resume(_))
            | (Paused | Unpaid, Trigger::TrialEnded | Trigger::CyclesEnded | Trigger::Pause) => return None,
        };
        Some(Transition { to, event })
    }
}
