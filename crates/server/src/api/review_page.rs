//! `/registration-reviews/{link}`: the page at which a seller answers a review itself
//! (`docs/interface/registration-reviews.md#page`). Whoever has the link may; nobody can guess it. The page says who asks,
//! shows nothing that is known of the seller, keeps what they have typed when something is wrong with it, and works without
//! scripts.

mod asker;
mod form;
mod html;
mod texts;

use std::collections::HashMap;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use regente_domain::seller::review::Review;
use regente_engine::caller::RequestId;
use regente_engine::review_links::{self, PAGES};
use regente_engine::sellers;
use regente_engine::sellers::reviews::answers::{self, SentAnswer, Taken};
use serde_json::Map;

use self::asker::Asker;
use self::form::{Answer, Fault};
use self::html::Form;
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
            let form =
                Form { asker: &Asker::of(&app, &review).await?, review: &review, typed: &HashMap::new() };
            html::asking(language, &form, &[]).answer(StatusCode::OK)
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
    let asker = Asker::of(&app, &review).await?;
    let sent = match Answer::read(&app, request, &review).await {
        Ok(sent) => sent,
        Err(ApiError::TooLarge { .. }) => {
            let form = Form { asker: &asker, review: &review, typed: &HashMap::new() };
            let page = html::asking(language, &form, &[Fault::TooLarge]);
            return Ok(page.answer(StatusCode::PAYLOAD_TOO_LARGE));
        }
        Err(error) => return Err(error),
    };
    let wrong = |review: &Review, faults: &[Fault]| {
        let form = Form { asker: &asker, review, typed: &sent.typed };
        html::asking(language, &form, faults).answer(StatusCode::BAD_REQUEST)
    };
    if !sent.is_declared {
        return Ok(wrong(&review, &[Fault::Declaration]));
    }
    let seller = sellers::find(&app, review.client_id, review.seller_id).await?;
    let mut faults = sent.faults.clone();
    let data = judge(&review, &seller.private.data, &sent.data).unwrap_or_else(|problems| {
        faults.extend(form::faults_of(&review, &problems));
        Map::new()
    });
    if !faults.is_empty() {
        return Ok(wrong(&review, &faults));
    }
    let answer = SentAnswer { data, files: sent.files() };
    Ok(match answers::answer_at_page(&app, &request_id, (&link, review.clone()), &answer).await? {
        Taken::Yes => html::thanks(language).answer(StatusCode::OK),
        Taken::Closed(review) => html::closed(language, &review).answer(StatusCode::GONE),
        Taken::Unfit(review, problems) => wrong(&review, &form::faults_of(&review, &problems)),
        Taken::NoReview => html::unknown(language).answer(StatusCode::NOT_FOUND),
    })
}
