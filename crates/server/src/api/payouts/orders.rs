//! Payout orders: what receivers are due of charges.

use axum::extract::State;
use axum::{Extension, Json};
use regente_domain::currency::Currency;
use regente_domain::id::{ChargeId, PaymentBatchId, PayoutOrderId};
use regente_domain::payout::arrangement::Arrangement;
use regente_domain::payout::method::PayoutMethod;
use regente_domain::payout::{Order, OrderType};
use regente_domain::time::Timestamp;
use regente_engine::caller::Caller;
use regente_engine::payouts;
use regente_store::payouts::OrderFilter;
use serde::Serialize;
use utoipa::ToSchema;

use super::super::page::Page;
use super::super::path::{Path, path_id};
use super::super::query::Query;
use super::super::schema::words;
use super::{created, page, receiver, slice};
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// A part of a charge that is due to a receiver, or is taken from it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PayoutOrder, example = json!({
    "id": "0f3d5b1a-7c89-4f23-9bd6-aabbccddeeff", "chargeId": "1c1e6a87-44ab-44d9-9311-9876543210ab", "amount": 9700,
    "grossAmount": 10000, "totalFeeAmount": 300, "currency": "BRL", "installment": 1, "totalInstallments": 1,
    "paymentMethod": "credit", "type": "authorization", "paymentArrangement": "VCC", "paymentScheduledAt": "2026-04-28",
    "paymentBatchId": "9b1a3a3e-2f87-4b2f-ae59-1234567890ab", "createdAt": "2026-04-20T15:30:00.000Z",
    "updatedAt": "2026-04-20T15:30:00.000Z"
}))]
pub struct PayoutOrderView {
    /// Id of the order.
    id: PayoutOrderId,
    /// The charge.
    charge_id: ChargeId,
    /// Net: `grossAmount` less `totalFeeAmount`; negative for a void and a charge back.
    amount: i64,
    /// Gross.
    gross_amount: i64,
    /// What is kept of it, or given back with it.
    total_fee_amount: i64,
    /// The currency of the amounts.
    currency: Currency,
    /// The installment, from 1; of a void that of the order that it reduces.
    #[schema(required = true)]
    installment: Option<u8>,
    /// Of how many.
    #[schema(required = true)]
    total_installments: Option<u8>,
    /// How the charge was paid.
    payment_method: PayoutMethod,
    /// What the order is about.
    #[serde(rename = "type")]
    order_type: OrderType,
    /// The arrangement of the card.
    #[schema(required = true)]
    payment_arrangement: Option<Arrangement>,
    /// The day on which it is due.
    #[schema(value_type = Option<String>, format = Date, required = true)]
    payment_scheduled_at: Option<String>,
    /// The batch in which it is paid.
    #[schema(value_type = Option<Uuid>, required = true)]
    payment_batch_id: Option<PaymentBatchId>,
    /// When it was written.
    created_at: Timestamp,
    /// When it changed last.
    updated_at: Timestamp,
}

impl PayoutOrderView {
    pub(super) fn of(order: &Order) -> Self {
        Self {
            id: order.id,
            charge_id: order.charge_id,
            amount: order.net(),
            gross_amount: order.gross,
            total_fee_amount: order.fee,
            currency: order.currency,
            installment: order.installment,
            total_installments: order.total_installments,
            payment_method: order.method,
            order_type: order.order_type,
            payment_arrangement: order.arrangement,
            payment_scheduled_at: Some(order.scheduled_at.to_string()),
            payment_batch_id: order.batch_id,
            created_at: order.id.created_at(),
            updated_at: order.updated_at,
        }
    }
}

/// Lists payout orders.
///
/// Of the whole account, or of one seller, in the order in which they were written.
#[utoipa::path(
    get, path = "/v1/payouts/orders", operation_id = "listPayoutOrders", tag = "Payouts",
    params(
        ("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<u32>, Query, description = "1 to 100, 10 by default.", minimum = 1, maximum = 100),
        ("order" = Option<words::ListOrder>, Query, description = "By creation; `desc` by default."),
        ("sellerId" = Option<Uuid>, Query, description = "Those of a seller."),
        ("chargeId" = Option<Uuid>, Query, description = "Those of a charge."),
        ("startDate" = Option<String>, Query, format = DateTime, description = "Written at this moment or later."),
        ("endDate" = Option<String>, Query, format = DateTime,
            description = "Written at this moment or earlier; on this day or earlier, where it is `YYYY-MM-DD`."),
    ),
    responses((status = 200, description = "A page of orders.", body = Page<PayoutOrderView>), CommonErrors),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<Json<Page<PayoutOrderView>>, ApiError> {
    let ((page, direction), filter) = query.read(|parameters| {
        let (from, before) = created(parameters);
        let (receiver, charge_id) = (receiver(parameters), parameters.id("chargeId"));
        (page(parameters), OrderFilter { receiver, charge_id, from, before, batch_id: None })
    })?;
    let (found, total) =
        payouts::list_orders(&app, caller.client_id, &filter, direction, slice(page)).await?;
    Ok(Json(Page::new(page, found.iter().map(PayoutOrderView::of).collect(), total)))
}

/// Reads a payout order.
#[utoipa::path(
    get, path = "/v1/payouts/orders/{id}", operation_id = "getPayoutOrder", tag = "Payouts",
    params(("id" = Uuid, Path, description = "Id of the order"),
        ("sellerId" = Option<Uuid>, Query, description = "Only if it is this seller's.")),
    responses((status = 200, description = "The order.", body = PayoutOrderView),
        (status = 404, description = "There is no such order.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: Query,
) -> Result<Json<PayoutOrderView>, ApiError> {
    let receiver = query.read(receiver)?;
    let order = payouts::find_order(&app, caller.client_id, path_id(&id)?, receiver).await?;
    Ok(Json(PayoutOrderView::of(&order)))
}
