//! Links to the page at which a seller answers a review ([`crate::links`]). A link is of one attempt, and ends with the review.

use std::time::Duration;

use regente_domain::id::Id;
use regente_domain::seller::review::Review;
use regente_store::registration_reviews;

use crate::app::App;
use crate::error::Error;
use crate::links::Link;

/// The folder of the pages, below the address of the service.
pub const PAGES: &str = "/registration-reviews/";
/// How long after the deadline a late answer is taken at the page.
const OPEN_AFTER_DEADLINE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The address of a review's page; `None` when the service does not know its own address.
pub async fn address(app: &App, review: &Review) -> Result<Option<String>, Error> {
    let Some(service) = &app.settings.base_url else { return Ok(None) };
    let keys = app.vault.client_keys(review.client_id).await?;
    let digest = keys.review_digest(review.id, review.attempt);
    let link = Link::new(review.client_id, review.id.uuid(), digest).text();
    Ok(Some(format!("{service}{PAGES}{link}")))
}

/// The review of a link; `None` when we did not make it, or when it was of an earlier attempt.
pub async fn open(app: &App, text: &str) -> Result<Option<Review>, Error> {
    let Some((link, keys)) = Link::read(app, text).await? else { return Ok(None) };
    let found = registration_reviews::find(&app.store, link.client_id, Id::new(link.id)).await?;
    let review = found.map(|(review, _)| review);
    Ok(review.filter(|review| link.is_ours(keys.review_digest(review.id, review.attempt))))
}

/// Whether the page of a review still takes an answer.
pub fn is_open(app: &App, review: &Review) -> bool {
    let end = review.demand.deadline_at + OPEN_AFTER_DEADLINE;
    review.takes_an_answer() && app.clock.of(review.client_id) < end
}
