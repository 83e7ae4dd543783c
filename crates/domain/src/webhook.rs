//! Webhooks: which events there are, which of them a webhook asks for, and when a delivery that failed is tried again.
//!
//! What an event says and how it travels is not decided here.

use std::time::Duration;

use crate::purchase::PurchaseStatus;

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// A charge.
    Transaction,
    /// A seller of a marketplace.
    Seller,
    /// A subscription.
    Subscription,
    /// A payment with several cards. An extension: receivers of everything do not know it.
    Purchase,
    /// A payment link or checkout. An extension like [`Self::Purchase`].
    Session,
}

impl Family {
    /// `object` of the event, the part of its name before the first dot.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Transaction => "transaction",
            Self::Seller => "seller",
            Self::Subscription => "subscription",
            Self::Purchase => "purchase",
            Self::Session => "session",
        }
    }

    /// Whether `*` means it too (`docs/interface/webhooks.md#names`).
    pub const fn is_in_everything(self) -> bool {
        match self {
            Self::Transaction | Self::Seller | Self::Subscription => true,
            Self::Purchase | Self::Session => false,
        }
    }
}

/// The word of a webhook that asks for all events.
pub const EVERYTHING: &str = "*";

/// Every name that a webhook may ask for (`docs/interface/webhooks.md#names`).
const NAMES: &[(&str, Family)] = &[
    ("transaction.pending", Family::Transaction),
    ("transaction.pre_authorized", Family::Transaction),
    ("transaction.authorized", Family::Transaction),
    ("transaction.failed", Family::Transaction),
    ("transaction.canceled", Family::Transaction),
    ("transaction.voided", Family::Transaction),
    ("transaction.charged_back", Family::Transaction),
    ("transaction.dispute", Family::Transaction),
    ("transaction.dispute_closed", Family::Transaction),
    ("transaction.refund_pending", Family::Transaction),
    ("transaction.revert_void", Family::Transaction),
    ("transaction.probe_void", Family::Transaction),
    ("seller.active", Family::Seller),
    ("seller.inactive", Family::Seller),
    ("seller.pending", Family::Seller),
    ("seller.partial", Family::Seller),
    ("seller.blocked", Family::Seller),
    ("seller.registration_review.opened", Family::Seller),
    ("seller.registration_review.reminder", Family::Seller),
    ("seller.registration_review.submitted", Family::Seller),
    ("seller.registration_review.approved", Family::Seller),
    ("seller.registration_review.rejected", Family::Seller),
    ("seller.registration_review.expired", Family::Seller),
    ("seller.registration_review.canceled", Family::Seller),
    ("subscription.created", Family::Subscription),
    ("subscription.trial_started", Family::Subscription),
    ("subscription.activated", Family::Subscription),
    ("subscription.updated", Family::Subscription),
    ("subscription.paused", Family::Subscription),
    ("subscription.resumed", Family::Subscription),
    ("subscription.unpaid", Family::Subscription),
    ("subscription.expired", Family::Subscription),
    ("subscription.cycle_failed", Family::Subscription),
    ("subscription.canceled", Family::Subscription),
    ("purchase.paid", Family::Purchase),
    ("purchase.failed", Family::Purchase),
    ("purchase.cancelled", Family::Purchase),
    // What the history of a session calls its statuses.
    ("session.created", Family::Session),
    ("session.paid", Family::Session),
    ("session.canceled", Family::Session),
    ("session.voided", Family::Session),
    ("session.disabled", Family::Session),
];

/// The name of an event, such as `transaction.authorized`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventName {
    name: &'static str,
    family: Family,
}

impl EventName {
    /// From its name, spelt exactly so.
    pub fn parse(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(name, family)| Self { name, family: *family })
    }

    /// What is said when a purchase has come to this status; nothing while it is pending.
    pub const fn of_purchase(status: PurchaseStatus) -> Option<Self> {
        let name = match status {
            PurchaseStatus::Pending => return None,
            PurchaseStatus::Paid => "purchase.paid",
            PurchaseStatus::Failed => "purchase.failed",
            PurchaseStatus::Cancelled => "purchase.cancelled",
        };
        Some(Self { name, family: Family::Purchase })
    }

    /// The whole name.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// What it is about.
    pub const fn family(self) -> Family {
        self.family
    }

    /// Every name, in the order of the interface.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(name, family)| Self { name, family: *family })
    }
}

/// Which events a webhook asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventFilter {
    /// All but those of extensions.
    Everything,
    /// Those of one name.
    Named(EventName),
}

impl EventFilter {
    /// From `*` or the name of an event.
    pub fn parse(word: &str) -> Option<Self> {
        if word == EVERYTHING { Some(Self::Everything) } else { EventName::parse(word).map(Self::Named) }
    }

    /// The word of the interface.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Everything => EVERYTHING,
            Self::Named(name) => name.name(),
        }
    }

    /// Whether an event of this name is asked for.
    pub fn wants(self, event: EventName) -> bool {
        match self {
            Self::Everything => event.family().is_in_everything(),
            Self::Named(name) => name == event,
        }
    }
}

/// The version of the interface in which a webhook is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// The former one: not signed.
    V1_0,
    /// The present one.
    V1_1,
}

impl Version {
    /// Both.
    pub const ALL: [Self; 2] = [Self::V1_0, Self::V1_1];

    /// `apiVersion` of an event.
    pub const fn word(self) -> &'static str {
        match self {
            Self::V1_0 => "1.0",
            Self::V1_1 => "1.1",
        }
    }

    /// From its word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.word() == word)
    }

    /// The waits between attempts (`docs/interface/webhooks.md#schedule`).
    pub const fn waits(self) -> &'static [Duration] {
        match self {
            Self::V1_0 => &WAITS_1_0,
            Self::V1_1 => &WAITS_1_1,
        }
    }
}

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

const WAITS_1_1: [Duration; 6] = [
    Duration::from_secs(5 * MINUTE.as_secs()),
    Duration::from_secs(45 * MINUTE.as_secs()),
    Duration::from_secs(6 * HOUR.as_secs()),
    DAY,
    Duration::from_secs(2 * DAY.as_secs()),
    Duration::from_secs(4 * DAY.as_secs()),
];
const WAITS_1_0: [Duration; 5] = [
    Duration::from_secs(5 * MINUTE.as_secs()),
    Duration::from_secs(45 * MINUTE.as_secs()),
    Duration::from_secs(6 * HOUR.as_secs()),
    Duration::from_secs(2 * DAY.as_secs()),
    Duration::from_secs(4 * DAY.as_secs()),
];

/// By how much a wait may be shorter or longer than the schedule says, in thousandths: endpoints that came back must
/// not be met by everything at once.
pub const JITTER_PER_MILLE: u32 = 100;
/// The longest wait that an endpoint may ask for.
pub const RETRY_AFTER_MAX: Duration = DAY;

/// How long after the end of the attempt number `tries` (from 1) the next one begins; `None` after the last. `drawn`
/// is a number up to twice [`JITTER_PER_MILLE`]. What the endpoint asks for counts when it is later than the schedule.
pub fn wait_after(
    waits: &[Duration],
    tries: u32,
    asked_for: Option<Duration>,
    drawn: u32,
) -> Option<Duration> {
    let at = usize::try_from(tries).ok()?.checked_sub(1)?;
    let scheduled = *waits.get(at)?;
    let per_mille = 1000 - JITTER_PER_MILLE + drawn.min(2 * JITTER_PER_MILLE);
    let drawn = scheduled * per_mille / 1000;
    Some(asked_for.map_or(drawn, |asked_for| drawn.max(asked_for.min(RETRY_AFTER_MAX))))
}

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryStatus {
    /// It waits for its next attempt, or is under way.
    Pending,
    /// The endpoint took it.
    Delivered,
    /// The last attempt failed; kept for a replay.
    Lost,
    /// Its webhook was deleted first.
    Dropped,
}

impl DeliveryStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Delivered, Self::Lost, Self::Dropped];

    /// The word of the interface.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Lost => "lost",
            Self::Dropped => "dropped",
        }
    }

    /// From its word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word() == word)
    }
}

/// Why an attempt did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// The address may not be called.
    AddressRefused,
    /// The name has no address, nobody listens, or the connection broke.
    ConnectionFailed,
    /// No answer came in time.
    TimedOut,
    /// The answer was neither 200 nor 201.
    UnexpectedStatus,
    /// There was nothing to send: it could not be put into words or signed.
    NotSent,
    /// The process that sent it was gone before the answer was recorded.
    Interrupted,
}

impl Failure {
    /// Every reason.
    pub const ALL: [Self; 6] = [
        Self::AddressRefused,
        Self::ConnectionFailed,
        Self::TimedOut,
        Self::UnexpectedStatus,
        Self::NotSent,
        Self::Interrupted,
    ];

    /// The word of the interface.
    pub const fn word(self) -> &'static str {
        match self {
            Self::AddressRefused => "address_refused",
            Self::ConnectionFailed => "connection_failed",
            Self::TimedOut => "timed_out",
            Self::UnexpectedStatus => "unexpected_status",
            Self::NotSent => "not_sent",
            Self::Interrupted => "interrupted",
        }
    }

    /// From its word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|failure| failure.word() == word)
    }
}
