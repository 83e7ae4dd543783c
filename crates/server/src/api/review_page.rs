//! `/registration-reviews/{link}`: the page at which a seller answers a review itself
//! (`docs/interface/registration-reviews.md#page`). Whoever has the link may; nobody can guess it. The page shows nothing
//! that is known of the seller, and works without scripts.

mod form;
mod html;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use regente_domain::actor::Actor;
use regente_domain::seller::review::Review;
use regente_domain::seller::review::fields::check;
use regente_engine::error::Error;
use regente_engine::flows::sellers::reviews::{self as flow, Given};
use regente_engine::review_links::{self, PAGES};
use regente_store::{Batch, Commit};

use self::form::{Answer, Fault};
use super::buyer_page::Language;
use super::path::Path;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::peer::PeerAddress;
use crate::http::rates::RateKey;

/// The author of an answer at the page: nobody with a key.
const SELLER: Actor = Actor::Job("registration_review_page");
/// How often an answer is tried again after another change came first.
const TRIES_MAX: usize = 4;

/// The route that browsers of sellers come to, without credentials. No program calls it, so that the document does not
/// describe it.
pub(super) fn for_browsers() -> Router<App> {
    Router::new().route(&format!("{PAGES}{{link}}"), get(show).post(answer))
}

/// Shows what is asked for, or what has become of it.
async fn show(
    State(app): State<App>,
    Path(link): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let language = Language::of(request.headers());
    let stranger = stranger(&app, &request);
    Ok(match find(&app, &link, stranger).await? {
        Some(review) if review_links::is_open(&app, &review) => {
            html::asking(language, &review, &[]).answer(StatusCode::OK)
        }
        Some(review) => html::closed(language, &review).answer(StatusCode::GONE),
        None => html::unknown(language).answer(StatusCode::NOT_FOUND),
    })
}

/// Takes the answer.
async fn answer(
    State(app): State<App>,
    Path(link): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let language = Language::of(request.headers());
    let stranger = stranger(&app, &request);
    // The body is read for a link that is good alone.
    let Some(review) = find(&app, &link, stranger).await? else {
        return Ok(html::unknown(language).answer(StatusCode::NOT_FOUND));
    };
    if !review_links::is_open(&app, &review) {
        return Ok(html::closed(language, &review).answer(StatusCode::GONE));
    }
    let sent = Answer::read(request, &review).await?;
    if !sent.is_declared {
        return Ok(html::asking(language, &review, &[Fault::Declaration]).answer(StatusCode::BAD_REQUEST));
    }
    let (data, faults) = sent.with_files_kept(&app, &review).await?;
    let faults = match check(&review.demand.fields, &data) {
        Ok(()) => faults,
        Err(problems) => faults.into_iter().chain(form::faults_of(&review, &problems)).collect(),
    };
    if !faults.is_empty() {
        return Ok(html::asking(language, &review, &faults).answer(StatusCode::BAD_REQUEST));
    }
    let given = Given { data, collected_at: app.clock.of(review.client_id) };
    taken(&app, language, &link, review, given).await
}

async fn taken(
    app: &App,
    language: Language,
    link: &str,
    mut review: Review,
    given: Given,
) -> Result<Response, ApiError> {
    for _ in 0..TRIES_MAX {
        let mut batch = Batch::new(review.client_id);
        match flow::plan_answer(app, &mut batch, &review, &given, &SELLER).await {
            Ok(_) => {}
            Err(Error::Conflict { .. }) => {
                return Ok(html::closed(language, &review).answer(StatusCode::GONE));
            }
            Err(Error::Impossible { .. }) => {
                return Ok(html::asking(language, &review, &[Fault::Whole]).answer(StatusCode::BAD_REQUEST));
            }
            Err(error) => return Err(error.into()),
        }
        let _admission = app.store.admit(review.client_id)?;
        match app.store.apply(batch).await? {
            Commit::Applied => return Ok(html::thanks(language).answer(StatusCode::OK)),
            // Another change came first, or the commit is unknown: the stored review tells.
            Commit::Refused(_) | Commit::Unknown => {}
        }
        match review_links::open(app, link).await? {
            Some(found) => review = found,
            None => return Ok(html::unknown(language).answer(StatusCode::NOT_FOUND)),
        }
    }
    Err(Error::busy().into())
}

/// The review of a link. An address that asks for too many that do not exist waits, like one with wrong keys.
async fn find(app: &App, link: &str, stranger: RateKey) -> Result<Option<Review>, ApiError> {
    app.limiters.strangers.check(&stranger)?;
    let found = review_links::open(app, link).await?;
    if found.is_none() {
        app.limiters.strangers.fail(&stranger);
    }
    Ok(found)
}

fn stranger(app: &App, request: &Request) -> RateKey {
    let PeerAddress(address) = app.limits.proxies.peer_of(request);
    RateKey::Authentication(address.into())
}
