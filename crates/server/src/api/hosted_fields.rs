//! `/fields/`: the document in the frames of the browser library, in which a buyer types a card (`docs/browser-library.md`).
//! The same document is at `/` of an origin that is for the fields alone (`server.fields_base_url`), where the published
//! library looks for it.

use std::sync::LazyLock;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{any, get};
use regente_engine::error::Error;

use super::strangers::accepts_html;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::fields_origin::LegacyPages;
use crate::http::files::{Asset, AssetKind};
use crate::http::html::{escape, policy_source};

const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../../../../clients/js/fields/cards.js"),
    include_str!("../../../../clients/js/fields/styles.js"),
    include_str!("../../../../clients/js/fields/proof.js"),
    include_str!("../../../../clients/js/fields/fields.js"),
    "})();\n"
);
/// What a field looks like before a page says more. The frame is as large as the page makes it; the notice is for screen
/// readers alone.
const STYLE: &str = "html,body{height:100%;margin:0;overflow:hidden;background:transparent}\
input{box-sizing:border-box;width:100%;height:100%;margin:0;padding:0;border:0;border-radius:0;background:transparent;\
color:CanvasText;font:16px/1.4 system-ui,sans-serif;appearance:none}\
input:focus-visible{outline:2px solid Highlight;outline-offset:-2px}\
#notice{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}";

/// The script of the document.
pub(super) static FIELDS_SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::under_its_hash("/fields/fields", AssetKind::Script, SCRIPT));

/// The routes that browsers come to, without credentials. No program calls them, so that the document does not describe
/// them. At `/`, a browser that is not at the origin of the fields is led to the page `start`.
pub(super) fn for_browsers(start: &'static str) -> Router<App> {
    Router::new()
        .route("/", any(async move |state: State<App>, request: Request| at_root(state, request, start)))
        .route("/fields", get(show))
        .route("/fields/", get(show))
        .route(&FIELDS_SCRIPT.path, get(async |headers: HeaderMap| FIELDS_SCRIPT.answer(&headers)))
}

fn at_root(State(app): State<App>, request: Request, start: &str) -> Result<Response, ApiError> {
    let is_asked = app.fields_origin.as_ref().is_some_and(|fields| fields.is_asked(&request));
    match *request.method() {
        Method::GET | Method::HEAD if is_asked => Ok(document(&app)),
        Method::GET | Method::HEAD if accepts_html(request.headers()) => {
            Ok(Redirect::to(start).into_response())
        }
        _ => Err(Error::NotFound.into()),
    }
}

async fn show(State(app): State<App>) -> Response {
    document(&app)
}

/// Any page may show it in a frame. It loads its own script and calls the API, and nothing else.
fn document(app: &App) -> Response {
    // Without an origin of its own the document is at the API's, and calls what served it.
    let (api, api_origin) = match &app.fields_origin {
        Some(fields) => (fields.api.as_str(), fields.api_origin.as_str()),
        None => ("", "'self'"),
    };
    let legacy_pages = match app.legacy_pages {
        LegacyPages::Served => " data-legacy-pages",
        LegacyPages::Refused => "",
    };
    let script = &*FIELDS_SCRIPT;
    let html = format!(
        "<!doctype html><html lang=\"en\" data-api=\"{api}\"{legacy_pages}><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"robots\" content=\"noindex\">\
         <title>Card</title><style>{STYLE}</style>\
         <script src=\"{path}\" integrity=\"{integrity}\" defer></script></head><body></body></html>",
        api = escape(api),
        path = script.path,
        integrity = script.integrity(),
    );
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src {style}; connect-src {api_origin}; base-uri 'none'; form-action 'none'; \
         frame-ancestors *; require-trusted-types-for 'script'",
        style = policy_source(STYLE),
    );
    let mut response = Response::new(Body::from(html));
    let headers = response.headers_mut();
    headers.extend(HEADERS);
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// Pages that isolate themselves may have the frame, too.
const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("cross-origin")),
    (HeaderName::from_static("cross-origin-embedder-policy"), HeaderValue::from_static("require-corp")),
];
