//! Stores events in the batch of their change: the outbox for deliveries. The key `(object, version, ordinal)` orders
//! the events of an object without a sequence.
//!
//! An event that a webhook asks for is marked for dispatch in the same batch, so that callers need not look for
//! webhooks. The engine makes the deliveries.

use regente_domain::actor::Actor;
use regente_domain::charge::{Charge, ChargeEvent};
use regente_domain::id::{ClientId, Id, of};
use regente_domain::time::Timestamp;
use regente_domain::webhook::{EVERYTHING, EventName};
pub use regente_domain::webhook::{PING, PING_OBJECT};
use uuid::Uuid;

use crate::accounts::{Accounts, listed};
use crate::batch::Batch;
use crate::readable::Readable;
use crate::row::Row;
use crate::value::{Args, Json};
use crate::{Store, StoreError, args, sql};

// Old, and no delivery can send it any more.
macro_rules! is_old {
    ($client_id:literal) => {
        concat!(
            " events.id < :made_before AND events.dispatch_at IS NULL AND NOT EXISTS (SELECT 1 FROM deliveries d
            WHERE d.event_id = events.id AND d.client_id = ",
            $client_id,
            ")"
        )
    };
}

// When an event is dispatched that a webhook asks for; null if none does.
macro_rules! asked_for {
    ($event:literal) => {
        concat!(
            "(SELECT CAST(:dispatch_at AS BIGINT) FROM webhooks w WHERE w.client_id = :client_id AND ",
            $event,
            " AND w.active = 1 AND w.deleted_at IS NULL LIMIT 1)"
        )
    };
}

sql! {
    /// Adds an event that a webhook asks for, to be dispatched. SQLite would build a table for `IN` each time to look both
    /// words up; it reads the client's part of the same index instead.
    pub INSERT_EVENT_TO_DISPATCH = "
        INSERT INTO events (object_id, version, ordinal, client_id, id, object_kind, name, actor, snapshot,
            dispatch_at)
        SELECT :object_id, :version, :ordinal, w.client_id, :id, :object_kind, :name, :actor, :snapshot, :dispatch_at
        FROM webhooks w
        WHERE w.client_id = :client_id AND UNINDEXED w.event IN (:full_name, :everything) AND w.active = 1
            AND w.deleted_at IS NULL
        ON CONFLICT (object_id, version, ordinal, client_id) DO NOTHING";
    /// Adds an event unless it was added before.
    pub INSERT_EVENT = "
        INSERT INTO events (object_id, version, ordinal, client_id, id, object_kind, name, actor, snapshot)
        VALUES (:object_id, :version, :ordinal, :client_id, :id, :object_kind, :name, :actor, :snapshot)
        ON CONFLICT (object_id, version, ordinal, client_id) DO NOTHING";
    /// Adds an event of a charge unless it was added before, to be dispatched if a webhook asks for it. In a distributed
    /// database the row of the charge tells where the event belongs. SQLite would build a table for `IN` each time.
    pub INSERT_CHARGE_EVENT = split(
        concat!(
            "INSERT INTO events (object_id, version, ordinal, client_id, id, object_kind, name, actor, dispatch_at)
             VALUES (:object_id, :version, 0, :client_id, :id, :object_kind, :name, :actor,
                COALESCE(", asked_for!("w.event = :full_name"), ", ", asked_for!("w.event = :everything"), "))
             ON CONFLICT (object_id, version, ordinal, client_id) DO NOTHING"
        ),
        concat!(
            "INSERT INTO events (object_id, version, ordinal, client_id, id, object_kind, name, actor, dispatch_at)
             SELECT c.id, :version, 0, c.client_id, :id, :object_kind, :name, :actor, ",
            asked_for!("w.event IN (:full_name, :everything)"), "
             FROM charges c WHERE c.id = :object_id AND c.client_id = :client_id
             ON CONFLICT (object_id, version, ordinal, client_id) DO NOTHING"
        )
    );
    /// The events of one object, in order.
    pub EVENTS_OF = "
        SELECT id, version, ordinal, name, actor FROM events
        WHERE object_id = :object_id AND client_id = :client_id ORDER BY version, ordinal";
    /// The accounts of events to dispatch, in order, once for each event.
    pub CLIENTS_OF_EVENTS_TO_DISPATCH = "
        SELECT client_id FROM events
        WHERE REACHABLE(client_id) AND dispatch_at IS NOT NULL AND client_id > :after ORDER BY client_id LIMIT :limit";
    /// The events of a client to dispatch, in order.
    pub EVENTS_TO_DISPATCH = "
        SELECT id, object_id, version, ordinal, object_kind, name, snapshot FROM events
        WHERE client_id = :client_id AND dispatch_at IS NOT NULL AND dispatch_at <= :now
        ORDER BY id LIMIT :limit";
    /// Ends the dispatch of an event; if another node has ended it, no row matches. On PostgreSQL it skips a row that another node
    /// holds.
    pub END_DISPATCH = split(
        "UPDATE events SET dispatch_at = NULL, snapshot = :snapshot
         WHERE object_id = :object_id AND version = :version AND ordinal = :ordinal AND client_id = :client_id
           AND dispatch_at IS NOT NULL",
        "UPDATE events SET dispatch_at = NULL, snapshot = :snapshot
         WHERE object_id = :object_id AND version = :version AND ordinal = :ordinal AND client_id = :client_id
           AND client_id IN (SELECT client_id FROM events
             WHERE object_id = :object_id AND version = :version AND ordinal = :ordinal AND client_id = :client_id
               AND dispatch_at IS NOT NULL FOR UPDATE SKIP LOCKED)"
    );
    /// Postpones the dispatch of events.
    pub POSTPONE_DISPATCH = "
        UPDATE events SET dispatch_at = :dispatch_at
        WHERE client_id = :client_id AND id IN EACH_UUID(:ids) AND dispatch_at IS NOT NULL";
    /// Old events without a dispatch or delivery that needs them, by object, oldest first: of all clients but some.
    pub OLD_EVENTS = concat!("
        SELECT events.object_id, events.client_id FROM events
        WHERE REACHABLE(events.client_id) AND events.object_id < :made_before AND events.client_id NOT IN EACH_UUID(:apart) AND",
        is_old!("events.client_id"),
        " ORDER BY events.object_id LIMIT :limit");
    /// The same of one client.
    pub OLD_EVENTS_OF = concat!("
        SELECT events.object_id, events.client_id FROM events
        WHERE events.object_id < :made_before AND events.client_id = :client_id AND", is_old!(":client_id"),
        " ORDER BY events.object_id LIMIT :limit");
    /// Deletes the old events of objects that no dispatch and no delivery needs.
    pub PURGE_EVENTS = concat!("
        DELETE FROM events WHERE events.client_id = :client_id AND events.object_id IN EACH_UUID(:object_ids) AND",
        is_old!(":client_id"));
    /// The events of an object with their payloads.
    pub SNAPSHOTS_OF = "
        SELECT version, ordinal, snapshot FROM events
        WHERE object_id = :object_id AND client_id = :client_id AND snapshot IS NOT NULL";
    /// Replaces the payload of an event.
    pub REPLACE_SNAPSHOT = "
        UPDATE events SET snapshot = :snapshot
        WHERE object_id = :object_id AND version = :version AND ordinal = :ordinal AND client_id = :client_id";
    /// When the next event of any client is to become deliveries.
    pub NEXT_DISPATCH = "SELECT MIN(dispatch_at) AS dispatch_at FROM events
        WHERE REACHABLE(client_id) AND dispatch_at IS NOT NULL";
    /// When the next event of each client is to become deliveries.
    pub NEXT_DISPATCH_OF_EACH = "
        SELECT client_id, MIN(dispatch_at) AS dispatch_at FROM events
        WHERE dispatch_at IS NOT NULL GROUP BY client_id";
}

/// Most events whose accounts are read by one query.
const CLIENT_ROWS_MAX: i64 = 500;

/// The object version of a test event.
pub const PING_VERSION: i64 = 1;
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

/// Adds `transaction.<event>` for a version of a charge, unless that was announced before. Its payload is built from the
/// charge at dispatch. The charge is stored, or this batch stores it before.
pub fn charge_changed(
    batch: &mut Batch,
    id: Id<of::Event>,
    charge: &Charge,
    event: ChargeEvent,
    actor: &Actor,
) {
    let name = event.name();
    batch.push_at_most_one(
        &INSERT_CHARGE_EVENT,
        args! {
            object_id: charge.id,
            version: charge.version,
            client_id: batch.client_id(),
            id,
            object_kind: name.family().word(),
            name: name.event(),
            actor: actor.to_string(),
            dispatch_at: id.created_at(),
            full_name: name.word(),
            everything: EVERYTHING,
        },
    );
}

/// The columns of a new event that every event has.
struct NewRow<'a> {
    id: Id<of::Event>,
    object_id: Uuid,
    version: i64,
    ordinal: i64,
    object_kind: &'static str,
    name: &'static str,
    snapshot: &'a str,
    actor: &'a Actor,
}

impl NewRow<'_> {
    fn args(&self, client_id: ClientId) -> Args {
        args! {
            object_id: self.object_id, version: self.version, ordinal: self.ordinal, client_id, id: self.id,
            object_kind: self.object_kind, name: self.name, actor: self.actor.to_string(),
            snapshot: self.snapshot.to_owned(),
        }
    }
}

/// Adds the event if a webhook asks for `full_name` or for `everything`.
fn insert_to_dispatch(
    batch: &mut Batch,
    row: &NewRow<'_>,
    full_name: &'static str,
    everything: &'static str,
) {
    let args = row
        .args(batch.client_id())
        .with("dispatch_at", row.id.created_at())
        .with("full_name", full_name)
        .with("everything", everything);
    batch.push_at_most_one(&INSERT_EVENT_TO_DISPATCH, args);
}

/// Adds the event unless [`insert_to_dispatch`] has added it.
fn insert(batch: &mut Batch, row: &NewRow<'_>) {
    let args = row.args(batch.client_id());
    batch.push_at_most_one(&INSERT_EVENT, args);
}

/// An event of an object other than a charge, with its payload.
#[derive(Clone, Copy, Debug)]
pub struct NewEvent<'a> {
    /// Its id; the time of the event is the id's own.
    pub id: Id<of::Event>,
    /// The object.
    pub object_id: Uuid,
    /// The version of the object that it announces.
    pub version: i64,
    /// Its index among the events of that version.
    pub ordinal: i64,
    /// Its name.
    pub name: EventName,
    /// `data` of the event, as JSON.
    pub snapshot: &'a str,
    /// Who caused it.
    pub actor: &'a Actor,
}

/// Adds an event to the batch of the change.
pub fn announce(batch: &mut Batch, event: NewEvent<'_>) {
    let full_name = event.name.word();
    let family = event.name.family();
    let row = NewRow {
        id: event.id,
        object_id: event.object_id,
        version: event.version,
        ordinal: event.ordinal,
        object_kind: family.word(),
        name: event.name.event(),
        snapshot: event.snapshot,
        actor: event.actor,
    };
    insert_to_dispatch(
        batch,
        &row,
        full_name,
        if family.is_in_everything() { EVERYTHING } else { full_name },
    );
    insert(batch, &row);
}

/// Adds a test event; the caller also adds its delivery. Its object is the event itself, so that tests do not wait
/// for one another.
pub fn ping(batch: &mut Batch, id: Id<of::Event>, actor: &Actor) {
    let row = NewRow {
        id,
        object_id: id.uuid(),
        version: PING_VERSION,
        ordinal: 0,
        object_kind: PING_OBJECT,
        name: PING,
        snapshot: "{}",
        actor,
    };
    insert(batch, &row);
}

/// The events of one object, in order.
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

/// An event to dispatch.
#[derive(Clone, Debug)]
pub struct Undispatched {
    /// Its id.
    pub id: Id<of::Event>,
    /// The object.
    pub object_id: Uuid,
    /// The version that it announces.
    pub version: i64,
    /// Its index among the events of that version.
    pub ordinal: i64,
    /// The full name.
    pub full_name: String,
    /// The payload, if it was stored with the event.
    pub snapshot: Option<String>,
}

/// Clients after `after`, by id, with events to dispatch, now or later. Each query reads a bounded number of rows; the
/// rest of a client that fills one is skipped.
pub async fn clients_to_dispatch(
    store: &Store,
    after: ClientId,
    limit: usize,
) -> Result<Vec<ClientId>, StoreError> {
    let (mut clients, mut after) = (Vec::new(), after);
    while clients.len() < limit {
        let args = args! { after, limit: CLIENT_ROWS_MAX };
        let rows = store.rows(&CLIENTS_OF_EVENTS_TO_DISPATCH, args).await?;
        for row in &rows {
            let client_id: ClientId = row.get("client_id")?;
            if client_id != after {
                clients.push(client_id);
                after = client_id;
            }
        }
        if i64::try_from(rows.len()).unwrap_or(i64::MAX) < CLIENT_ROWS_MAX {
            break;
        }
    }
    clients.truncate(limit);
    Ok(clients)
}

/// The events of a client to dispatch at `now`, in order.
pub async fn to_dispatch(
    store: &Store,
    client_id: ClientId,
    now: Timestamp,
    limit: i64,
) -> Result<Readable<Undispatched>, StoreError> {
    let rows = store.rows(&EVENTS_TO_DISPATCH, args! { client_id, now, limit }).await?;
    Readable::of(&rows, undispatched_from_row)
}

fn undispatched_from_row(row: &Row) -> Result<Undispatched, StoreError> {
    let (object_kind, name): (&str, &str) = (row.get("object_kind")?, row.get("name")?);
    Ok(Undispatched {
        id: row.get("id")?,
        object_id: row.get("object_id")?,
        version: row.get("version")?,
        ordinal: row.get("ordinal")?,
        full_name: format!("{object_kind}.{name}"),
        snapshot: row.get("snapshot")?,
    })
}

/// Ends the dispatch of an event and stores the payload that its deliveries send. Guards the batch: if another node has
/// ended the dispatch, the batch is refused.
pub fn dispatched(batch: &mut Batch, event: &Undispatched, snapshot: Option<&str>) {
    let (client_id, object_id) = (batch.client_id(), event.object_id);
    let (version, ordinal) = (event.version, event.ordinal);
    batch.guard(
        &END_DISPATCH,
        args! { object_id, version, ordinal, client_id, snapshot: snapshot.map(str::to_owned) },
    );
}

/// Postpones the dispatch of events.
pub fn postpone(batch: &mut Batch, ids: &[Uuid], dispatch_at: Timestamp) {
    let (client_id, ids) = (batch.client_id(), Json::list(Some(ids), Uuid::to_string));
    batch.push_any(&POSTPONE_DISPATCH, args! { client_id, ids, dispatch_at });
}

/// When the next dispatch is due; `None` when none waits.
pub async fn next_dispatch(store: &Store) -> Result<Option<Timestamp>, StoreError> {
    store.row(&NEXT_DISPATCH, args! {}).await?.map_or(Ok(None), |row| row.get("dispatch_at"))
}

/// When the next event of each client is to become deliveries, by the client's own time, for clients with waiting events.
pub async fn next_dispatch_of_each(store: &Store) -> Result<Vec<(ClientId, Timestamp)>, StoreError> {
    let rows = store.rows(&NEXT_DISPATCH_OF_EACH, args! {}).await?;
    rows.iter().map(|row| Ok((row.get("client_id")?, row.get("dispatch_at")?))).collect()
}

/// Objects with events from before then that no dispatch and no delivery needs, each with its account: `limit` events,
/// oldest objects first.
pub async fn old(
    store: &Store,
    accounts: &Accounts,
    before: Timestamp,
    limit: i64,
) -> Result<Vec<(ClientId, Uuid)>, StoreError> {
    let made_before = Id::<of::Event>::first_at(before);
    let (sql, args) = match accounts {
        Accounts::AllBut(apart) => (&OLD_EVENTS, args! { apart: listed(apart), made_before, limit }),
        Accounts::One(client_id) => (&OLD_EVENTS_OF, args! { client_id: *client_id, made_before, limit }),
    };
    let rows = store.rows(sql, args).await?;
    rows.iter().map(|row| Ok((row.get("client_id")?, row.get("object_id")?))).collect()
}

/// Deletes events of these objects of the batch's client created before `before`. Events to dispatch and events with
/// deliveries stay.
pub fn purge(batch: &mut Batch, object_ids: &[Uuid], before: Timestamp) {
    let (client_id, made_before) = (batch.client_id(), Id::<of::Event>::first_at(before));
    let object_ids = Json::list(Some(object_ids), Uuid::to_string);
    batch.push_any(&PURGE_EVENTS, args! { client_id, object_ids, made_before });
}

/// The stored payload of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The object.
    pub object_id: Uuid,
    /// The version of the object that it announces.
    pub version: i64,
    /// Its place among the events of that version.
    pub ordinal: i64,
    /// `data` of the event, as JSON.
    pub data: String,
}

/// The stored payloads of an object's events.
///
/// # Errors
/// As [`Store::rows`].
pub async fn snapshots_of(
    store: &Store,
    client_id: ClientId,
    object_id: Uuid,
) -> Result<Vec<Snapshot>, StoreError> {
    let rows = store.rows(&SNAPSHOTS_OF, args! { object_id, client_id }).await?;
    let snapshot = |row: &Row| {
        let (version, ordinal, data) = (row.get("version")?, row.get("ordinal")?, row.get("snapshot")?);
        Ok(Snapshot { object_id, version, ordinal, data })
    };
    rows.iter().map(snapshot).collect()
}

/// Replaces the payload of an event; what was sent to webhooks before is not changed by it.
pub fn replace_snapshot(batch: &mut Batch, snapshot: Snapshot) {
    let Snapshot { object_id, version, ordinal, data } = snapshot;
    let client_id = batch.client_id();
    batch.push_any(&REPLACE_SNAPSHOT, args! { object_id, version, ordinal, client_id, snapshot: data });
}
