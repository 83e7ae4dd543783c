//! A registration review as answers and events show it (`docs/interface/registration-reviews.md#record`): what is asked for,
//! and never what the seller has answered or what is known of it.

use regente_domain::id::{ClientId, MerchantId, RegistrationReviewId, SellerId};
use regente_domain::provider_type::{ProviderType, ShownProviderType};
use regente_domain::seller::document::DocumentKind;
use regente_domain::seller::review::fields::{Field, FieldType, KnownField};
use regente_domain::seller::review::{Rejection, Review, ReviewStatus};
use regente_domain::seller::{Seller, SellerStatus};
use regente_domain::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// A review of the registration of a seller. It shows no value, neither an old nor a new one.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RegistrationReview)]
pub struct ReviewView<'a> {
    id: RegistrationReviewId,
    seller_id: SellerId,
    merchant_id: MerchantId,
    client_id: ClientId,
    /// The provider that asks.
    #[schema(value_type = ShownProviderType)]
    provider_type: ProviderType,
    status: ReviewStatus,
    /// Why the provider asks.
    #[schema(required = true, example = "periodic_update")]
    reason: Option<&'a str>,
    /// The last moment for the answer.
    deadline_at: Timestamp,
    fields: Vec<FieldView<'a>>,
    /// 1, and one more with every answer that was refused.
    #[schema(example = 1)]
    attempt: u32,
    opened_at: Timestamp,
    #[schema(required = true)]
    submitted_at: Option<Timestamp>,
    #[schema(required = true)]
    concluded_at: Option<Timestamp>,
    /// What was wrong with the last answer that was refused.
    rejections: Vec<RejectionView<'a>>,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// The address of the page at which the seller answers; absent in events, and where the service does not know its own
    /// address.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer_link: Option<String>,
}

/// A field that a review asks for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RegistrationReviewField)]
struct FieldView<'a> {
    /// The path of the member in the request of a seller.
    #[schema(example = "owner.phoneNumber")]
    name: &'a str,
    #[serde(rename = "type")]
    #[schema(value_type = FieldType)]
    kind: Option<FieldType>,
    /// What a text is, where it is more than a text.
    #[schema(required = true)]
    format: Option<&'static str>,
    /// The words that a text may be.
    #[serde(rename = "enum")]
    #[schema(required = true)]
    words: Option<Vec<&'static str>>,
    required: bool,
    #[schema(example = "Phone")]
    label: &'a str,
    /// What an uploaded file must show.
    #[serde(skip_serializing_if = "Option::is_none")]
    document_type: Option<DocumentKind>,
}

/// What was wrong with a field.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RegistrationReviewRejection)]
struct RejectionView<'a> {
    field: &'a str,
    /// The provider's own words; in events the same text for each field.
    message: &'a str,
}

impl<'a> ReviewView<'a> {
    /// `link` is the address of the page at which the seller answers; only in answers.
    pub fn of(review: &'a Review, link: Option<String>) -> Self {
        let rejection =
            |rejection: &'a Rejection| RejectionView { field: &rejection.field, message: &rejection.message };
        Self {
            id: review.id,
            seller_id: review.seller_id,
            merchant_id: review.merchant_id,
            client_id: review.client_id,
            provider_type: review.provider_type,
            status: review.status,
            reason: review.demand.reason.as_deref(),
            deadline_at: review.demand.deadline_at,
            fields: review.demand.fields.iter().map(FieldView::of).collect(),
            attempt: review.attempt,
            opened_at: review.opened_at,
            submitted_at: review.answered.map(|answered| answered.at),
            concluded_at: review.concluded_at,
            rejections: review.rejections.iter().map(rejection).collect(),
            created_at: review.id.created_at(),
            updated_at: review.updated_at,
            answer_link: link,
        }
    }
}

impl<'a> FieldView<'a> {
    fn of(field: &'a Field) -> Self {
        let known = KnownField::parse(&field.name);
        Self {
            name: &field.name,
            kind: known.map(|known| known.kind),
            format: known.and_then(KnownField::format),
            words: known.and_then(KnownField::words),
            required: field.required,
            label: known.map_or(field.name.as_str(), |known| known.labels[0]),
            document_type: known.and_then(KnownField::document_kind),
        }
    }
}

/// What an event of a review tells.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RegistrationReviewNews)]
pub struct ReviewNewsView<'a> {
    registration_review: ReviewView<'a>,
    seller: ReviewedSellerView,
}

/// A seller, as events of its reviews show it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReviewedSeller)]
struct ReviewedSellerView {
    id: SellerId,
    merchant_id: MerchantId,
    status: SellerStatus,
}

/// What an event says about a field where the provider's own words repeat what was answered.
const REFUSED: &str = "was not accepted by the provider";

impl<'a> ReviewNewsView<'a> {
    /// The whole review without words of the provider that repeat an answer, and of the seller where it stands.
    pub fn of(review: &'a Review, seller: &Seller) -> Self {
        let is_asked = |name: &str| review.demand.fields.iter().any(|field| field.name == name);
        let refused = review.rejections.iter().filter(|rejection| is_asked(&rejection.field));
        let rejection = |rejection: &'a Rejection| RejectionView {
            field: &rejection.field,
            message: if rejection.is_free_of_answers { &rejection.message } else { REFUSED },
        };
        let rejections = refused.map(rejection).collect();
        Self {
            registration_review: ReviewView { rejections, ..ReviewView::of(review, None) },
            seller: ReviewedSellerView {
                id: seller.id,
                merchant_id: seller.merchant_id,
                status: seller.status(),
            },
        }
    }
}
