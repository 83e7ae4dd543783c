//! `/v1/reports`: charges of a period as CSV files (`docs/interface/reports.md`).

use axum::body::{Body as HttpBody, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures_util::stream;
use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, ReportId};
use regente_domain::report::{Column, Filters, NewReport, ReportLanguage, ReportStatus, ReportType, Zone};
use regente_domain::time::Timestamp;
use regente_engine::audit::Author;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use regente_engine::report_files::{Page as FilePage, PageName, PageReader};
use regente_engine::report_links;
use regente_engine::reports::{self, Report};
use serde::Serialize;
use url::form_urlencoded;
use utoipa::ToSchema;

use super::fields::Body;
use super::idempotency::commit_once;
use super::page::Page;
use super::path::{Path, path_id};
use super::query::Query;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use crate::http::headers::USER_TIMEZONE;

/// The `limit` of the list by default.
const LIMIT: u32 = 10;
/// Whoever fetches a file by a link, in the audit trail: nobody knows who that is.
const LINK_HOLDER: Actor = Actor::Job("report_link");
const CSV: HeaderValue = HeaderValue::from_static("application/csv");

/// A report as the interface shows it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Report)]
pub struct ReportView {
    /// Id of the report.
    id: ReportId,
    /// The account.
    client_id: ClientId,
    /// Who gets a mail with a link to the files, where mail is set up.
    #[schema(example = "user@example.com")]
    email: String,
    /// The language of the titles, as `Accept-Language` asked for it.
    #[schema(example = "pt-BR")]
    language: ReportLanguage,
    /// What its rows are.
    #[serde(rename = "type")]
    report_type: ReportType,
    /// Where it stands.
    status: ReportStatus,
    /// Number of files; null until all are there.
    #[schema(required = true)]
    pages_count: Option<u32>,
    /// The addresses of the files; null until all are there, empty once they are gone.
    #[schema(required = true)]
    files: Option<Vec<String>>,
    /// The keys of its columns.
    #[schema(value_type = Vec<String>)]
    fields: Vec<Column>,
    /// When it was asked for: the moment that it shows.
    created_at: Timestamp,
    /// When it changed last.
    updated_at: Timestamp,
    /// When its files are deleted.
    expired_at: Timestamp,
    /// The time zone of its dates.
    #[schema(example = "America/Sao_Paulo")]
    timezone: String,
    /// What it is about, as sent.
    filters: Filters,
}

impl ReportView {
    fn of(app: &App, report: &Report) -> Self {
        let Report { stored, send_to } = report;
        let (order, pages) = (&stored.order, stored.progress.pages);
        let service = app.settings.base_url.as_deref().unwrap_or_default();
        let address = |number| format!("{service}/v1/reports/{}/files/{number}", stored.id);
        let (pages_count, files) = match stored.status {
            ReportStatus::Created
            | ReportStatus::Pending
            | ReportStatus::Processing
            | ReportStatus::Error => (None, None),
            ReportStatus::Uploaded | ReportStatus::Sent | ReportStatus::Opened => {
                (Some(pages), Some((1..=pages).map(address).collect()))
            }
            ReportStatus::Expired | ReportStatus::Empty => (Some(pages), Some(Vec::new())),
        };
        Self {
            id: stored.id,
            client_id: stored.client_id,
            email: send_to.clone(),
            language: order.language,
            report_type: order.report_type,
            status: stored.status,
            pages_count,
            files,
            fields: order.columns.clone(),
            created_at: stored.id.created_at(),
            updated_at: stored.updated_at,
            expired_at: report.expires_at(),
            timezone: order.timezone.clone(),
            filters: order.filters.clone(),
        }
    }
}

/// A page of a report.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary, as = ReportFile)]
#[expect(dead_code, reason = "describes the file for the OpenAPI document")]
struct File(Vec<u8>);

/// Asks for a report.
///
/// It shows the charges as they are at this moment, and is made a little later. At most five of an account are made at once.
#[utoipa::path(
    post, path = "/v1/reports", operation_id = "createReport", tag = "Reports",
    params(
        ("Accept-Language" = Option<String>, Header,
            description = "The language of the titles: `en-US`, which is the default, `pt-BR`, `en` or `pt`."),
        ("X-User-Timezone" = Option<String>, Header,
            description = "The time zone of the dates, by its name in the tz database; `America/Sao_Paulo` by default."),
    ),
    request_body(content = NewReport, content_type = "application/json"),
    responses((status = 201, description = "The report.", body = ReportView),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope),
        (status = 429, description = "As many reports are being made as may be.", body = ErrorEnvelope),
        CommonErrors),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let new: NewReport = body.read_as()?;
    let (language, zone) = (language(&headers), zone(&headers)?);
    let plan = || async {
        let asked = (language, &zone);
        let (batch, report) = reports::plan_creation(&app, (&caller, &request_id), &new, asked).await?;
        Planned::showing(batch, StatusCode::CREATED.as_u16(), &ReportView::of(&app, &report))
    };
    commit_once(&app, &caller, &headers, "POST /v1/reports", &body, plan).await
}

fn language(headers: &HeaderMap) -> ReportLanguage {
    let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    ReportLanguage::accepted(accepted.unwrap_or_default())
}

fn zone(headers: &HeaderMap) -> Result<Zone, Error> {
    let Some(name) = headers.get(USER_TIMEZONE) else { return Ok(Zone::default()) };
    let found = name.to_str().ok().and_then(Zone::parse);
    found.ok_or_else(|| Error::invalid("X-User-Timezone", "must be a name of the tz database"))
}

/// Lists the reports, newest first.
#[utoipa::path(
    get, path = "/v1/reports", operation_id = "listReports", tag = "Reports",
    params(("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<u32>, Query, description = "1 to 100, 10 by default.", minimum = 1, maximum = 100)),
    responses((status = 200, description = "A page of reports.", body = Page<ReportView>), CommonErrors),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<Response, ApiError> {
    let page = query.read(|parameters| parameters.page(LIMIT))?;
    let (limit, offset) = (i64::from(page.limit), page.offset());
    let (found, total) = reports::list(&app, caller.client_id, limit, offset).await?;
    let views = found.iter().map(|report| ReportView::of(&app, report)).collect();
    Ok(Json(Page::new(page, views, total)).into_response())
}

/// Reads a report.
#[utoipa::path(
    get, path = "/v1/reports/{id}", operation_id = "getReport", tag = "Reports",
    params(("id" = Uuid, Path, description = "Id of the report")),
    responses((status = 200, description = "The report.", body = ReportView),
        (status = 404, description = "There is no such report.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let report = reports::find(&app, caller.client_id, path_id(&id)?).await?;
    Ok(Json(ReportView::of(&app, &report)).into_response())
}

/// Fetches a file of a report.
///
/// CSV as RFC 4180 has it, in UTF-8 with a byte order mark. Fetching it is noted in the audit trail. Who was mailed a link needs no
/// key: a request with `link` that is not ours is a 403.
#[utoipa::path(
    get, path = "/v1/reports/{id}/files/{pageNumber}", operation_id = "getReportFile", tag = "Reports",
    params(("id" = Uuid, Path, description = "Id of the report"),
        ("pageNumber" = u32, Path, description = "From 1 to `pagesCount`", minimum = 1),
        ("link" = Option<String>, Query, description = "In place of a key, what the mail about the report has: 64 characters.")),
    security(("client_id" = [], "api_key" = []), ()),
    responses((status = 200, description = "The file.", content((File = "application/csv"))),
        (status = 307, description = "The file is at the address in `Location` for five minutes, and needs no key there."),
        (status = 404, description = "There is no such report, or no such file of it.", body = ErrorEnvelope),
        (status = 410, description = "The files of the report are gone.", body = ErrorEnvelope), CommonErrors),
)]
pub async fn read_file(
    State(app): State<App>,
    caller: Option<Extension<Caller>>,
    Extension(request_id): Extension<RequestId>,
    uri: Uri,
    Path((id, number)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let id: ReportId = path_id(&id)?;
    let number: u32 = number.parse().map_err(|_| Error::NotFound)?;
    let author = match caller {
        Some(Extension(caller)) => Author::of(&caller, &request_id),
        None => {
            let link = link_of(&uri).unwrap_or_default();
            let client_id = report_links::open(&app, &link, (id, number)).await?;
            let client_id = client_id.ok_or(ApiError::Forbidden)?;
            Author { client_id, actor: LINK_HOLDER, request_id: Some(&request_id) }
        }
    };
    let page = PageName { client_id: author.client_id, report_id: id, number };
    let reader = match reports::open_page(&app, &author, id, number).await? {
        FilePage::Here(reader) => reader,
        FilePage::There(address) => {
            let address = HeaderValue::try_from(address.as_str()).map_err(Error::internal)?;
            let headers = [
                (header::LOCATION, address),
                (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
                (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
            ];
            return Ok((StatusCode::TEMPORARY_REDIRECT, headers).into_response());
        }
    };
    let name = format!("attachment; filename=\"{}\"", page.file_name());
    let headers = [
        (header::CONTENT_TYPE, CSV),
        (header::CONTENT_DISPOSITION, HeaderValue::try_from(name).map_err(Error::internal)?),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    Ok((headers, streamed(reader)).into_response())
}

/// The link to a file that a request brings in place of a key.
pub fn link_of(uri: &Uri) -> Option<String> {
    let pairs = form_urlencoded::parse(uri.query()?.as_bytes());
    pairs.into_iter().find(|(name, _)| name == "link").map(|(_, link)| link.into_owned())
}

/// The file part by part. Where one does not open, the connection is cut, so that nobody takes the rest for the whole.
fn streamed(reader: PageReader) -> HttpBody {
    HttpBody::from_stream(stream::try_unfold(reader, |mut reader| async move {
        match reader.next().await {
            Ok(Some(part)) => Ok(Some((Bytes::copy_from_slice(&part), reader))),
            Ok(None) => Ok(None),
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "a file of a report cannot be read"
                );
                Err(error)
            }
        }
    }))
}
