//! `/js/`: the browser library in its released versions, and the list of every script that pages of this service load, with
//! their integrity hashes (PCI DSS 4.0.1, requirement 6.4.3). What is at a version's address never changes
//! (`docs/browser-library.md#versions`).

use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::app::App;
use crate::http::files::{Asset, AssetKind};

/// The path of the list.
const MANIFEST: &str = "/js/manifest.json";

const REGENTE: &str = include_str!("../../../../clients/js/regente.js");
const REGENTE_MODULE: &str = include_str!("../../../../clients/js/regente.mjs");
const V1: &str = include_str!("../../../../clients/js/v1.js");
const V1_MODULE: &str = include_str!("../../../../clients/js/v1.mjs");

/// What was released before, by its path. It is served as it is for good.
const RELEASED: [(&str, &str); 4] = [
    ("/js/v2.0.0/regente.js", include_str!("../../../../clients/js/released/v2.0.0/regente.js")),
    ("/js/v2.0.0/regente.mjs", include_str!("../../../../clients/js/released/v2.0.0/regente.mjs")),
    ("/js/v1.0.0/v1.js", include_str!("../../../../clients/js/released/v1.0.0/v1.js")),
    ("/js/v1.0.0/v1.mjs", include_str!("../../../../clients/js/released/v1.0.0/v1.mjs")),
];

/// The library's newest version, which pages of this service load.
pub(super) static LIBRARY: LazyLock<Asset> =
    LazyLock::new(|| Asset::at("/js/v2.1.0/regente.js", AssetKind::Script, REGENTE));

static OTHERS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let newest = [
        ("/js/v2.1.0/regente.mjs", REGENTE_MODULE),
        ("/js/v1.1.0/v1.js", V1),
        ("/js/v1.1.0/v1.mjs", V1_MODULE),
    ];
    let script = |(path, text)| Asset::at(path, AssetKind::Script, text);
    newest.into_iter().chain(RELEASED).map(script).collect()
});

const LIST_HEADERS: [(HeaderName, HeaderValue); 3] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
];

/// The routes of the library and of the list, in which `of_pages` are, too: what other pages of this service load.
pub(super) fn for_browsers(of_pages: &[&'static Asset]) -> Router<App> {
    let released = || std::iter::once(&*LIBRARY).chain(OTHERS.iter());
    let scripts: Vec<Value> = released().chain(of_pages.iter().copied()).map(entry).collect();
    let list = json!({ "scripts": scripts });
    let routes = Router::new().route(MANIFEST, get(async || (LIST_HEADERS, Json(list)).into_response()));
    released().fold(routes, |routes, script| {
        routes.route(&script.path, get(async |headers: HeaderMap| script.answer(&headers)))
    })
}

fn entry(script: &Asset) -> Value {
    json!({ "path": script.path, "integrity": script.integrity(), "bytes": script.text().len() })
}
