//! Links to the page at which a seller answers a review. Whoever has the link may answer, so it cannot be guessed: it names the
//! account and the review and ends with a digest under a key of the account's. It is of one attempt, and ends with the
//! review.

use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use regente_domain::id::{ClientId, Id};
use regente_domain::seller::review::Review;
use regente_store::registration_reviews;
use uuid::Uuid;

use crate::app::App;
use crate::error::Error;
use crate::vault::VaultError;

/// The folder of the pages, below the address of the service.
pub const PAGES: &str = "/registration-reviews/";
/// How long after the deadline a late answer is taken at the page.
const OPEN_AFTER_DEADLINE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Bytes of an id, and of the digest.
const PART_BYTES: usize = 16;
/// Bytes of account, review and digest.
const LINK_BYTES: usize = 3 * PART_BYTES;

/// The address of a review's page; `None` when the service does not know its own address.
pub async fn address(app: &App, review: &Review) -> Result<Option<String>, Error> {
    let Some(service) = &app.settings.base_url else { return Ok(None) };
    let keys = app.vault.client_keys(review.client_id).await?;
    let mut bytes = Vec::with_capacity(LINK_BYTES);
    for part in [review.client_id.uuid(), review.id.uuid(), keys.review_digest(review.id, review.attempt)] {
        bytes.extend_from_slice(part.as_bytes());
    }
    Ok(Some(format!("{service}{PAGES}{}", URL_SAFE_NO_PAD.encode(bytes))))
}

/// The review of a link; `None` when we did not make it, or when it was of an earlier attempt.
pub async fn open(app: &App, link: &str) -> Result<Option<Review>, Error> {
    let Some([client_id, review_id, digest]) = parts(link) else { return Ok(None) };
    let client_id = ClientId::new(client_id);
    let keys = match app.vault.client_keys(client_id).await {
        Ok(keys) => keys,
        Err(VaultError::UnknownClient(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let found = registration_reviews::find(&app.store, client_id, Id::new(review_id)).await?;
    let Some((review, _)) = found else { return Ok(None) };
    let expected = keys.review_digest(review.id, review.attempt);
    Ok(verify_slices_are_equal(expected.as_bytes(), digest.as_bytes()).is_ok().then_some(review))
}

/// Whether the page of a review still takes an answer.
pub fn is_open(app: &App, review: &Review) -> bool {
    let end = review.demand.deadline_at + OPEN_AFTER_DEADLINE;
    review.takes_an_answer() && app.clock.of(review.client_id) < end
}

fn parts(link: &str) -> Option<[Uuid; 3]> {
    let bytes: [u8; LINK_BYTES] = URL_SAFE_NO_PAD.decode(link).ok()?.try_into().ok()?;
    let part = |place: usize| {
        let begin = place * PART_BYTES;
        Uuid::from_slice(&bytes[begin..begin + PART_BYTES]).ok()
    };
    Some([part(0)?, part(1)?, part(2)?])
}
