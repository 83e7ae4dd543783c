//! Webhooks and deliveries as answers show them (`docs/interface/webhooks.md#resource`).

use regente_domain::time::Timestamp;
use regente_domain::webhook::{DeliveryStatus, EventFilter, Failure, PartialRefund, Version};
use regente_engine::deliveries::signature::to_pem;
use regente_store::deliveries::{Attempt, Delivery};
use regente_store::webhooks::Webhook;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::schema::words;

/// A webhook as the interface shows it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Webhook)]
pub struct WebhookView {
    /// Id of the webhook.
    pub id: Uuid,
    /// The account it belongs to.
    pub client_id: Uuid,
    /// The event that it asks for, or `*`.
    #[schema(example = "transaction.authorized")]
    pub event: EventFilter,
    /// Where events are sent, as it was given.
    #[schema(example = "https://shop.example/hooks")]
    pub endpoint: String,
    /// The version of what is sent.
    #[schema(example = 1.1)]
    pub version: f64,
    /// Whether events are sent.
    pub status: bool,
    /// What is sent for a refund of a part.
    #[schema(example = "transaction.voided")]
    pub partial_refund_event: PartialRefund,
    /// The key that signatures are verified with, in PEM.
    pub public_key: String,
    /// The key that follows, while it is being replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_public_key: Option<String>,
    /// From when that one signs alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_key_at: Option<Timestamp>,
    /// When it was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it changed last.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

impl WebhookView {
    /// The webhook at `now`: a replacement key whose time has come is shown as the key.
    pub(super) fn of(webhook: &Webhook, now: Timestamp) -> Self {
        let (key, next) = webhook.keys_at(now);
        Self {
            id: webhook.id.uuid(),
            client_id: webhook.client_id.uuid(),
            event: webhook.event,
            endpoint: webhook.sent_endpoint.as_ref().unwrap_or(&webhook.endpoint).clone(),
            version: number(webhook.api_version),
            status: webhook.active,
            partial_refund_event: webhook.partial_refund,
            public_key: to_pem(&key.pair().public),
            next_public_key: next.map(|next| to_pem(&next.key.public)),
            next_key_at: next.map(|next| next.at),
            created_at: webhook.id.created_at(),
            updated_at: webhook.updated_at,
        }
    }
}

const fn number(version: Version) -> f64 {
    match version {
        Version::V1_0 => 1.0,
        Version::V1_1 => 1.1,
    }
}

/// The id of a webhook that was deleted.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = DeletedWebhook)]
pub struct DeletedWebhookView {
    /// Id of the webhook.
    pub id: Uuid,
}

/// An event on its way to a webhook, with every attempt to hand it over.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Delivery)]
pub struct DeliveryView {
    /// Id of the delivery.
    pub id: Uuid,
    /// The webhook it goes to.
    pub webhook_id: Uuid,
    /// Id of the event: `id` of what is sent, the same in all attempts.
    pub event_id: Uuid,
    /// Name of the event.
    #[schema(value_type = words::SentEventName, example = "transaction.authorized")]
    pub event: String,
    /// What the event is about.
    pub object_id: Uuid,
    /// `dropped`: the webhook was deleted first.
    #[schema(example = "delivered")]
    pub status: DeliveryStatus,
    /// When the next attempt is due.
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    pub next_attempt_at: Option<Timestamp>,
    /// Every attempt that has ended, oldest first.
    pub attempts: Vec<AttemptView>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it changed last.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// One attempt to hand an event over.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeliveryAttempt)]
pub struct AttemptView {
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// How long it took.
    pub duration_ms: u64,
    /// What the endpoint answered; null when it did not.
    #[schema(required = true)]
    pub http_status: Option<u16>,
    /// Why it failed; null when it did not.
    #[schema(required = true)]
    pub failure: Option<Failure>,
    /// How the answer begins.
    #[schema(required = true)]
    pub answer: Option<String>,
}

impl DeliveryView {
    pub(super) fn of(delivery: &Delivery, attempts: Vec<AttemptView>) -> Self {
        Self {
            id: delivery.id.uuid(),
            webhook_id: delivery.webhook_id.uuid(),
            event_id: delivery.event_id.uuid(),
            event: delivery.event.clone(),
            object_id: delivery.object_id,
            status: delivery.status,
            // While an attempt is under way, this is the time at which it counts as lost, which receivers need not
            // know.
            next_attempt_at: delivery.due_at.filter(|_| delivery.began_at.is_none()),
            attempts,
            created_at: delivery.id.created_at(),
            updated_at: delivery.updated_at,
        }
    }
}

impl AttemptView {
    pub(super) fn of(attempt: &Attempt) -> Self {
        Self {
            created_at: attempt.began_at,
            duration_ms: u64::try_from(attempt.duration.as_millis()).unwrap_or(u64::MAX),
            http_status: attempt.http_status,
            failure: attempt.failure,
            answer: attempt.answer.clone(),
        }
    }
}
