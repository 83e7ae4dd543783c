//! `/v1/charges`: charges by card (`docs/interface/charges.md`).

pub mod anti_fraud;
pub mod authentication;
mod begin;
pub mod dry_run;
pub mod explanation;
pub mod guard;
pub mod methods;
pub mod of_session;
pub mod operations;
pub mod request;
pub mod status;
pub mod three_d_secure;
pub mod view;

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use regente_domain::charge::ChargeStatus;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::sent::NewCharge;
use regente_domain::id::{ChargeId, TokenId};
use regente_domain::payment_type::PaymentType;
use regente_domain::provider_type::{ProviderType, ShownProviderType};
use regente_engine::caller::Caller;
use regente_engine::document_links::Addresses;
use regente_engine::error::Error;
use regente_engine::idempotency::Finished;
use regente_engine::sessions::opened::Opened;
use regente_engine::vault::{Binding, Purpose};
use regente_store::charges::{self, ChargeFilter, Direction, Divided, StoredCharge};
use regente_store::counters::CounterFilter;
use regente_store::transaction_requests::{self, StoredRequest};
use serde_json::Map;
use uuid::Uuid;

use super::idempotency::{body_response, replayed, status_code};
use super::page::{Page, PageRequest};
use super::path::{Path, path_id};
use super::query::{Parameters, Query, SortOrder, given};
use super::schema::words;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use crate::http::headers::{self, DryRun};
use dry_run::DryRunView;
use view::{ChargeView, Private};

/// Charges on a page by default (`docs/interface/conventions.md#lists`).
const LIMIT_DEFAULT: u32 = 15;
/// The most characters of one `orderId` in a filter.
const ORDER_ID_CHARS_MAX: usize = regente_domain::text::chars_max::LINE;

/// Charges a card.
///
/// The merchant's providers are asked one after the other, by priority, until one approves or a refusal is not
/// retryable; `transactionRequests` tells the story, newest first. A refused charge is a 201 with `status: failed`.
/// `pending` means that a provider has not told yet what happened: the truth comes later, nothing is tried meanwhile.
#[utoipa::path(
    post,
    path = "/v1/charges",
    operation_id = "createCharge",
    tag = "Charges",
    params(
        ("X-Sandbox-Seed" = Option<String>, Header, max_length = 255,
            description = "Sandbox only: fixes what the simulator draws by lot"),
        ("X-Dry-Run" = Option<bool>, Header,
            description = "`true`: says what the charge would do, and makes none. For secret keys alone"),
    ),
    request_body(content = NewCharge, content_type = "application/json"),
    responses(
        (status = 200, description = "What the charge would do, for `X-Dry-Run: true`.", body = DryRunView),
        (status = 201, description = "The charge, also when it was refused.", body = ChargeView),
        (status = 404, description = "The body names a merchant, card or customer that the account does not have.",
            body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use, or was used with another body.",
            body = ErrorEnvelope),
        (status = 422, description = "The platform fee would leave nothing to divide.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, ApiError> {
    match headers::dry_run(request.headers())? {
        DryRun::Yes => Box::pin(dry_run::answer(app, caller, request)).await,
        DryRun::No => make(app, caller, request, None).await,
    }
}

/// Makes a charge, which pays the session, if there is one.
pub(super) async fn make(
    app: App,
    caller: Caller,
    request: Request,
    session: Option<Box<Opened>>,
) -> Result<Response, ApiError> {
    // Boxed: otherwise the memory for ordering the charge is held until the provider has answered.
    let ordered = Box::pin(begin::begin(app, caller, request, session)).await?;
    ordered.answered().await
}

/// The first answer again, from the version of the charge that it showed.
async fn replay(
    app: &App,
    caller: &Caller,
    finished: Finished,
    token_id: Option<TokenId>,
) -> Result<Response, ApiError> {
    let Finished::Charge { status, id, version } = finished else {
        return body_response(finished);
    };
    let stored = charges::find_version(&app.store, caller.client_id, id, version).await?;
    let stored = stored.ok_or_else(|| Error::internal("an answer points at a version that is not kept"))?;
    let mut requests = transaction_requests::of_object(&app.store, caller.client_id, id.uuid()).await?;
    // Of several requests under way one may have ended since.
    for stored_request in &mut requests {
        stored_request.request = stored_request.request.as_of(stored.charge.updated_at);
    }
    let view = view_with(app, caller, &stored, requests).await?.echoing(token_id);
    Ok(replayed((status_code(status)?, axum::Json(view)).into_response()))
}

/// A stored charge with its requests as `caller` may see it.
pub async fn view_with(
    app: &App,
    caller: &Caller,
    stored: &StoredCharge,
    requests: Vec<StoredRequest>,
) -> Result<ChargeView, Error> {
    let requests: Vec<TransactionRequest> = requests.into_iter().map(|stored| stored.request).collect();
    let (private, addresses) = (open_private(app, stored).await?, Addresses::of(app, &stored.charge).await?);
    Ok(ChargeView::of(&stored.charge, &private, &addresses, &requests, caller))
}

/// The personal data of a charge, opened.
pub(super) async fn open_private(app: &App, stored: &StoredCharge) -> Result<Private, Error> {
    let Some(sealed) = &stored.private else { return Ok(Map::new()) };
    let binding = Binding::new(Purpose::ChargeData, stored.charge.client_id, stored.charge.id.uuid());
    let plain = app.vault.open(binding, sealed).await?;
    serde_json::from_slice(&plain).map_err(Error::internal)
}

/// Reads a charge.
#[utoipa::path(
    get,
    path = "/v1/charges/{id}",
    operation_id = "getCharge",
    tag = "Charges",
    params(("id" = Uuid, Path, description = "The charge.")),
    responses(
        (status = 200, description = "The charge.", body = ChargeView),
        (status = 404, description = "There is no such charge.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn read_one(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let found = charges::find_with_requests(&app.store, caller.client_id, path_id(&id)?).await?;
    let (stored, requests) = found.ok_or(Error::NotFound)?;
    Ok(axum::Json(view_with(&app, &caller, &stored, requests).await?).into_response())
}

/// A charge of the caller's account.
async fn find(app: &App, caller: &Caller, id: ChargeId) -> Result<StoredCharge, Error> {
    charges::find(&app.store, caller.client_id, id).await?.ok_or(Error::NotFound)
}

/// Lists charges.
///
/// Newest first unless `sort=ASC`. Several values of a filter are separated by commas and mean "or". Public keys need
/// the scope `*`.
#[utoipa::path(
    get,
    path = "/v1/charges",
    operation_id = "listCharges",
    tag = "Charges",
    params(
        ("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<i64>, Query, minimum = 1, maximum = 100, description = "Charges on a page; 15 by default."),
        ("sort" = Option<words::SortOrder>, Query, description = "By creation, in upper or lower case; newest first by default."),
        ("id" = Option<String>, Query, description = "Ids of charges."),
        ("merchantId" = Option<String>, Query, description = "Ids of merchants."),
        ("sessionId" = Option<String>, Query, description = "Ids of sessions."),
        ("subscriptionId" = Option<String>, Query, description = "Ids of subscriptions."),
        ("orderId" = Option<String>, Query, description = "The merchant's references."),
        ("originalAmount" = Option<String>, Query, description = "Amounts in minor units."),
        ("status" = Option<Vec<ChargeStatus>>, Query, description = "Statuses; repeated, or separated by commas."),
        ("paymentType" = Option<Vec<PaymentType>>, Query, description = "Payment types; repeated, or separated by commas."),
        ("providerType" = Option<Vec<ShownProviderType>>, Query, description = "Types of the provider that handled it; repeated, or separated by commas."),
        ("splitRules" = Option<String>, Query, description = "`true`: charges with split rules alone."),
        ("created" = Option<String>, Query, description = "Made on this day (UTC), or in this second."),
        ("created.gt" = Option<String>, Query, description = "Made after."),
        ("created.lt" = Option<String>, Query, description = "Made before."),
    ),
    responses((status = 200, description = "A page of charges.", body = Page<ChargeView>), CommonErrors),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<Response, ApiError> {
    let listing = query.read(Listing::read)?;
    let Listing { request, direction, filter } = listing;
    let (limit, offset) = (i64::from(request.limit), request.offset());
    let listed = charges::list(&app.store, caller.client_id, &filter, direction, limit, offset).await?;
    let items = views_of(&app, &caller, &listed.charges).await?;
    Ok(axum::Json(Page::new(request, items, listed.total.unsigned_abs())).into_response())
}

async fn views_of(app: &App, caller: &Caller, stored: &[StoredCharge]) -> Result<Vec<ChargeView>, Error> {
    let ids: Vec<Uuid> = stored.iter().map(|stored| stored.charge.id.uuid()).collect();
    let mut requests: Vec<TransactionRequest> =
        transaction_requests::of_objects(&app.store, caller.client_id, &ids)
            .await?
            .into_iter()
            .map(|stored| stored.request)
            .collect();
    let mut views = Vec::with_capacity(stored.len());
    for stored in stored {
        let of_this = |request: &mut TransactionRequest| request.object_id == stored.charge.id.uuid();
        let own: Vec<TransactionRequest> = requests.extract_if(.., of_this).collect();
        let (private, addresses) =
            (open_private(app, stored).await?, Addresses::of(app, &stored.charge).await?);
        views.push(ChargeView::of(&stored.charge, &private, &addresses, &own, caller));
    }
    Ok(views)
}

struct Listing {
    request: PageRequest,
    direction: Direction,
    filter: ChargeFilter,
}

impl Listing {
    fn read(parameters: &Parameters<'_>) -> Self {
        let created = parameters.time_range("created");
        let amounts = parameters.amounts("originalAmount");
        Self {
            request: parameters.page(LIMIT_DEFAULT),
            direction: match parameters.sort() {
                SortOrder::Ascending => Direction::Ascending,
                SortOrder::Descending => Direction::Descending,
            },
            filter: ChargeFilter {
                ids: given(parameters.ids("id")),
                sessions: given(parameters.ids("sessionId")),
                subscriptions: given(parameters.ids("subscriptionId")),
                order_ids: given(parameters.texts("orderId", ORDER_ID_CHARS_MAX)),
                original_amounts: given(amounts.into_iter().map(|amount| amount.minor_units()).collect()),
                counted: CounterFilter {
                    merchants: given(parameters.ids("merchantId")),
                    statuses: given(parameters.one_of("status", ChargeStatus::WORDS)),
                    payment_types: given(parameters.one_of("paymentType", PaymentType::WORDS)),
                    provider_types: given(parameters.one_of("providerType", &ProviderType::all_shown())),
                },
                divided: match parameters.boolean("splitRules") {
                    Some(true) => Divided::Only,
                    Some(false) | None => Divided::OrNot,
                },
                from: created.from,
                to: created.before,
            },
        }
    }
}
