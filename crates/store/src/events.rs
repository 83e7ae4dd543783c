//! What happened, in the batch of the change. The key `(object, version, ordinal)` orders the events of an object
//! without a sequence. Delivering them is not done here.

use regente_domain::actor::Actor;
use regente_domain::charge::{Charge, ChargeStatus};
use regente_domain::id::{ClientId, Id, of};
use uuid::Uuid;

use crate::batch::Batch;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Adds one event.
    pub INSERT_EVENT = "
        INSERT INTO events (object_id, version, ordinal, client_id, id, object_kind, name, actor, snapshot)
        VALUES (:object_id, :version, :ordinal, :client_id, :id, :object_kind, :name, :actor, NULL)";
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

/// Adds `transaction.<status>` for the state that a charge has reached.
pub fn charge_changed(batch: &mut Batch, id: Id<of::Event>, charge: &Charge, actor: &Actor) {
    let status: ChargeStatus = charge.state.status();
    batch.push(
        &INSERT_EVENT,
        args! {
            object_id: charge.id,
            version: charge.version,
            ordinal: 0_i64,
            client_id: charge.client_id,
            id,
            object_kind: "transaction",
            name: status.word(),
            actor: actor.to_string(),
        },
    );
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
