//! Handles lost deliveries: alerts the operator and, if configured, disables a webhook that loses too many in a row
//! (`docs/interface/webhooks.md#losses`). The delivery is kept for a replay.

use regente_domain::actor::Actor;
use regente_store::audit::{self, AuditEntry};
use regente_store::deliveries::Delivery;
use regente_store::webhooks::{self, Webhook};
use regente_store::{Batch, Commit};

use super::attempt::apply;
use crate::app::App;
use crate::error::Error;
use crate::metrics;

/// The actor that disables a webhook.
const ACTOR: Actor = Actor::Job("deliveries");

/// Handles the loss of a delivery to `webhook`; the loss itself is already written.
pub(super) async fn tell(app: &App, webhook: &Webhook, delivery: &Delivery) -> Result<(), Error> {
    metrics::delivery_lost();
    tracing::error!(
        alert = "webhook_message_lost", delivery = %delivery.id, webhook = %webhook.id,
        client = %webhook.client_id, event = delivery.event,
        "a message to a webhook is lost: every attempt failed; it is kept for a replay"
    );
    let Some(lost_max) = app.settings.webhooks.disable_after else { return Ok(()) };
    let lost_max = i64::from(lost_max.get());
    let found = webhooks::find(&app.store, webhook.client_id, webhook.id).await?;
    let Some(webhook) = found.filter(|found| found.active && found.lost_in_a_row >= lost_max) else {
        return Ok(());
    };
    let now = app.clock.of(webhook.client_id);
    let mut batch = Batch::new(webhook.client_id);
    webhooks::disable(&mut batch, &webhook, now);
    let entry = AuditEntry {
        id: app.chance.id(now),
        actor: ACTOR,
        action: "webhook.disabled",
        object_kind: "webhook",
        object_id: webhook.id.uuid(),
        request_id: None,
    };
    audit::record(&mut batch, entry);
    match apply(app, batch).await? {
        Commit::Applied => {
            metrics::webhook_disabled();
            tracing::error!(
                alert = "webhook_disabled", webhook = %webhook.id, client = %webhook.client_id,
                lost_in_a_row = webhook.lost_in_a_row,
                "a webhook is switched off: too many messages in a row were lost"
            );
        }
        // The owner changed the webhook meanwhile, or another attempt disabled it.
        Commit::Refused(_) | Commit::Unknown => {}
    }
    Ok(())
}
