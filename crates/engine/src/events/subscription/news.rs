//! What the events of a subscription tell: more of its cycles than answers do.

use regente_domain::decline::DeclinedCode;
use regente_domain::id::{ChargeId, CycleId};
use regente_domain::money::Amount;
use regente_domain::subscription::data::PaymentWord;
use regente_domain::subscription::{Announcement, Attempt, AttemptState, Cycle, CycleStatus, Subscription};
use regente_domain::time::Timestamp;
use regente_domain::utc_day;
use regente_domain::webhook::EventName;
use serde::Serialize;
use utoipa::ToSchema;

use super::Members;
use super::cycle::{AttemptView, ListedCycleView};

/// What an event of a subscription tells.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SubscriptionNews)]
pub struct SubscriptionNewsView {
    /// The subscription, with the status that it had at the event.
    subscription: AnnouncedView,
    /// Why a cycle could not be charged, such as 404; only of `cycle_failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 404)]
    error_code: Option<u16>,
    /// The cycle that was paid; only of `activated`.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycle: Option<PaidCycleView>,
}

/// A subscription as events show it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AnnouncedSubscription)]
struct AnnouncedView {
    #[serde(flatten)]
    subscription: Members,
    /// The cycle with the highest number; null before the first one.
    #[schema(required = true)]
    last_cycle: Option<AnnouncedCycleView>,
}

/// A cycle as events show it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AnnouncedSubscriptionCycle)]
struct AnnouncedCycleView {
    #[serde(flatten)]
    cycle: ListedCycleView,
    /// The number of its attempts.
    #[schema(example = 1)]
    attempts: usize,
    /// Whether a jump of the sandbox's clock has made it.
    is_emulated: bool,
    /// The beginning of its due date.
    scheduled_at: Timestamp,
    /// Its attempts, oldest first.
    payment_history: Vec<AnnouncedAttemptView>,
}

/// An attempt as events show it.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AnnouncedSubscriptionAttempt)]
struct AnnouncedAttemptView {
    #[serde(flatten)]
    attempt: AttemptView,
    #[schema(example = 1)]
    attempt_number: u32,
    /// Why it was refused; otherwise null.
    #[schema(required = true, value_type = Option<String>)]
    error: Option<&'static str>,
}

/// The cycle that has activated a subscription.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PaidSubscriptionCycle)]
struct PaidCycleView {
    id: CycleId,
    /// Its number, counted from 1.
    #[serde(rename = "cycle")]
    #[schema(example = 1)]
    number: u32,
    status: CycleStatus,
    /// In cents.
    #[schema(value_type = i64, example = 29900)]
    amount: Amount,
    /// The beginning of its due date.
    scheduled_at: Timestamp,
    /// Its attempts, oldest first.
    payment_history: Vec<ExecutedAttemptView>,
}

/// An attempt of the cycle that has activated a subscription.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ExecutedSubscriptionAttempt)]
struct ExecutedAttemptView {
    executed_at: Timestamp,
    /// Null when no charge could be made.
    #[schema(required = true)]
    charge_id: Option<ChargeId>,
    #[schema(example = 1)]
    attempt_number: u32,
    payment_method: PaymentWord,
    /// Why it was refused; otherwise null.
    #[schema(required = true, value_type = Option<String>)]
    error: Option<&'static str>,
}

impl SubscriptionNewsView {
    /// What `announcement` tells as of `now`. `cycles` are those that are known, the one that it is about among them, and
    /// `last_cycle` is the one with the highest number.
    pub fn of(
        subscription: &Subscription,
        announcement: &Announcement,
        cycles: &[Cycle],
        last_cycle: Option<&Cycle>,
        now: Timestamp,
    ) -> Self {
        let members = Members::of(subscription, now).for_others();
        let about = |id: CycleId| cycles.iter().chain(last_cycle).find(|cycle| cycle.id == id);
        let is_activation = announcement.event == EventName::SubscriptionActivated;
        let paid = announcement.cycle.filter(|_| is_activation).and_then(about);
        Self {
            subscription: AnnouncedView {
                subscription: Members { status: announcement.status, ..members },
                last_cycle: last_cycle.map(AnnouncedCycleView::of),
            },
            error_code: announcement.error_code,
            cycle: paid.map(PaidCycleView::of),
        }
    }
}

impl AnnouncedCycleView {
    fn of(cycle: &Cycle) -> Self {
        Self {
            cycle: ListedCycleView::of(cycle),
            attempts: cycle.attempts.len(),
            is_emulated: cycle.is_emulated,
            scheduled_at: utc_day::start_of(cycle.due_on),
            payment_history: cycle.attempts.iter().map(AnnouncedAttemptView::of).collect(),
        }
    }
}

impl AnnouncedAttemptView {
    fn of(attempt: &Attempt) -> Self {
        Self {
            attempt: AttemptView::of(attempt),
            attempt_number: attempt.number,
            error: error_of(attempt.state),
        }
    }
}

impl PaidCycleView {
    fn of(cycle: &Cycle) -> Self {
        Self {
            id: cycle.id,
            number: cycle.number,
            status: cycle.status,
            amount: cycle.terms.amount,
            scheduled_at: utc_day::start_of(cycle.due_on),
            payment_history: cycle.attempts.iter().map(ExecutedAttemptView::of).collect(),
        }
    }
}

impl ExecutedAttemptView {
    fn of(attempt: &Attempt) -> Self {
        Self {
            executed_at: attempt.begun_at,
            charge_id: attempt.charge_id,
            attempt_number: attempt.number,
            payment_method: PaymentWord::Credit,
            error: error_of(attempt.state),
        }
    }
}

/// The reason of a refusal. Of a charge that could not be made `errorCode` of the event tells it.
fn error_of(state: AttemptState) -> Option<&'static str> {
    match state {
        AttemptState::Declined { code } => Some(DeclinedCode::code(code)),
        AttemptState::UnderWay
        | AttemptState::Unanswered
        | AttemptState::Approved
        | AttemptState::GivenBack
        | AttemptState::Impossible { .. } => None,
    }
}
