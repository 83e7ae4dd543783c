//! The pages about people: signing in and out, invitations, the members of the account, and one's own sign-ins.

mod browser;
mod invitation;
mod members;
mod sign_in;
mod sign_ins;
mod words;

use axum::Router;
use axum::routing::{get, post};

pub(crate) use self::members::link_of as link_of_invitation;
use crate::app::App;

/// The pages before somebody has signed in.
pub(super) fn open() -> Router<App> {
    Router::new()
        .route("/dashboard/sign-in", get(sign_in::ask).post(sign_in::sign_in))
        .route("/dashboard/sign-in/{token}", get(sign_in::by_link))
        .route("/dashboard/invitations/{token}", get(invitation::ask).post(invitation::accept))
}

/// The pages of members.
pub(super) fn behind() -> Router<App> {
    Router::new()
        .route("/dashboard/sign-out", post(sign_ins::sign_out))
        .route("/dashboard/sign-ins", get(sign_ins::list))
        .route("/dashboard/sign-ins/{id}/end", post(sign_ins::end))
        .route("/dashboard/members", get(members::list).post(members::invite))
        .route("/dashboard/members/{id}/revoke", get(members::ask_to_revoke).post(members::revoke))
}
