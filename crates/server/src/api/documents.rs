//! Pictures of codes and slips, for payers who have no key: whoever has the link sees the document
//! (`docs/interface/charges.md#documents`).

mod slip;

use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use regente_documents::upload::{UploadError, format_of};
use regente_documents::{Mark, qr};
use regente_domain::charge::instructions::Instructions;
use regente_domain::seller::document::FileFormat;
use regente_engine::document_links;
use regente_engine::error::Error;
use regente_providers::request::Mode;
use regente_store::charges::{self, StoredCharge};
use tokio::sync::{AcquireError, Semaphore};
use tokio::time::timeout;
use utoipa::ToSchema;

use self::slip::PrintedSlip;
use super::path::Path;
use crate::app::App;
use crate::http::error::{ApiError, ErrorEnvelope, KeylessErrors};

/// Documents that are drawn at once: drawing takes a processor for some milliseconds.
const DRAWN_AT_ONCE_MAX: usize = 4;
/// How long a caller waits for a place.
const PLACE_WAIT_MAX: Duration = Duration::from_secs(5);
/// The `Retry-After` of a caller who waited in vain.
const RETRY_AFTER_BUSY: Duration = Duration::from_secs(2);

static DRAWING: Semaphore = Semaphore::const_new(DRAWN_AT_ONCE_MAX);
static WRITING: LazyLock<Semaphore> = LazyLock::new(|| {
    let processors = available_parallelism().map_or(1, NonZeroUsize::get);
    Semaphore::new((processors / 2).max(1))
});

/// The headers of every document. Documents are shown on pages of others, and refer to nothing themselves.
const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=300")),
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("cross-origin")),
    (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex")),
];

/// The formats of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Png,
    Svg,
}

/// A picture.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "describes the file for the OpenAPI document")]
pub(super) struct Picture(Vec<u8>);

/// A PDF file.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "describes the file for the OpenAPI document")]
struct Pdf(Vec<u8>);

/// Shows the QR code of a charge as a picture.
///
/// No key is needed: the file's name cannot be guessed. It is in `qrCodeImageUrl` of the charge, and ends with `.png`;
/// `.svg` instead gives a picture of any size. In the sandbox `SANDBOX` stands below the code. An address that asks for
/// too many files that do not exist waits, like one with wrong keys.
#[utoipa::path(
    get, path = "/qr/{file}", tag = "Documents", operation_id = "readQrCode",
    params(("file" = String, Path, description = "The name in `qrCodeImageUrl`: 64 characters and `.png` or `.svg`.")),
    responses(
        (status = 200, description = "The picture.", content((Picture = "image/png"), (Picture = "image/svg+xml"))),
        (status = 404, description = "The name is not ours, or the charge has no code.", body = ErrorEnvelope),
        KeylessErrors,
    ),
)]
pub async fn qr_code(State(app): State<App>, Path(file): Path<String>) -> Result<Response, ApiError> {
    let (format, text) = find_qr_code(&app, &file).await?.ok_or(Error::NotFound)?;
    let mark = mark(&app);
    let drawn = draw(move || {
        let picture = qr::picture(&text, mark)?;
        match format {
            Format::Png => picture.png(),
            Format::Svg => Ok(picture.svg().into_bytes()),
        }
    });
    let drawn = drawn.await?.map_err(Error::internal)?;
    Ok((HEADERS, [(header::CONTENT_TYPE, format.content_type())], drawn).into_response())
}

/// Shows the slip of a boleto as a PDF file.
///
/// No key is needed: the file's name cannot be guessed. It is in `barcodeImageUrl` of the charge. The slip has the bar code
/// with the line to type, payer and beneficiary, what late payers owe, and a Pix code; in the sandbox `SANDBOX` stands
/// across it. An address that asks for too many files that do not exist waits, like one with wrong keys.
#[utoipa::path(
    get, path = "/boleto/{file}", tag = "Documents", operation_id = "readSlip",
    params(("file" = String, Path, description = "The name in `barcodeImageUrl`: 64 characters and `.pdf`.")),
    responses(
        (status = 200, description = "The slip.", content((Pdf = "application/pdf"))),
        (status = 404, description = "The name is not ours, or the charge has no slip.", body = ErrorEnvelope),
        KeylessErrors,
    ),
)]
pub async fn slip(State(app): State<App>, Path(file): Path<String>) -> Result<Response, ApiError> {
    let slip = find_slip(&app, &file).await?.ok_or(Error::NotFound)?;
    let mark = mark(&app);
    let drawn = draw(move || slip.pdf(mark)).await?.map_err(Error::internal)?;
    Ok((HEADERS, [(header::CONTENT_TYPE, HeaderValue::from_static("application/pdf"))], drawn)
        .into_response())
}

impl Format {
    const fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Png => "image/png",
            Self::Svg => "image/svg+xml",
        })
    }
}

pub(super) fn mark(app: &App) -> Mark {
    match app.settings.mode {
        Mode::Sandbox => Mark::Sandbox,
        Mode::Production => Mark::None,
    }
}

/// The code of the charge that a file's name stands for.
async fn find_qr_code(app: &App, file: &str) -> Result<Option<(Format, String)>, Error> {
    let (link, format) = match file.rsplit_once('.') {
        Some((link, "png")) => (link, Format::Png),
        Some((link, "svg")) => (link, Format::Svg),
        Some(_) | None => return Ok(None),
    };
    let Some(Instructed { instructions, .. }) = find(app, link).await? else { return Ok(None) };
    Ok(match instructions {
        // Whoever sees a page at another device scans its address.
        Instructions::QrCode { data } | Instructions::Redirect { url: data } => Some((format, data)),
        Instructions::Challenge { .. } | Instructions::HostedChallenge { .. } | Instructions::Boleto(_) => {
            None
        }
    })
}

/// The slip of the charge that a file's name stands for.
async fn find_slip(app: &App, file: &str) -> Result<Option<PrintedSlip>, Error> {
    let Some((link, "pdf")) = file.rsplit_once('.') else { return Ok(None) };
    let Some(Instructed { stored, instructions }) = find(app, link).await? else { return Ok(None) };
    match instructions {
        Instructions::Boleto(issued) => PrintedSlip::of(app, stored, *issued).await.map(Some),
        Instructions::Redirect { .. }
        | Instructions::Challenge { .. }
        | Instructions::HostedChallenge { .. }
        | Instructions::QrCode { .. } => Ok(None),
    }
}

/// A charge with what a provider told its payer to do.
struct Instructed {
    stored: StoredCharge,
    instructions: Instructions,
}

/// The charge that a link names, with its newest instructions, also when it has been paid or has expired since: a page
/// that shows a document stays whole.
async fn find(app: &App, link: &str) -> Result<Option<Instructed>, Error> {
    let Some(linked) = document_links::open(app, link).await? else { return Ok(None) };
    let found = charges::find_with_requests(&app.store, linked.client_id, linked.charge_id).await?;
    let Some((stored, requests)) = found else { return Ok(None) };
    let newest = requests.iter().rev().find_map(|stored| stored.request.pending());
    Ok(newest.map(|pending| Instructed { stored, instructions: pending.instructions.clone() }))
}

/// Draws beside the other work of the server.
pub(super) async fn draw<T: Send + 'static>(
    drawing: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    at_a_place(DRAWING.acquire(), drawing).await
}

/// Writes a large page beside the other work of the server. Pages have places of their own, so that they hold up no code, and at
/// most half of the processors, so that they leave room for charges.
pub(super) async fn write_page<T: Send + 'static>(
    writing: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    Ok(at_a_place(WRITING.acquire(), writing).await?)
}

/// Judges a file that a caller has sent. Files have places of their own, so that no upload holds up a payer's document.
pub(super) async fn judge(app: &App, file: Bytes) -> Result<Result<FileFormat, UploadError>, ApiError> {
    Ok(at_a_place(Arc::clone(&app.limiters.judging).acquire_owned(), move || format_of(&file)).await?)
}

/// Works outside of the threads that serve requests, when there is a place.
async fn at_a_place<P: Send + 'static, T: Send + 'static>(
    place: impl Future<Output = Result<P, AcquireError>>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    let busy = || Error::Unavailable { retry_after: RETRY_AFTER_BUSY, cause: None };
    let place = timeout(PLACE_WAIT_MAX, place).await.map_err(|_| busy())?.map_err(Error::internal)?;
    let worked = tokio::task::spawn_blocking(move || {
        let _place = place;
        work()
    });
    worked.await.map_err(Error::internal)
}
