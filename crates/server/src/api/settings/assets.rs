//! `/v1/settings/assets/{file}`: logos, for browsers of buyers, who have no key. The file behind a name never changes.

use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use regente_domain::settings::LogoFormat;
use regente_engine::error::Error;
use regente_engine::link_settings;

use crate::api::documents::Picture;
use crate::api::path::Path;
use crate::app::App;
use crate::http::error::{ApiError, ErrorEnvelope, KeylessErrors};

/// Pages of others show logos. A browser that opens one by itself shows a picture that can do nothing.
const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable")),
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("cross-origin")),
    (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex")),
];

/// Shows a logo.
///
/// No key is needed: the file's name cannot be guessed. It is in `logo` of the settings. An address that asks for too
/// many files that do not exist waits, like one with wrong keys.
#[utoipa::path(
    get, path = "/v1/settings/assets/{file}", tag = "Settings", operation_id = "readLogo",
    params(("file" = String, Path, description = "The name in `logo`: 43 characters and `.png` or `.jpg`.")),
    responses(
        (status = 200, description = "The logo.", content((Picture = "image/png"), (Picture = "image/jpeg"))),
        (status = 404, description = "There is no such logo, or another one has taken its place.",
            body = ErrorEnvelope),
        KeylessErrors,
    ),
)]
pub async fn logo(State(app): State<App>, Path(file): Path<String>) -> Result<Response, ApiError> {
    let logo = link_settings::find_logo(&app, &file).await?.ok_or(Error::NotFound)?;
    let kind = HeaderValue::from_static(match logo.format {
        LogoFormat::Png => "image/png",
        LogoFormat::Jpeg => "image/jpeg",
    });
    Ok((HEADERS, [(header::CONTENT_TYPE, kind)], logo.bytes).into_response())
}
