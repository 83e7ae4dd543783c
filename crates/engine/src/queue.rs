//! The kinds of jobs, their queues, how a job is enqueued and how its run ends. `jobs/kind.rs` has the function of each
//! kind.

pub mod payouts;
pub mod prepayments;
pub mod purchases;
pub mod reports;
pub mod sellers;
pub mod sessions;
pub mod subscriptions;

use regente_domain::charge::Charge;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use regente_store::Batch;
use regente_store::jobs::{self, NewJob};

use crate::app::App;

/// A kind of job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Deletes expired idempotency records.
    PurgeIdempotency,
    /// Deletes expired tokens.
    PurgeTokens,
    /// Deletes expired client tokens.
    PurgeCredentials,
    /// Deletes deliveries past their retention and events that are no longer needed.
    PurgeDeliveries,
    /// Reseals data that is sealed under a former data key.
    Reseal,
    /// Voids a reservation that was not captured.
    ExpireReservation,
    /// Drives a purchase until nothing is left to do.
    Purchase,
    /// Ends the replacement of a webhook's key.
    EndKeyRotation,
    /// Deletes expired listeners with their events.
    PurgeListeners,
    /// Drops what is on its way to a deleted webhook.
    DropDeliveries,
    /// Folds counters and balances of finished hours into spans.
    FoldCounters,
    /// Erases a person.
    EraseCustomer,
    /// Settles a notification of a provider.
    ProviderNotification,
    /// Deletes notifications of providers past their retention.
    PurgeNotifications,
    /// Deletes rates past their retention.
    PurgeRates,
    /// Tells an anti-fraud provider of a charge that ended without an analysis.
    FeedAntiFraud,
    /// Counts a charge of a session.
    CountPayment,
    /// Gives a payment back that its session did not take.
    ReturnPayment,
    /// Switches a session off at its due date.
    ExpireSession,
    /// Ends what is under way for a canceled session.
    CloseSession,
    /// Opens the books of the charges of former releases.
    OpenLedger,
    /// Registers a seller at a provider, tells of its changes and asks how it stands.
    RegisterSeller,
    /// Registers the sellers of a merchant at a provider that was added.
    LinkSellers,
    /// Deletes a file of a seller once nobody needs it.
    EndSellerDocument,
    /// Reminds a seller of a review, passes its answer on, or ends its time.
    RegistrationReview,
    /// Does what is due of a subscription.
    Subscription,
    /// Advances the clock of an account, in the sandbox, and does what falls due on the way.
    AdvanceClock,
    /// Writes the files of a report.
    Report,
    /// Deletes the files of a report.
    ExpireReport,
    /// Mails the links to the files of a report.
    MailReport,
    /// Writes what receivers are due of a charge.
    PayoutOrders,
    /// Makes the payment batches of what is due.
    Payday,
    /// Hands a payment batch to the bank, and finds out what became of it.
    Transfer,
    /// Ends a prepayment that nobody has committed, or pays one that was.
    Prepayment,
}

/// Whether every deployment always has exactly one job of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recurs {
    Yes,
    No,
}

/// The properties of each kind, in the order of [`Kind`]; its word is its name in the jobs table.
#[rustfmt::skip]
const KINDS: [(Kind, &str, Queue, Recurs); 34] = [
    (Kind::PurgeIdempotency,  "purge_idempotency",  Queue::Housekeeping, Recurs::Yes),
    (Kind::PurgeTokens,       "purge_tokens",       Queue::Housekeeping, Recurs::Yes),
    (Kind::PurgeCredentials,  "purge_credentials",  Queue::Housekeeping, Recurs::Yes),
    (Kind::PurgeDeliveries,   "purge_deliveries",   Queue::Housekeeping, Recurs::Yes),
    (Kind::Reseal,            "reseal",             Queue::Housekeeping, Recurs::Yes),
    (Kind::ExpireReservation, "expire_reservation", Queue::Money,        Recurs::No),
    (Kind::Purchase,          "purchase",           Queue::Purchases,    Recurs::No),
    (Kind::EndKeyRotation,    "end_key_rotation",   Queue::Housekeeping, Recurs::No),
    (Kind::PurgeListeners,    "purge_listeners",    Queue::Housekeeping, Recurs::Yes),
    (Kind::DropDeliveries,    "drop_deliveries",    Queue::Housekeeping, Recurs::No),
    (Kind::FoldCounters,      "fold_counters",      Queue::Housekeeping, Recurs::Yes),
    (Kind::EraseCustomer,     "erase_customer",     Queue::Housekeeping, Recurs::No),
    (Kind::ProviderNotification, "provider_notification", Queue::Notifications, Recurs::No),
    (Kind::PurgeNotifications, "purge_notifications", Queue::Housekeeping, Recurs::Yes),
    (Kind::PurgeRates,        "purge_rates",        Queue::Housekeeping, Recurs::Yes),
    (Kind::FeedAntiFraud,     "feed_anti_fraud",    Queue::Money,        Recurs::No),
    (Kind::CountPayment,      "count_payment",      Queue::Sessions,     Recurs::No),
    (Kind::ReturnPayment,     "return_payment",     Queue::Money,        Recurs::No),
    (Kind::ExpireSession,     "expire_session",     Queue::Sessions,     Recurs::No),
    (Kind::CloseSession,      "close_session",      Queue::Sessions,     Recurs::No),
    (Kind::OpenLedger,        "open_ledger",        Queue::Housekeeping, Recurs::No),
    (Kind::RegisterSeller,    "register_seller",    Queue::Sellers,      Recurs::No),
    (Kind::LinkSellers,       "link_sellers",       Queue::Housekeeping, Recurs::No),
    (Kind::EndSellerDocument, "end_seller_document", Queue::Housekeeping, Recurs::No),
    (Kind::RegistrationReview, "registration_review", Queue::Sellers, Recurs::No),
    (Kind::Subscription,      "subscription",       Queue::Subscriptions, Recurs::No),
    (Kind::AdvanceClock,      "advance_clock",      Queue::Clocks,       Recurs::No),
    (Kind::Report,            "report",             Queue::Reports,      Recurs::No),
    (Kind::ExpireReport,      "expire_report",      Queue::Housekeeping, Recurs::No),
    (Kind::MailReport,        "mail_report",        Queue::Mail,         Recurs::No),
    (Kind::PayoutOrders,      "payout_orders",      Queue::Payouts,      Recurs::No),
    (Kind::Payday,            "payday",             Queue::Payouts,      Recurs::No),
    (Kind::Transfer,          "transfer",           Queue::Payouts,      Recurs::No),
    (Kind::Prepayment,        "prepayment",         Queue::Housekeeping, Recurs::No),
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

    /// The inverse of [`Self::word`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::all().find(|kind| kind.word() == word)
    }

    /// The queue of the kind.
    pub const fn queue(self) -> Queue {
        KINDS[self as usize].2
    }

    /// Whether every deployment always has exactly one job of this kind.
    pub fn recurs(self) -> bool {
        KINDS[self as usize].3 == Recurs::Yes
    }

    /// Whether a job of this kind is tried for ever: housekeeping that stopped would go unnoticed until the disk is full, and a
    /// subscription would never be billed again.
    pub fn is_never_given_up(self) -> bool {
        self.recurs() || self == Self::Subscription
    }

    /// The kinds that recur.
    pub fn recurring() -> impl Iterator<Item = Self> {
        Self::all().filter(|kind| kind.recurs())
    }

    fn all() -> impl Iterator<Item = Self> {
        KINDS.into_iter().map(|(kind, ..)| kind)
    }
}

/// Enqueues a job that is due at `run_at`. There is at most one job with the same kind and `key`; an existing one is
/// brought forward.
pub fn enqueue(app: &App, batch: &mut Batch, kind: Kind, key: &str, payload: &str, run_at: Timestamp) {
    let job = job(app, batch.client_id(), kind, key, payload, run_at);
    jobs::enqueue(batch, &job);
}

/// Follows a charge in the batch that changes it, with the outcome of `ended`: wakes the session or the subscription that it is part of, and
/// has written what receivers are due of it.
pub fn follow(
    app: &App,
    batch: &mut Batch,
    before: &Charge,
    after: &Charge,
    ended: Option<&TransactionRequest>,
) {
    sessions::wake(app, batch, before, after, ended);
    subscriptions::wake(app, batch, before, after);
    payouts::wake(app, batch, before, after);
}

/// Makes the job of a recurring kind due now; `batch` is one of the deployment.
pub fn bring_forward(app: &App, batch: &mut Batch, kind: Kind) {
    enqueue(app, batch, kind, RECURRING_KEY, NO_PAYLOAD, app.clock.deployment());
}

/// Ensures that the job of a recurring kind exists; `batch` is one of the deployment.
pub(crate) fn ensure(app: &App, batch: &mut Batch, kind: Kind) {
    let now = app.clock.deployment();
    let job = job(app, batch.client_id(), kind, RECURRING_KEY, NO_PAYLOAD, now);
    jobs::ensure(batch, &job);
}

/// The key of the only job of a recurring kind.
const RECURRING_KEY: &str = "";
/// The payload of a job that needs none.
pub(crate) const NO_PAYLOAD: &str = "{}";

fn job<'a>(
    app: &App,
    client_id: ClientId,
    kind: Kind,
    key: &'a str,
    payload: &'a str,
    run_at: Timestamp,
) -> NewJob<'a> {
    let id = app.chance.id(app.clock.of(client_id));
    NewJob { id, kind: kind.word(), queue: kind.queue().word(), key, payload, run_at }
}

/// How a run of a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The job is done.
    Finished,
    /// The job runs again.
    Again {
        /// When it is due, by business time.
        at: Timestamp,
    },
    /// The job can never succeed: it becomes a dead letter, and the operator must look.
    GiveUp {
        /// The reason, for the operator.
        why: String,
    },
}

/// A queue of jobs with its own limit: the jobs of one queue do not block those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// Jobs that use only the database.
    Housekeeping,
    /// Jobs that call providers about single charges.
    Money,
    /// Jobs that drive purchases and mostly wait for providers.
    Purchases,
    /// Jobs that apply what providers have notified.
    Notifications,
    /// Jobs that move sessions, by the database alone.
    Sessions,
    /// Jobs that call providers about sellers.
    Sellers,
    /// Jobs that charge subscriptions and mostly wait for providers. Few run at once, so that a backlog leaves room for the charges
    /// of those who wait for an answer.
    Subscriptions,
    /// Jobs that write the files of reports, for minutes. Few run at once, so that most of the database is left to others.
    Reports,
    /// Jobs that hand mail over and mostly wait for the server.
    Mail,
    /// Jobs that write and pay what receivers are due, and wait for the bank.
    Payouts,
    /// Jobs that advance clocks of accounts, in the sandbox, and do all other jobs of theirs.
    Clocks,
}

impl Queue {
    /// Every queue.
    pub const ALL: [Self; 11] = [
        Self::Housekeeping,
        Self::Money,
        Self::Purchases,
        Self::Notifications,
        Self::Sessions,
        Self::Sellers,
        Self::Subscriptions,
        Self::Reports,
        Self::Mail,
        Self::Payouts,
        Self::Clocks,
    ];

    /// Its name in the jobs table.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Housekeeping => "housekeeping",
            Self::Money => "money",
            Self::Purchases => "purchases",
            Self::Notifications => "notifications",
            Self::Sessions => "sessions",
            Self::Sellers => "sellers",
            Self::Subscriptions => "subscriptions",
            Self::Reports => "reports",
            Self::Mail => "mail",
            Self::Payouts => "payouts",
            Self::Clocks => "clocks",
        }
    }

    /// Most jobs of the queue that a process runs at once.
    pub const fn concurrent_max(self) -> usize {
        match self {
            Self::Housekeeping => 8,
            Self::Money => 16,
            Self::Purchases => 128,
            Self::Notifications => 64,
            Self::Sessions => 32,
            Self::Sellers | Self::Subscriptions | Self::Payouts => 16,
            Self::Reports => 2,
            Self::Mail | Self::Clocks => 8,
        }
    }
}
