//! `/v1/charges/{id}/capture` and `/v1/charges/{id}/void`: the operations after an authorization
//! (`docs/interface/charges.md#captures`).

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use regente_domain::charge::FollowUpKind;
use regente_domain::money::Amount;
use regente_domain::split::SellerReturn;
use regente_engine::caller::Caller;
use regente_engine::captures_and_voids::{self, NewFollowUp};
use regente_engine::charges::create::{Created, Ran};
use regente_engine::document_links::Addresses;
use regente_engine::idempotency::{Plan, unless_overtaken};
use regente_engine::purchases::operations::card_is_free;
use utoipa::ToSchema;

use super::view::ChargeView;
use super::{find, open_private, replay};
use crate::api::fields::{Body, Fields};
use crate::api::idempotency::{self, KeyLookup};
use crate::api::path::{Path, path_id};
use crate::api::split_rules::{SellerReturnBody, read_returns};
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use crate::http::headers::sandbox_seed;

/// Most days to gather money.
const DELAY_TO_COMPOSE_DAYS_MAX: i64 = 365;

/// How much is captured.
#[derive(ToSchema)]
#[schema(as = NewCapture, example = json!({ "amount": 100 }))]
#[expect(
    dead_code,
    reason = "describes the body for the OpenAPI document; the body itself is read field by field"
)]
pub struct CaptureBody {
    /// At most what is reserved; everything when it is absent. The rest is released.
    #[schema(minimum = 1, maximum = 9_007_199_254_740_991_i64)]
    amount: Option<i64>,
}

/// How much is given back.
#[derive(ToSchema)]
#[schema(as = NewVoid, rename_all = "camelCase", example = json!({ "amount": 50 }))]
#[expect(
    dead_code,
    reason = "describes the body for the OpenAPI document; the body itself is read field by field"
)]
pub struct VoidBody {
    /// At most what is left; everything when it is absent.
    #[schema(minimum = 1, maximum = 9_007_199_254_740_991_i64)]
    amount: Option<i64>,
    /// Days in which the provider of a NuPay may gather the money; nothing else waits.
    #[schema(minimum = 0, maximum = 365)]
    delay_to_compose: Option<i64>,
    /// What sellers give back of it; the merchant gives back the rest. By default each gives back in proportion to what they
    /// has.
    #[schema(max_items = 100)]
    split_rules: Option<Vec<SellerReturnBody>>,
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
    let asked = body.read(read_capture)?;
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
    let asked = body.read(read_void)?;
    run(app, caller, &id, &headers, &body, FollowUpKind::Void, asked).await
}

/// What a capture or void asks for.
struct FollowUpBody {
    amount: Option<Amount>,
    delay_to_compose: Option<u16>,
    returns: Vec<SellerReturn>,
}

fn read_capture(fields: &Fields<'_>) -> Option<FollowUpBody> {
    let amount = fields.optional("amount").positive_amount();
    Some(FollowUpBody { amount, delay_to_compose: None, returns: Vec::new() })
}

fn read_void(fields: &Fields<'_>) -> Option<FollowUpBody> {
    let days = fields.optional("delayToCompose").integer(0..=DELAY_TO_COMPOSE_DAYS_MAX);
    let returns = read_returns(fields);
    Some(FollowUpBody {
        amount: fields.optional("amount").positive_amount(),
        delay_to_compose: days.and_then(|days| days.try_into().ok()),
        returns: returns?,
    })
}

async fn run(
    app: App,
    caller: Caller,
    id: &str,
    headers: &HeaderMap,
    body: &Body,
    operation: FollowUpKind,
    FollowUpBody { amount, delay_to_compose, returns }: FollowUpBody,
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
        amount,
        delay_to_compose,
        returns,
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
