//! Stores what providers ask sellers to confirm. An answer is sealed, and erased once it has been judged.

use regente_domain::id::{ClientId, MerchantId, RegistrationReviewId, SellerId};
use regente_domain::seller::review::{Review, ReviewStatus};
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::batch::Batch;
use crate::customers::{Order, Slice};
use crate::row::Row;
use crate::sealed::Sealed;
use crate::value::{Args, Json};
use crate::{Store, StoreError, args, sql};

// PostgreSQL cannot guess the type of an argument that is only compared with NULL, hence the casts.
macro_rules! filtered {
    () => {
        " FROM registration_reviews WHERE client_id = :client_id \
           AND (CAST(:sellers AS JSONB) IS NULL OR seller_id IN EACH_UUID(:sellers)) \
           AND (CAST(:merchants AS JSONB) IS NULL OR merchant_id IN EACH_UUID(:merchants)) \
           AND (CAST(:statuses AS JSONB) IS NULL OR status IN EACH_TEXT(:statuses)) \
           AND deadline_at < :deadline_before"
    };
}

sql! {
    /// Adds a review; the unique index refuses a second one for one demand.
    pub INSERT_REGISTRATION_REVIEW = "
        INSERT INTO registration_reviews (id, client_id, seller_id, merchant_id, demand_key, status, deadline_at, doc,
            version, key_id)
        VALUES (:id, :client_id, :seller_id, :merchant_id, :demand_key, :status, :deadline_at, :doc, :version, :key_id)";
    /// Changes a review, and leaves its answer as it is; guarded by the version.
    pub MOVE_REGISTRATION_REVIEW = "
        UPDATE registration_reviews SET status = :status, deadline_at = :deadline_at, doc = :doc, version = :version
        WHERE id = :id AND client_id = :client_id AND version = :version_before";
    /// Changes a review and its answer; guarded by the version.
    pub ANSWER_REGISTRATION_REVIEW = "
        UPDATE registration_reviews SET status = :status, deadline_at = :deadline_at, doc = :doc, version = :version,
            key_id = :key_id, answer = :answer
        WHERE id = :id AND client_id = :client_id AND version = :version_before";
    /// Changes a review and erases its answer; guarded by the version.
    pub CONCLUDE_REGISTRATION_REVIEW = "
        UPDATE registration_reviews SET status = :status, deadline_at = :deadline_at, doc = :doc, version = :version,
            answer = NULL
        WHERE id = :id AND client_id = :client_id AND version = :version_before";
    /// One review.
    pub FIND_REGISTRATION_REVIEW = "
        SELECT id, doc, key_id, answer FROM registration_reviews WHERE id = :id AND client_id = :client_id";
    /// Whether a demand has led to a review.
    pub REGISTRATION_REVIEW_OF_DEMAND = "
        SELECT id FROM registration_reviews WHERE client_id = :client_id AND demand_key = :demand_key";
    /// The reviews of a seller that have not come to their end.
    pub LIVE_REGISTRATION_REVIEWS = "
        SELECT id, doc FROM registration_reviews
        WHERE client_id = :client_id AND seller_id = :seller_id AND status NOT IN ('approved', 'canceled') ORDER BY id";
    /// A page of reviews, newest first.
    LIST_REGISTRATION_REVIEWS_DESC =
        concat!("SELECT id, doc", filtered!(), " ORDER BY id DESC LIMIT :limit OFFSET :offset");
    /// A page of reviews, oldest first.
    LIST_REGISTRATION_REVIEWS_ASC =
        concat!("SELECT id, doc", filtered!(), " ORDER BY id ASC LIMIT :limit OFFSET :offset");
    /// Counts them.
    COUNT_REGISTRATION_REVIEWS = concat!("SELECT COUNT(*) AS n", filtered!());
}

/// What becomes of the answer of a review that changes.
#[derive(Clone, Debug)]
pub enum AnswerChange {
    /// It stays as it is.
    Stays,
    /// There is a new one.
    Given(Sealed),
    /// It is erased.
    Erased,
}

/// The format of the document that this release writes.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Doc<R> {
    format: u32,
    review: R,
}

/// Adds a review. `key_id` is any data key: there is nothing sealed yet.
///
/// # Errors
/// [`StoreError::Programming`] when its document cannot be written.
pub fn insert(batch: &mut Batch, review: &Review, key_id: Uuid) -> Result<(), StoreError> {
    batch.push(
        &INSERT_REGISTRATION_REVIEW,
        args! {
            id: review.id, client_id: review.client_id, seller_id: review.seller_id, merchant_id: review.merchant_id,
            demand_key: review.demand.key, status: review.status.word(), deadline_at: review.demand.deadline_at,
            doc: document(review)?, version: review.version, key_id,
        },
    );
    Ok(())
}

/// Writes a review, which was at the version before its own; else the batch is refused.
///
/// # Errors
/// [`StoreError::Programming`] when its document cannot be written.
pub fn advance(batch: &mut Batch, review: &Review, answer: AnswerChange) -> Result<(), StoreError> {
    let args = args! {
        id: review.id, client_id: review.client_id, status: review.status.word(),
        deadline_at: review.demand.deadline_at, doc: document(review)?, version: review.version,
        version_before: review.version - 1,
    };
    match answer {
        AnswerChange::Stays => batch.guard(&MOVE_REGISTRATION_REVIEW, args),
        AnswerChange::Given(Sealed { bytes, key_id }) => {
            batch.guard(&ANSWER_REGISTRATION_REVIEW, args.with("key_id", key_id).with("answer", bytes))
        }
        AnswerChange::Erased => batch.guard(&CONCLUDE_REGISTRATION_REVIEW, args),
    };
    Ok(())
}

/// A review with its answer, where there is one.
///
/// # Errors
/// As [`Store::row`]; [`StoreError::Corrupt`] when it cannot be read.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    id: RegistrationReviewId,
) -> Result<Option<(Review, Option<Sealed>)>, StoreError> {
    let Some(row) = store.row(&FIND_REGISTRATION_REVIEW, args! { id, client_id }).await? else {
        return Ok(None);
    };
    let bytes: Option<Vec<u8>> = row.get("answer")?;
    let sealed =
        bytes.map(|bytes| Ok::<_, StoreError>(Sealed { bytes, key_id: row.get("key_id")? })).transpose()?;
    Ok(Some((from_row(&row)?, sealed)))
}

/// Whether a demand of a provider has led to a review.
///
/// # Errors
/// As [`Store::row`].
pub async fn is_known(store: &Store, client_id: ClientId, demand_key: Uuid) -> Result<bool, StoreError> {
    let row = store.row(&REGISTRATION_REVIEW_OF_DEMAND, args! { client_id, demand_key }).await?;
    Ok(row.is_some())
}

/// The reviews of a seller that have not come to their end.
///
/// # Errors
/// As [`find`].
pub async fn live_of(
    store: &Store,
    client_id: ClientId,
    seller_id: SellerId,
) -> Result<Vec<Review>, StoreError> {
    store
        .rows(&LIVE_REGISTRATION_REVIEWS, args! { client_id, seller_id })
        .await?
        .iter()
        .map(from_row)
        .collect()
}

/// The filter of a list. An absent member means all.
#[derive(Clone, Debug, Default)]
pub struct ReviewFilter {
    /// Sellers.
    pub sellers: Option<Vec<SellerId>>,
    /// Merchants.
    pub merchants: Option<Vec<MerchantId>>,
    /// Statuses.
    pub statuses: Option<Vec<ReviewStatus>>,
    /// With deadlines before this.
    pub deadline_before: Option<Timestamp>,
}

impl ReviewFilter {
    fn args(&self, client_id: ClientId) -> Args {
        args! {
            client_id,
            sellers: Json::list(self.sellers.as_deref(), ToString::to_string),
            merchants: Json::list(self.merchants.as_deref(), ToString::to_string),
            statuses: Json::list(self.statuses.as_deref(), |status| status.word().to_owned()),
            deadline_before: self.deadline_before.map_or(i64::MAX, Timestamp::as_millis),
        }
    }
}

/// A page of the reviews of a client.
///
/// # Errors
/// As [`find`].
pub async fn page(
    store: &Store,
    client_id: ClientId,
    filter: &ReviewFilter,
    slice: Slice,
) -> Result<Vec<Review>, StoreError> {
    let args = filter.args(client_id).with("limit", slice.limit).with("offset", slice.offset);
    let list = match slice.order {
        Order::NewestFirst => &LIST_REGISTRATION_REVIEWS_DESC,
        Order::OldestFirst => &LIST_REGISTRATION_REVIEWS_ASC,
    };
    store.rows(list, args).await?.iter().map(from_row).collect()
}

/// How many reviews of a client match.
///
/// # Errors
/// As [`Store::row`].
pub async fn count(store: &Store, client_id: ClientId, filter: &ReviewFilter) -> Result<u64, StoreError> {
    let found = store.row(&COUNT_REGISTRATION_REVIEWS, filter.args(client_id)).await?;
    found.map_or(Ok(0), |row| row.get("n"))
}

fn document(review: &Review) -> Result<Json, StoreError> {
    Json::of(&Doc { format: FORMAT, review })
}

fn from_row(row: &Row) -> Result<Review, StoreError> {
    let id: RegistrationReviewId = row.get("id")?;
    let doc: Doc<Review> = serde_json::from_str(row.get("doc")?)
        .map_err(|error| StoreError::Corrupt(format!("registration_reviews.doc of {id}: {error}")))?;
    if doc.format != FORMAT {
        return Err(StoreError::Corrupt(format!("registration_reviews.doc of {id}: format {}", doc.format)));
    }
    Ok(doc.review)
}
