//! A registration review as answers and events show it (`docs/interface/registration-reviews.md#record`): what is asked for,
//! and never what the seller has answered or what is known of it.

use regente_domain::seller::Seller;
use regente_domain::seller::review::fields::{Field, KnownField};
use regente_domain::seller::review::{Rejection, Review};
use serde_json::{Value, json};

/// A review. `link` is the address of the page at which the seller answers; only in answers.
pub fn view(review: &Review, link: Option<&str>) -> Value {
    let mut view = json!({
        "id": review.id,
        "sellerId": review.seller_id,
        "merchantId": review.merchant_id,
        "clientId": review.client_id,
        "providerType": review.provider_type,
        "status": review.status,
        "reason": review.demand.reason,
        "deadlineAt": review.demand.deadline_at,
        "fields": review.demand.fields.iter().map(field).collect::<Vec<_>>(),
        "attempt": review.attempt,
        "openedAt": review.opened_at,
        "submittedAt": review.answered.map(|answered| answered.at),
        "concludedAt": review.concluded_at,
        "rejections": review.rejections.iter().map(rejection).collect::<Vec<_>>(),
        "createdAt": review.id.created_at(),
        "updatedAt": review.updated_at,
    });
    if let Some(link) = link {
        view["answerLink"] = json!(link);
    }
    view
}

fn field(field: &Field) -> Value {
    let known = KnownField::parse(&field.name);
    let mut view = json!({
        "name": field.name,
        "type": known.map(|known| known.kind),
        "format": known.and_then(KnownField::format),
        "enum": known.and_then(KnownField::words),
        "required": field.required,
        "label": known.map_or(field.name.as_str(), |known| known.labels[0]),
    });
    if let Some(kind) = known.and_then(KnownField::document_kind) {
        view["documentType"] = json!(kind);
    }
    view
}

fn rejection(Rejection { field, message, is_free_of_answers: _ }: &Rejection) -> Value {
    json!({ "field": field, "message": message })
}

/// What an event says about a field where the provider's own words repeat what was answered.
const REFUSED: &str = "was not accepted by the provider";

/// `data` of an event: the whole review without words of the provider that repeat an answer, and of the seller where it stands.
pub fn news(review: &Review, seller: &Seller) -> Value {
    let is_asked = |name: &str| review.demand.fields.iter().any(|field| field.name == name);
    let refused = review.rejections.iter().filter(|rejection| is_asked(&rejection.field));
    let mut told = view(review, None);
    told["rejections"] = refused
        .map(|rejection| {
            let message = if rejection.is_free_of_answers { rejection.message.as_str() } else { REFUSED };
            json!({ "field": rejection.field, "message": message })
        })
        .collect();
    json!({
        "registrationReview": told,
        "seller": { "id": seller.id, "merchantId": seller.merchant_id, "status": seller.status() },
    })
}
