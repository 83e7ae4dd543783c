//! `/v1/charges/{id}/capture` and `/v1/charges/{id}/void`: the operations after an authorization
//! (`docs/interface/charges.md#captures`).

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use deserr::Deserr;
use regente_domain::charge::FollowUpKind;
use regente_domain::money::{Amount, PositiveAmount};
use regente_domain::problems::Problems;
use regente_domain::split::{SELLERS_MAX, SellerReturn};
use regente_domain::wire::{Integer, List};
use regente_engine::caller::Caller;
use regente_engine::captures_and_voids::{self, NewFollowUp};
use regente_engine::charges::create::{Created, Ran};
use regente_engine::document_links::Addresses;
use regente_engine::idempotency::{Plan, unless_overtaken};
use regente_engine::purchases::operations::card_is_free;
use utoipa::ToSchema;

use super::view::ChargeView;
use super::{find, open_private, replay};
use crate::api::fields::Body;
use crate::api::idempotency::{self, KeyLookup};
use crate::api::path::{Path, path_id};
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use crate::http::headers::sandbox_seed;

type SellerReturns = List<SellerReturn, 0, SELLERS_MAX>;

/// How much is captured.
#[derive(Deserr, ToSchema)]
#[deserr(error = Problems)]
#[schema(as = NewCapture, example = json!({ "amount": 100 }))]
pub struct CaptureBody {
    /// At most what is reserved; everything when it is absent. The rest is released.
    #[deserr(default)]
    amount: Option<PositiveAmount>,
}

/// How much is given back.
#[derive(Default, Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewVoid, rename_all = "camelCase", example = json!({ "amount": 50 }))]
pub struct VoidBody {
    /// At most what is left; everything when it is absent.
    #[deserr(default)]
    amount: Option<PositiveAmount>,
    /// Days in which the provider of a NuPay may gather the money; nothing else waits.
    #[deserr(default)]
    delay_to_compose: Option<Integer<0, 365>>,
    /// What sellers give back of it; the merchant gives back the rest. By default each gives back in proportion to what they
    /// have.
    #[deserr(default)]
    split_rules: Option<SellerReturns>,
}

/// Captures a charge.
///
/// Takes what is reserved, once. A partial capture releases the rest. A refusal of the provider is a 201 as well: the
/// charge is unchanged, its first transaction request is `failed`. `capture_pending` means that the provider has not
/// told yet: the truth comes later. Of a charge whose payer has paid less than was charged it accepts what was paid,
/// and no provider is asked.
#[utoipa::path(
    post,
    path = "/v1/charges/{id}/capture",
    operation_id = "captureCharge",
    tag = "Charges",
    params(
        ("id" = Uuid, Path, description = "The charge."),
        ("X-Sandbox-Seed" = Option<String>, Header, max_length = 255,
            description = "Sandbox only: fixes what the simulator draws by lot"),
    ),
    request_body(content = CaptureBody, content_type = "application/json"),
    responses(
        (status = 201, description = "The charge, also when the provider refused.", body = ChargeView),
        (status = 404, description = "There is no such charge.", body = ErrorEnvelope),
        (status = 409, description = "Another operation on the charge is under way, or the idempotency key is in use.",
            body = ErrorEnvelope),
        (status = 422, description = "The platform fee would leave nothing to divide.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn capture(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let CaptureBody { amount } = body.read_as()?;
    let asked = VoidBody { amount, ..VoidBody::default() };
    run(app, caller, &id, &headers, &body, FollowUpKind::Capture, asked).await
}

/// Voids a charge.
///
/// Releases what is reserved, or gives back what was taken: all of it or a part, as often as something is left. A
/// refusal of the provider is a 201 as well: the charge is unchanged, its first transaction request is `failed`.
/// `refund_pending` means that the provider has not told yet: the truth comes later.
#[utoipa::path(
    post,
    path = "/v1/charges/{id}/void",
    operation_id = "voidCharge",
    tag = "Charges",
    params(
        ("id" = Uuid, Path, description = "The charge."),
        ("X-Sandbox-Seed" = Option<String>, Header, max_length = 255,
            description = "Sandbox only: fixes what the simulator draws by lot"),
    ),
    request_body(content = VoidBody, content_type = "application/json"),
    responses(
        (status = 201, description = "The charge, also when the provider refused.", body = ChargeView),
        (status = 404, description = "There is no such charge.", body = ErrorEnvelope),
        (status = 409, description = "Another operation on the charge is under way, or the idempotency key is in use.",
            body = ErrorEnvelope),
        (status = 422, description = "A voucher cannot be voided as asked.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn void(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let asked = body.read_as()?;
    run(app, caller, &id, &headers, &body, FollowUpKind::Void, asked).await
}

async fn run(
    app: App,
    caller: Caller,
    id: &str,
    headers: &HeaderMap,
    body: &Body,
    operation: FollowUpKind,
    asked: VoidBody,
) -> Result<Response, ApiError> {
    let seed = sandbox_seed(headers)?;
    let charge_id = path_id(id)?;
    let route = match operation {
        FollowUpKind::Capture => format!("POST /v1/charges/{charge_id}/capture"),
        FollowUpKind::Void => format!("POST /v1/charges/{charge_id}/void"),
    };
    let claim = match idempotency::read(&app, &caller, headers, &route, body).await? {
        KeyLookup::New(claim) => claim,
        KeyLookup::Answered(finished) => return replay(&app, &caller, finished, None).await,
    };
    let charge = find(&app, &caller, charge_id).await?.charge;
    let purchase = card_is_free(&app, &charge, Some(operation)).await?;
    let new = NewFollowUp {
        client_id: caller.client_id,
        charge_id,
        operation,
        amount: asked.amount.map(Amount::from),
        delay_to_compose: asked.delay_to_compose.and_then(|days| days.get().try_into().ok()),
        returns: asked.split_rules.unwrap_or_default().into_vec(),
        purchase,
        claim: claim.clone(),
        actor: caller.actor(),
        seed,
    };
    let ran = app.in_flight.run(captures_and_voids::create(app.engine.clone(), new)).await;
    match unless_overtaken(&app, claim.as_ref(), ran).await? {
        Plan::Overtaken(finished) | Plan::Own(Created::Answered(finished)) => {
            replay(&app, &caller, finished, None).await
        }
        Plan::Own(Created::Ran(ran)) => {
            let Ran { charge, requests } = *ran;
            let private = open_private(&app, &find(&app, &caller, charge_id).await?).await?;
            let addresses = Addresses::of(&app, &charge).await?;
            let view = ChargeView::of(&charge, &private, &addresses, &requests, &caller);
            Ok((StatusCode::CREATED, axum::Json(view)).into_response())
        }
    }
}
