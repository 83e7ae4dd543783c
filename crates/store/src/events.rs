//! What happened, in the batch of the change. The key `(object, version, ordinal)` orders the events of an object
//! without a sequence. Delivering them is not done here.

use regente_domain::actor::Actor;
use regente_domain::charge::{Charge, ChargeEvent};
use regente_domain::id::{ClientId, Id, of};
use uuid::Uuid;

use crate::batch::Batch;
use crate::value::Args;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Adds one event.
    pub INSERT_EVENT = "
        INSERT INTO events (object_id, version, ordinal, client_id, id, object_kind, name, actor, snapshot)
        VALUES (:object_id, :version, :ordinal, :client_id, :id, :object_kind, :name, :actor, NULL)";
    /// Adds one event unless its place is taken.
    pub INSERT_EVENT_ONCE = "
        INSERT INTO events (object_id, version, ordinal, client_id, id, object_kind, name, actor, snapshot)
        VALUES (:object_id, :version, :ordinal, :client_id, :id, :object_kind, :name, :actor, NULL)
        ON CONFLICT (object_id, version, ordinal, client_id) DO NOTHING";
    /// The events of one object, in the order in which they happened.
    pub EVENTS_OF = "
        SELECT id, version, ordinal, name, actor FROM events
        WHERE object_id = :object_id AND client_id = :client_id ORDER BY version, ordinal";
}

/// An event of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its id; the time of the event is the id's own.
    pub id: Id<of::Event>,
    /// The version of the object that it announces.
    pub version: i64,
    /// The part after the first dot of its name, for example `authorized`.
    pub name: String,
    /// Who caused it.
    pub actor: String,
}

/// Adds `transaction.<event>` for the version that a charge has reached.
pub fn charge_changed(
    batch: &mut Batch,
    id: Id<of::Event>,
    charge: &Charge,
    event: ChargeEvent,
    actor: &Actor,
) {
    batch.push(&INSERT_EVENT, event_args(id, charge, event, actor));
}

/// The same, unless the version was announced before.
pub fn charge_changed_once(
    batch: &mut Batch,
    id: Id<of::Event>,
    charge: &Charge,
    event: ChargeEvent,
    actor: &Actor,
) {
    batch.push_any(&INSERT_EVENT_ONCE, event_args(id, charge, event, actor));
}

fn event_args(id: Id<of::Event>, charge: &Charge, event: ChargeEvent, actor: &Actor) -> Args {
    args! {
        object_id: charge.id,
        version: charge.version,
        ordinal: 0_i64,
        client_id: charge.client_id,
        id,
        object_kind: "transaction",
        name: event.word(),
        actor: actor.to_string(),
    }
}

/// The events of one object, in the order in which they happened.
pub async fn of_object(
    store: &Store,
    client_id: ClientId,
    object_id: Uuid,
) -> Result<Vec<Event>, StoreError> {
    let rows = store.rows(&EVENTS_OF, args! { object_id, client_id }).await?;
    rows.iter()
        .map(|row| {
            Ok(Event {
                id: row.get("id")?,
                version: row.get("version")?,
                name: row.get("name")?,
                actor: row.get("actor")?,
            })
        })
        .collect()
}
