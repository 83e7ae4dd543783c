//! What is sent for registration reviews, in the OpenAPI document.

#![expect(dead_code, reason = "describes bodies for the OpenAPI document")]

use regente_domain::time::Timestamp;
use serde_json::{Map, Value};
use utoipa::ToSchema;

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
