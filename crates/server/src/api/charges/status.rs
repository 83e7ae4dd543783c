//! `POST /v1/charges/{id}`: sets a charge's status by hand, in the sandbox only (`docs/interface/sandbox.md#status`).

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use regente_domain::charge::attempt::{Approval, Asks, Outcome, TransactionRequest};
use regente_domain::charge::{Charge, SimulatedStatus, Staging, StatusRefusal, Transition};
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::id::ChargeId;
use regente_engine::audit;
use regente_engine::caller::Caller;
use regente_engine::caller::RequestId;
use regente_engine::charges::create::Ran;
use regente_engine::document_links::Addresses;
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use regente_engine::purchases::operations::card_is_free;
use regente_engine::queue::sessions;
use regente_engine::races;
use regente_engine::simulator::set_status::{self, Reached};
use regente_providers::request::Mode;
use regente_store::transaction_requests::{self, ObjectKind};
use regente_store::{Batch, charges, events, purchases};
use utoipa::ToSchema;

use super::view::ChargeView;
use super::{find, open_private};
use crate::api::fields::Body;
use crate::api::idempotency::commit_once_in_steps;
use crate::api::path::{Path, path_id};
use crate::api::schema::words;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

/// What the audit calls it.
const STATUS_SET: &str = "charge.status_set";

/// The status to set.
#[derive(ToSchema)]
#[schema(as = NewChargeStatus, example = json!({ "status": "charged_back" }))]
#[expect(
    dead_code,
    reason = "describes the body for the OpenAPI document; the body itself is read field by field"
)]
pub struct StatusBody {
    /// `refund_pending` is for Pix alone.
    #[schema(value_type = words::SettableStatus)]
    status: String,
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
    let status = body.read(|fields| fields.required("status").one_of(SimulatedStatus::WORDS))?;
    let route = format!("POST /v1/charges/{charge_id}");
    let begins = begins(&app, &caller, charge_id, status);
    let mut plans = 0;
    commit_once_in_steps(&app, &caller, &headers, (&route, &body), begins, |begun| {
        plans += 1;
        let (app, caller, request_id) = (&app, &caller, &request_id);
        async move {
            // Whoever lost every race is told what is under way, not that the service is busy.
            if plans == races::TRIES_MAX {
                return Err(set_status::under_way(&find(app, caller, charge_id).await?.charge));
            }
            plan(app, caller, request_id, charge_id, status, begun).await
        }
    })
    .await
}

/// The charge before something happens at its simulator, if anything will.
async fn begins(
    app: &App,
    caller: &Caller,
    charge_id: ChargeId,
    status: SimulatedStatus,
) -> Result<Option<Charge>, Error> {
    let charge = find(app, caller, charge_id).await?.charge;
    card_is_free(app, &charge, None).await?;
    Ok(match charge.stage(status, None).map_err(refused)? {
        Staging::Reached | Staging::ByHand => None,
        Staging::Payment
        | Staging::Withdrawal
        | Staging::Capture
        | Staging::Void
        | Staging::Refund
        | Staging::RefundRefusal
        | Staging::ChargeBack
        | Staging::TakenBack => Some(charge),
    })
}

async fn plan(
    app: &App,
    caller: &Caller,
    request_id: &RequestId,
    charge_id: ChargeId,
    status: SimulatedStatus,
    begun: Option<i64>,
) -> Result<Planned, Error> {
    let now = app.clock.of(caller.client_id);
    let stored = find(app, caller, charge_id).await?;
    card_is_free(app, &stored.charge, None).await?;
    let (place, actor) = ((caller.client_id, charge_id), caller.actor());
    if let Reached::AtProvider(ran) = set_status::reach(app, place, status, begun, &actor, refused).await? {
        let Ran { charge, requests } = *ran;
        let mut batch = Batch::new(caller.client_id);
        audit::record(app, &mut batch, caller, request_id, STATUS_SET, charge_id.uuid());
        let (private, addresses) = (open_private(app, &stored).await?, Addresses::of(app, &charge).await?);
        let view = ChargeView::of(&charge, &private, &addresses, &requests, caller);
        let body = serde_json::to_value(view).map_err(Error::internal)?;
        return Ok(Planned { batch, status: StatusCode::OK.as_u16(), body });
    }
    // What happened at the provider on the way has changed the charge.
    let stored = find(app, caller, charge_id).await?;
    let before = &stored.charge;
    let purchase = card_is_free(app, before, None).await?;
    let Transition { charge: after, announces } = before.simulate(status, now).map_err(refused)?;
    let requests = transaction_requests::of_object(&app.store, before.client_id, before.id.uuid()).await?;
    let mut requests: Vec<TransactionRequest> = requests.into_iter().map(|stored| stored.request).collect();
    // The provider of the payment, where one was asked.
    let of_payment = requests.iter().rfind(|request| !request.request_type.is_about_risk());
    let Some(last) = of_payment.or(requests.last()) else {
        return Err(Error::internal("a charge without a transaction request"));
    };
    let told = told(app, before, &after, last, status);
    let mut batch = Batch::new(before.client_id);
    if let Some(purchase) = purchase {
        purchases::hold(&mut batch, purchase);
    }
    charges::update(&mut batch, before, &after, &actor)?;
    sessions::wake(app, &mut batch, before, &after, Some(&told));
    transaction_requests::insert_ended(&mut batch, &told, ObjectKind::Charge, &actor)?;
    if let Some(event) = announces {
        events::charge_changed(&mut batch, app.chance.id(now), &after, event, &actor);
    }
    audit::record(app, &mut batch, caller, request_id, STATUS_SET, before.id.uuid());
    requests.push(told);
    let (private, addresses) = (open_private(app, &stored).await?, Addresses::of(app, &after).await?);
    let view = ChargeView::of(&after, &private, &addresses, &requests, caller);
    let body = serde_json::to_value(view).map_err(Error::internal)?;
    Ok(Planned { batch, status: StatusCode::OK.as_u16(), body })
}

/// The transaction request that records the change. It has no provider's id, which marks it as set by hand.
fn told(
    app: &App,
    before: &Charge,
    after: &Charge,
    last: &TransactionRequest,
    status: SimulatedStatus,
) -> TransactionRequest {
    let now = after.updated_at;
    let asks = Asks {
        provider_id: last.provider_id,
        provider_type: last.provider_type,
        request_type: status.request_type(),
        amount: before.amount,
        follows: None,
    };
    let outcome = match status {
        SimulatedStatus::Failed => Outcome::Declined(Decline::of(DeclinedCode::Generic)),
        SimulatedStatus::Authorized
        | SimulatedStatus::Voided
        | SimulatedStatus::ChargedBack
        | SimulatedStatus::RefundPending => Outcome::Approved(Approval::default()),
    };
    TransactionRequest { outcome, ..after.begin_request(app.chance.id(now), asks, now) }
}

fn refused(refusal: StatusRefusal) -> Error {
    match refusal {
        StatusRefusal::UnderWay(status) => Error::processing(status.word()),
        StatusRefusal::Final(status) => {
            Error::impossible(format!("charge status cannot be set in status {}", status.word()))
        }
        StatusRefusal::NotForPaymentType => {
            Error::invalid("status", "must be a status of the charge's payment type")
        }
    }
}
