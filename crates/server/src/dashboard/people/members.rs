//! The members of the account: owners see, invite and revoke them.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use regente_domain::id::MemberId;
use regente_domain::member::MemberStatus;
use regente_domain::member::role::{Permission, Role};
use regente_engine::audit::Author;
use regente_engine::caller::RequestId;
use regente_engine::error::Error;
use regente_engine::members::invitations::{self, Invitation};
use regente_engine::members::{self as engine, Member};
use serde::Deserialize;

use super::words::Texts;
use crate::app::App;
use crate::dashboard::forms::Posted;
use crate::dashboard::layout::{Layout, page, page_with};
use crate::dashboard::visit::{Visit, filled};
use crate::dashboard::words::About;
use crate::http::error::ApiError;

const MEMBERS: &str = "/dashboard/members";

#[derive(Template)]
#[template(path = "dashboard/people/members.html")]
struct MembersPage<'a> {
    layout: Layout<'a>,
    p: &'static Texts,
    csrf: &'a str,
    members: Vec<Line>,
    roles: Vec<(&'static str, &'static str)>,
    problem: Option<&'a str>,
    typed: &'a str,
}

struct Line {
    id: MemberId,
    name: String,
    email: String,
    role: &'static str,
    status: String,
    is_self: bool,
}

#[derive(Template)]
#[template(path = "dashboard/people/invited.html")]
struct InvitedPage<'a> {
    layout: Layout<'a>,
    p: &'static Texts,
    about: String,
    link: String,
}

#[derive(Template)]
#[template(path = "dashboard/people/revoke.html")]
struct RevokePage<'a> {
    layout: Layout<'a>,
    p: &'static Texts,
    csrf: &'a str,
    about: String,
    id: MemberId,
    problem: Option<&'a str>,
}

/// Whom the form invites.
#[derive(Debug, Deserialize)]
pub(super) struct Invitee {
    email: String,
    role: String,
}

/// A form without fields of its own.
#[derive(Debug, Deserialize)]
pub(super) struct Nothing {}

fn may(visit: &Visit) -> bool {
    visit.who.role.may(Permission::ManageMembers)
}

pub(super) async fn list(State(app): State<App>, visit: Visit) -> Result<Response, ApiError> {
    if !may(&visit) {
        return Ok(visit.forbidden());
    }
    shown(&app, &visit, StatusCode::OK, None, "").await
}

async fn shown(
    app: &App,
    visit: &Visit,
    status: StatusCode,
    problem: Option<&str>,
    typed: &str,
) -> Result<Response, ApiError> {
    let p = Texts::of(visit.words);
    let members = engine::list(app, visit.who.client_id).await?;
    let members = members.into_iter().map(|member| line(visit, p, member)).collect();
    let roles = Role::WORDS.iter().map(|(word, _)| (*word, visit.words.name(About::Role, word))).collect();
    let layout = Layout { words: visit.words, who: Some(&visit.who), title: &p.members, here: MEMBERS };
    let listed = MembersPage { layout, p, csrf: &visit.who.csrf, members, roles, problem, typed };
    Ok(page_with(status, &listed))
}

fn line(visit: &Visit, p: &Texts, member: Member) -> Line {
    let status = match (member.status, member.invited_until) {
        (MemberStatus::Invited, Some(until)) => filled(&p.invited_until, &[("time", &visit.at(until))]),
        (MemberStatus::Active | MemberStatus::Invited | MemberStatus::Revoked, _) => p.active.clone(),
    };
    Line {
        id: member.id,
        name: member.name,
        email: member.email,
        role: visit.words.name(About::Role, member.role.word()),
        status,
        is_self: member.id == visit.who.member_id,
    }
}

pub(super) async fn invite(
    State(app): State<App>,
    Extension(request_id): Extension<RequestId>,
    visit: Visit,
    Posted(sent): Posted<Invitee>,
) -> Result<Response, ApiError> {
    if !may(&visit) {
        return Ok(visit.forbidden());
    }
    let p = Texts::of(visit.words);
    let Some(role) = Role::parse(&sent.role) else { return Ok(StatusCode::BAD_REQUEST.into_response()) };
    match invitations::invite(&app, Author::of(&visit.who.caller(), &request_id), &sent.email, role).await {
        Ok(invitation) => {
            let layout = visit.layout(&p.invited);
            let about = filled(&p.invited_about, &[("email", &sent.email)]);
            let link = link_of(&app, &invitation);
            Ok(page(&InvitedPage { layout, p, about, link }))
        }
        Err(Error::Invalid(_)) => {
            shown(&app, &visit, StatusCode::BAD_REQUEST, Some(&p.email_wrong), &sent.email).await
        }
        Err(Error::Conflict { .. }) => {
            shown(&app, &visit, StatusCode::CONFLICT, Some(&p.email_taken), &sent.email).await
        }
        Err(error) => Err(error.into()),
    }
}

/// The address of an invitation; without a public address its path, which the reader's browser completes.
pub(crate) fn link_of(app: &App, invitation: &Invitation) -> String {
    let base = app.settings.base_url.as_deref().unwrap_or("").trim_end_matches('/');
    format!("{base}/dashboard/invitations/{}", invitation.token)
}

pub(super) async fn ask_to_revoke(
    State(app): State<App>,
    visit: Visit,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    asking(&app, &visit, &id, StatusCode::OK, None).await
}

async fn asking(
    app: &App,
    visit: &Visit,
    id: &str,
    status: StatusCode,
    problem: Option<&str>,
) -> Result<Response, ApiError> {
    if !may(visit) {
        return Ok(visit.forbidden());
    }
    let p = Texts::of(visit.words);
    let members = engine::list(app, visit.who.client_id).await?;
    let member = members.into_iter().find(|member| member.id.to_string() == id).ok_or(Error::NotFound)?;
    let about = filled(&p.revoke_about, &[("email", &member.email)]);
    let (layout, csrf) = (visit.layout(&p.revoke_title), visit.who.csrf.as_str());
    Ok(page_with(status, &RevokePage { layout, p, csrf, about, id: member.id, problem }))
}

pub(super) async fn revoke(
    State(app): State<App>,
    Extension(request_id): Extension<RequestId>,
    visit: Visit,
    Path(id): Path<String>,
    Posted(Nothing {}): Posted<Nothing>,
) -> Result<Response, ApiError> {
    if !may(&visit) {
        return Ok(visit.forbidden());
    }
    let member_id: MemberId = id.parse().map_err(|_| Error::NotFound)?;
    match engine::revoke(&app, Author::of(&visit.who.caller(), &request_id), member_id).await {
        Ok(()) => Ok(Redirect::to(MEMBERS).into_response()),
        Err(Error::RuleBroken(_)) => {
            let p = Texts::of(visit.words);
            asking(&app, &visit, &id, StatusCode::CONFLICT, Some(&p.last_owner)).await
        }
        Err(error) => Err(error.into()),
    }
}
