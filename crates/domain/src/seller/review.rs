//! Reviews of registrations: a provider asks a seller to confirm who it is, until a deadline
//! (`docs/interface/registration-reviews.md`). What the seller answers is not here: it is personal.

pub mod fields;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use self::fields::{Field, KnownField};
use crate::id::{ClientId, MerchantId, ProviderId, RegistrationReviewId, SellerId};
use crate::provider_type::ProviderType;
use crate::seller::data::SellerData;
use crate::time::Timestamp;
use crate::webhook::EventName;
use crate::words::words;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How long before the deadline a seller is reminded.
const REMINDERS: [Duration; 3] = [DAY.saturating_mul(7), DAY.saturating_mul(3), DAY];

words! {
    /// Where a review of a registration stands.
    #[schema(as = RegistrationReviewStatus)]
    ReviewStatus {
        /// The seller has not answered.
        Open = "open",
        /// The provider checks the answer.
        Submitted = "submitted",
        /// The provider has taken it.
        Approved = "approved",
        /// The provider has refused it, and has given no further time.
        Rejected = "rejected",
        /// The deadline has passed: the seller is blocked.
        Expired = "expired",
        /// It is no longer asked for.
        Canceled = "canceled",
    }
}

/// What a provider asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Demand {
    /// The provider's key of the review: under one key there is one review.
    pub key: Uuid,
    /// Why it asks.
    pub reason: Option<String>,
    /// What the seller is asked for.
    pub fields: Vec<Field>,
    /// The last moment for the answer.
    pub deadline_at: Timestamp,
}

impl Demand {
    /// The demand as this seller can answer it: without optional fields that there are not, or that it does not have.
    ///
    /// # Errors
    /// The names of the required fields that it cannot answer; none when nothing would be left to answer.
    pub fn for_seller(mut self, seller: &SellerData) -> Result<Self, Vec<String>> {
        let can_answer =
            |field: &Field| KnownField::parse(&field.name).is_some_and(|known| known.is_of(seller));
        let required = self.fields.iter().filter(|field| field.required && !can_answer(field));
        let missing: Vec<String> = required.map(|field| field.name.clone()).collect();
        self.fields.retain(can_answer);
        if missing.is_empty() && !self.fields.is_empty() { Ok(self) } else { Err(missing) }
    }
}

/// What a provider says about an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It takes the answer.
    Accepted,
    /// It checks the answer.
    Pending,
    /// It refuses the answer.
    Refused {
        /// What is wrong.
        rejections: Vec<Rejection>,
        /// Until when the seller may answer again; `None` when it is given no further time.
        deadline_at: Option<Timestamp>,
    },
}

/// What is wrong with one field of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// The field.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// Whether the message is known to repeat nothing of the answer: then it may be told to anybody.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_free_of_answers: bool,
}

/// The fewest letters and digits of a part of an answer by which it is recognized in a sentence.
const RECOGNIZED_CHARS_MIN: usize = 3;

impl Verdict {
    /// The same verdict, which says of each of its sentences whether it repeats something of this answer.
    #[must_use]
    pub fn on(self, answer: &Map<String, Value>) -> Self {
        match self {
            Self::Accepted | Self::Pending => self,
            Self::Refused { rejections, deadline_at } => {
                let told = |rejection: Rejection| Rejection {
                    is_free_of_answers: !answer.values().any(|value| repeats(&rejection.message, value)),
                    ..rejection
                };
                Self::Refused { rejections: rejections.into_iter().map(told).collect(), deadline_at }
            }
        }
    }
}

/// Whether a sentence has a value, or a word of it, in any spelling.
fn repeats(sentence: &str, value: &Value) -> bool {
    let bare = |text: &str| -> String {
        text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let sentence = bare(sentence);
    let has = |text: &str| {
        let text = bare(text);
        text.chars().count() >= RECOGNIZED_CHARS_MIN && sentence.contains(&text)
    };
    match value {
        Value::String(text) => has(text) || text.split_whitespace().any(has),
        Value::Number(number) => has(&number.to_string()),
        Value::Array(values) => values.iter().any(|value| repeats(&sentence, value)),
        Value::Object(members) => members.values().any(|value| repeats(&sentence, value)),
        Value::Null | Value::Bool(_) => false,
    }
}

/// An answer without its values: what is kept of it for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answered {
    /// When its sender has collected it, as they say; they have also declared that it comes from the seller.
    pub collected_at: Timestamp,
    /// When it arrived.
    pub at: Timestamp,
}

/// A review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Review {
    /// Its id.
    pub id: RegistrationReviewId,
    /// The account.
    pub client_id: ClientId,
    /// The seller.
    pub seller_id: SellerId,
    /// The seller's merchant.
    pub merchant_id: MerchantId,
    /// The provider that asks.
    pub provider_id: ProviderId,
    /// Its type.
    pub provider_type: ProviderType,
    /// What it asks for.
    pub demand: Demand,
    /// Where it stands.
    pub status: ReviewStatus,
    /// 1, and one more with every answer that was refused.
    pub attempt: u32,
    /// Of the reminders, how many are over.
    pub reminded: usize,
    /// Whether its seller is blocked at the provider until it is approved.
    pub blocks: bool,
    /// The last answer.
    pub answered: Option<Answered>,
    /// The answers before it, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answered_before: Vec<Answered>,
    /// What was wrong with the last answer that was refused.
    pub rejections: Vec<Rejection>,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it came to its end.
    pub concluded_at: Option<Timestamp>,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A review after a change, and what is announced of it.
pub type Change = (Review, EventName);

impl Review {
    /// A new review, from what a provider asks for.
    pub fn open(
        (id, client_id): (RegistrationReviewId, ClientId),
        (seller_id, merchant_id): (SellerId, MerchantId),
        (provider_id, provider_type): (ProviderId, ProviderType),
        demand: Demand,
    ) -> Change {
        let opened_at = id.created_at();
        let review = Self {
            id,
            client_id,
            seller_id,
            merchant_id,
            provider_id,
            provider_type,
            reminded: over(demand.deadline_at, opened_at),
            demand,
            status: ReviewStatus::Open,
            attempt: 1,
            blocks: false,
            answered: None,
            answered_before: Vec::new(),
            rejections: Vec::new(),
            opened_at,
            concluded_at: None,
            version: 1,
            updated_at: opened_at,
        };
        (review, EventName::SellerRegistrationReviewOpened)
    }

    /// When time alone changes it: the next reminder, or the deadline. `None` when it waits for somebody, or for nobody.
    pub fn due_at(&self) -> Option<Timestamp> {
        match self.status {
            ReviewStatus::Open => Some(match REMINDERS.get(self.reminded) {
                Some(before) => self.demand.deadline_at - *before,
                None => self.demand.deadline_at,
            }),
            ReviewStatus::Rejected => Some(self.demand.deadline_at),
            ReviewStatus::Submitted
            | ReviewStatus::Approved
            | ReviewStatus::Expired
            | ReviewStatus::Canceled => None,
        }
    }

    /// What time has made of it by `now`; `None` when nothing is due.
    #[must_use]
    pub fn passed(&self, now: Timestamp) -> Option<Change> {
        if self.due_at().is_none_or(|due| due > now) {
            return None;
        }
        if self.demand.deadline_at <= now {
            let mut after = self.next(ReviewStatus::Expired, now);
            after.blocks = true;
            return Some((after, EventName::SellerRegistrationReviewExpired));
        }
        // Of several that were missed, the seller gets the last.
        let mut after = self.next(self.status, now);
        after.reminded = over(self.demand.deadline_at, now);
        Some((after, EventName::SellerRegistrationReviewReminder))
    }

    /// Whether the seller may answer.
    pub fn takes_an_answer(&self) -> bool {
        match self.status {
            ReviewStatus::Open | ReviewStatus::Expired => true,
            ReviewStatus::Submitted
            | ReviewStatus::Approved
            | ReviewStatus::Rejected
            | ReviewStatus::Canceled => false,
        }
    }

    /// The seller has answered; `None` when it may not. The answer stops the clock.
    #[must_use]
    pub fn submitted(&self, collected_at: Timestamp, now: Timestamp) -> Option<Change> {
        if !self.takes_an_answer() {
            return None;
        }
        let mut after = self.next(ReviewStatus::Submitted, now);
        after.answered_before.extend(after.answered.replace(Answered { collected_at, at: now }));
        after.rejections = Vec::new();
        Some((after, EventName::SellerRegistrationReviewSubmitted))
    }

    /// The provider has judged the answer; `None` when it still checks it, or has none to judge.
    #[must_use]
    pub fn judged(&self, verdict: &Verdict, now: Timestamp) -> Option<Change> {
        match (self.status, verdict) {
            (ReviewStatus::Submitted, Verdict::Accepted) => {
                let mut after = self.next(ReviewStatus::Approved, now);
                after.blocks = false;
                after.concluded_at = Some(now);
                Some((after, EventName::SellerRegistrationReviewApproved))
            }
            (ReviewStatus::Submitted, Verdict::Refused { rejections, deadline_at }) => {
                let mut after = match deadline_at.filter(|deadline| *deadline > now) {
                    Some(deadline) => {
                        let mut after = self.next(ReviewStatus::Open, now);
                        after.demand.deadline_at = deadline;
                        after.reminded = over(deadline, now);
                        after
                    }
                    None => self.next(ReviewStatus::Rejected, now),
                };
                after.attempt += 1;
                after.rejections.clone_from(rejections);
                Some((after, EventName::SellerRegistrationReviewRejected))
            }
            (ReviewStatus::Submitted, Verdict::Pending)
            | (
                ReviewStatus::Open
                | ReviewStatus::Approved
                | ReviewStatus::Rejected
                | ReviewStatus::Expired
                | ReviewStatus::Canceled,
                Verdict::Accepted | Verdict::Pending | Verdict::Refused { .. },
            ) => None,
        }
    }

    /// The review is not asked for any more; `None` when it has come to its end.
    #[must_use]
    pub fn canceled(&self, now: Timestamp) -> Option<Change> {
        match self.status {
            ReviewStatus::Open | ReviewStatus::Submitted | ReviewStatus::Rejected | ReviewStatus::Expired => {
                let mut after = self.next(ReviewStatus::Canceled, now);
                after.blocks = false;
                after.concluded_at = Some(now);
                Some((after, EventName::SellerRegistrationReviewCanceled))
            }
            ReviewStatus::Approved | ReviewStatus::Canceled => None,
        }
    }

    fn next(&self, status: ReviewStatus, now: Timestamp) -> Self {
        Self { status, version: self.version + 1, updated_at: now.max(self.updated_at), ..self.clone() }
    }
}

/// How many reminders before this deadline are over by `now`.
fn over(deadline_at: Timestamp, now: Timestamp) -> usize {
    REMINDERS.iter().filter(|before| deadline_at - **before <= now).count()
}
