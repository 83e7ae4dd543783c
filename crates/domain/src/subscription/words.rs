//! The closed lists of words for subscriptions.

use crate::words::words;

words! {
    /// `status` of a subscription.
    SubscriptionStatus {
        /// Nothing was paid yet.
        Created = "created",
        /// A payment was approved.
        Active = "active",
        /// Its merchant has paused it: nothing is charged.
        Paused = "paused",
        /// It was ended, by its merchant or after the last attempt.
        Canceled = "canceled",
        /// Every attempt of a cycle failed: nothing is charged until there is another card, or its merchant resumes it.
        Unpaid = "unpaid",
        /// The number of its cycles is reached.
        Expired = "expired",
        /// Its trial has not ended.
        Trialing = "trialing",
    }
}

words! {
    /// `status` of a cycle.
    #[schema(as = SubscriptionCycleStatus)]
    CycleStatus {
        /// Due; nothing was sent yet.
        Scheduled = "scheduled",
        /// Its first attempt is under way, or could not be made.
        Pending = "pending",
        /// Paid.
        Authorized = "authorized",
        /// The last attempt failed.
        Failed = "failed",
        /// An attempt was refused; another one is due later, or under way.
        Retrying = "retrying",
        /// Its subscription ended before it was paid.
        Canceled = "canceled",
    }
}

words! {
    /// `status` of an entry of the payment history.
    #[schema(as = SubscriptionAttemptStatus)]
    AttemptStatus {
        /// The outcome is not known.
        Pending = "pending",
        /// Approved.
        Authorized = "authorized",
        /// Refused, or not possible.
        Failed = "failed",
    }
}

words! {
    /// `recurrence.interval`: the time from one due date to the next.
    #[schema(as = SubscriptionInterval)]
    Interval {
        /// A day; for tests, so only in the sandbox.
        Daily = "daily",
        /// Seven days.
        Weekly = "weekly",
        /// A month.
        Monthly = "monthly",
        /// Three months.
        Quarterly = "quarterly",
        /// A year.
        Yearly = "yearly",
        /// Two years.
        Biennial = "biennial",
        /// Three years.
        Triennial = "triennial",
    }
}

impl Interval {
    /// Whether production refuses it.
    pub const fn is_for_the_sandbox(self) -> bool {
        match self {
            Self::Daily => true,
            Self::Weekly
            | Self::Monthly
            | Self::Quarterly
            | Self::Yearly
            | Self::Biennial
            | Self::Triennial => false,
        }
    }
}

words! {
    /// `items[].risk`: a hint for the analysis of risk.
    #[schema(as = SubscriptionItemRisk)]
    ItemRisk {
        /// Seldom abused.
        Low = "Low",
        /// Often abused.
        High = "High",
    }
}
