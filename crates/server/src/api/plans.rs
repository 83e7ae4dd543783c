//! `/v1/subacquirer/plans`: what the platform's own provider keeps, and when it pays out (`docs/interface/plans.md`). Read only:
//! operators change plans with `regente plans`.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use regente_domain::card::Brand;
use regente_domain::id::{ClientId, PlanId};
use regente_domain::money::Amount;
use regente_domain::plan::{Fee, Plan, PlanMethod, PlanStatus, Policy};
use regente_domain::time::Timestamp;
use regente_engine::caller::Caller;
use regente_engine::plans;
use regente_store::customers::{Order, Slice};
use regente_store::plans::PlanFilter;
use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::ToSchema;

use super::page::Page;
use super::path::{Path, path_id};
use super::query::{Query, SortOrder};
use super::schema::words;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// The `limit` of the list by default.
const LIMIT: u32 = 10;

/// A sales plan.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Plan, example = json!({
    "id": "3f0d7c5a-51a0-4a33-9a2e-6d1b9c0f4a11", "clientId": "e234eeb3-483d-4df2-87eb-1e2be5cdaccd", "name": "Standard",
    "description": null, "isDefault": true, "status": "active",
    "policies": [
        { "paymentMethod": "credit", "payoutTermDays": 30, "payoutRecurrence": "daily", "payoutDay": null },
        { "paymentMethod": "pix", "payoutTermDays": 1, "payoutRecurrence": "daily", "payoutDay": null }
    ],
    "fees": [
        { "paymentMethod": "credit", "brand": null, "installmentsFrom": 1, "installmentsTo": 1, "percentage": 2.99,
            "fixedAmount": 39 },
        { "paymentMethod": "pix", "brand": null, "installmentsFrom": null, "installmentsTo": null, "percentage": 0.99,
            "fixedAmount": null }
    ],
    "createdAt": "2026-01-10T12:00:00.000Z", "updatedAt": "2026-01-10T12:00:00.000Z"
}))]
pub struct PlanView {
    /// Id of the plan.
    pub id: PlanId,
    /// The account.
    pub client_id: ClientId,
    /// What it is called.
    pub name: String,
    /// What it is for.
    #[schema(required = true)]
    pub description: Option<String>,
    /// Whether it is that of sellers without a plan of their own, and of the account itself. One plan of an account is.
    pub is_default: bool,
    /// Whether sellers can be linked to it.
    pub status: PlanStatus,
    /// When money is paid out. A method that is not listed is paid out daily: a card after 30 days, another one after one.
    pub policies: Vec<Policy>,
    /// What is kept of a charge: the first that fits it. Where none does, nothing.
    pub fees: Vec<FeeView>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What is kept of charges of a payment method.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlanFee)]
pub struct FeeView {
    /// Of which method.
    pub payment_method: PlanMethod,
    /// Of cards of this brand; null is all.
    #[schema(value_type = Option<words::KnownCardBrand>, required = true)]
    pub brand: Option<Brand>,
    /// From so many installments; null is any number.
    #[schema(required = true, minimum = 1, maximum = 24)]
    pub installments_from: Option<u8>,
    /// Up to so many; null is any number.
    #[schema(required = true, minimum = 1, maximum = 24)]
    pub installments_to: Option<u8>,
    /// In percent of the gross amount, half a cent rounded up.
    #[schema(value_type = Option<f64>, required = true, example = 2.99)]
    pub percentage: Option<Number>,
    /// What is kept beside it, in the minor unit of the currency.
    #[schema(value_type = Option<i64>, required = true, example = 39)]
    pub fixed_amount: Option<Amount>,
}

impl From<Plan> for PlanView {
    fn from(plan: Plan) -> Self {
        Self {
            id: plan.id,
            client_id: plan.client_id,
            name: plan.name,
            description: plan.description,
            is_default: plan.is_default,
            status: plan.status,
            policies: plan.terms.policies,
            fees: plan.terms.fees.into_iter().map(FeeView::from).collect(),
            created_at: plan.created_at,
            updated_at: plan.updated_at,
        }
    }
}

impl From<Fee> for FeeView {
    fn from(fee: Fee) -> Self {
        Self {
            payment_method: fee.payment_method,
            brand: fee.brand,
            installments_from: fee.installments_from,
            installments_to: fee.installments_to,
            percentage: fee.percentage.and_then(|percentage| percentage.to_string().parse().ok()),
            fixed_amount: fee.fixed_amount,
        }
    }
}

/// Lists the sales plans.
///
/// One of them is the default.
#[utoipa::path(
    get, path = "/v1/subacquirer/plans", operation_id = "listPlans", tag = "Plans",
    params(
        ("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<i64>, Query, minimum = 1, maximum = 100, description = "Plans on a page; 10 by default."),
        ("isDefault" = Option<bool>, Query, description = "Only the default plan, or only the others."),
        ("sort" = Option<words::SortOrder>, Query,
            description = "By creation, in upper or lower case; newest first by default."),
    ),
    responses((status = 200, description = "A page of plans.", body = Page<PlanView>), CommonErrors),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<Response, ApiError> {
    let (page, sort, filter) = query.read(|parameters| {
        let filter = PlanFilter { is_default: parameters.boolean("isDefault") };
        (parameters.page(LIMIT), parameters.sort(), filter)
    })?;
    let order = match sort {
        SortOrder::Ascending => Order::OldestFirst,
        SortOrder::Descending => Order::NewestFirst,
    };
    let slice = Slice { order, limit: i64::from(page.limit), offset: page.offset() };
    let (found, total) = plans::list(&app, caller.client_id, filter, slice).await?;
    Ok(Json(Page::new(page, found, total).map(PlanView::from)).into_response())
}

/// Reads a sales plan.
#[utoipa::path(
    get, path = "/v1/subacquirer/plans/{id}", operation_id = "getPlan", tag = "Plans",
    params(("id" = Uuid, Path, description = "The plan.")),
    responses((status = 200, description = "The plan.", body = PlanView),
        (status = 404, description = "There is no such plan.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let found = plans::find(&app, caller.client_id, path_id(&id)?).await?;
    Ok(Json(PlanView::from(found)).into_response())
}
