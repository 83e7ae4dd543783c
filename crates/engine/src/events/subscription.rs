//! A subscription and its cycles as answers show them, and the content of its events
//! (`docs/interface/subscriptions.md#record`, `docs/interface/subscriptions.md#events`).

mod cycle;
mod news;

use std::num::NonZeroU32;

use jiff::civil::Date;
use regente_domain::currency::Currency;
use regente_domain::id::{CardId, ClientId, CustomerId, MerchantId, SubscriptionId};
use regente_domain::money::Amount;
use regente_domain::subscription::data::PaymentWord;
use regente_domain::subscription::{
    CURRENCY, Cycle, Interval, Item, Payment, Subscription, SubscriptionStatus,
};
use regente_domain::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

pub use cycle::{CycleView, ListedCycleView};
pub use news::SubscriptionNewsView;

use super::masked;
use super::split::SplitRuleView;

/// A subscription.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Subscription)]
pub struct SubscriptionView {
    #[serde(flatten)]
    subscription: Members,
    /// The cycle with the highest number; null before the first one.
    #[schema(required = true)]
    last_cycle: Option<CycleView>,
}

/// What answers and events show.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SubscriptionMembers)]
struct Members {
    id: SubscriptionId,
    name: String,
    client_id: ClientId,
    merchant_id: MerchantId,
    customer_id: CustomerId,
    #[schema(required = true)]
    reference_key: Option<String>,
    /// Always `BRL`.
    currency: Currency,
    items: Vec<Item>,
    recurrence: RecurrenceView,
    payment_method: PaymentView,
    /// Absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    trial: Option<TrialView>,
    /// How its charges are divided among sellers; empty where they are not.
    split_rules: Vec<SplitRuleView>,
    status: SubscriptionStatus,
    /// What the next cycle charges, in cents.
    #[schema(value_type = i64, example = 29900)]
    amount: Amount,
    /// Whether it was made outside of the sandbox.
    live_mode: bool,
    /// Whether an end was set.
    cancel_at_period_end: bool,
    /// The day that was set; null for the end of the period, and where no end was set.
    #[schema(required = true)]
    scheduled_cancellation_at: Option<Date>,
    #[schema(required = true)]
    scheduled_cancellation_reason: Option<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// When a subscription falls due. All days are UTC days.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SubscriptionRecurrence)]
pub struct RecurrenceView {
    interval: Interval,
    /// The number of cycles; null for endless.
    #[schema(value_type = Option<u32>, required = true)]
    cycles: Option<NonZeroU32>,
    /// The first due date.
    start_at: Date,
    /// The due date of the last cycle; null for endless.
    #[schema(required = true)]
    end_at: Option<Date>,
    /// Null when no cycle is left.
    #[schema(required = true)]
    next_due_date: Option<Date>,
}

impl RecurrenceView {
    /// Builds the view as of `now`.
    pub fn of(subscription: &Subscription, now: Timestamp) -> Self {
        let schedule = &subscription.schedule;
        Self {
            interval: schedule.interval(),
            cycles: schedule.cycles(),
            start_at: schedule.start_at(),
            end_at: schedule.end_at(),
            next_due_date: subscription.next_due_on(now),
        }
    }
}

/// How a subscription is paid.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = SubscriptionPayment)]
struct PaymentView {
    #[serde(rename = "type")]
    kind: PaymentWord,
    card: CardView,
    #[schema(example = 1)]
    installments: u8,
}

/// The card of a subscription.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SubscriptionCard)]
struct CardView {
    card_id: CardId,
}

/// A time before the first charge.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SubscriptionTrial)]
pub struct TrialView {
    /// The first day after it.
    end_at: Date,
}

impl TrialView {
    /// The trial of a subscription, if it has or had one.
    pub fn of(subscription: &Subscription) -> Option<Self> {
        subscription.trial_end.map(|end_at| Self { end_at })
    }
}

impl SubscriptionView {
    /// Builds the view as of `now`.
    pub fn of(subscription: &Subscription, last_cycle: Option<&Cycle>, now: Timestamp) -> Self {
        Self { subscription: Members::of(subscription, now), last_cycle: last_cycle.map(CycleView::of) }
    }

    /// The view as everybody but the merchant is shown it.
    pub fn for_others(self) -> Self {
        Self { subscription: self.subscription.for_others(), ..self }
    }
}

impl Members {
    fn of(subscription: &Subscription, now: Timestamp) -> Self {
        let Payment { card_id, installments } = subscription.payment;
        let end = subscription.cancellation.as_ref();
        Self {
            id: subscription.id,
            name: subscription.name.clone(),
            client_id: subscription.client_id,
            merchant_id: subscription.merchant_id,
            customer_id: subscription.customer_id,
            reference_key: subscription.reference_key.clone(),
            currency: CURRENCY,
            items: subscription.items.clone(),
            recurrence: RecurrenceView::of(subscription, now),
            payment_method: PaymentView {
                kind: PaymentWord::Credit,
                card: CardView { card_id },
                installments,
            },
            trial: TrialView::of(subscription),
            split_rules: subscription.split_rules.iter().map(SplitRuleView::of).collect(),
            status: subscription.status(),
            amount: subscription.amount,
            live_mode: subscription.is_live,
            cancel_at_period_end: end.is_some(),
            scheduled_cancellation_at: end.and_then(|end| end.requested_on),
            scheduled_cancellation_reason: end.and_then(|end| end.reason.clone()),
            created_at: subscription.id.created_at(),
            updated_at: subscription.updated_at,
        }
    }

    /// An identifier may look like a card number.
    fn for_others(self) -> Self {
        Self { reference_key: masked(self.reference_key.as_deref()), ..self }
    }
}
