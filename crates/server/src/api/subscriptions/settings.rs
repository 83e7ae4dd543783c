//! `/v1/subscriptions/settings`: how an account charges its subscriptions (`docs/interface/subscriptions.md#settings`).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use regente_domain::id::ClientId;
use regente_domain::subscription::data::read_settings;
use regente_domain::subscription::{AfterRetries, SubscriptionSettings, SubscriptionSettingsChanges};
use regente_domain::time::Timestamp;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::subscriptions;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::fields::Body;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// How an account charges its subscriptions.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SubscriptionSettings)]
pub struct SettingsView {
    client_id: ClientId,
    /// When a refused cycle is charged again, as set.
    retry_policy: Vec<RetryRuleView>,
    /// Text on the buyer's statement, when set.
    #[serde(skip_serializing_if = "Option::is_none")]
    statement_descriptor: Option<String>,
    /// Whether a subscription is canceled when the last attempt of a cycle has failed; otherwise it is unpaid.
    cancel_after_all_retries: bool,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// When a refused cycle is charged again.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SubscriptionRetryRuleRecord)]
struct RetryRuleView {
    /// Where the days of the list rise strictly: days after the first attempt. Otherwise: days after the attempt before.
    #[schema(example = 1)]
    days_after_last_attempt: u8,
}

impl SettingsView {
    fn of(settings: &SubscriptionSettings) -> Self {
        let rules = &settings.rules;
        let rule = |days: &u8| RetryRuleView { days_after_last_attempt: *days };
        Self {
            client_id: settings.client_id,
            retry_policy: rules.retry_policy.rules().iter().map(rule).collect(),
            statement_descriptor: rules.statement_descriptor.clone(),
            cancel_after_all_retries: match rules.after_retries {
                AfterRetries::Unpaid => false,
                AfterRetries::Canceled => true,
            },
            created_at: settings.created_at,
            updated_at: settings.updated_at,
        }
    }
}

/// Reads the settings of the account for its subscriptions.
#[utoipa::path(
    get, path = "/v1/subscriptions/settings", operation_id = "getSubscriptionSettings", tag = "Subscriptions",
    responses(
        (status = 200, description = "The settings.", body = SettingsView),
        (status = 404, description = "Nothing was set; the defaults hold.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, ApiError> {
    let settings = subscriptions::settings(&app, caller.client_id).await?;
    Ok(Json(SettingsView::of(&settings)).into_response())
}

/// Changes the settings of the account for its subscriptions, or makes them.
///
/// They hold for all of its subscriptions, from the next attempt on.
#[utoipa::path(
    patch, path = "/v1/subscriptions/settings", operation_id = "updateSubscriptionSettings", tag = "Subscriptions",
    request_body(content = SubscriptionSettingsChanges, content_type = "application/json"),
    responses((status = 200, description = "The settings after the change.", body = SettingsView), CommonErrors),
)]
pub async fn update(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    body: Body,
) -> Result<Response, ApiError> {
    let changes = read_settings(body.members())?;
    let settings = subscriptions::change_settings(&app, (&caller, &request_id), &changes).await?;
    Ok(Json(SettingsView::of(&settings)).into_response())
}
