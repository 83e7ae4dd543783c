//! `/v1/sellers`: who receives parts of charges (`docs/interface/sellers.md`). The engine registers them at the providers of
//! their merchant.

pub mod documents;
mod request;
pub mod reviews;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use regente_domain::id::{MerchantId, SellerId};
use regente_domain::seller::SellerStatus;
use regente_domain::seller::data::SellerData;
use regente_domain::text::{chars_max, is_email};
use regente_engine::app::Answer;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::error::Error;
use regente_engine::events::seller::{ListedSellerView, SellerView};
use regente_engine::idempotency::Planned;
use regente_engine::sellers::{self, Change, NewSeller, Record, Registers};
use regente_store::customers::{Order, Slice};
use regente_store::sellers::SellerFilter;
use serde_json::Value;
use utoipa::IntoParams;

use super::fields::Body;
use super::idempotency::commit_once_then;
use super::page::{Page, PageRequest};
use super::path::{Path, path_id};
use super::query::{Parameters, Query, SortOrder};
use super::schema::words;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use request::{
    DeleteSellerBody, NewSellerBody, SellerChangeOptions, SellerChangesBody, read_changed, read_new,
    registers,
};

/// Entries on a page unless asked otherwise.
const LIMIT_DEFAULT: u32 = 10;
/// How short and how long a part of a company's name is.
const BUSINESS_NAME_CHARS: std::ops::RangeInclusive<usize> = 3..=100;

/// Creates a seller, and registers it at the providers of its merchant that split payments.
///
/// The answer waits up to 10 seconds for the providers, unless `createAsync` is set; what is left is done in the background.
#[utoipa::path(
    post, path = "/v1/sellers", operation_id = "createSeller", tag = "Sellers",
    request_body(content = NewSellerBody, content_type = "application/json"),
    responses(
        (status = 201, description = "The seller.", body = SellerView),
        (status = 409, description = "The merchant has a seller with this document, or the idempotency key is in use.",
            body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let NewSellerBody { options, data } = read_new(body.members())?;
    must_have_bank(&data)?;
    let new = NewSeller {
        merchant_id: options.merchant_id,
        data,
        document_ids: options.document_ids.unwrap_or_default().into_vec(),
        registers: registers(options.create_async),
    };
    sellers::check(&app, caller.client_id, &new.data).await?;
    let plan = || async {
        let (batch, record) = sellers::plan_creation(&app, (&caller, &request_id), &new).await?;
        Planned::showing(batch, StatusCode::CREATED.as_u16(), &view_of(&record))
    };
    let then = |planned: Answer| async {
        match new.registers {
            Registers::InBackground => Ok(planned),
            Registers::Now => registered(&app, &caller, planned).await,
        }
    };
    commit_once_then(&app, &caller, &headers, "POST /v1/sellers", &body, plan, then).await
}

/// The answer with the registrations of the seller.
async fn registered(app: &App, caller: &Caller, planned: Answer) -> Result<Answer, Error> {
    let created: Value = serde_json::from_slice(&planned.bytes).map_err(Error::internal)?;
    let id = created["id"].as_str().and_then(|id| id.parse::<SellerId>().ok());
    let Some(id) = id else { return Ok(planned) };
    match sellers::registered(app, caller.client_id, id).await {
        Ok(record) => {
            let bytes = serde_json::to_vec(&view_of(&record)).map_err(Error::internal)?;
            Ok(Answer { bytes, ..planned })
        }
        // It is created whatever becomes of its registration, which its jobs go on with.
        Err(_) => Ok(planned),
    }
}

fn view_of(Record { seller, private }: &Record) -> SellerView<'_> {
    SellerView::of(seller, &private.data, &private.marks)
}

fn must_have_bank(data: &SellerData) -> Result<(), ApiError> {
    let account = &data.bank_account;
    match (account.bank.as_ref(), account.ispb.as_ref()) {
        (None, None) => Err(ApiError::BankIdentifierRequired),
        (Some(_), _) | (None, Some(_)) => Ok(()),
    }
}

/// What a list of sellers is filtered by.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(
    dead_code,
    reason = "describes the query for the OpenAPI document; the query itself is read leniently"
)]
pub struct SellerListQuery {
    /// From 1.
    #[param(minimum = 1, default = 1)]
    page: Option<u32>,
    /// Entries on a page.
    #[param(minimum = 1, maximum = 100, default = 10)]
    limit: Option<u32>,
    /// By time of creation, in upper or lower case; newest first by default.
    #[param(value_type = Option<words::SortOrder>, default = "DESC")]
    sort: Option<String>,
    /// Ids, separated by commas.
    id: Option<String>,
    /// E-mail address of the owner or of the company.
    email: Option<String>,
    /// Statuses; repeated, or separated by commas.
    #[param(value_type = Option<Vec<SellerStatus>>)]
    status: Option<String>,
    /// A part of the name of the company, in upper or lower case.
    #[param(rename = "businessName", min_length = 3, max_length = 100)]
    business_name: Option<String>,
    /// Ids of merchants, separated by commas.
    #[param(rename = "merchantId")]
    merchant_id: Option<String>,
}

struct Filter {
    page: PageRequest,
    sort: SortOrder,
    email: Option<String>,
    others: SellerFilter,
}

impl Filter {
    fn read(parameters: &Parameters<'_>) -> Self {
        let some = |ids: Vec<SellerId>| Some(ids).filter(|ids| !ids.is_empty());
        let merchants: Vec<MerchantId> = parameters.ids("merchantId");
        let statuses = parameters.one_of("status", SellerStatus::WORDS);
        let business_name = parameters.text("businessName", *BUSINESS_NAME_CHARS.end());
        if business_name.as_ref().is_some_and(|name| name.chars().count() < *BUSINESS_NAME_CHARS.start()) {
            let least = BUSINESS_NAME_CHARS.start();
            let rule = format_args!("must be longer than or equal to {least} characters");
            parameters.problem("businessName", rule);
        }
        let email = parameters.text("email", chars_max::EMAIL);
        if email.as_ref().is_some_and(|email| !is_email(email)) {
            parameters.problem("email", "must be an email");
        }
        Self {
            page: parameters.page(LIMIT_DEFAULT),
            sort: parameters.sort(),
            email,
            others: SellerFilter {
                ids: some(parameters.ids("id")),
                merchants: Some(merchants).filter(|merchants| !merchants.is_empty()),
                statuses: Some(statuses).filter(|statuses| !statuses.is_empty()),
                business_name: business_name.map(|name| name.to_lowercase()),
                email: None,
            },
        }
    }
}

/// Lists the sellers.
#[utoipa::path(
    get, path = "/v1/sellers", operation_id = "listSellers", tag = "Sellers",
    params(SellerListQuery),
    responses((status = 200, description = "A page of sellers.", body = Page<ListedSellerView>), CommonErrors),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<Response, ApiError> {
    let Filter { page, sort, email, others } = query.read(Filter::read)?;
    let order = match sort {
        SortOrder::Ascending => Order::OldestFirst,
        SortOrder::Descending => Order::NewestFirst,
    };
    let slice = Slice { order, limit: i64::from(page.limit), offset: page.offset() };
    let (found, total) = sellers::list(&app, caller.client_id, (email.as_deref(), others), slice).await?;
    let shown = found.iter().map(|Record { seller, private }| {
        ListedSellerView::of(seller, Some((&private.data, &private.marks)))
    });
    Ok(Json(Page::new(page, shown.collect(), total)).into_response())
}

/// Reads a seller.
#[utoipa::path(
    get, path = "/v1/sellers/{id}", operation_id = "getSeller", tag = "Sellers",
    params(("id" = Uuid, Path, description = "The seller.")),
    responses(
        (status = 200, description = "The seller.", body = SellerView),
        (status = 404, description = "There is no such seller.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let record = sellers::find(&app, caller.client_id, path_id(&id)?).await?;
    Ok(Json(view_of(&record)).into_response())
}

/// Changes a seller, and tells its providers.
///
/// What is left out stays; objects are merged field by field, and null removes a field.
#[utoipa::path(
    patch, path = "/v1/sellers/{id}", operation_id = "updateSeller", tag = "Sellers",
    params(("id" = Uuid, Path, description = "The seller.")),
    request_body(content = SellerChangesBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The seller after the change.", body = SellerView),
        (status = 404, description = "There is no such seller.", body = ErrorEnvelope),
        (status = 409, description = "The merchant has another seller with this document.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn update(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, ApiError> {
    let change = |before: &Record| asked_of(before, &body);
    let record = sellers::change(&app, (&caller, &request_id), path_id(&id)?, change).await?;
    Ok(Json(view_of(&record)).into_response())
}

/// Reads a change of a seller as it stands.
fn asked_of(before: &Record, body: &Body) -> Result<Change, ApiError> {
    let options: SellerChangeOptions = body.read_as()?;
    if let Some(merchant_id) = options.merchant_id {
        sellers::must_stay_with(&before.seller, merchant_id)?;
    }
    let switch = options.status.map(sellers::switch_to).transpose()?;
    let stored = serde_json::to_value(&before.private.data).map_err(Error::internal)?;
    let data = read_changed(stored.as_object().cloned().unwrap_or_default(), body.members())?;
    must_have_bank(&data)?;
    Ok(Change {
        switch,
        status_reason: options.status_reason.map(|reason| reason.as_str().to_owned()).into(),
        reason_type: options.reason_type.into(),
        data,
        document_ids: options.document_ids.unwrap_or_default().into_vec(),
        registers: registers(options.create_async),
    })
}

/// Deletes a seller and erases its data. Charges and payouts keep its id.
#[utoipa::path(
    delete, path = "/v1/sellers/{id}", operation_id = "deleteSeller", tag = "Sellers",
    params(("id" = Uuid, Path, description = "The seller.")),
    request_body(content = DeleteSellerBody, content_type = "application/json"),
    responses(
        (status = 204, description = "The seller was deleted."),
        (status = 404, description = "The merchant has no such seller.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn delete(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, ApiError> {
    let id: SellerId = path_id(&id)?;
    let DeleteSellerBody { merchant_id } = body.read_as()?;
    sellers::delete(&app, (&caller, &request_id), merchant_id, id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
