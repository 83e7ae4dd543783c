//! `PATCH /v1/charges/{id}/antifraud`: sets the verdict of a pending risk analysis by hand, in the sandbox only
//! (`docs/interface/sandbox.md#risk-analysis`).

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use deserr::Deserr;
use regente_domain::charge::analysis::SimulatedVerdict;
use regente_domain::id::ChargeId;
use regente_domain::problems::Problems;
use regente_engine::anti_fraud;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::charges::create::Ran;
use regente_engine::document_links::Addresses;
use regente_engine::error::Error;
use regente_providers::request::Mode;
use utoipa::ToSchema;

use super::view::ChargeView;
use super::{find, open_private};
use crate::api::fields::Body;
use crate::api::path::{Path, path_id};
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// The verdict to set.
#[derive(Deserr, ToSchema)]
#[deserr(error = Problems)]
#[schema(as = NewAntiFraudStatus, example = json!({ "status": "approved" }))]
pub struct AntiFraudBody {
    status: SimulatedVerdict,
}

/// Sets the verdict of a pending risk analysis, in the sandbox.
///
/// The verdict is added as a second `anti_fraud` request, and the options of the anti-fraud provider say what follows:
/// the charge is captured, voided, or stays as it is. In production there is no such operation.
#[utoipa::path(
    patch,
    path = "/v1/charges/{id}/antifraud",
    operation_id = "setChargeAntiFraud",
    tag = "Charges",
    params(("id" = Uuid, Path, description = "The charge.")),
    request_body(content = AntiFraudBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The charge, also when the provider refused what followed.", body = ChargeView),
        (status = 404, description = "There is no such charge, or this is production.", body = ErrorEnvelope),
        (status = 409, description = "Another operation on the charge is under way.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn set_verdict(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, ApiError> {
    if app.settings.mode == Mode::Production {
        return Err(Error::NotFound.into());
    }
    let charge_id: ChargeId = path_id(&id)?;
    let AntiFraudBody { status: verdict } = body.read_as()?;
    let stored = find(&app, &caller, charge_id).await?;
    let Ran { charge, requests } =
        anti_fraud::set_verdict(&app, (&caller, &request_id), charge_id, verdict).await?;
    let (private, addresses) = (open_private(&app, &stored).await?, Addresses::of(&app, &charge).await?);
    let view = ChargeView::of(&charge, &private, &addresses, &requests, &caller);
    Ok(axum::Json(view).into_response())
}
