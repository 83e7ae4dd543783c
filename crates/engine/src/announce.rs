//! Events for webhooks: written with the change that they announce. [`crate::deliveries`] sends them.

use regente_domain::actor::Actor;
use regente_domain::webhook::EventName;
use regente_store::Batch;
use regente_store::events::{self, NewEvent};
use serde::Serialize;
use uuid::Uuid;

use crate::app::App;
use crate::error::Error;

/// An object after a change.
pub(crate) struct Changed {
    /// Its id.
    pub(crate) id: Uuid,
    /// The version that the change has made.
    pub(crate) version: i64,
}

/// Adds an event of a changed object to the batch of its change: the one with this index among those of that version. `told` is
/// its `data`.
///
/// # Errors
/// [`Error::Internal`] when `told` cannot be written.
pub(crate) fn announce(
    app: &App,
    batch: &mut Batch,
    changed: &Changed,
    (ordinal, name): (i64, EventName),
    told: &impl Serialize,
    actor: &Actor,
) -> Result<(), Error> {
    let event = NewEvent {
        id: app.chance.id(app.clock.of(batch.client_id())),
        object_id: changed.id,
        version: changed.version,
        ordinal,
        name,
        snapshot: &serde_json::to_string(told).map_err(Error::internal)?,
        actor,
    };
    events::announce(batch, event);
    Ok(())
}
