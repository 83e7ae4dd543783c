//! Answers of sellers to reviews: through the interface of their merchant, or at the page of a review.

use regente_domain::actor::Actor;
use regente_domain::id::{RegistrationReviewId, SellerId};
use regente_domain::problems::Problems;
use regente_domain::seller::Seller;
use regente_domain::seller::data::SellerData;
use regente_domain::seller::document::{DocumentStage, SellerDocument};
use regente_domain::seller::review::Review;
use regente_domain::seller::review::fields::{KnownField, applied};
use regente_domain::time::{Timestamp, later_of};
use regente_store::registration_reviews::{self as rows, AnswerChange};
use regente_store::{Batch, Commit};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::super::documents::{self, Upload};
use super::super::{Private, Record, find as find_seller, must_be_only, new_uuid};
use super::{after, binding, find};
use crate::app::App;
use crate::caller::{Caller, RequestId};
use crate::customers::check_digits;
use crate::error::Error;
use crate::{audit, races, review_links};

/// The author of an answer at the page: nobody with a key.
const SELLER: Actor = Actor::Job("registration_review_page");

/// What a seller answers.
#[derive(Clone, Debug)]
pub struct ReviewAnswer {
    /// The values, by the names of the fields; they have been checked.
    pub data: Map<String, Value>,
    /// When they were collected.
    pub collected_at: Timestamp,
}

/// The review with the answer that `read` reads, and the batch that writes it. The files that it names become the seller's.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Conflict`] when the review takes no answer or another seller has the document;
/// [`Error::Impossible`] names a file that cannot be used or a value that does not fit the seller; [`Error::Invalid`] a document
/// with wrong check digits, or what `read` says.
pub async fn plan_answer(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    (seller_id, id): (SellerId, RegistrationReviewId),
    read: impl FnOnce(&Review, &SellerData, Timestamp) -> Result<ReviewAnswer, Problems>,
) -> Result<(Batch, Review), Error> {
    let client_id = caller.client_id;
    let review = find(app, client_id, seller_id, id).await?;
    must_take_an_answer(&review)?;
    let seller = find_seller(app, client_id, seller_id).await?;
    let given = read(&review, &seller.private.data, app.clock.of(client_id))?;
    let mut batch = Batch::new(client_id);
    let by = (&caller.actor(), request_id);
    let answered = add(app, &mut batch, &review, (&given, &[]), by).await?;
    Ok((batch, answered))
}

/// What a seller sends from the page of a review.
pub struct SentAnswer<'a> {
    /// The values, by the names of the fields; they have been checked.
    pub data: Map<String, Value>,
    /// The files, by the names of their fields.
    pub files: Vec<(&'static str, Upload<'a>)>,
}

/// What becomes of an answer at the page.
pub enum Taken {
    /// It is the answer to the review.
    Yes,
    /// The review takes none, as it stands.
    Closed(Review),
    /// It does not fit the seller. Without problems, nothing is known of a single field.
    Unfit(Review, Problems),
    /// The link leads to no review any more.
    NoReview,
}

/// Takes an answer at the page of a link that leads to this review. Files come with the answer or not at all.
///
/// # Errors
/// [`Error::Unavailable`] while other changes come first.
pub async fn answer_at_page(
    app: &App,
    request_id: &RequestId,
    (link, mut review): (&str, Review),
    sent: &SentAnswer<'_>,
) -> Result<Taken, Error> {
    for _ in races::tries() {
        let mut batch = Batch::new(review.client_id);
        let mut data = sent.data.clone();
        let mut brought = Vec::new();
        for (field, upload) in &sent.files {
            let document = documents::keep(app, &mut batch, review.seller_id, *upload);
            data.insert((*field).to_owned(), Value::String(document.id.to_string()));
            brought.push(document);
        }
        let given = ReviewAnswer { data, collected_at: app.clock.of(review.client_id) };
        match add(app, &mut batch, &review, (&given, &brought), (&SELLER, request_id)).await {
            Ok(_) => {}
            Err(Error::Conflict { .. }) if !review.takes_an_answer() => return Ok(Taken::Closed(review)),
            Err(Error::Invalid(problems)) => return Ok(Taken::Unfit(review, problems)),
            Err(Error::Conflict { .. } | Error::Impossible { .. }) => {
                return Ok(Taken::Unfit(review, Problems::new()));
            }
            Err(error) => return Err(error),
        }
        let _admission = app.store.admit(review.client_id)?;
        match app.store.apply(batch).await? {
            Commit::Applied => return Ok(Taken::Yes),
            // Another change came first, or the commit is unknown: the stored review tells.
            Commit::Refused(_) | Commit::Unknown => {}
        }
        match review_links::open(app, link).await? {
            Some(found) => review = found,
            None => return Ok(Taken::NoReview),
        }
    }
    Err(Error::busy())
}

/// Adds an answer to the batch, with its entry in the audit trail; the batch brings some of its files itself.
async fn add(
    app: &App,
    batch: &mut Batch,
    review: &Review,
    (given, brought): (&ReviewAnswer, &[SellerDocument]),
    (actor, request_id): (&Actor, &RequestId),
) -> Result<Review, Error> {
    let client_id = review.client_id;
    let now = later_of(app.clock.of(client_id), review.updated_at);
    let change = review.submitted(given.collected_at, now).ok_or_else(wrong_state)?;
    let record = find_seller(app, client_id, review.seller_id).await?;
    let Some(data) = applied(&record.private.data, &given.data) else {
        return Err(refused("data does not fit the seller".to_owned()));
    };
    check_documents(app, &record, &data).await?;
    let files = files_of(app, &record.seller, given, brought).await?;
    documents::attach(app, batch, &record.seller, &files);
    let bytes = serde_json::to_vec(&given.data).map(Zeroizing::new).map_err(Error::internal)?;
    let sealed = app.vault.seal(binding(review), &bytes);
    rows::advance(batch, &change.0, AnswerChange::Given(sealed))?;
    after(app, batch, &change, &record.seller, actor)?;
    audit::record_of(app, batch, (actor, Some(request_id)), "registration_review.answered", review.id.uuid());
    Ok(change.0)
}

/// Checks documents that an answer changes, as a change of the seller does.
async fn check_documents(app: &App, record: &Record, after: &SellerData) -> Result<(), Error> {
    let (client_id, before) = (record.seller.client_id, &record.private.data);
    if after.owner.document != before.owner.document {
        check_digits(app, client_id, &after.owner.document, "data.owner.document").await?;
    }
    if let (Some(before), Some(after)) = (&before.business, &after.business)
        && after.document != before.document
    {
        check_digits(app, client_id, &after.document, "data.business.document").await?;
    }
    if after.document() == before.document() {
        return Ok(());
    }
    let private = Private { data: after.clone(), marks: record.private.marks.clone() };
    must_be_only(app, &private.stored(app, record.seller.clone()).await?).await
}

/// Refuses a review that takes no answer, as it stands.
fn must_take_an_answer(review: &Review) -> Result<(), Error> {
    if review.takes_an_answer() { Ok(()) } else { Err(wrong_state()) }
}

fn wrong_state() -> Error {
    Error::conflict(vec!["registration_review_invalid_state".to_owned()])
}

fn refused(detail: String) -> Error {
    Error::Impossible { message: "the answer does not fit".into(), details: vec![detail] }
}

/// The uploaded files that an answer names, of the kinds that are asked for; those that the batch brings are the seller's
/// already.
async fn files_of(
    app: &App,
    seller: &Seller,
    given: &ReviewAnswer,
    brought: &[SellerDocument],
) -> Result<Vec<SellerDocument>, Error> {
    let mut files = Vec::new();
    for (name, value) in &given.data {
        let Some(kind) = KnownField::parse(name).and_then(KnownField::document_kind) else { continue };
        let Some(id) = value.as_str().and_then(|id| id.parse().ok()) else { continue };
        if brought.iter().any(|file| file.id == id) {
            continue;
        }
        let found = documents::find(app, seller.client_id, id).await;
        match found {
            Ok(document) if document.kind == kind && document.place == DocumentStage::Uploaded => {
                files.push(document)
            }
            Ok(_) | Err(Error::NotFound) => return Err(refused(format!("data.{name} was not found"))),
            Err(error) => return Err(error),
        }
    }
    let more = files.len() + brought.len();
    if more > 0 {
        documents::must_have_room(app, seller, more, "data").await?;
    }
    Ok(files)
}

/// Gives a seller what it has answered.
pub(super) async fn take(
    app: &App,
    review: &Review,
    record: &mut Record,
    values: &Map<String, Value>,
    now: Timestamp,
) -> Result<(), Error> {
    let is_possible = match applied(&record.private.data, values) {
        Some(data) => match check_documents(app, record, &data).await {
            Ok(()) => {
                record.take(data, now, || new_uuid(app, now));
                true
            }
            Err(Error::Conflict { .. } | Error::Invalid(_)) => false,
            Err(error) => return Err(error),
        },
        None => false,
    };
    if !is_possible {
        // It fitted when it was given.
        tracing::warn!(review = %review.id, "the seller has changed: the answer does not fit any more");
    }
    Ok(())
}
