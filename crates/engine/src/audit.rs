//! The audit trail of callers' changes: one entry, in the batch of the change. [`Openings`] are the card numbers that a
//! request has opened.

mod openings;

use regente_domain::actor::Actor;
use regente_store::Batch;
use regente_store::audit::{self, AuditEntry};
use uuid::Uuid;

use crate::app::App;
use crate::caller::{Caller, RequestId};

pub use openings::Openings;

/// Adds an audit entry for `caller` to the batch of the change. `action` is `object.past_participle`, such as
/// `card.linked`; its first word is the kind of the object.
pub fn record(
    app: &App,
    batch: &mut Batch,
    caller: &Caller,
    request_id: &RequestId,
    action: &'static str,
    object_id: Uuid,
) {
    record_of(app, batch, (&caller.actor(), Some(request_id)), action, object_id);
}

/// As [`record`], of an author who may have no key. Operators make no requests.
pub fn record_of(
    app: &App,
    batch: &mut Batch,
    (actor, request_id): (&Actor, Option<&RequestId>),
    action: &'static str,
    object_id: Uuid,
) {
    let (object_kind, _) = action.split_once('.').unwrap_or((action, ""));
    let entry = AuditEntry {
        id: app.chance.id(app.clock.of(batch.client_id())),
        actor: *actor,
        action,
        object_kind,
        object_id,
        request_id: request_id.map(|id| id.as_str().to_owned()),
    };
    audit::record(batch, entry);
}
