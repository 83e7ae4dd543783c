//! The page of an invitation, and the recovery codes that follow, once.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regente_documents::{Mark, qr};
use regente_domain::member::PASSWORD_CHARS_MIN;
use regente_domain::problems::Problems;
use regente_engine::caller::RequestId;
use regente_engine::error::Error;
use regente_engine::members::invitations::{self, Acceptance, Accepted, Invited};
use serde::Deserialize;

use super::browser;
use super::words::Texts;
use crate::app::App;
use crate::dashboard::forms::Sent;
use crate::dashboard::gate;
use crate::dashboard::layout::{Layout, page, page_with};
use crate::dashboard::visit::filled;
use crate::dashboard::words::{About, Words};
use crate::http::error::ApiError;

#[derive(Template)]
#[template(path = "dashboard/people/invitation.html")]
struct InvitationPage<'a> {
    layout: Layout<'a>,
    p: &'static Texts,
    about: String,
    email: &'a str,
    name: &'a str,
    picture: String,
    secret: String,
    password_min: usize,
    password_hint: String,
    problems: Vec<&'static str>,
}

#[derive(Template)]
#[template(path = "dashboard/people/over.html")]
struct OverPage<'a> {
    layout: Layout<'a>,
    p: &'static Texts,
}

#[derive(Template)]
#[template(path = "dashboard/people/recovery.html")]
struct RecoveryPage<'a> {
    layout: Layout<'a>,
    p: &'static Texts,
    codes: Vec<String>,
}

/// What the form sends.
#[derive(Deserialize)]
pub(super) struct Form {
    name: String,
    password: String,
    code: String,
}

pub(super) async fn ask(
    State(app): State<App>,
    Path(token): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    app.vault.keep_current().await?;
    let words = Words::of(&headers);
    match invitations::find(&app, &token).await? {
        Some(invited) => asking(words, &token, &invited, "", Vec::new()),
        None => Ok(over(words)),
    }
}

pub(super) async fn accept(
    State(app): State<App>,
    Extension(request_id): Extension<RequestId>,
    Path(token): Path<String>,
    headers: HeaderMap,
    Sent(form): Sent<Form>,
) -> Result<Response, ApiError> {
    app.vault.keep_current().await?;
    let _place = app.limiters.hashing.acquire().await.map_err(Error::internal)?;
    let words = Words::of(&headers);
    let p = Texts::of(words);
    let sent =
        Acceptance { name: form.name.clone(), password: form.password, code: form.code.trim().to_owned() };
    let accepted = invitations::accept(&app, &request_id, &token, &sent, &browser::name_of(&headers)).await?;
    let problems = match accepted {
        Accepted::Yes { cookie, recovery } => {
            let layout = Layout { words, who: None, title: &p.recovery, here: "/dashboard" };
            let mut response = page(&RecoveryPage { layout, p, codes: recovery });
            response.headers_mut().insert(header::SET_COOKIE, gate::keep(&app, &cookie));
            return Ok(response);
        }
        Accepted::NoInvitation => return Ok(over(words)),
        Accepted::WrongCode => vec![p.wrong_code.as_str()],
        Accepted::Unfit(problems) => told(p, &problems),
    };
    match invitations::find(&app, &token).await? {
        Some(invited) => asking(words, &token, &invited, &form.name, problems),
        None => Ok(over(words)),
    }
}

fn told(p: &'static Texts, problems: &Problems) -> Vec<&'static str> {
    let texts = [("name ", p.wrong_name.as_str()), ("password ", p.wrong_password.as_str())];
    let of = |start: &str| problems.details().iter().any(|detail| detail.starts_with(start));
    texts.into_iter().filter(|(start, _)| of(start)).map(|(_, text)| text).collect()
}

fn asking(
    words: &'static Words,
    token: &str,
    invited: &Invited,
    name: &str,
    problems: Vec<&'static str>,
) -> Result<Response, ApiError> {
    let p = Texts::of(words);
    let picture = qr::picture(&invited.totp.address(&invited.email), Mark::None).map_err(Error::internal)?;
    let here = format!("/dashboard/invitations/{token}");
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let invitation = InvitationPage {
        layout: Layout { words, who: None, title: &p.invitation, here: &here },
        p,
        about: filled(&p.invitation_about, &[("role", words.name(About::Role, invited.role.word()))]),
        email: &invited.email,
        name,
        picture: format!("data:image/svg+xml;base64,{}", STANDARD.encode(picture.svg())),
        secret: invited.totp.text(),
        password_min: PASSWORD_CHARS_MIN,
        password_hint: filled(&p.password_hint, &[("least", &PASSWORD_CHARS_MIN.to_string())]),
        problems,
    };
    Ok(page_with(status, &invitation))
}

/// The same for an invitation that was taken, that is over, and that never was.
fn over(words: &'static Words) -> Response {
    let p = Texts::of(words);
    let layout = Layout { words, who: None, title: &p.over, here: "/dashboard" };
    page_with(StatusCode::NOT_FOUND, &OverPage { layout, p })
}
