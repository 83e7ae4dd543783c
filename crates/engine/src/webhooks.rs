//! Webhooks: creates, changes, deletes and lists the endpoints for events, each with its own key pair
//! (`docs/interface/webhooks.md#resource`). [`crate::deliveries`] delivers the events.

use regente_domain::id::{ClientId, WebhookId};
use regente_domain::time::later_of;
use regente_domain::webhook::{EventFilter, NewWebhook, PartialRefund, Version, WebhookChanges};
use regente_store::Batch;
use regente_store::webhooks::{self, KeyPair, Webhook};

use crate::app::App;
use crate::audit;
use crate::caller::{Caller, RequestId};
use crate::deliveries::deleted;
use crate::deliveries::signature::SigningKey;
use crate::error::Error;
use crate::races::{self, Changed};
use crate::settings::EndpointUse;
use crate::vault::{Binding, Purpose};

/// A webhook of the account.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn find(app: &App, client_id: ClientId, id: WebhookId) -> Result<Webhook, Error> {
    webhooks::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)
}

/// A page of the webhooks of an account, newest first, and how many there are.
pub async fn list(
    app: &App,
    client_id: ClientId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Webhook>, u64), Error> {
    let total = webhooks::count(&app.store, client_id).await?;
    Ok((webhooks::list(&app.store, client_id, limit, offset).await?, total))
}

/// Checks that an address may be called, and returns it as it is called.
///
/// # Errors
/// [`Error::Invalid`].
pub async fn accept(app: &App, endpoint: &str) -> Result<String, Error> {
    let accepted = app.outbound.accept(endpoint).await;
    accepted.map(|address| address.as_str().to_owned()).map_err(|rule| Error::invalid("endpoint", rule))
}

/// A new webhook with a key of its own, and the batch that writes it. `address` is what [`accept`] made of its endpoint.
///
/// # Errors
/// [`Error::Conflict`] when another webhook uses the same endpoint.
pub async fn plan_creation(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    new: &NewWebhook,
    address: &str,
) -> Result<(Batch, Webhook), Error> {
    let client_id = caller.client_id;
    refuse_duplicate(app, client_id, new.event, address, None).await?;
    let id: WebhookId = app.chance.id(app.clock.of(client_id));
    let key = SigningKey::generate(&app.chance).map_err(Error::internal)?;
    let binding = Binding::new(Purpose::WebhookKey, client_id, id.uuid());
    let webhook = Webhook {
        id,
        client_id,
        event: new.event,
        endpoint: address.to_owned(),
        sent_endpoint: Some(new.endpoint.to_string()),
        partial_refund: new.partial_refund_event.unwrap_or(PartialRefund::Voided),
        api_version: new.version.unwrap_or(Version::V1_1),
        active: new.status.unwrap_or(true),
        key: KeyPair { public: key.public(), private: app.vault.seal(binding, key.seed()) },
        next_key: None,
        lost_in_a_row: 0,
        version: 1,
        updated_at: id.created_at(),
        listens_until: None,
    };
    let mut batch = Batch::new(client_id);
    webhooks::insert(&mut batch, &webhook);
    audit::record(app, &mut batch, caller, request_id, "webhook.created", id.uuid());
    Ok((batch, webhook))
}

/// Changes a webhook. What is on its way to the former address is sent to the new one.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Invalid`] when the new address may not be called; [`Error::Conflict`] when another webhook uses the
/// same endpoint.
pub async fn change(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    id: WebhookId,
    changes: &WebhookChanges,
) -> Result<Webhook, Error> {
    let client_id = caller.client_id;
    let address = match &changes.endpoint {
        Some(endpoint) => Some(accept(app, endpoint).await?),
        None => None,
    };
    races::change(|| async {
        let before = find(app, client_id, id).await?;
        let mut webhook = before.clone();
        webhook.event = changes.event.unwrap_or(webhook.event);
        if let Some(address) = &address {
            webhook.endpoint.clone_from(address);
            webhook.sent_endpoint = changes.endpoint.as_deref().map(str::to_owned);
        }
        webhook.api_version = changes.version.unwrap_or(webhook.api_version);
        webhook.active = changes.status.unwrap_or(webhook.active);
        webhook.partial_refund = changes.partial_refund_event.unwrap_or(webhook.partial_refund);
        if webhook == before {
            return Ok(Changed::Already(webhook));
        }
        // An unchanged event and endpoint are not checked again: the rules may have become stricter.
        if (webhook.event, &webhook.endpoint) != (before.event, &before.endpoint) {
            refuse_duplicate(app, client_id, webhook.event, &webhook.endpoint, Some(id)).await?;
        }
        webhook.updated_at = later_of(app.clock.of(client_id), webhook.updated_at);
        let mut batch = Batch::new(client_id);
        webhooks::update(&mut batch, &webhook);
        audit::record(app, &mut batch, caller, request_id, "webhook.updated", id.uuid());
        let _admission = app.store.admit(client_id)?;
        Ok(Changed::Written(app.store.apply(batch).await?, webhook))
    })
    .await
}

/// Deletes a webhook. What is on its way to it is dropped.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn delete(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    id: WebhookId,
) -> Result<(), Error> {
    let client_id = caller.client_id;
    races::delete(|| async {
        let webhook = find(app, client_id, id).await?;
        let now = later_of(app.clock.of(client_id), webhook.updated_at);
        let mut batch = Batch::new(client_id);
        deleted::delete(app, &mut batch, &webhook, now);
        audit::record(app, &mut batch, caller, request_id, "webhook.deleted", id.uuid());
        let _admission = app.store.admit(client_id)?;
        Ok(app.store.apply(batch).await?)
    })
    .await
}

/// Refuses the endpoint that another webhook of the client uses (`docs/interface/webhooks.md#resource`).
async fn refuse_duplicate(
    app: &App,
    client_id: ClientId,
    event: EventFilter,
    endpoint: &str,
    own: Option<WebhookId>,
) -> Result<(), Error> {
    let registered = webhooks::of_endpoint(&app.store, client_id, endpoint).await?;
    let mut others = registered.iter().filter(|(id, _)| Some(*id) != own);
    let is_duplicate = match app.settings.webhooks.endpoints {
        EndpointUse::Once => others.next().is_some(),
        EndpointUse::OncePerEvent => others.any(|(_, word)| word == event.word()),
    };
    if is_duplicate { Err(Error::conflict(Vec::new())) } else { Ok(()) }
}
