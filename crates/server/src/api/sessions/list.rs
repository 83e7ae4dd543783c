//! `GET /v1/sessions` (`docs/interface/sessions.md#listing`).

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use regente_domain::session::{Availability, SessionStatus};
use regente_domain::text::chars_max;
use regente_engine::caller::Caller;
use regente_engine::sessions::access::view_for;
use regente_engine::sessions::opened::Opened;
use regente_store::sessions::{self, SessionFilter};

use super::view::ShownSession;
use crate::api::page::{Page, PageRequest};
use crate::api::query::{Parameters, Query, given};
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors};

/// Sessions on a page by default.
const LIMIT_DEFAULT: u32 = 10;
/// The fewest characters of an `orderId` in a filter.
const ORDER_ID_CHARS_MIN: usize = 2;

/// Lists sessions, newest first.
///
/// Several values of a filter are separated by commas and mean "or". Public keys need the scope `*`.
#[utoipa::path(
    get,
    path = "/v1/sessions",
    operation_id = "listSessions",
    tag = "Sessions",
    params(
        ("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<i64>, Query, minimum = 1, maximum = 100, description = "Sessions on a page; 10 by default."),
        ("order" = Option<String>, Query, description = "Has no effect: the list is always newest first."),
        ("id" = Option<String>, Query, description = "Ids of sessions."),
        ("status" = Option<Vec<SessionStatus>>, Query, description = "Statuses; repeated, or separated by commas."),
        ("isActive" = Option<String>, Query, description = "`true` or `false`."),
        ("merchantId" = Option<String>, Query, description = "Ids of merchants."),
        ("orderId" = Option<String>, Query, description = "The merchant's references, at least two characters each."),
        ("multiplePayments.status" = Option<Vec<Availability>>, Query, description = "Whether a payment can start; repeated, or separated by commas."),
        ("created.gt" = Option<String>, Query, description = "Made after."),
        ("created.lt" = Option<String>, Query, description = "Made before."),
    ),
    responses((status = 200, description = "A page of sessions.", body = Page<ShownSession>), CommonErrors),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<Response, ApiError> {
    let (request, filter) = query.read(read)?;
    let (client_id, now) = (caller.client_id, app.clock.of(caller.client_id));
    let limit = i64::from(request.limit);
    let found = sessions::page(&app.store, client_id, &filter, now, limit, request.offset()).await?;
    let total = sessions::count(&app.store, client_id, &filter, now).await?;
    let mut items = Vec::with_capacity(found.len());
    for stored in found {
        items.push(view_for(&app, &caller, &Opened::of(&app, stored).await?).await?);
    }
    Ok(axum::Json(Page::new(request, items, total.unsigned_abs())).into_response())
}

fn read(parameters: &Parameters<'_>) -> (PageRequest, SessionFilter) {
    let orders = parameters.texts("orderId", chars_max::LINE);
    if orders.iter().any(|order| order.chars().count() < ORDER_ID_CHARS_MIN) {
        let rule = format!("must be longer than or equal to {ORDER_ID_CHARS_MIN} characters");
        parameters.problem("orderId", rule);
    }
    let created = parameters.time_range("created");
    let filter = SessionFilter {
        ids: given(parameters.ids("id")),
        merchants: given(parameters.ids("merchantId")),
        orders: given(orders),
        statuses: given(parameters.one_of("status", SessionStatus::WORDS)),
        actives: given(parameters.booleans("isActive")),
        availabilities: given(parameters.one_of("multiplePayments.status", Availability::WORDS)),
        from: created.from,
        to: created.before,
    };
    (parameters.page(LIMIT_DEFAULT), filter)
}
