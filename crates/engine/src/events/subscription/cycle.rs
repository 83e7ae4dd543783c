//! A cycle and its payment history as answers show them.

use regente_domain::id::{ChargeId, CustomerId, CycleId, Id, MerchantId, of};
use regente_domain::subscription::{Attempt, AttemptStatus, Cycle, CycleStatus};
use regente_domain::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// A cycle with its payment history.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SubscriptionCycle)]
pub struct CycleView {
    #[serde(flatten)]
    cycle: ListedCycleView,
    /// Its attempts, oldest first.
    payment_history: Vec<AttemptView>,
}

/// A cycle in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ListedSubscriptionCycle)]
pub struct ListedCycleView {
    id: CycleId,
    customer_id: CustomerId,
    merchant_id: MerchantId,
    /// Its number, counted from 1.
    #[serde(rename = "cycle")]
    #[schema(example = 1)]
    number: u32,
    status: CycleStatus,
    created_at: Timestamp,
}

/// An attempt to charge a cycle.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SubscriptionPaymentAttempt)]
pub(super) struct AttemptView {
    #[schema(value_type = uuid::Uuid)]
    id: Id<of::CycleAttempt>,
    created_at: Timestamp,
    /// Null when no charge could be made.
    #[schema(required = true)]
    charge_id: Option<ChargeId>,
    status: AttemptStatus,
}

impl CycleView {
    /// Builds the view.
    pub fn of(cycle: &Cycle) -> Self {
        let payment_history = cycle.attempts.iter().map(AttemptView::of).collect();
        Self { cycle: ListedCycleView::of(cycle), payment_history }
    }
}

impl ListedCycleView {
    /// Builds the view.
    pub fn of(cycle: &Cycle) -> Self {
        Self {
            id: cycle.id,
            customer_id: cycle.terms.customer_id,
            merchant_id: cycle.terms.merchant_id,
            number: cycle.number,
            status: cycle.status,
            created_at: cycle.id.created_at(),
        }
    }
}

impl AttemptView {
    pub(super) fn of(attempt: &Attempt) -> Self {
        Self {
            id: attempt.id,
            created_at: attempt.begun_at,
            charge_id: attempt.charge_id,
            status: attempt.state.status(),
        }
    }
}
