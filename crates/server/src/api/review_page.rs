//! `/registration-reviews/{link}`: the page at which a seller answers a review itself
//! (`docs/interface/registration-reviews.md#page`). Whoever has the link may; nobody can guess it. The page shows nothing
//! that is known of the seller, and works without scripts.

mod form;
mod html;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use regente_domain::actor::Actor;
use regente_domain::seller::Seller;
use regente_domain::seller::review::Review;
use regente_engine::caller::RequestId;
use regente_engine::error::Error;
use regente_engine::review_links::{self, PAGES};
use regente_engine::sellers::reviews::{self as flow, Given};
use regente_engine::{races, sellers};
use regente_store::{Batch, Commit};
use serde_json::{Map, Value};

use self::form::{Answer, Fault};
use super::buyer_page::Language;
use super::path::Path;
use super::sellers::reviews::judge;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::rates::RateKey;

/// The author of an answer at the page: nobody with a key.
const SELLER: Actor = Actor::Job("registration_review_page");

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
    Ok(match review_links::open(&app, &link).await? {
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
    Extension(request_id): Extension<RequestId>,
    Path(link): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let language = Language::of(request.headers());
    // The body is read for a link that is good alone.
    let Some(review) = review_links::open(&app, &link).await? else {
        return Ok(html::unknown(language).answer(StatusCode::NOT_FOUND));
    };
    if !review_links::is_open(&app, &review) {
        return Ok(html::closed(language, &review).answer(StatusCode::GONE));
    }
    // Whoever has the link may send files, which cost memory and a processor.
    app.limiters.review_answers.check(&RateKey::ReviewAnswer(review.id.uuid()))?;
    let wrong = |faults: &[Fault]| html::asking(language, &review, faults).answer(StatusCode::BAD_REQUEST);
    let sent = match Answer::read(&app, request, &review).await {
        Ok(sent) => sent,
        Err(ApiError::TooLarge { .. }) => {
            let page = html::asking(language, &review, &[Fault::TooLarge]);
            return Ok(page.answer(StatusCode::PAYLOAD_TOO_LARGE));
        }
        Err(error) => return Err(error),
    };
    if !sent.is_declared {
        return Ok(wrong(&[Fault::Declaration]));
    }
    let seller = sellers::find(&app, review.client_id, review.seller_id).await?;
    let mut faults = sent.faults.clone();
    let data = judge(&review, &seller.private.data, &sent.data).unwrap_or_else(|problems| {
        faults.extend(form::faults_of(&review, &problems));
        Map::new()
    });
    if !faults.is_empty() {
        return Ok(wrong(&faults));
    }
    taken(&app, (language, &request_id), &link, review, (&seller.seller, &sent, data)).await
}

async fn taken(
    app: &App,
    (language, request_id): (Language, &RequestId),
    link: &str,
    mut review: Review,
    (seller, sent, mut data): (&Seller, &Answer, Map<String, Value>),
) -> Result<Response, ApiError> {
    for _ in races::tries() {
        let wrong =
            |faults: &[Fault]| html::asking(language, &review, faults).answer(StatusCode::BAD_REQUEST);
        // Files come with the answer or not at all.
        let mut batch = Batch::new(review.client_id);
        let brought = sent.keep_files(app, &mut batch, seller, &mut data);
        let given = Given { data: data.clone(), collected_at: app.clock.of(review.client_id), brought };
        match flow::plan_answer(app, &mut batch, &review, &given, (&SELLER, request_id)).await {
            Ok(_) => {}
            Err(Error::Conflict { .. }) if !review.takes_an_answer() => {
                return Ok(html::closed(language, &review).answer(StatusCode::GONE));
            }
            Err(Error::Invalid(problems)) => return Ok(wrong(&form::faults_of(&review, &problems))),
            Err(Error::Conflict { .. } | Error::Impossible { .. }) => return Ok(wrong(&[Fault::Whole])),
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
