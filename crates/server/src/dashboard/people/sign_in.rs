//! The page on which members sign in. Whatever is wrong, it says the same.

use askama::Template;
use axum::Extension;
use axum::extract::{FromRequest, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use regente_engine::caller::RequestId;
use regente_engine::error::Error;
use regente_engine::members::sign_in::{self as flow, Attempt, Cookie};
use serde::Deserialize;

use super::browser;
use super::words::Texts;
use crate::app::App;
use crate::dashboard::forms::Sent;
use crate::dashboard::gate::{self, HOME, SIGN_IN};
use crate::dashboard::layout::{Layout, page, page_with};
use crate::dashboard::words::Words;
use crate::http::error::ApiError;
use crate::http::peer::PeerAddress;
use crate::http::rates::{Network, RateKey};

#[derive(Template)]
#[template(path = "dashboard/people/sign-in.html")]
struct SignInPage<'a> {
    layout: Layout<'a>,
    p: &'static Texts,
    next: &'a str,
    email: &'a str,
    problem: Option<&'a str>,
}

/// The page that was asked for before.
#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    next: String,
}

/// What the form sends.
#[derive(Deserialize)]
struct Form {
    email: String,
    password: String,
    code: String,
    #[serde(default)]
    next: String,
}

pub(super) async fn ask(headers: HeaderMap, Query(asked): Query<Asked>) -> Response {
    let words = Words::of(&headers);
    page(&shown(words, &asked.next, "", None))
}

fn shown<'a>(
    words: &'static Words,
    next: &'a str,
    email: &'a str,
    problem: Option<&'a str>,
) -> SignInPage<'a> {
    let p = Texts::of(words);
    let layout = Layout { words, who: None, title: &p.sign_in, here: SIGN_IN };
    SignInPage { layout, p, next, email, problem }
}

pub(super) async fn sign_in(
    State(app): State<App>,
    Extension(request_id): Extension<RequestId>,
    request: Request,
) -> Result<Response, Response> {
    let PeerAddress(address) = app.limits.proxies.peer_of(&request);
    let headers = request.headers().clone();
    let Sent(form) = Sent::<Form>::from_request(request, &app).await?;
    let signed_in = try_once(&app, &request_id, address.into(), &form, &browser::name_of(&headers)).await;
    let words = Words::of(&headers);
    let p = Texts::of(words);
    match signed_in {
        Ok(Some(cookie)) => Ok(entered(&app, &cookie, &form.next)),
        Ok(None) => {
            let page = shown(words, &form.next, &form.email, Some(&p.refused));
            Ok(page_with(StatusCode::FORBIDDEN, &page))
        }
        Err(ApiError::TooManyRequests { retry_after }) => {
            let page = shown(words, &form.next, &form.email, Some(&p.too_many));
            let mut response = page_with(StatusCode::TOO_MANY_REQUESTS, &page);
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(retry_after.as_secs().max(1)));
            Ok(response)
        }
        Err(error) => Err(error.into_response()),
    }
}

/// One attempt. The places for hashing are few, and the limits are asked once there is one: of many attempts at once, few
/// are made before the first failures count.
async fn try_once(
    app: &App,
    request_id: &RequestId,
    network: Network,
    form: &Form,
    browser: &str,
) -> Result<Option<Cookie>, ApiError> {
    app.vault.keep_current().await?;
    let _place = app.limiters.hashing.acquire().await.map_err(Error::internal)?;
    let by_address = RateKey::SignIn(network);
    let by_person = RateKey::SignInAs(flow::counted_as(app, &form.email).await?, network);
    app.limiters.sign_ins.check(&by_address)?;
    app.limiters.sign_ins_as.check(&by_person)?;
    let attempt =
        Attempt { email: form.email.clone(), password: form.password.clone(), code: form.code.clone() };
    let signed_in = flow::sign_in(app, request_id, &attempt, browser).await?;
    if signed_in.is_none() {
        app.limiters.sign_ins.fail(&by_address);
        app.limiters.sign_ins_as.fail(&by_person);
    }
    Ok(signed_in)
}

/// Signs the owner of a sandbox in by the link of `regente dev`.
pub(super) async fn by_link(
    State(app): State<App>,
    Extension(request_id): Extension<RequestId>,
    Path(token): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    app.vault.keep_current().await?;
    let signed_in = flow::by_link(&app, &request_id, &token, &browser::name_of(&headers)).await?;
    Ok(match signed_in {
        Some(cookie) => entered(&app, &cookie, HOME),
        None => Redirect::to(SIGN_IN).into_response(),
    })
}

/// Leads on to a page of ours, with the cookie.
fn entered(app: &App, cookie: &Cookie, next: &str) -> Response {
    let mut response = Redirect::to(gate::within(next)).into_response();
    response.headers_mut().insert(header::SET_COOKIE, gate::keep(app, cookie));
    response
}
