//! The sign-ins of a member: in which browsers, and how they end.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Redirect, Response};
use regente_domain::id::SignInId;
use regente_engine::caller::RequestId;
use regente_engine::error::Error;
use regente_engine::members::sign_ins as engine;

use super::members::Nothing;
use super::words::Texts;
use crate::app::App;
use crate::dashboard::forms::Posted;
use crate::dashboard::gate::{self, SIGN_IN};
use crate::dashboard::layout::{Layout, page};
use crate::dashboard::visit::Visit;
use crate::http::error::ApiError;

const SIGN_INS: &str = "/dashboard/sign-ins";

#[derive(Template)]
#[template(path = "dashboard/people/sign-ins.html")]
struct SignInsPage<'a> {
    layout: Layout<'a>,
    p: &'static Texts,
    csrf: &'a str,
    sign_ins: Vec<Line>,
}

struct Line {
    id: SignInId,
    browser: String,
    began: String,
    seen: String,
    is_this: bool,
}

pub(super) async fn list(State(app): State<App>, visit: Visit) -> Result<Response, ApiError> {
    let p = Texts::of(visit.words);
    let found = engine::list(&app, &visit.who).await?;
    let line = |sign_in: regente_store::sign_ins::SignIn| Line {
        id: sign_in.id,
        browser: if sign_in.browser.is_empty() { p.unknown_browser.clone() } else { sign_in.browser },
        began: visit.at(sign_in.began_at),
        seen: visit.at(sign_in.seen_at),
        is_this: sign_in.id == visit.who.sign_in_id,
    };
    let sign_ins = found.into_iter().map(line).collect();
    Ok(page(&SignInsPage { layout: visit.layout(&p.sign_ins), p, csrf: &visit.who.csrf, sign_ins }))
}

pub(super) async fn end(
    State(app): State<App>,
    Extension(request_id): Extension<RequestId>,
    visit: Visit,
    Path(id): Path<String>,
    Posted(Nothing {}): Posted<Nothing>,
) -> Result<Response, ApiError> {
    let id: SignInId = id.parse().map_err(|_| Error::NotFound)?;
    engine::end(&app, &visit.who, &request_id, id).await?;
    Ok(Redirect::to(SIGN_INS).into_response())
}

pub(super) async fn sign_out(
    State(app): State<App>,
    Extension(request_id): Extension<RequestId>,
    visit: Visit,
    Posted(Nothing {}): Posted<Nothing>,
) -> Result<Response, ApiError> {
    match engine::end(&app, &visit.who, &request_id, visit.who.sign_in_id).await {
        // Another request may have ended it first.
        Ok(()) | Err(Error::NotFound) => {}
        Err(error) => return Err(error.into()),
    }
    let mut response = Redirect::to(SIGN_IN).into_response();
    response.headers_mut().insert(header::SET_COOKIE, gate::forget(&app));
    Ok(response)
}
