//! `/v1/sellers/documents`: files that show who a seller is (`docs/interface/seller-documents.md`). What has been sent is
//! never served again.

mod form;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Extension, Json};
use regente_domain::id::Id;
use regente_domain::seller::document::{DocumentKind, DocumentStatus, SellerDocument};
use regente_domain::time::Timestamp;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::idempotency::Planned;
use regente_engine::sellers::documents::{self as flow, Upload};
use regente_store::customers::{Order, Slice};
use regente_store::seller_documents::{self as rows, DocumentFilter};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use self::form::Form;
use super::super::idempotency::commit_once;
use super::super::page::{Page, PageRequest};
use super::super::path::{Path, path_id};
use super::super::query::{Parameters, Query, SortOrder};
use super::super::schema::words;
use super::LIMIT_DEFAULT;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};

pub use form::SellerFileForm;

/// The most entries on a page.
const LIMIT_MAX: u32 = 50;

/// A file as the interface shows it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SellerFile)]
pub struct SellerFileView {
    /// Its id, for `documentIds` of a seller.
    pub id: Uuid,
    /// What it shows.
    #[serde(rename = "type")]
    pub kind: DocumentKind,
    /// Where it stands.
    pub status: DocumentStatus,
    /// Until when it waits for its seller.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

impl SellerFileView {
    fn of(document: &SellerDocument) -> Self {
        Self {
            id: document.id.uuid(),
            kind: document.kind,
            status: document.status(),
            expires_at: document.expires_at(),
        }
    }
}

/// Uploads a file.
///
/// Its format is judged by its content. It waits 7 days for a seller whose `documentIds` names it.
#[utoipa::path(
    post, path = "/v1/sellers/documents", operation_id = "uploadSellerDocument", tag = "Sellers",
    request_body(content = SellerFileForm, content_type = "multipart/form-data"),
    responses(
        (status = 201, description = "The file.", body = SellerFileView),
        (status = 409, description = "The idempotency key is in use, or was used with another body.",
            body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, ApiError> {
    let (kind, format) = form.check(&app).await?;
    let upload = Upload { kind, format, bytes: &form.file };
    let plan = || async {
        let (batch, document) = flow::plan_upload(&app, (&caller, &request_id), upload);
        Planned::showing(batch, StatusCode::CREATED.as_u16(), &SellerFileView::of(&document))
    };
    commit_once(&app, &caller, &headers, "POST /v1/sellers/documents", &form.body, plan).await
}

/// What a list of files is filtered by.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(
    dead_code,
    reason = "describes the query for the OpenAPI document; the query itself is read leniently"
)]
pub struct SellerFileListQuery {
    /// From 1.
    #[param(minimum = 1, default = 1)]
    page: Option<u32>,
    /// Entries on a page.
    #[param(minimum = 1, maximum = 50, default = 10)]
    limit: Option<u32>,
    /// By time of upload, in upper or lower case; newest first by default.
    #[param(value_type = Option<words::SortOrder>, default = "DESC")]
    sort: Option<String>,
    /// Statuses; repeated, or separated by commas.
    #[param(value_type = Option<Vec<DocumentStatus>>)]
    status: Option<String>,
    /// Types; repeated, or separated by commas.
    #[param(rename = "type", value_type = Option<Vec<DocumentKind>>)]
    kind: Option<String>,
    /// From this moment on: a date or a time.
    #[param(rename = "createdAt")]
    created_at: Option<String>,
}

struct Filter {
    page: PageRequest,
    sort: SortOrder,
    statuses: Vec<DocumentStatus>,
    kinds: Vec<DocumentKind>,
    from: Option<Timestamp>,
}

impl Filter {
    fn read(parameters: &Parameters<'_>) -> Self {
        Self {
            page: parameters.page_up_to(LIMIT_DEFAULT, LIMIT_MAX),
            sort: parameters.sort(),
            statuses: parameters.one_of("status", DocumentStatus::WORDS),
            kinds: parameters.one_of("type", DocumentKind::WORDS),
            from: parameters.moment("createdAt"),
        }
    }
}

/// Lists the files; those that have expired are left out.
#[utoipa::path(
    get, path = "/v1/sellers/documents", operation_id = "listSellerDocuments", tag = "Sellers",
    params(SellerFileListQuery),
    responses((status = 200, description = "A page of files.", body = Page<SellerFileView>), CommonErrors),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<Json<Page<SellerFileView>>, ApiError> {
    let Filter { page, sort, statuses, kinds, from } = query.read(Filter::read)?;
    let filter = DocumentFilter {
        statuses: Some(statuses).filter(|statuses| !statuses.is_empty()),
        kinds: Some(kinds).filter(|kinds| !kinds.is_empty()),
        from: Id::first_at(from.unwrap_or(Timestamp::EPOCH)),
        now: app.clock.of(caller.client_id),
    };
    let order = match sort {
        SortOrder::Ascending => Order::OldestFirst,
        SortOrder::Descending => Order::NewestFirst,
    };
    let slice = Slice { order, limit: i64::from(page.limit), offset: page.offset() };
    let total = rows::count(&app.store, caller.client_id, &filter).await?;
    let items = rows::page(&app.store, caller.client_id, &filter, slice).await?;
    Ok(Json(Page::new(page, items.iter().map(SellerFileView::of).collect(), total)))
}

/// Reads what is known of a file.
#[utoipa::path(
    get, path = "/v1/sellers/documents/{documentId}", operation_id = "getSellerDocument", tag = "Sellers",
    params(("documentId" = Uuid, Path, description = "The file.")),
    responses(
        (status = 200, description = "The file, without its content.", body = SellerFileView),
        (status = 404, description = "There is no such file, or it has expired.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<SellerFileView>, ApiError> {
    let document = flow::find(&app, caller.client_id, path_id(&id)?).await?;
    Ok(Json(SellerFileView::of(&document)))
}

/// Deletes a file that no seller has.
#[utoipa::path(
    delete, path = "/v1/sellers/documents/{documentId}", operation_id = "deleteSellerDocument", tag = "Sellers",
    params(("documentId" = Uuid, Path, description = "The file.")),
    responses(
        (status = 204, description = "The file was deleted."),
        (status = 404, description = "There is no such file, or it has expired.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn delete(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    flow::delete(&app, (&caller, &request_id), path_id(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}
