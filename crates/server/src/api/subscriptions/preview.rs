//! `POST /v1/subscriptions/preview`: what a subscription would charge (`docs/interface/subscriptions.md#preview`).

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use jiff::civil::Date;
use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use regente_domain::subscription::data::read_new;
use regente_domain::subscription::{CURRENCY, Subscription, SubscriptionData, SubscriptionStatus, Upcoming};
use regente_domain::time::Timestamp;
use regente_engine::caller::Caller;
use regente_engine::events::subscription::{RecurrenceView, TrialView};
use regente_engine::idempotency::Planned;
use regente_engine::subscriptions;
use serde::Serialize;
use utoipa::ToSchema;

use super::is_live;
use crate::api::fields::Body;
use crate::api::idempotency::commit_once;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// The cycles of a preview.
const CYCLES: usize = 12;

/// What a subscription would charge.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SubscriptionPreview)]
pub struct PreviewView {
    /// The status that it would begin with.
    status: SubscriptionStatus,
    /// What each cycle charges, in cents.
    #[schema(value_type = i64, example = 29900)]
    amount: Amount,
    /// Always `BRL`.
    currency: Currency,
    recurrence: RecurrenceView,
    /// Absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    trial: Option<TrialView>,
    /// The first twelve cycles, or as many as there are.
    #[schema(max_items = 12)]
    cycles: Vec<UpcomingView>,
}

/// A cycle that is not made yet.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UpcomingSubscriptionCycle)]
struct UpcomingView {
    /// Its number, counted from 1.
    #[schema(example = 1)]
    cycle: u32,
    due_date: Date,
    /// When it is charged. The time of the day is another one for each subscription.
    bills_at: Timestamp,
    /// In cents.
    #[schema(value_type = i64, example = 29900)]
    amount: Amount,
}

impl PreviewView {
    fn of(subscription: &Subscription, now: Timestamp) -> Self {
        Self {
            status: subscription.status(),
            amount: subscription.amount,
            currency: CURRENCY,
            recurrence: RecurrenceView::of(subscription, now),
            trial: TrialView::of(subscription),
            cycles: subscription.upcoming(now).take(CYCLES).map(UpcomingView::of).collect(),
        }
    }
}

impl UpcomingView {
    fn of(Upcoming { number, due_on, bills_at, amount }: Upcoming) -> Self {
        Self { cycle: number, due_date: due_on, bills_at, amount }
    }
}

/// Shows what a subscription would charge, without creating it.
///
/// The body is that of `POST /v1/subscriptions`, with the same rules.
#[utoipa::path(
    post, path = "/v1/subscriptions/preview", operation_id = "previewSubscription", tag = "Subscriptions",
    request_body(content = SubscriptionData, content_type = "application/json"),
    responses(
        (status = 200, description = "The next twelve cycles.", body = PreviewView),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope),
        (status = 422, description = "The platform fee would leave nothing to divide.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn preview(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let new = read_new(body.members(), is_live(&app))?;
    let plan = || async {
        let (batch, subscription) = subscriptions::plan_preview(&app, &caller, &new).await?;
        let view = PreviewView::of(&subscription, app.clock.of(caller.client_id));
        Planned::showing(batch, StatusCode::OK.as_u16(), &view)
    };
    commit_once(&app, &caller, &headers, "POST /v1/subscriptions/preview", &body, plan).await
}
