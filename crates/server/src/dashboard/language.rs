//! Remembers the language that a reader chooses.

use axum::extract::RawQuery;
use axum::http::header;
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};

use super::gate::within;
use super::words::{LANGUAGE_COOKIE, LANGUAGES};

/// Keeps the language and leads back to the page.
pub(super) async fn choose(RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let value = |wanted: &str| {
        let mut pairs = url::form_urlencoded::parse(query.as_bytes());
        pairs.find_map(|(name, value)| (name == wanted).then(|| value.into_owned())).unwrap_or_default()
    };
    let (to, back) = (value("to"), value("back"));
    let chosen = LANGUAGES.iter().map(|(language, _)| language.tag()).find(|tag| *tag == to);
    let cookie = chosen.map(|tag| {
        let cookie =
            format!("{LANGUAGE_COOKIE}={tag}; Path=/dashboard; Max-Age=31536000; SameSite=Lax; HttpOnly");
        (header::SET_COOKIE, cookie)
    });
    (AppendHeaders(cookie), Redirect::to(within(&back))).into_response()
}
