//! `POST /v1/charges/{id}`: sets a charge's status by hand, in the sandbox only (`docs/interface/sandbox.md#status`).

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use deserr::Deserr;
use regente_domain::charge::SimulatedStatus;
use regente_domain::id::ChargeId;
use regente_domain::problems::Problems;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::charges::create::Ran;
use regente_engine::document_links::Addresses;
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use regente_engine::simulator::set_status::{self, Setting};
use regente_providers::request::Mode;
use utoipa::ToSchema;

use super::open_private;
use super::view::ChargeView;
use crate::api::fields::Body;
use crate::api::idempotency::commit_once_in_steps;
use crate::api::path::{Path, path_id};
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// The status to set.
#[derive(Deserr, ToSchema)]
#[deserr(error = Problems)]
#[schema(as = NewChargeStatus, example = json!({ "status": "charged_back" }))]
pub struct StatusBody {
    /// `refund_pending` is for Pix alone.
    status: SimulatedStatus,
}

/// Sets the status of a charge, in the sandbox.
///
/// What can happen at the simulator happens there, so that its transaction log agrees: a payer pays, a reservation is
/// captured, a refund is made, confirmed or refused, instructions are withdrawn, a payment is charged back. Everything else
/// is set by hand, without asking a provider. Final states (`canceled`, `voided`, `charged_back`) stay. In production there is no
/// such operation.
#[utoipa::path(
    post,
    path = "/v1/charges/{id}",
    operation_id = "setChargeStatus",
    tag = "Charges",
    params(("id" = Uuid, Path, description = "The charge.")),
    request_body(content = StatusBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The charge.", body = ChargeView),
        (status = 404, description = "There is no such charge, or this is production.", body = ErrorEnvelope),
        (status = 409, description = "Another operation on the charge is under way.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn set_status(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    if app.settings.mode == Mode::Production {
        return Err(Error::NotFound.into());
    }
    let charge_id: ChargeId = path_id(&id)?;
    let StatusBody { status } = body.read_as()?;
    let route = format!("POST /v1/charges/{charge_id}");
    let begins = set_status::begins(&app, caller.client_id, charge_id, status);
    let mut nth_try = 0;
    commit_once_in_steps(&app, &caller, &headers, (&route, &body), begins, |begun| {
        nth_try += 1;
        plan(&app, (&caller, &request_id), Setting { charge_id, status, begun, nth_try })
    })
    .await
}

async fn plan(app: &App, by: (&Caller, &RequestId), setting: Setting) -> Result<Planned, Error> {
    let (batch, stored, Ran { charge, requests }) = set_status::plan(app, by, setting).await?;
    let (private, addresses) = (open_private(app, &stored).await?, Addresses::of(app, &charge).await?);
    let view = ChargeView::of(&charge, &private, &addresses, &requests, by.0);
    Planned::showing(batch, StatusCode::OK.as_u16(), &view)
}
