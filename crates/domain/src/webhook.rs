//! The events of webhooks, the filters for them and the states of a delivery. [`schedule`] says when a failed
//! delivery is retried.
//!
//! The engine decides what an event contains and how it is sent.

mod data;
pub mod schedule;

pub use data::{NewWebhook, WebhookChanges};

use crate::words::words;

words! {
    /// What an event is about: its `object`, the part of its name before the first dot.
    Family {
        /// A charge.
        Transaction = "transaction",
        /// A seller of a marketplace.
        Seller = "seller",
        /// A subscription.
        Subscription = "subscription",
        /// A payment with several cards. An extension: `*` does not include it.
        Purchase = "purchase",
        /// A payment link or checkout. An extension like [`Self::Purchase`].
        Session = "session",
    }
}

impl Family {
    /// Whether `*` includes it (`docs/interface/webhooks.md#names`).
    pub const fn is_in_everything(self) -> bool {
        match self {
            Self::Transaction | Self::Seller | Self::Subscription => true,
            Self::Purchase | Self::Session => false,
        }
    }
}

/// The name that asks for all events.
pub const EVERYTHING: &str = "*";

/// The name of a test event; a webhook cannot ask for it.
pub const PING: &str = "ping";
/// `object` of a test event.
pub const PING_OBJECT: &str = "webhook";

macro_rules! event_names {
    ($($family:ident { $($variant:ident = $name:literal),* $(,)? })*) => {
        words! {
            /// The name of an event. These are all that a webhook may ask for (`docs/interface/webhooks.md#names`); what is
            /// announced, stored, sent and described takes its name from here.
            EventName { $($(#[doc = concat!("`", $name, "`.")] $variant = $name,)*)* }
        }

        impl EventName {
            /// The object it is about.
            pub const fn family(self) -> Family {
                match self { $($(Self::$variant)|* => Family::$family),* }
            }
        }
    };
}

event_names! {
    Transaction {
        TransactionPending = "transaction.pending",
        TransactionPreAuthorized = "transaction.pre_authorized",
        TransactionAuthorized = "transaction.authorized",
        TransactionFailed = "transaction.failed",
        TransactionCanceled = "transaction.canceled",
        TransactionVoided = "transaction.voided",
        TransactionChargedBack = "transaction.charged_back",
        TransactionDispute = "transaction.dispute",
        TransactionDisputeClosed = "transaction.dispute_closed",
        TransactionRefundPending = "transaction.refund_pending",
        TransactionRevertVoid = "transaction.revert_void",
        TransactionProbeVoid = "transaction.probe_void",
    }
    Seller {
        SellerActive = "seller.active",
        SellerInactive = "seller.inactive",
        SellerPending = "seller.pending",
        SellerPartial = "seller.partial",
        SellerBlocked = "seller.blocked",
        SellerRegistrationReviewOpened = "seller.registration_review.opened",
        SellerRegistrationReviewReminder = "seller.registration_review.reminder",
        SellerRegistrationReviewSubmitted = "seller.registration_review.submitted",
        SellerRegistrationReviewApproved = "seller.registration_review.approved",
        SellerRegistrationReviewRejected = "seller.registration_review.rejected",
        SellerRegistrationReviewExpired = "seller.registration_review.expired",
        SellerRegistrationReviewCanceled = "seller.registration_review.canceled",
    }
    Subscription {
        SubscriptionCreated = "subscription.created",
        SubscriptionTrialStarted = "subscription.trial_started",
        SubscriptionActivated = "subscription.activated",
        SubscriptionUpdated = "subscription.updated",
        SubscriptionPaused = "subscription.paused",
        SubscriptionResumed = "subscription.resumed",
        SubscriptionUnpaid = "subscription.unpaid",
        SubscriptionExpired = "subscription.expired",
        SubscriptionCycleFailed = "subscription.cycle_failed",
        SubscriptionCanceled = "subscription.canceled",
    }
    Purchase {
        PurchasePaid = "purchase.paid",
        PurchaseFailed = "purchase.failed",
        PurchaseCancelled = "purchase.cancelled",
    }
    // What the history of a session calls its statuses.
    Session {
        SessionCreated = "session.created",
        SessionPaid = "session.paid",
        SessionCanceled = "session.canceled",
        SessionVoided = "session.voided",
        SessionDisabled = "session.disabled",
    }
}

impl EventName {
    /// `event` on the wire: the part of the name after the first dot.
    pub fn event(self) -> &'static str {
        self.word().split_once('.').map_or(self.word(), |(_, event)| event)
    }
}

/// The events that a webhook asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventFilter {
    /// All but those of extensions.
    Everything,
    /// Events of one name.
    Named(EventName),
}

impl EventFilter {
    /// Parses `*` or the name of an event.
    pub fn parse(word: &str) -> Option<Self> {
        if word == EVERYTHING { Some(Self::Everything) } else { EventName::parse(word).map(Self::Named) }
    }

    /// The filter on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Everything => EVERYTHING,
            Self::Named(name) => name.word(),
        }
    }

    /// Whether the webhook asks for this event.
    pub fn wants(self, event: EventName) -> bool {
        match self {
            Self::Everything => event.family().is_in_everything(),
            Self::Named(name) => name == event,
        }
    }
}

words! {
    /// What a webhook is sent for a refund of a part: the charge stays authorized with a lower amount
    /// (`docs/interface/webhooks.md#partial-refunds`).
    #[schema(as = PartialRefundEvent)]
    PartialRefund {
        /// `transaction.voided`, as for a refund of everything.
        Voided = "transaction.voided",
        /// `transaction.authorized`, which is the status of the charge.
        Authorized = "transaction.authorized",
        /// Nothing.
        Nothing = "none",
    }
}

impl PartialRefund {
    /// The name of the event that is sent, if one is.
    pub const fn event(self) -> Option<EventName> {
        match self {
            Self::Voided => Some(EventName::TransactionVoided),
            Self::Authorized => Some(EventName::TransactionAuthorized),
            Self::Nothing => None,
        }
    }
}

/// The interface version of a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 1.0: not signed.
    V1_0,
    /// 1.1, the current one: signed.
    V1_1,
}

impl Version {
    /// Both versions.
    pub const ALL: [Self; 2] = [Self::V1_0, Self::V1_1];

    /// `apiVersion` of an event.
    pub const fn word(self) -> &'static str {
        match self {
            Self::V1_0 => "1.0",
            Self::V1_1 => "1.1",
        }
    }

    /// Parses `apiVersion`.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.word() == word)
    }
}

words! {
    /// The state of a delivery.
    DeliveryStatus {
        /// It waits for its next attempt, or one is under way.
        Pending = "pending",
        /// The endpoint accepted it.
        Delivered = "delivered",
        /// The last attempt failed: dead letter, kept for a replay.
        Lost = "lost",
        /// Its webhook was deleted before it was delivered.
        Dropped = "dropped",
    }
}

words! {
    /// Why an attempt to deliver failed.
    #[schema(as = DeliveryFailure)]
    Failure {
        /// The address is not allowed.
        AddressRefused = "address_refused",
        /// The name does not resolve, nothing listens, or the connection broke.
        ConnectionFailed = "connection_failed",
        /// No answer came in time.
        TimedOut = "timed_out",
        /// The answer was neither 200 nor 201.
        UnexpectedStatus = "unexpected_status",
        /// Nothing was sent: the payload could not be built or signed.
        NotSent = "not_sent",
        /// The process that sent it stopped before it recorded the answer.
        Interrupted = "interrupted",
    }
}
