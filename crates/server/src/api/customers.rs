//! `/v1/customers`: buyers (`docs/interface/customers.md`). [`regente_engine::customers`] decides who is
//! created, found or updated; `customer_cards.rs` serves their cards.

mod request;
mod view;

use std::cmp::Reverse;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Extension, Json};
use regente_domain::customer::{is_listed_kind, normal_number};
use regente_domain::id::CustomerId;
use regente_domain::text::chars_max;
use regente_domain::time::later_of;
use regente_engine::audit;
use regente_engine::caller::Caller;
use regente_engine::caller::RequestId;
use regente_engine::customers::{self as flow, Customer, OnMatch};
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use regente_engine::races;
use regente_engine::vault::Lookup;
use regente_store::customers::{self as rows, LookupKey, Order, Slice, StoredCustomer};
use regente_store::{Batch, Commit};
use utoipa::IntoParams;

use super::deletion;
use super::fields::Body;
use super::idempotency::commit_once;
use super::page::{LIMIT_DEFAULT, Page, PageRequest};
use super::path::{Path, path_id};
use super::query::{Parameters, Query, SortOrder};
use super::schema::words;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use request::CustomerChanges;

pub use request::{
    CustomerChangesBody, DocumentBody, NewAddressBody, NewCustomerBody, PartialAddressBody,
    address_or_nothing, read_document, read_inline, read_new,
};
pub use view::{AddressRecordView, AddressView, ChangedCustomerView, CustomerView, DocumentView};

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
    request_body(content = NewCustomerBody, content_type = "application/json"),
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
    let new = body.read(|fields| read_new(fields, ""))?;
    flow::check_digits(&app, caller.client_id, &new.document, "document").await?;
    let plan = || async {
        let mut batch = Batch::new(caller.client_id);
        let found = flow::plan(&app, &caller, &request_id, &mut batch, &new, on_match).await?;
        let view = match found.alias {
            Some(alias) => CustomerView::of_alias(alias, caller.client_id, &new),
            None => CustomerView::of(&found.customer),
        };
        let body = serde_json::to_value(view).map_err(Error::internal)?;
        Ok(Planned { batch, status: StatusCode::CREATED.as_u16(), body })
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
    let filter = query.read(Filter::read)?;
    let (stored, total) = if filter.ids.is_empty() && filter.numbers.is_empty() {
        filter.page_of_all(&app, &caller).await?
    } else {
        filter.page_of_chosen(&app, &caller).await?
    };
    let mut items = Vec::with_capacity(stored.len());
    for customer in stored {
        items.push(CustomerView::of(&Customer::open(&app, customer).await?));
    }
    Ok(Json(Page::new(filter.page, items, total)))
}

/// The parsed filter of a list.
struct Filter {
    page: PageRequest,
    sort: SortOrder,
    ids: Vec<CustomerId>,
    /// In upper case.
    document_types: Vec<String>,
    /// In their normal form.
    numbers: Vec<String>,
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
            ids: parameters.ids("id"),
            document_types: document_types.iter().map(|name| name.to_uppercase()).collect(),
            numbers,
        }
    }

    async fn page_of_all(&self, app: &App, caller: &Caller) -> Result<(Vec<StoredCustomer>, u64), Error> {
        let types = Some(self.document_types.as_slice()).filter(|types| !types.is_empty());
        let order = match self.sort {
            SortOrder::Ascending => Order::OldestFirst,
            SortOrder::Descending => Order::NewestFirst,
        };
        let slice = Slice { order, limit: i64::from(self.page.limit), offset: self.page.offset() };
        let total = rows::count(&app.store, caller.client_id, types).await?;
        Ok((rows::list(&app.store, caller.client_id, types, slice).await?, total))
    }

    /// The page of a list with ids or numbers: they select few customers, so all are read and the page is cut here.
    async fn page_of_chosen(&self, app: &App, caller: &Caller) -> Result<(Vec<StoredCustomer>, u64), Error> {
        let client_id = caller.client_id;
        let keys = app.vault.client_keys(client_id).await?;
        let number_keys: Vec<LookupKey> =
            self.numbers.iter().map(|number| keys.lookup_key(Lookup::DocumentNumber, number)).collect();
        let mut chosen = if self.ids.is_empty() {
            rows::find_by_numbers(&app.store, client_id, &number_keys).await?
        } else {
            rows::find_many(&app.store, client_id, &self.ids).await?
        };
        chosen.retain(|customer| {
            // Only a secret key may find a customer by an alias.
            let id_fits = !caller.is_public_key() || self.ids.is_empty() || self.ids.contains(&customer.id);
            let number_fits =
                number_keys.is_empty() || customer.keys.number.is_some_and(|key| number_keys.contains(&key));
            let type_fits =
                self.document_types.is_empty() || self.document_types.contains(&customer.document_type);
            id_fits && number_fits && type_fits
        });
        match self.sort {
            SortOrder::Ascending => chosen.sort_by_key(|customer| customer.id),
            SortOrder::Descending => chosen.sort_by_key(|customer| Reverse(customer.id)),
        }
        let total = chosen.len() as u64;
        let offset = usize::try_from(self.page.offset()).unwrap_or(usize::MAX);
        let limit = usize::try_from(self.page.limit).unwrap_or(usize::MAX);
        Ok((chosen.into_iter().skip(offset).take(limit).collect(), total))
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
    let customer = flow::find(&app, &caller, path_id(&id)?).await?;
    Ok(Json(CustomerView::of(&customer)))
}

/// Changes a customer.
#[utoipa::path(
    patch, path = "/v1/customers/{id}", operation_id = "updateCustomer", tag = "Customers",
    params(("id" = Uuid, Path, description = "Id of the customer")),
    request_body(content = CustomerChangesBody, content_type = "application/json"),
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
    for _ in races::tries() {
        let before = flow::find(&app, &caller, id).await?;
        let changes = body.read(CustomerChanges::read)?;
        let now = app.clock.of(caller.client_id);
        let data = changes.apply(&before.data, app.chance.id::<Customer>(now).uuid(), now);
        if data == before.data {
            return Ok(Json(ChangedCustomerView::of(&before)));
        }
        let after = before.changed(&app, before.stored.keys, data, now)?;
        let mut batch = Batch::new(caller.client_id);
        rows::update(&mut batch, &after.stored);
        audit::record(&app, &mut batch, &caller, &request_id, "customer.updated", after.id().uuid());
        let _admission = app.store.admit(caller.client_id)?;
        match app.store.apply(batch).await? {
            Commit::Applied => return Ok(Json(ChangedCustomerView::of(&after))),
            // Another change came first, or the commit's outcome is unknown: applying the same change again is right in
            // both cases.
            Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    Err(Error::busy().into())
}

/// Deletes a customer and everything personal about him.
///
/// His cards and charges stay. His e-mail address and document are free again.
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
    let id = path_id(&id)?;
    deletion::delete(|| async {
        let customer = flow::find(&app, &caller, id).await?;
        let mut batch = Batch::new(caller.client_id);
        let now = later_of(app.clock.of(caller.client_id), customer.stored.updated_at);
        rows::delete(&mut batch, &customer.stored, now);
        audit::record(&app, &mut batch, &caller, &request_id, "customer.deleted", customer.id().uuid());
        let _admission = app.store.admit(caller.client_id)?;
        Ok::<_, ApiError>(app.store.apply(batch).await?)
    })
    .await?;
    Ok(StatusCode::OK)
}
