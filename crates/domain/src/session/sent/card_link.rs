//! The body of a link at which a buyer gives another card (`docs/interface/subscriptions.md#another-card`).

use deserr::Deserr;
use utoipa::ToSchema;

use super::due_date::DueDate;
use crate::problems::Problems;
use crate::time::Timestamp;

/// What a link is made with; everything has a default.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase", example = json!({ "dueDate": "2036-10-25" }))]
pub struct NewCardLink {
    /// When it is good no longer: from tomorrow on, by the days of São Paulo. A day means its end. A week by default.
    #[deserr(default, from(Option<DueDate>) = DueDate::given)]
    #[schema(value_type = Option<String>)]
    pub due_date: Option<Timestamp>,
    /// Whether it asks for the proof that a person gives the card.
    #[deserr(default)]
    #[schema(default = false)]
    pub captcha_enabled: Option<bool>,
}
