//! `/dashboard`: pages for the members of an account, drawn by the server. They are a client of the interface in the same process
//! (`docs/decisions/0052-the-dashboard-is-a-client-of-the-api.md`): what a page shows or does is an operation of the interface.

mod acts;
mod api;
mod charge;
mod charges;
mod forms;
mod gate;
mod home;
mod language;
mod layout;
mod people;
mod visit;
mod words;

use axum::http::HeaderMap;
use axum::routing::get;
use axum::{Extension, Router};

pub use self::api::Api;
pub(crate) use self::people::link_of_invitation;
use crate::app::App;

/// The routes of the pages. `api` is the interface that they ask.
pub fn routes(api: Api) -> Router<App> {
    let pages = Router::new()
        .route("/dashboard", get(home::show))
        .route("/dashboard/search", get(charges::search))
        .route("/dashboard/charges", get(charges::list))
        .route("/dashboard/charges/{id}", get(charge::show))
        .route("/dashboard/charges/{id}/{act}", get(acts::ask).post(acts::act));
    gate::members_only(pages.merge(people::behind()))
        .merge(people::open())
        .route("/dashboard/language", get(language::choose))
        .layer(Extension(api))
}

/// The files that the pages load.
pub fn assets() -> Router<App> {
    [&*layout::SCRIPT, &*layout::STYLE].into_iter().fold(Router::new(), |routes, file| {
        routes.route(&file.path, get(async |headers: HeaderMap| file.answer(&headers)))
    })
}
