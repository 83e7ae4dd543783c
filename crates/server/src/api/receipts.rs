//! `/v1/charges/{id}/receipts` and `/v1/receipts`: documents that prove refunds (`docs/interface/receipts.md`).

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use regente_documents::Mark;
use regente_documents::receipt::Issue;
use regente_domain::actor::Actor;
use regente_domain::id::{ChargeId, ReceiptId, TransactionRequestId};
use regente_domain::money::Amount;
use regente_domain::receipt::{
    NewReceipt, ReceiptFormat, ReceiptLanguage, ReceiptMethod, ReceiptType, file_name,
};
use regente_domain::time::Timestamp;
use regente_engine::audit::Author;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use regente_engine::receipt_links;
use regente_engine::receipts::{self, Drawing, Issued};
use serde::Serialize;
use url::form_urlencoded;
use utoipa::ToSchema;

use super::documents::{draw, mark};
use super::fields::Body;
use super::fields::readers::not_one_of;
use super::idempotency::commit_once;
use super::path::{Path, path_id};
use super::query::Query;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope, KeylessErrors};

/// Whoever fetches a file by its address, in the audit trail: nobody knows who that is.
const ADDRESS_HOLDER: Actor = Actor::Job("receipt_link");

/// The headers of a file. It is for whoever has the address, and stays in no cache.
const HEADERS: [(HeaderName, HeaderValue); 4] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex")),
];

/// An issue of a document that proves refunds.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Receipt)]
pub struct ReceiptView {
    /// This issue; the same for the same refunds.
    id: ReceiptId,
    /// The charge.
    charge_id: ChargeId,
    /// Which document it is.
    #[serde(rename = "type")]
    receipt_type: ReceiptType,
    /// How the charge was paid.
    payment_method: ReceiptMethod,
    /// The language that it is written in.
    language: ReceiptLanguage,
    /// What the file is: `zip` for several letters.
    format: ReceiptFormat,
    /// The address of the file, for whoever is to see it: it needs no key.
    #[schema(
        example = "https://pay.example.com/v1/receipts/6f1d6d2c-0a3f-4b4d-9a1e-51d1a2d0c711/file?token=AZ8…Qw.1777723500000"
    )]
    url: String,
    /// Until when the address is good, 15 minutes from now. The next call has a new one.
    url_expires_at: Timestamp,
    /// The refunds that it proves, oldest first.
    refunds: Vec<RefundView>,
    /// All of them together.
    total_refunded: Amount,
    /// When it was issued.
    issued_at: Timestamp,
}

/// A refund that a document proves.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProvedRefund)]
struct RefundView {
    /// The transaction request of the void.
    id: TransactionRequestId,
    /// What was given back, in minor units.
    amount: Amount,
    /// When the provider confirmed it.
    confirmed_at: Timestamp,
}

impl ReceiptView {
    fn of(issued: &Issued) -> Self {
        let Issued { receipt, method, refunds, url, url_expires_at } = issued;
        let refund = |refund: &regente_domain::charge::refunds::Refund| RefundView {
            id: refund.id,
            amount: refund.amount,
            confirmed_at: refund.confirmed_at,
        };
        Self {
            id: receipt.id,
            charge_id: receipt.charge_id,
            receipt_type: receipt.receipt_type,
            payment_method: *method,
            language: receipt.language,
            format: receipt.format,
            url: url.clone(),
            url_expires_at: *url_expires_at,
            refunds: refunds.iter().map(refund).collect(),
            total_refunded: issued.total(),
            issued_at: receipt.id.created_at(),
        }
    }
}

/// A document, or several letters.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary, as = ReceiptFile)]
#[expect(dead_code, reason = "describes the file for the OpenAPI document")]
struct File(Vec<u8>);

/// Issues a document that proves the refunds of a charge.
///
/// The same refunds have the same document: another call answers the same issue, with a new address. Once another refund is
/// confirmed, it is a new issue with all of them.
#[utoipa::path(
    get, path = "/v1/charges/{id}/receipts", operation_id = "getChargeReceipt", tag = "Receipts",
    params(("id" = Uuid, Path, description = "Id of the charge"),
        ("type" = ReceiptType, Query, description = "Which document."),
        ("language" = Option<ReceiptLanguage>, Query, description = "Its language, `pt-BR` by default.")),
    responses((status = 200, description = "The issue.", body = ReceiptView),
        (status = 404, description = "There is no such charge.", body = ErrorEnvelope),
        (status = 422, description = "Nothing can be proved: `businessCode` says why.", body = ErrorEnvelope),
        CommonErrors),
)]
pub async fn read_of_charge(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    query: Query,
) -> Result<Response, ApiError> {
    let charge_id = path_id(&id)?;
    let (receipt_type, language) = query.read(|parameters| {
        let receipt_type = parameters.choice("type", ReceiptType::WORDS);
        (receipt_type, parameters.choice("language", ReceiptLanguage::WORDS))
    })?;
    let receipt_type = receipt_type.ok_or_else(|| Error::invalid("type", not_one_of(ReceiptType::WORDS)))?;
    let language = language.unwrap_or(ReceiptLanguage::PtBr);
    let new = NewReceipt { charge_id, receipt_type, language };
    let (author, mark) = (Author::of(&caller, &request_id), mark(&app));
    let issued = receipts::issue(&app, &author, &new, &|drawing| drawn(drawing, mark)).await?;
    Ok(Json(ReceiptView::of(&issued)).into_response())
}

/// Issues a document that proves the refunds of a charge.
///
/// It does what `GET /v1/charges/{id}/receipts` does, for clients to which issuing is a command.
#[utoipa::path(
    post, path = "/v1/receipts", operation_id = "createReceipt", tag = "Receipts",
    request_body(content = NewReceipt, content_type = "application/json"),
    responses((status = 201, description = "The issue.", body = ReceiptView),
        (status = 404, description = "There is no such charge.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope),
        (status = 422, description = "Nothing can be proved: `businessCode` says why.", body = ErrorEnvelope),
        CommonErrors),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let new: NewReceipt = body.read_as()?;
    let (author, mark) = (Author::of(&caller, &request_id), mark(&app));
    let draw = |drawing| drawn(drawing, mark);
    let plan = || async {
        let (batch, issued) = receipts::plan_issue(&app, &author, &new, &draw).await?;
        Planned::showing(batch, StatusCode::CREATED.as_u16(), &ReceiptView::of(&issued))
    };
    commit_once(&app, &caller, &headers, "POST /v1/receipts", &body, plan).await
}

/// Fetches the file of an issue.
///
/// No key is needed: the address is in `url` of the issue, and good for 15 minutes. Fetching it is noted in the audit trail. An address
/// that was not made here is not found; the time of one that was is over after 15 minutes.
#[utoipa::path(
    get, path = "/v1/receipts/{receiptId}/file", operation_id = "readReceiptFile", tag = "Receipts",
    params(("receiptId" = Uuid, Path, description = "Id of the issue"),
        ("token" = String, Query, description = "As `url` has it.")),
    responses(
        (status = 200, description = "The file.",
            content((File = "application/pdf"), (File = "application/zip"))),
        (status = 404, description = "The address was not made here.", body = ErrorEnvelope),
        (status = 410, description = "The time of the address is over, or the file is not kept any more.",
            body = ErrorEnvelope),
        KeylessErrors,
    ),
)]
pub async fn read_file(
    State(app): State<App>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let id: ReceiptId = path_id(&id)?;
    let token = receipt_links::open(&app, &token_of(&uri).unwrap_or_default(), id).await?;
    let token = token.ok_or(Error::NotFound)?;
    let author = Author { client_id: token.client_id, actor: ADDRESS_HOLDER, request_id: Some(&request_id) };
    let (receipt, file) = receipts::open_file(&app, &author, id, token.until).await?;
    let kind = HeaderValue::from_static(match receipt.format {
        ReceiptFormat::Pdf => "application/pdf",
        ReceiptFormat::Zip => "application/zip",
    });
    let name = file_name(receipt.receipt_type, receipt.format, receipt.charge_id);
    let name = HeaderValue::try_from(format!("attachment; filename=\"{name}\"")).map_err(Error::internal)?;
    let headers = [(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, name)];
    Ok((HEADERS, headers, file.to_vec()).into_response())
}

/// The token of an address.
fn token_of(uri: &Uri) -> Option<String> {
    let pairs = form_urlencoded::parse(uri.query()?.as_bytes());
    pairs.into_iter().find(|(name, _)| name == "token").map(|(_, token)| token.into_owned())
}

/// Draws beside the other work of the server.
fn drawn(drawing: Drawing, mark: Mark) -> BoxFuture<'static, Result<Vec<u8>, Error>> {
    async move {
        let work = move || {
            let Drawing { content, logo } = &drawing;
            let logo = logo.as_ref().map(|logo| (logo.format, logo.bytes.as_slice()));
            Issue { content, logo, mark }.file()
        };
        draw(work).await?.map_err(Error::internal)
    }
    .boxed()
}
