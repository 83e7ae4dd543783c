//! The audit trail of callers' changes: one entry, in the batch of the change. [`Openings`] are the card numbers that a
//! request has opened.

mod openings;

use regente_domain::actor::Actor;
use regente_domain::id::ClientId;
use regente_store::Batch;
use regente_store::audit::{self, AuditEntry};
use uuid::Uuid;

use crate::app::App;
use crate::caller::{Caller, RequestId};

pub use openings::Openings;

/// Who changes something of an account.
#[derive(Clone, Copy, Debug)]
pub struct Author<'a> {
    /// The account.
    pub client_id: ClientId,
    /// Who does it.
    pub actor: Actor,
    /// The request that asks for it; operators make none.
    pub request_id: Option<&'a RequestId>,
}

impl<'a> Author<'a> {
    /// The caller of the interface.
    pub fn of(caller: &Caller, request_id: &'a RequestId) -> Self {
        Self { client_id: caller.client_id, actor: caller.actor(), request_id: Some(request_id) }
    }

    /// Whoever runs the deployment.
    pub const fn operator(client_id: ClientId) -> Self {
        Self { client_id, actor: Actor::Operator, request_id: None }
    }

    /// Adds an entry to the batch of the change, as [`record`] does.
    pub fn record(&self, app: &App, batch: &mut Batch, action: &'static str, object_id: Uuid) {
        record_of(app, batch, (&self.actor, self.request_id), action, object_id);
    }
}

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
