//! Registration reviews in the OpenAPI document.

#![expect(dead_code, reason = "describes bodies for the OpenAPI document")]

use regente_domain::time::Timestamp;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

use super::super::super::schema::words;

/// A review of the registration of a seller. It shows no value, neither an old nor a new one.
#[derive(ToSchema)]
#[schema(as = RegistrationReview, rename_all = "camelCase")]
pub(super) struct ReviewSchema {
    id: Uuid,
    seller_id: Uuid,
    merchant_id: Uuid,
    client_id: Uuid,
    /// The provider that asks.
    #[schema(value_type = words::ProviderType)]
    provider_type: String,
    #[schema(value_type = words::RegistrationReviewStatus)]
    status: String,
    /// Why the provider asks.
    #[schema(required = true, example = "periodic_update")]
    reason: Option<String>,
    /// The last moment for the answer.
    #[schema(value_type = String, format = DateTime)]
    deadline_at: Timestamp,
    fields: Vec<ReviewFieldSchema>,
    /// 1, and one more with every answer that was refused.
    #[schema(example = 1)]
    attempt: u32,
    #[schema(value_type = String, format = DateTime)]
    opened_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    submitted_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    concluded_at: Option<Timestamp>,
    /// What was wrong with the last answer that was refused.
    rejections: Vec<ReviewRejectionSchema>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    /// The address of the page at which the seller answers; absent in events, and where the service does not know its own
    /// address.
    answer_link: Option<String>,
}

/// A field that a review asks for.
#[derive(ToSchema)]
#[schema(as = RegistrationReviewField, rename_all = "camelCase")]
pub(super) struct ReviewFieldSchema {
    /// The path of the member in the request of a seller.
    #[schema(example = "owner.phoneNumber")]
    name: String,
    #[schema(rename = "type", value_type = words::RegistrationReviewFieldType)]
    kind: String,
    /// What a text is, where it is more than a text.
    #[schema(required = true)]
    format: Option<String>,
    /// The words that a text may be.
    #[schema(rename = "enum", required = true)]
    words: Option<Vec<String>>,
    required: bool,
    #[schema(example = "Phone")]
    label: String,
    /// What an uploaded file must show.
    #[schema(value_type = Option<words::SellerFileType>)]
    document_type: Option<String>,
}

/// What was wrong with a field.
#[derive(ToSchema)]
#[schema(as = RegistrationReviewRejection)]
pub(super) struct ReviewRejectionSchema {
    field: String,
    /// The provider's own words; in events the same text for each field.
    message: String,
}

/// A review to open.
#[derive(ToSchema)]
#[schema(as = NewRegistrationReview, rename_all = "camelCase", example = json!({ "fields": ["owner.phoneNumber"] }))]
pub(super) struct NewReviewBody {
    /// What it asks for; phone and monthly income by default.
    #[schema(min_items = 1, max_items = 68)]
    fields: Option<Vec<String>>,
    /// In the future; in 30 days by default.
    #[schema(value_type = Option<String>, format = DateTime)]
    deadline_at: Option<Timestamp>,
}

/// What a seller has answered.
#[derive(ToSchema)]
#[schema(as = RegistrationReviewAnswer, rename_all = "camelCase", example = json!({
    "data": { "owner.phoneNumber": "21977777777" }, "collectedAt": "2026-03-23T15:12:38.379Z", "declaration": true
}))]
pub(super) struct AnswerBody {
    /// A value for each field, by its name.
    #[schema(value_type = Object)]
    data: Map<String, Value>,
    /// When it was collected: not before the review was opened, and not in the future.
    #[schema(value_type = String, format = DateTime)]
    collected_at: Timestamp,
    /// True: the data come from the seller, for this review.
    declaration: bool,
}

/// What an event of a review tells.
#[derive(ToSchema)]
#[schema(as = RegistrationReviewNews, rename_all = "camelCase")]
pub struct ReviewNewsSchema {
    registration_review: ReviewSchema,
    seller: ReviewedSellerSchema,
}

/// A seller, as events of its reviews show it.
#[derive(ToSchema)]
#[schema(as = ReviewedSeller, rename_all = "camelCase")]
pub(super) struct ReviewedSellerSchema {
    id: Uuid,
    merchant_id: Uuid,
    #[schema(value_type = words::SellerStatus)]
    status: String,
}
