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
use regente_engine::caller::RequestId;
use regente_engine::review_links::{self, PAGES};
use regente_engine::sellers;
use regente_engine::sellers::reviews::answers::{self, SentAnswer, Taken};
use serde_json::Map;

use self::form::{Answer, Fault};
use super::buyer_page::Language;
use super::path::Path;
use super::sellers::reviews::judge;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::rates::RateKey;

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
    let sent = SentAnswer { data, files: sent.files() };
    Ok(match answers::answer_at_page(&app, &request_id, (&link, review), &sent).await? {
        Taken::Yes => html::thanks(language).answer(StatusCode::OK),
        Taken::Closed(review) => html::closed(language, &review).answer(StatusCode::GONE),
        Taken::Unfit(review, problems) => {
            let faults = form::faults_of(&review, &problems);
            html::asking(language, &review, &faults).answer(StatusCode::BAD_REQUEST)
        }
        Taken::NoReview => html::unknown(language).answer(StatusCode::NOT_FOUND),
    })
}
