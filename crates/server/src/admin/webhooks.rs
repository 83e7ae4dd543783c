//! What an operator may do about webhooks.

use std::time::Duration;

use regente_domain::id::WebhookId;
use regente_domain::time::Timestamp;
use regente_store::webhooks::{self, Webhook};
use serde::{Deserialize, Serialize};

use super::command::{Answer, CommandError};
use crate::app::App;
use crate::webhooks::keys::{self, RotationError};
use crate::webhooks::signature::to_pem;

/// Something that an operator asks about webhooks.
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
}

impl WebhooksCommand {
    /// Its name, without what it is about.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Keys { .. } => "webhooks keys",
            Self::RotateKey { .. } => "webhooks rotate-key",
        }
    }
}

/// The public keys of a webhook.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WebhookKeys {
    /// Whose keys.
    pub webhook_id: WebhookId,
    /// The key in force, in PEM.
    pub public_key: String,
    /// The key that replaces it.
    pub next: Option<NextWebhookKey>,
}

/// The key that replaces another one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NextWebhookKey {
    /// In PEM.
    pub public_key: String,
    /// Until then both sign.
    pub signs_alone_from: Timestamp,
}

pub(super) async fn run(app: &App, command: WebhooksCommand) -> Result<Answer, CommandError> {
    match command {
        WebhooksCommand::Keys { webhook_id } => {
            Ok(Answer::WebhookKeys(keys_of(&find(app, webhook_id).await?, app.clock.now())))
        }
        WebhooksCommand::RotateKey { webhook_id, overlap_seconds } => {
            let webhook = keys::rotate(app, webhook_id, Duration::from_secs(overlap_seconds)).await?;
            Ok(Answer::WebhookKeyRotated(keys_of(&webhook, app.clock.now())))
        }
    }
}

fn keys_of(webhook: &Webhook, now: Timestamp) -> WebhookKeys {
    let (key, next) = webhook.keys_at(now);
    WebhookKeys {
        webhook_id: webhook.id,
        public_key: to_pem(&key.pair().public),
        next: next.map(|next| NextWebhookKey {
            public_key: to_pem(&next.key.public),
            signs_alone_from: next.at,
        }),
    }
}

async fn find(app: &App, id: WebhookId) -> Result<Webhook, CommandError> {
    let unknown = || CommandError::Rotation(RotationError::UnknownWebhook(id));
    let client_id = webhooks::client_of(&app.store, id).await?.ok_or_else(unknown)?;
    webhooks::find(&app.store, client_id, id).await?.ok_or_else(unknown)
}
