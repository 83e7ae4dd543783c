//! The commands of operators for webhooks.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use regente_domain::id::{ClientId, DeliveryId, WebhookId};
use regente_domain::time::Timestamp;
use regente_domain::webhook::{DeliveryStatus, EventFilter, EventName};
use regente_engine::deliveries::keys::{self, RotationError};
use regente_engine::deliveries::listeners;
use regente_engine::deliveries::replay::{Replayed, replay};
use regente_engine::deliveries::signature::to_pem;
use regente_store::deliveries::{self, DeliveryRange};
use regente_store::webhooks::{self, Webhook};
use serde::{Deserialize, Serialize};

use super::answer::{Answer, NextWebhookKey, WebhookKeys};
use super::clients::the_client;
use super::error::CommandError;
use crate::app::App;

/// The most deliveries that are counted before a replay.
pub const COUNTED_MAX: i64 = 1_000_000;
/// Deliveries that one command replays.
const REPLAYED_AT_ONCE: i64 = 500;
/// Deliveries of one command that share a commit.
const REPLAYED_SIDE_BY_SIDE: usize = 16;

/// A command about webhooks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case")]
pub enum WebhooksCommand {
    /// Show the public keys of a webhook.
    Keys {
        /// Which.
        webhook_id: WebhookId,
    },
    /// Replace the key of a webhook.
    RotateKey {
        /// Which.
        webhook_id: WebhookId,
        /// How long both keys sign.
        overlap_seconds: u64,
    },
    /// Count the deliveries of a range.
    CountRange {
        /// Which.
        range: ReplayRange,
    },
    /// Replay deliveries of a range, oldest first, a bounded number at once.
    Replay {
        /// Which.
        range: ReplayRange,
        /// Start after this delivery.
        after: Option<DeliveryId>,
    },
    /// Add a listener for events.
    Listen {
        /// Whose events; not needed where there is one account.
        client_id: Option<ClientId>,
        /// The name of an event, or `*`.
        event: String,
    },
    /// Wait for the listener's next events.
    Hear {
        /// Whose events.
        client_id: ClientId,
        /// The listener.
        listener_id: WebhookId,
        /// Deliveries that the listener has shown.
        told: Vec<DeliveryId>,
    },
    /// Remove a listener.
    EndListening {
        /// Whose events.
        client_id: ClientId,
        /// The listener.
        listener_id: WebhookId,
        /// Deliveries that the listener has shown.
        told: Vec<DeliveryId>,
    },
}

/// Which deliveries are replayed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReplayRange {
    /// Of which webhook.
    pub webhook_id: WebhookId,
    /// Made at or after this time.
    pub from: Timestamp,
    /// Made before this time.
    pub to: Timestamp,
    /// Whether only lost deliveries are replayed.
    pub status: ReplayStatus,
    /// The name of an event; `None` for all.
    pub event: Option<String>,
}

/// The states of the deliveries that are replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayStatus {
    /// Every state.
    Any,
    /// Deliveries of which every attempt failed.
    Lost,
}

impl WebhooksCommand {
    /// The command's name without its arguments.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Keys { .. } => "webhooks keys",
            Self::RotateKey { .. } => "webhooks rotate-key",
            Self::CountRange { .. } | Self::Replay { .. } => "webhooks replay",
            Self::Listen { .. } | Self::Hear { .. } | Self::EndListening { .. } => "webhooks listen",
        }
    }
}

pub(super) async fn run(app: &App, command: WebhooksCommand) -> Result<Answer, CommandError> {
    match command {
        WebhooksCommand::Keys { webhook_id } => {
            let webhook = find(app, webhook_id).await?;
            Ok(Answer::WebhookKeys(keys_of(&webhook, app.clock.of(webhook.client_id))))
        }
        WebhooksCommand::RotateKey { webhook_id, overlap_seconds } => {
            let webhook = keys::rotate(app, webhook_id, Duration::from_secs(overlap_seconds)).await?;
            Ok(Answer::WebhookKeyRotated(keys_of(&webhook, app.clock.of(webhook.client_id))))
        }
        WebhooksCommand::CountRange { range } => {
            let range = delivery_range(app, &range).await?;
            let deliveries = deliveries::count_in_range(&app.store, &range, COUNTED_MAX).await?;
            Ok(Answer::ReplayCounted { deliveries })
        }
        WebhooksCommand::Replay { range, after } => {
            replay_some(app, &delivery_range(app, &range).await?, after).await
        }
        WebhooksCommand::Listen { client_id, event } => {
            let filter = EventFilter::parse(&event).ok_or_else(|| no_event(&event))?;
            let client_id = the_client(app, client_id).await?;
            let listener = listeners::begin(app, client_id, filter).await?;
            let public_key = to_pem(&listener.public_key);
            Ok(Answer::Listening { client_id, listener_id: listener.id, event, public_key })
        }
        WebhooksCommand::Hear { client_id, listener_id, told } => {
            let events = listeners::hear(app, client_id, listener_id, &told).await?;
            Ok(Answer::Heard { events })
        }
        WebhooksCommand::EndListening { client_id, listener_id, told } => {
            listeners::end(app, client_id, listener_id, &told).await?;
            Ok(Answer::ListeningEnded { listener_id })
        }
    }
}

/// Replays a part of a range, each delivery in a batch of its own, so that one under way does not block the others.
async fn replay_some(
    app: &App,
    range: &DeliveryRange,
    after: Option<DeliveryId>,
) -> Result<Answer, CommandError> {
    let ids = deliveries::in_range(&app.store, range, after, REPLAYED_AT_ONCE).await?;
    let one = async |id: DeliveryId| {
        let _admission = app.store.admit_waiting().await?;
        replay(app, range.client_id, range.webhook_id, id).await.map_err(CommandError::from)
    };
    let last = ids.last().copied();
    let ended: Vec<Replayed> =
        stream::iter(ids).map(one).buffered(REPLAYED_SIDE_BY_SIDE).try_collect().await?;
    let (mut replayed, mut under_way) = (0, 0);
    for ended in ended {
        match ended {
            Replayed::Due => replayed += 1,
            Replayed::UnderWay => under_way += 1,
            Replayed::NoDelivery => {}
        }
    }
    Ok(Answer::Replayed { replayed, under_way, last })
}

async fn delivery_range(app: &App, range: &ReplayRange) -> Result<DeliveryRange, CommandError> {
    let ReplayRange { webhook_id, from, to, status, event } = range;
    if from >= to {
        return Err(CommandError::Argument("the range ends before it begins".to_owned()));
    }
    let webhook = find(app, *webhook_id).await?;
    let event = event.as_deref().map(|name| EventName::parse(name).ok_or_else(|| no_event(name)));
    Ok(DeliveryRange {
        client_id: webhook.client_id,
        webhook_id: webhook.id,
        from: *from,
        to: *to,
        status: match status {
            ReplayStatus::Any => None,
            ReplayStatus::Lost => Some(DeliveryStatus::Lost),
        },
        event: event.transpose()?,
    })
}

fn no_event(name: &str) -> CommandError {
    let known: Vec<&str> = EventName::WORDS.iter().map(|(name, _)| *name).collect();
    CommandError::Argument(format!("there is no event `{name}`; there are {}", known.join(", ")))
}

fn keys_of(webhook: &Webhook, now: Timestamp) -> WebhookKeys {
    let (key, next) = webhook.keys_at(now);
    WebhookKeys {
        webhook_id: webhook.id,
        public_key: to_pem(&key.pair().public),
        next: next
            .map(|next| NextWebhookKey { public_key: to_pem(&next.key.public), signs_alone_from: next.at }),
    }
}

async fn find(app: &App, id: WebhookId) -> Result<Webhook, CommandError> {
    let unknown = || CommandError::Rotation(RotationError::UnknownWebhook(id));
    let client_id = webhooks::client_of(&app.store, id).await?.ok_or_else(unknown)?;
    webhooks::find(&app.store, client_id, id).await?.ok_or_else(unknown)
}
