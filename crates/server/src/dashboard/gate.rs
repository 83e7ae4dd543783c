//! The gate in front of the pages of members: it finds who has signed in by the cookie, anew for each request.

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Redirect, Response};
use regente_engine::members::SignedIn;
use regente_engine::members::sign_in::Cookie;
use regente_engine::members::sign_ins;
use url::form_urlencoded;

use crate::app::App;
use crate::http::error::ApiError;

/// Where members sign in.
pub(super) const SIGN_IN: &str = "/dashboard/sign-in";
/// Where a member goes who did not ask for a page.
pub(super) const HOME: &str = "/dashboard";
/// The name of the cookie.
const COOKIE: &str = "regente_dashboard";

/// Puts the [`SignedIn`] of the cookie into the extensions of each request. Without one, a page leads to the sign-in, and
/// anything else is refused.
pub(super) fn members_only(routes: Router<App>) -> Router<App> {
    routes.route_layer(from_fn(let_in))
}

async fn let_in(mut request: Request, next: Next) -> Response {
    let app = App::of(&request);
    match signed_in(&app, request.headers()).await {
        Ok(Some(who)) => {
            request.extensions_mut().insert(who);
            let mut response = next.run(request).await;
            response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
        Ok(None) if request.method() == Method::GET => {
            let here = request.uri().path_and_query().map_or("", |path| path.as_str());
            let next: String = form_urlencoded::byte_serialize(here.as_bytes()).collect();
            Redirect::to(&format!("{SIGN_IN}?next={next}")).into_response()
        }
        Ok(None) => StatusCode::FORBIDDEN.into_response(),
        Err(error) => error.into_response(),
    }
}

/// The page to lead on to: one of the dashboard, whatever the address said. A link to here must not lead elsewhere.
pub(super) fn within(next: &str) -> &str {
    let is_ours = next.strip_prefix(HOME).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
    if is_ours && next.bytes().all(|byte| byte.is_ascii_graphic()) { next } else { HOME }
}

/// Who has signed in in this browser.
pub(super) async fn signed_in(app: &App, headers: &HeaderMap) -> Result<Option<SignedIn>, ApiError> {
    let Some(cookie) = cookie_of(headers) else { return Ok(None) };
    app.vault.keep_current().await?;
    Ok(sign_ins::find(app, &cookie).await?)
}

fn cookie_of(headers: &HeaderMap) -> Option<Cookie> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).and_then(|(_, value)| Cookie::parse(value))
}

/// The header that keeps a sign-in in a browser, for as long as the browser is open.
pub(super) fn keep(app: &App, cookie: &Cookie) -> HeaderValue {
    header_of(app, &cookie.text(), "")
}

/// The header that takes it away.
pub(super) fn forget(app: &App) -> HeaderValue {
    header_of(app, "", "; Max-Age=0")
}

fn header_of(app: &App, value: &str, more: &str) -> HeaderValue {
    let is_secure = app.settings.base_url.as_deref().is_some_and(|url| url.starts_with("https:"));
    let secure = if is_secure { "; Secure" } else { "" };
    let text = format!("{COOKIE}={value}; Path=/dashboard; HttpOnly; SameSite=Lax{secure}{more}");
    HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static(""))
}
