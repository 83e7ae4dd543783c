//! `POST /v1/charges/{id}`: the status that a tester sets by hand, in the sandbox alone (contract 07 §4).

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use regente_domain::charge::attempt::{Approval, Outcome, TransactionRequest};
use regente_domain::charge::{Charge, SimulatedStatus, StatusRefusal, Transition};
use regente_domain::decline::{Decline, DeclinedCode};
use regente_providers::request::Mode;
use regente_store::transaction_requests::{self, ObjectKind};
use regente_store::{Batch, Commit, charges, events};
use utoipa::ToSchema;

use super::view::ChargeView;
use super::{find, view_of};
use crate::access::Caller;
use crate::api::error::ApiError;
use crate::api::fields::Body;
use crate::api::path_id;
use crate::api::request_id::RequestId;
use crate::api::schema::{CommonErrors, ErrorEnvelope};
use crate::app::App;
use crate::audit;

/// How often the charge is read again after losing a race for it.
const RACES_MAX: usize = 4;

/// The status to set.
#[derive(ToSchema)]
#[schema(as = NewChargeStatus, example = json!({ "status": "charged_back" }))]
#[expect(
    dead_code,
    reason = "describes the body for the OpenAPI document; the body itself is read field by field"
)]
pub struct StatusBody {
    /// `authorized`, `voided`, `charged_back` or `failed`; `refund_pending` is not for cards.
    #[schema(pattern = "^(authorized|voided|charged_back|refund_pending|failed)$")]
    status: String,
}

/// Sets the status of a charge, in the sandbox.
///
/// No provider is asked, and the books of the simulator do not change: a tester sees what would follow. Final states
/// (`canceled`, `voided`, `charged_back`) stay. In production there is no such operation.
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
    security(("client_id" = [], "api_key" = [])),
)]
pub async fn set_status(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, ApiError> {
    if app.settings.mode == Mode::Production {
        return Err(ApiError::NotFound);
    }
    let charge_id = path_id(&id)?;
    let status = body.read(|fields| fields.required("status").one_of(SimulatedStatus::WORDS))?;
    for _ in 0..RACES_MAX {
        let before = find(&app, &caller, charge_id).await?.charge;
        let transition = before.simulate(status, app.clock.now()).map_err(refused)?;
        let mut batch = plan(&app, &caller, &before, &transition, status).await?;
        let object_id = before.id.uuid();
        audit::record(&app, &mut batch, &caller, &request_id, "charge.status_set", object_id);
        let _admission = app.store.admit()?;
        match app.store.apply(batch).await? {
            Commit::Applied => {
                let stored = find(&app, &caller, charge_id).await?;
                return Ok(axum::Json(view_of(&app, &caller, &stored).await?).into_response());
            }
            // The charge has moved on: what is allowed may be another thing now.
            Commit::Refused(_) => {}
            Commit::Unknown => return Err(ApiError::unavailable()),
        }
    }
    Err(ApiError::busy())
}

async fn plan(
    app: &App,
    caller: &Caller,
    before: &Charge,
    transition: &Transition,
    status: SimulatedStatus,
) -> Result<Batch, ApiError> {
    let now = app.clock.now();
    let requests = transaction_requests::of_object(&app.store, before.client_id, before.id.uuid()).await?;
    let Some(last) = requests.last() else {
        return Err(ApiError::internal("a charge without a transaction request"));
    };
    let actor = caller.actor();
    let told = TransactionRequest {
        id: app.chance.id(now),
        ordinal: before.requests,
        request_type: status.request_type(),
        amount: before.amount,
        // No provider gave it an id: that is how one that was set by hand is known.
        outcome: match status {
            SimulatedStatus::Failed => Outcome::Declined(Decline::of(DeclinedCode::Generic)),
            SimulatedStatus::Authorized
            | SimulatedStatus::Voided
            | SimulatedStatus::ChargedBack
            | SimulatedStatus::RefundPending => Outcome::Approved(Approval::default()),
        },
        duration: None,
        updated_at: now,
        ..last.request.clone()
    };
    let mut batch = Batch::new(before.client_id);
    charges::update(&mut batch, before, &transition.charge, &actor)?;
    transaction_requests::insert_ended(&mut batch, &told, ObjectKind::Charge, &actor)?;
    if let Some(event) = transition.announces {
        events::charge_changed(&mut batch, app.chance.id(now), &transition.charge, event, &actor);
    }
    Ok(batch)
}

fn refused(refusal: StatusRefusal) -> ApiError {
    match refusal {
        StatusRefusal::UnderWay(status) => ApiError::Conflict {
            message: "Transaction is processing".into(),
            details: vec![format!("charge is {}: its outcome is not known yet", status.word())],
        },
        StatusRefusal::Final(status) => {
            ApiError::impossible(format!("charge status cannot be set in status {}", status.word()))
        }
        StatusRefusal::NotForPaymentType => {
            ApiError::invalid("status", "must be authorized, voided, charged_back or failed for a card")
        }
    }
}
