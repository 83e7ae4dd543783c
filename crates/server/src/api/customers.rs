//! `/v1/customers`: buyers (`docs/interface/customers.md`). [`regente_engine::customers`] decides who is
//! created, found or updated; `customer_cards.rs` serves their cards.

mod view;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Extension, Json};
use regente_domain::customer::{CustomerChanges, NewCustomer, is_listed_kind, normal_number};
use regente_domain::text::chars_max;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::customers::{self, CustomerFilter, OnMatch};
use regente_engine::idempotency::Planned;
use regente_store::customers::{Order, Slice};
use utoipa::IntoParams;

use super::fields::Body;
use super::idempotency::commit_once;
use super::page::{LIMIT_DEFAULT, Page, PageRequest};
use super::path::{Path, path_id};
use super::query::{Parameters, Query, SortOrder};
use super::schema::words;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

pub use view::{AddressRecordView, ChangedCustomerView, CustomerView, DocumentView};

/// The most document numbers in one list's filter; each is looked up separately.
const NUMBERS_MAX: usize = 20;

/// Creates a customer, or with `force` finds one.
///
/// E-mail address and document are each unique among the customers of an account. `force=true` never answers 409: it
/// answers with the customer that fits what was sent, updated with it. With a public key `force` is implied, nothing
/// that is stored changes, and the answer holds only what was sent, with an alias as its `id`.
#[utoipa::path(
    post, path = "/v1/customers", operation_id = "createCustomer", tag = "Customers",
    params(("force" = Option<bool>, Query, description = "Answer with a customer whatever is already stored")),
    request_body(content = NewCustomer, content_type = "application/json"),
    responses(
        (status = 201, description = "The customer.", body = CustomerView),
        (status = 404, description = "The idempotency key made a customer who was erased since.", body = ErrorEnvelope),
        (status = 409, description = "The e-mail address or the document is another customer's, or the idempotency \
            key is in use.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    query: Query,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let force = query.read(|parameters| parameters.boolean("force"))?;
    let on_match = if force == Some(true) { OnMatch::Update } else { OnMatch::Refuse };
    let new: NewCustomer = body.read_as()?;
    customers::check_digits(&app, caller.client_id, &new.document, "document").await?;
    let plan = || async {
        let by = (&caller, &request_id);
        let (batch, found) = customers::plan_creation(&app, by, &new, on_match).await?;
        let view = match found.alias {
            Some(alias) => CustomerView::of_alias(alias, caller.client_id, &new),
            None => CustomerView::of(&found.customer),
        };
        Planned::showing(batch, StatusCode::CREATED.as_u16(), &view)
    };
    // With `force` the idempotency key belongs to another operation, which never ends in a conflict.
    let route = if force == Some(true) { "POST /v1/customers?force=true" } else { "POST /v1/customers" };
    commit_once(&app, &caller, &headers, route, &body, plan).await
}

/// What a list of customers is filtered by.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(
    dead_code,
    reason = "describes the query for the OpenAPI document; the query itself is read leniently"
)]
pub struct CustomerListQuery {
    /// From 1.
    #[param(minimum = 1, default = 1)]
    page: Option<u32>,
    /// Entries on a page.
    #[param(minimum = 1, maximum = 100, default = 15)]
    limit: Option<u32>,
    /// By time of creation, in upper or lower case; newest first by default.
    #[param(value_type = Option<words::SortOrder>, default = "DESC")]
    sort: Option<String>,
    /// Ids, separated by commas.
    id: Option<String>,
    /// Document types that countries list, or `noDocument`, in upper or lower case, separated by commas.
    #[param(rename = "document.type")]
    document_type: Option<String>,
    /// Document numbers with or without punctuation, separated by commas.
    #[param(rename = "document.number")]
    document_number: Option<String>,
}

/// Lists the customers.
#[utoipa::path(
    get, path = "/v1/customers", operation_id = "listCustomers", tag = "Customers",
    params(CustomerListQuery),
    responses((status = 200, description = "A page of customers.", body = Page<CustomerView>), CommonErrors),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<Json<Page<CustomerView>>, ApiError> {
    let Filter { page, sort, customers } = query.read(Filter::read)?;
    let order = match sort {
        SortOrder::Ascending => Order::OldestFirst,
        SortOrder::Descending => Order::NewestFirst,
    };
    let slice = Slice { order, limit: i64::from(page.limit), offset: page.offset() };
    let (found, total) = customers::list(&app, &caller, &customers, slice).await?;
    Ok(Json(Page::new(page, found.iter().map(CustomerView::of).collect(), total)))
}

/// The parsed filter of a list.
struct Filter {
    page: PageRequest,
    sort: SortOrder,
    customers: CustomerFilter,
}

impl Filter {
    fn read(parameters: &Parameters<'_>) -> Self {
        let document_types = parameters.texts("document.type", chars_max::DOCUMENT_NUMBER);
        if document_types.iter().any(|name| !is_listed_kind(name)) {
            parameters.problem("document.type", "must be a document type");
        }
        let numbers = parameters.texts("document.number", chars_max::DOCUMENT_NUMBER);
        let numbers: Vec<String> = numbers.iter().map(|number| normal_number(number)).collect();
        if numbers.iter().any(String::is_empty) {
            parameters.problem("document.number", "must contain letters or digits");
        }
        if numbers.len() > NUMBERS_MAX {
            parameters
                .problem("document.number", format_args!("must contain no more than {NUMBERS_MAX} elements"));
        }
        Self {
            page: parameters.page(LIMIT_DEFAULT),
            sort: parameters.sort(),
            customers: CustomerFilter {
                ids: parameters.ids("id"),
                document_types: document_types.iter().map(|name| name.to_uppercase()).collect(),
                numbers,
            },
        }
    }
}

/// Reads a customer.
///
/// A secret key may also read by an alias, and is shown the customer behind it; a public key may not.
#[utoipa::path(
    get, path = "/v1/customers/{id}", operation_id = "getCustomer", tag = "Customers",
    params(("id" = Uuid, Path, description = "Id of the customer")),
    responses(
        (status = 200, description = "The customer.", body = CustomerView),
        (status = 404, description = "There is no such customer.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<CustomerView>, ApiError> {
    let customer = customers::find(&app, &caller, path_id(&id)?).await?;
    Ok(Json(CustomerView::of(&customer)))
}

/// Changes a customer.
#[utoipa::path(
    patch, path = "/v1/customers/{id}", operation_id = "updateCustomer", tag = "Customers",
    params(("id" = Uuid, Path, description = "Id of the customer")),
    request_body(content = CustomerChanges, content_type = "application/json"),
    responses(
        (status = 200, description = "The customer after the change.", body = ChangedCustomerView),
        (status = 404, description = "There is no such customer.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn update(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    body: Body,
) -> Result<Json<ChangedCustomerView>, ApiError> {
    let id = path_id(&id)?;
    customers::find(&app, &caller, id).await?;
    let changes: CustomerChanges = body.read_as()?;
    let customer = customers::change(&app, (&caller, &request_id), id, &changes).await?;
    Ok(Json(ChangedCustomerView::of(&customer)))
}

/// Deletes a customer and everything personal about them.
///
/// Their cards and charges stay. Their e-mail address and document are free again.
#[utoipa::path(
    delete, path = "/v1/customers/{id}", operation_id = "deleteCustomer", tag = "Customers",
    params(("id" = Uuid, Path, description = "Id of the customer")),
    responses(
        (status = 200, description = "The customer was deleted; the body is empty."),
        (status = 404, description = "There is no such customer.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn delete(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    customers::delete(&app, (&caller, &request_id), path_id(&id)?).await?;
    Ok(StatusCode::OK)
}
