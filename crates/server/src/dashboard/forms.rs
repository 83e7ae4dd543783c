//! Forms that browsers send. A form of a member carries what only our page could know; none may come from another site.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use regente_engine::members::SignedIn;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::Url;

use crate::app::App;
use crate::http::error::ApiError;
use crate::http::limits::read_bytes_within;

/// Most bytes of a form.
const FORM_BYTES_MAX: usize = 64 * 1024;
const FETCH_SITE: &str = "sec-fetch-site";

/// A form of the member who has signed in, from a page of ours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posted<T>(pub(super) T);

/// A form of whoever has not signed in yet, from a page of ours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent<T>(pub(super) T);

#[derive(Deserialize)]
struct Token {
    #[serde(default)]
    csrf: String,
}

impl<T: DeserializeOwned> FromRequest<App> for Posted<T> {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        let who = request.extensions().get::<SignedIn>().cloned();
        let form = read(request, app).await?;
        let sent: Token = parse(&form).map_err(StatusCode::into_response)?;
        let is_ours =
            who.is_some_and(|who| verify_slices_are_equal(who.csrf.as_bytes(), sent.csrf.as_bytes()).is_ok());
        let form = if is_ours { parse(&form) } else { Err(StatusCode::FORBIDDEN) };
        form.map(Self).map_err(StatusCode::into_response)
    }
}

impl<T: DeserializeOwned> FromRequest<App> for Sent<T> {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        let form = read(request, app).await?;
        parse(&form).map(Self).map_err(StatusCode::into_response)
    }
}

async fn read(request: Request, app: &App) -> Result<Vec<u8>, Response> {
    if !is_from_here(request.headers(), app.settings.base_url.as_deref()) {
        return Err(StatusCode::FORBIDDEN.into_response());
    }
    let bytes = read_bytes_within(request, FORM_BYTES_MAX).await;
    bytes.map(|bytes| bytes.to_vec()).map_err(ApiError::into_response)
}

fn parse<T: DeserializeOwned>(form: &[u8]) -> Result<T, StatusCode> {
    serde_urlencoded::from_bytes(form).map_err(|_| StatusCode::BAD_REQUEST)
}

/// Whether a browser says nothing, or that one of our pages sends. The origin is ours when its host is that of the request,
/// or that of the public address: a proxy may have changed the one or hidden the other.
fn is_from_here(headers: &HeaderMap, base_url: Option<&str>) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or(""));
    if text(FETCH_SITE).is_some_and(|site| site != "same-origin") {
        return false;
    }
    let Some(origin) = text(header::ORIGIN.as_str()) else { return true };
    let Ok(origin) = Url::parse(origin) else { return false };
    let host = |url: &Url| {
        url.host_str().map(|host| match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        })
    };
    let of_base = base_url.and_then(|base| Url::parse(base).ok()).and_then(|base| host(&base));
    let sent_to = text(header::HOST.as_str()).map(str::to_owned);
    host(&origin).is_some_and(|host| Some(&host) == of_base.as_ref() || Some(&host) == sent_to.as_ref())
}
