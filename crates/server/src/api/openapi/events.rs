//! The section `webhooks` of the OpenAPI document: an entry for each event that a webhook may ask for, and for the test
//! event. The domain names the events; each family of events has one body.

use regente_domain::webhook::{EventName, Family, PING, PING_OBJECT};
use regente_engine::events::purchase::PurchaseView;
use regente_engine::events::registration_review::ReviewNewsView;
use regente_engine::events::seller::SellerNewsView;
use regente_engine::events::subscription::SubscriptionNewsView;
use regente_engine::events::transaction::TransactionView;
use utoipa::ToSchema;
use utoipa::openapi::path::{HttpMethod, OperationBuilder, PathItem, Paths, PathsBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{Content, Ref, Required, ResponseBuilder};
use uuid::Uuid;

use crate::api::schema::tagged::tagged;
use crate::api::schema::words;
use crate::api::sessions::view::ShownSession;

/// The section `webhooks`.
pub(super) fn webhooks() -> Paths {
    let events = EventName::WORDS.iter().map(|(name, event)| (*name, Some(*event))).chain([(PING, None)]);
    events.fold(PathsBuilder::new(), |paths, (name, event)| paths.path(name, entry(name, event))).build()
}

fn entry(name: &str, event: Option<EventName>) -> PathItem {
    let (summary, body) = match event.map(EventName::family) {
        Some(Family::Transaction) => ("A charge has changed.", TransactionEvent::name()),
        Some(Family::Purchase) => ("A purchase has ended.", PurchaseEvent::name()),
        Some(Family::Seller) => {
            ("A seller has come into a status, or a review of it has changed.", SellerEvent::name())
        }
        Some(Family::Subscription) => ("A subscription has changed.", SubscriptionEvent::name()),
        Some(Family::Session) => ("A session has changed.", SessionEvent::name()),
        None => ("A test event, which `POST /v1/webhooks/{id}/ping` asks for.", TestEvent::name()),
    };
    let body = RequestBodyBuilder::new()
        .content("application/json", Content::new(Some(Ref::from_schema_name(body))))
        .required(Some(Required::True));
    let taken = "The event was taken; so it is by 201. After any other answer it is sent again.";
    let operation = OperationBuilder::new()
        .tag("Events")
        .summary(Some(summary))
        .operation_id(Some(operation_id(name)))
        .request_body(Some(body.build()))
        .response("200", ResponseBuilder::new().description(taken));
    PathItem::new(HttpMethod::Post, operation)
}

/// `onTransactionPreAuthorized` for `transaction.pre_authorized`.
fn operation_id(name: &str) -> String {
    let parts = name.split(['.', '_']).map(|part| {
        let (first, rest) = part.split_at(part.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    format!("on{}", parts.collect::<String>())
}

tagged! {
    /// What is sent to a webhook: `object` says what it is about, `event` what happened.
    pub(super) Event by "object" {
        Family::Transaction.word() => TransactionEvent,
        Family::Purchase.word() => PurchaseEvent,
        Family::Seller.word() => SellerEvent,
        Family::Subscription.word() => SubscriptionEvent,
        Family::Session.word() => SessionEvent,
        PING_OBJECT => TestEvent,
    }
}

macro_rules! envelopes {
    ($($(#[doc = $doc:literal])+ $name:ident of $event:ty: $data:ty;)*) => {
        $($(#[doc = $doc])+
        #[derive(ToSchema)]
        #[schema(rename_all = "camelCase")]
        #[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
        struct $name {
            /// Id of the event, the same in all attempts.
            id: Uuid,
            #[schema(value_type = words::EventVersion)]
            api_version: (),
            /// What happened: the part of the name after the first dot.
            #[schema(value_type = $event)]
            event: (),
            #[schema(value_type = String, format = DateTime)]
            created_at: (),
            /// What it happened to, as it was right after the change.
            #[schema(value_type = $data)]
            data: (),
        })*
    };
}

envelopes! {
    /// A charge has changed.
    TransactionEvent of words::TransactionEventWord: TransactionView;
    /// A purchase has ended.
    PurchaseEvent of words::PurchaseEventWord: PurchaseView;
    /// A seller has come into a status, or a review of its registration has changed.
    SellerEvent of words::SellerEventWord: SellerEventSchema;
    /// A subscription has changed.
    SubscriptionEvent of words::SubscriptionEventWord: SubscriptionNewsView;
    /// A session has changed.
    SessionEvent of words::SessionEventWord: ShownSession;
    /// A test event.
    TestEvent of words::TestEventWord: Object;
}

/// What an event of a seller tells: of the seller, or of a review.
#[derive(ToSchema)]
#[schema(as = SellerEventContent)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
enum SellerEventSchema {
    Status(Box<SellerNewsView<'static>>),
    Review(Box<ReviewNewsView<'static>>),
}
