//! `GET /v1/subscriptions` (`docs/interface/subscriptions.md#listing`).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use regente_domain::currency::Currency;
use regente_domain::id::{ClientId, CustomerId, MerchantId, SubscriptionId};
use regente_domain::money::Amount;
use regente_domain::subscription::data::REFERENCE_CHARS_MAX;
use regente_domain::subscription::{CURRENCY, Interval, Subscription, SubscriptionStatus};
use regente_domain::time::Timestamp;
use regente_engine::caller::Caller;
use regente_engine::events::masked;
use regente_engine::events::subscription::TrialView;
use regente_engine::subscriptions::{self, SubscriptionFilter};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::page::{LIMIT_DEFAULT, Page, PageRequest};
use crate::api::query::{Parameters, Query, given};
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors};

/// A subscription in a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ListedSubscription)]
pub struct ListedSubscriptionView {
    id: SubscriptionId,
    name: String,
    client_id: ClientId,
    merchant_id: MerchantId,
    customer_id: CustomerId,
    #[schema(required = true)]
    reference_key: Option<String>,
    /// Always `BRL`.
    currency: Currency,
    /// Absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    trial: Option<TrialView>,
    status: SubscriptionStatus,
    /// What the next cycle charges, in cents.
    #[schema(value_type = i64, example = 29900)]
    amount: Amount,
    /// Whether it was made outside of the sandbox.
    live_mode: bool,
    /// The time from one due date to the next.
    interval: Interval,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl ListedSubscriptionView {
    fn for_caller(subscription: &Subscription, caller: &Caller) -> Self {
        let reference_key = subscription.reference_key.as_deref();
        let shown = if caller.is_public_key() { masked } else { |key: Option<&str>| key.map(str::to_owned) };
        Self {
            id: subscription.id,
            name: subscription.name.clone(),
            client_id: subscription.client_id,
            merchant_id: subscription.merchant_id,
            customer_id: subscription.customer_id,
            reference_key: shown(reference_key),
            currency: CURRENCY,
            trial: TrialView::of(subscription),
            status: subscription.status(),
            amount: subscription.amount,
            live_mode: subscription.is_live,
            interval: subscription.schedule.interval(),
            created_at: subscription.id.created_at(),
            updated_at: subscription.updated_at,
        }
    }
}

/// Lists subscriptions, newest first.
///
/// Several values of a filter are separated by commas and mean "or". Public keys need the scope `*`.
#[utoipa::path(
    get, path = "/v1/subscriptions", operation_id = "listSubscriptions", tag = "Subscriptions",
    params(
        ("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<i64>, Query, minimum = 1, maximum = 100,
            description = "Subscriptions on a page; 15 by default."),
        ("status" = Option<Vec<SubscriptionStatus>>, Query,
            description = "Statuses; repeated, or separated by commas."),
        ("customerId" = Option<String>, Query, description = "Ids of customers."),
        ("merchantId" = Option<String>, Query, description = "Ids of merchants."),
        ("referenceKey" = Option<String>, Query, description = "The client's own references."),
    ),
    responses((status = 200, description = "A page of subscriptions.", body = Page<ListedSubscriptionView>),
        CommonErrors),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<Response, ApiError> {
    let (page, filter) = query.read(read)?;
    let (limit, offset) = (i64::from(page.limit), page.offset());
    let (found, total) = subscriptions::list(&app, caller.client_id, &filter, limit, offset).await?;
    let shown = found.iter().map(|found| ListedSubscriptionView::for_caller(found, &caller)).collect();
    Ok(Json(Page::new(page, shown, total.unsigned_abs())).into_response())
}

fn read(parameters: &Parameters<'_>) -> (PageRequest, SubscriptionFilter) {
    let filter = SubscriptionFilter {
        statuses: given(parameters.one_of("status", SubscriptionStatus::WORDS)),
        customers: given(parameters.ids("customerId")),
        merchants: given(parameters.ids("merchantId")),
        reference_keys: given(parameters.texts("referenceKey", REFERENCE_CHARS_MAX)),
    };
    (parameters.page(LIMIT_DEFAULT), filter)
}
