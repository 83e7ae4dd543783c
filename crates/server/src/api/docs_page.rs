//! `/docs`: the reference of the interface for people, written from the OpenAPI document that is served. It works without its
//! script, loads nothing from other hosts and sends nothing: the key that a reader types stays in the tab.

mod document;
mod example;
mod fields;
mod limits;
mod page;
mod sections;
mod snippets;
mod text;

use std::io;
use std::sync::{LazyLock, OnceLock};

use aws_lc_rs::digest::{SHA256, digest};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::get;
use regente_engine::error::Error;
use serde_json::Value;

use super::documents::write_page;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::files::{Asset, AssetKind, gzip, takes_gzip};

/// Where the page is.
pub(super) const PAGE: &str = "/docs";

/// The same page: addresses with a slash are in use.
const WITH_SLASH: &str = "/docs/";

/// Where readers get a key for the examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// `regente dev` has printed it.
    Dev,
    /// Whoever runs the service makes one.
    Operator,
}

pub(super) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    Asset::under_its_hash("/docs/assets/docs", AssetKind::Script, include_str!("../../assets/docs/docs.js"))
});

static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    Asset::under_its_hash("/docs/assets/docs", AssetKind::Style, include_str!("../../assets/docs/docs.css"))
});

/// A page as it is sent.
struct KeptPage {
    html: Bytes,
    compressed: Bytes,
    tag: HeaderValue,
}

static OF_DEV: OnceLock<KeptPage> = OnceLock::new();
static OF_OPERATOR: OnceLock<KeptPage> = OnceLock::new();

/// The headers of the page. It may run its own script, which may call nobody.
const HEADERS: [(HeaderName, HeaderValue); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'none'; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
    ),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::VARY, HeaderValue::from_static("accept-encoding")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

/// The page of a document, which is JSON.
///
/// # Errors
/// The document is no JSON.
pub fn render(document: &[u8], key_source: KeySource) -> io::Result<String> {
    let document: Value = serde_json::from_slice(document)?;
    page::render(&document, key_source).map_err(io::Error::other)
}

/// The route of the page of this document.
pub(super) fn for_browsers(document: &'static [u8], key_source: KeySource) -> Router<App> {
    let show = async move |headers: HeaderMap| show(&headers, document, key_source).await;
    Router::new().route(PAGE, get(show)).route(WITH_SLASH, get(show))
}

/// The files that the page loads.
pub(super) fn assets() -> Router<App> {
    [&*SCRIPT, &*STYLE].into_iter().fold(Router::new(), |routes, file| {
        routes.route(&file.path, get(async |headers: HeaderMap| file.answer(&headers)))
    })
}

/// Answers with the page. It is written when it is first asked for: that takes longer than all else that a start does, and most
/// processes are never asked.
async fn show(
    asked: &HeaderMap,
    document: &'static [u8],
    key_source: KeySource,
) -> Result<Response, ApiError> {
    let kept = match key_source {
        KeySource::Dev => &OF_DEV,
        KeySource::Operator => &OF_OPERATOR,
    };
    let page = match kept.get() {
        Some(page) => page,
        None => {
            let write = move || -> io::Result<&KeptPage> {
                let page = KeptPage::of(render(document, key_source)?);
                Ok(kept.get_or_init(|| page))
            };
            write_page(write).await?.map_err(Error::internal)?
        }
    };
    Ok(page.answer(asked))
}

impl KeptPage {
    fn of(html: String) -> Self {
        let hash = hex::encode(digest(&SHA256, html.as_bytes()));
        // The same for both forms of the page, which are not the same bytes.
        let tag = HeaderValue::from_str(&format!("W/\"{hash}\""));
        Self {
            compressed: gzip(html.as_bytes()),
            html: html.into(),
            tag: tag.unwrap_or(HeaderValue::from_static("W/\"\"")),
        }
    }

    fn answer(&self, asked: &HeaderMap) -> Response {
        let mut response = Response::new(Body::empty());
        let headers = response.headers_mut();
        headers.extend(HEADERS);
        headers.insert(header::ETAG, self.tag.clone());
        if self.is_known(asked) {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return response;
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        let bytes = match takes_gzip(asked) {
            true => {
                headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                &self.compressed
            }
            false => &self.html,
        };
        *response.body_mut() = Body::from(bytes.clone());
        response
    }

    /// Whether the browser has this page.
    fn is_known(&self, asked: &HeaderMap) -> bool {
        let known = asked.get_all(header::IF_NONE_MATCH).iter().filter_map(|tags| tags.to_str().ok());
        known.flat_map(|tags| tags.split(',')).any(|tag| self.tag == tag.trim())
    }
}
