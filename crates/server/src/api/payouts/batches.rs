//! Payment batches: what receivers are paid at once.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use regente_domain::id::PaymentBatchId;
use regente_domain::payout::arrangement::Arrangement;
use regente_domain::payout::method::PayoutMethod;
use regente_domain::payout::{BatchStatus, Feature};
use regente_domain::time::Timestamp;
use regente_engine::caller::Caller;
use regente_engine::payouts;
use regente_store::payouts::batches::PaymentBatch;
use regente_store::payouts::{BatchFilter, OrderFilter};
use serde::Serialize;
use utoipa::ToSchema;

use super::super::page::Page;
use super::super::path::{Path, path_id};
use super::super::query::{Query, given};
use super::super::schema::words;
use super::orders::PayoutOrderView;
use super::{created, page, receiver, slice};
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// Why a batch was not paid.
#[derive(Serialize, ToSchema)]
#[schema(as = PaymentBatchError)]
pub struct BatchErrorView<'a> {
    /// What the bank says.
    #[schema(example = "the account does not exist")]
    reason: &'a str,
}

/// What a receiver is paid at once. `finalBalance` is `amount` less `totalFeeAmount`, `balanceAmount`, `refundAmount`,
/// `debitAdjustmentAmount` and `withdrawalFeeAmount`, with `creditAmount` and `creditAdjustmentAmount`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PaymentBatch, example = json!({
    "id": "9b1a3a3e-2f87-4b2f-ae59-1234567890ab", "createdAt": "2026-04-25T18:00:00.000Z", "updatedAt": "2026-04-28T18:00:00.000Z",
    "amount": 250_000, "feeAmount": 7_500, "totalFeeAmount": 7_500, "balanceAmount": 0, "creditAmount": 0, "refundAmount": 0,
    "debitAdjustmentAmount": 0, "creditAdjustmentAmount": 0, "finalBalance": 242_500, "withdrawalFeeAmount": 0, "reportUrl": null,
    "paymentDate": "2026-04-28", "payoutDate": "2026-04-28", "status": "paid", "feature": "subacquirer", "paymentMethod": "credit",
    "paymentArrangement": "VCC", "error": null
}))]
pub struct PaymentBatchView<'a> {
    /// Id of the batch.
    id: PaymentBatchId,
    /// When it was made.
    created_at: Timestamp,
    /// When it changed last.
    updated_at: Timestamp,
    /// Gross of what charges have brought.
    amount: i64,
    /// What the provider keeps.
    fee_amount: i64,
    /// All that is kept, with `feeAmount`.
    total_fee_amount: i64,
    /// An earlier debt that is set off here.
    balance_amount: i64,
    /// Credits by hand.
    credit_amount: i64,
    /// Refunds that are deducted.
    refund_amount: i64,
    /// Charge backs that are deducted.
    debit_adjustment_amount: i64,
    /// What is added to adjust it.
    credit_adjustment_amount: i64,
    /// What is paid; with `offset`, 0 or what is missing.
    final_balance: i64,
    /// What the transfer costs.
    withdrawal_fee_amount: i64,
    /// Always null.
    #[schema(required = true)]
    report_url: Option<String>,
    /// When it is to be paid.
    #[schema(value_type = String, format = Date)]
    payment_date: String,
    /// When it was.
    #[schema(value_type = Option<String>, format = Date, required = true)]
    payout_date: Option<String>,
    /// Where it stands.
    status: BatchStatus,
    /// Where the money comes from.
    feature: Feature,
    /// How the charges were paid.
    #[schema(required = true)]
    payment_method: Option<PayoutMethod>,
    /// The arrangement of their cards.
    #[schema(required = true)]
    payment_arrangement: Option<Arrangement>,
    /// Why it was not paid.
    #[schema(required = true)]
    error: Option<BatchErrorView<'a>>,
}

impl<'a> PaymentBatchView<'a> {
    fn of(batch: &'a PaymentBatch) -> Self {
        let figures = &batch.figures;
        Self {
            id: batch.id,
            created_at: batch.id.created_at(),
            updated_at: batch.updated_at,
            amount: figures.amount,
            fee_amount: figures.fee,
            total_fee_amount: figures.total_fee,
            balance_amount: figures.balance,
            credit_amount: figures.credit,
            refund_amount: figures.refund,
            debit_adjustment_amount: figures.debit_adjustment,
            credit_adjustment_amount: figures.credit_adjustment,
            final_balance: figures.final_balance(),
            withdrawal_fee_amount: figures.withdrawal_fee,
            report_url: None,
            payment_date: batch.payment_date.to_string(),
            payout_date: batch.payout_date.map(|day| day.to_string()),
            status: batch.status,
            feature: batch.feature,
            payment_method: Some(batch.group.method),
            payment_arrangement: batch.group.arrangement,
            error: batch.error.as_deref().map(|reason| BatchErrorView { reason }),
        }
    }
}

/// Lists payment batches.
///
/// Of the whole account, or of one seller, in the order in which they were made.
#[utoipa::path(
    get, path = "/v1/payouts/payment-batches", operation_id = "listPaymentBatches", tag = "Payouts",
    params(
        ("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<u32>, Query, description = "1 to 100, 10 by default.", minimum = 1, maximum = 100),
        ("order" = Option<words::ListOrder>, Query, description = "By creation; `desc` by default."),
        ("sellerId" = Option<Uuid>, Query, description = "Those of a seller."),
        ("status" = Option<Vec<BatchStatus>>, Query, description = "In one of these states; repeated, or separated by commas."),
        ("startDate" = Option<String>, Query, format = DateTime, description = "Made at this moment or later."),
        ("endDate" = Option<String>, Query, format = DateTime,
            description = "Made at this moment or earlier; on this day or earlier, where it is `YYYY-MM-DD`."),
        ("paymentDate" = Option<String>, Query, format = Date, description = "To be paid on this day."),
    ),
    responses((status = 200, description = "A page of batches.", body = Page<PaymentBatchView>), CommonErrors),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<Response, ApiError> {
    let ((page, direction), filter) = query.read(|parameters| {
        let (from, before) = created(parameters);
        let statuses = given(parameters.one_of("status", BatchStatus::WORDS));
        let (receiver, payment_date) = (receiver(parameters), parameters.day("paymentDate"));
        (page(parameters), BatchFilter { receiver, statuses, from, before, payment_date })
    })?;
    let (found, total) =
        payouts::list_batches(&app, caller.client_id, &filter, direction, slice(page)).await?;
    let views = found.iter().map(PaymentBatchView::of).collect();
    Ok(Json(Page::new(page, views, total)).into_response())
}

/// Reads a payment batch.
#[utoipa::path(
    get, path = "/v1/payouts/payment-batches/{id}", operation_id = "getPaymentBatch", tag = "Payouts",
    params(("id" = Uuid, Path, description = "Id of the batch"),
        ("sellerId" = Option<Uuid>, Query, description = "Only if it is this seller's.")),
    responses((status = 200, description = "The batch.", body = PaymentBatchView),
        (status = 404, description = "There is no such batch.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: Query,
) -> Result<Response, ApiError> {
    let receiver = query.read(receiver)?;
    let batch = payouts::find_batch(&app, caller.client_id, path_id(&id)?, receiver).await?;
    Ok(Json(PaymentBatchView::of(&batch)).into_response())
}

/// Lists the orders of a payment batch.
///
/// Those of a batch that has failed are in a later one.
#[utoipa::path(
    get, path = "/v1/payouts/payment-batches/{id}/orders", operation_id = "listOrdersOfPaymentBatch", tag = "Payouts",
    params(("id" = Uuid, Path, description = "Id of the batch"),
        ("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<u32>, Query, description = "1 to 100, 10 by default.", minimum = 1, maximum = 100),
        ("order" = Option<words::ListOrder>, Query, description = "By creation; `desc` by default.")),
    responses((status = 200, description = "A page of orders.", body = Page<PayoutOrderView>),
        (status = 404, description = "There is no such batch.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn list_orders(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: Query,
) -> Result<Json<Page<PayoutOrderView>>, ApiError> {
    let id = path_id(&id)?;
    payouts::find_batch(&app, caller.client_id, id, None).await?;
    let (page, direction) = query.read(page)?;
    let filter = OrderFilter { batch_id: Some(id), ..OrderFilter::default() };
    let (found, total) =
        payouts::list_orders(&app, caller.client_id, &filter, direction, slice(page)).await?;
    Ok(Json(Page::new(page, found.iter().map(PayoutOrderView::of).collect(), total)))
}
