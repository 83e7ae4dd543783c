//! Takes a person out of sessions: out of their texts, the recipients that they name, and their events. Of an order of theirs all
//! texts go; of what others may pay too, those that tell of them.

use regente_domain::id::{Id, SessionId};
use regente_domain::session::{Capacity, Session};
use regente_store::events::{self, Snapshot};
use regente_store::sessions::{self, StoredSession, erasure};
use regente_store::{Batch, Commit, deliveries};
use serde_json::Value;
use uuid::Uuid;

use super::pages::ROWS_MAX;
use super::person::{InSession, Person, empty_session_texts};
use super::{UnderWay, apply};
use crate::app::App;
use crate::error::Error;
use crate::races;
use crate::sessions::opened::{Opened, Private};

/// Erases what sessions say of the person; answers how many did.
pub(super) async fn sessions(app: &App, person: &mut Person, left: &mut UnderWay) -> Result<usize, Error> {
    let (mut erased, mut after) = (0, Id::new(Uuid::nil()));
    loop {
        let page = erasure::page(&app.store, person.client_id, after, ROWS_MAX).await?;
        let Some(last) = page.last() else { return Ok(erased) };
        after = last.session.id;
        for stored in page {
            erased += usize::from(erase_session(app, person, stored, left).await?);
        }
    }
}

async fn erase_session(
    app: &App,
    person: &mut Person,
    stored: StoredSession,
    left: &mut UnderWay,
) -> Result<bool, Error> {
    let id = stored.session.id;
    let is_paid_once = stored.session.capacity == Capacity::One;
    if is_paid_once && person.in_session(id) == InSession::Payer {
        person.had_order(id);
    }
    let told = person.in_session(id);
    let mut next = Some(stored);
    for _ in races::tries() {
        let Some(stored) = next.take() else { return Ok(false) };
        let Opened { session, private } = Opened::of(app, stored).await?;
        let without = (without_texts(&session, person, told)?, without_recipient(&private, person, told));
        let mut batch = Batch::new(person.client_id);
        if without.0.is_some() || without.1.is_some() {
            let private = without.1.unwrap_or(private).seal(app, person.client_id, id)?;
            erasure::erase(&mut batch, &without.0.unwrap_or(session), private)?;
        }
        erase_events(app, person, told, id, &mut batch).await?;
        if batch.is_empty() {
            return Ok(false);
        }
        deliveries::erase_answers(&mut batch, id.uuid());
        match apply(app, batch).await? {
            Commit::Applied => return Ok(true),
            // The session has moved on, or may have been erased.
            Commit::Refused(_) | Commit::Unknown => {
                next = sessions::find_stored(&app.store, person.client_id, id).await?;
            }
        }
    }
    left.sessions.push(id);
    Ok(false)
}

/// The session without the texts that tell of the person; `None` where none does.
fn without_texts(session: &Session, person: &Person, told: InSession) -> Result<Option<Session>, Error> {
    let mut terms = serde_json::to_value(&session.terms).map_err(Error::internal)?;
    if !empty_session_texts(&mut terms, &|text| person.is_told_by(text, told)) {
        return Ok(None);
    }
    let terms = serde_json::from_value(terms).map_err(Error::internal)?;
    Ok(Some(Session { terms, ..session.clone() }))
}

/// What is sealed with a session without the person; `None` where it does not name them. An order of theirs names nobody any more.
fn without_recipient(private: &Private, person: &Person, told: InSession) -> Option<Private> {
    let mut recipients = private.nupay_recipients.clone()?;
    match told {
        InSession::Order => Some(Private::default()),
        InSession::Payer | InSession::Stranger => {
            let is_named = person.taken_out_of(&mut recipients);
            let left = Some(recipients).filter(|left| left.as_array().is_none_or(|left| !left.is_empty()));
            is_named.then_some(Private { nupay_recipients: left })
        }
    }
}

async fn erase_events(
    app: &App,
    person: &Person,
    told: InSession,
    id: SessionId,
    batch: &mut Batch,
) -> Result<(), Error> {
    for snapshot in events::snapshots_of(&app.store, person.client_id, id.uuid()).await? {
        let mut data: Value = serde_json::from_str(&snapshot.data).map_err(Error::internal)?;
        if empty_session_texts(&mut data, &|text| person.is_told_by(text, told)) {
            events::replace_snapshot(batch, Snapshot { data: data.to_string(), ..snapshot });
        }
    }
    Ok(())
}
