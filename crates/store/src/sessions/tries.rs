//! The places of cards at a session (decision 35): one is held while a card is tried, from the batch before a provider is
//! asked to the batch with the outcome. The numbers of the session change by increments, so that an outcome never loses a
//! race for the session.

use regente_domain::id::{ClientId, SessionId};
use regente_domain::session::DECLINES_MAX;
use regente_domain::session::cards::CardRefused;
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::batch::Batch;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Makes a place for the check of a card. No row matches where the session takes no card now.
    pub RESERVE_TRY = "
        UPDATE sessions SET trying = trying + 1
        WHERE id = :id AND client_id = :client_id AND status = 'created' AND active = 1
          AND (due_at IS NULL OR due_at > :now) AND trying + refused - paid < :tries_max";
    /// Makes a place for a card that is tried again after a challenge: its buyer has come already.
    pub ADD_TRY = "UPDATE sessions SET trying = trying + 1 WHERE id = :id AND client_id = :client_id";
    /// Holds a place.
    pub INSERT_SESSION_TRY = "
        INSERT INTO session_tries (object_id, client_id, session_id, ended, refused)
        VALUES (:object_id, :client_id, :session_id, 0, 0)";
    /// Notes that a provider has refused the card of a try that goes on at the next one: of several refusals, the first.
    NOTE_REFUSAL_OF_TRY = "
        UPDATE session_tries SET refused = 1
        WHERE object_id = :object_id AND client_id = :client_id AND refused = 0";
    /// Counts the refusal that the batch has noted.
    COUNT_REFUSAL_OF_TRY = "
        UPDATE sessions SET refused = refused + (
            SELECT COUNT(*) FROM session_tries
            WHERE object_id = :object_id AND client_id = :client_id AND refused = 1)
        WHERE id = :id AND client_id = :client_id";
    /// Keeps in mind that the refusal is counted.
    REMEMBER_REFUSAL_OF_TRY = "
        UPDATE session_tries SET refused = 2
        WHERE object_id = :object_id AND client_id = :client_id AND refused = 1";
    /// Ends a try, if it holds a place: of those who end it at once, one does.
    pub END_SESSION_TRY = "
        UPDATE session_tries SET ended = 1
        WHERE object_id = :object_id AND client_id = :client_id AND ended = 0";
    /// Gives the place back that the batch has ended, and counts a refusal in the same moment, unless an earlier provider's is
    /// counted.
    pub COUNT_SESSION_TRY = "
        UPDATE sessions SET refused = refused + :refused * (
            SELECT 1 - COUNT(*) FROM session_tries
            WHERE object_id = :object_id AND client_id = :client_id AND refused = 2), trying = trying - (
            SELECT COUNT(*) FROM session_tries
            WHERE object_id = :object_id AND client_id = :client_id AND ended = 1)
        WHERE id = :id AND client_id = :client_id";
    /// Deletes what the batch has ended.
    pub DELETE_SESSION_TRY = "
        DELETE FROM session_tries WHERE object_id = :object_id AND client_id = :client_id AND ended = 1";
    /// Forgets refused cards; those that were refused since they were read stay.
    pub FORGIVE_CARDS = "
        UPDATE sessions SET refused = refused - :forgiven WHERE id = :id AND client_id = :client_id";
    /// The session at which a card is being tried.
    pub SESSION_OF_TRY = "
        SELECT session_id FROM session_tries WHERE object_id = :object_id AND client_id = :client_id";
    /// Sessions of a client with another number of cards being tried than hold a place, or with a place of a card about
    /// which nobody is asked any more.
    pub WRONG_TRIES = "
        SELECT s.id FROM sessions s
        WHERE s.client_id = :client_id AND (s.trying <> (
            SELECT COUNT(*) FROM session_tries t WHERE t.client_id = :client_id AND t.session_id = s.id)
          OR EXISTS (
            SELECT 1 FROM session_tries t WHERE t.client_id = :client_id AND t.session_id = s.id
              AND NOT EXISTS (SELECT 1 FROM charges c
                WHERE c.id = t.object_id AND c.client_id = :client_id AND c.status IN STATES_UNDER_WAY)
              AND NOT EXISTS (SELECT 1 FROM cards k
                WHERE k.id = t.object_id AND k.client_id = :client_id AND k.status = 'verifying')))
        ORDER BY s.id";
    /// The number of places that are held.
    pub COUNT_TRIES = "SELECT COUNT(*) AS n FROM session_tries WHERE client_id = :client_id";
}

/// Begins the check of a card. The batch is refused by [`RESERVE_TRY`] where the session takes no card now.
pub fn begin(batch: &mut Batch, session_id: SessionId, object_id: Uuid, now: Timestamp) {
    let client_id = batch.client_id();
    batch.guard(&RESERVE_TRY, args! { id: session_id, client_id, now, tries_max: DECLINES_MAX });
    hold(batch, session_id, object_id);
}

/// Begins a try after a challenge. It always has a place: what a provider answers is written.
pub fn begin_again(batch: &mut Batch, session_id: SessionId, object_id: Uuid) {
    let client_id = batch.client_id();
    batch.push(&ADD_TRY, args! { id: session_id, client_id });
    hold(batch, session_id, object_id);
}

/// Holds a place that the batch has made.
pub(super) fn hold(batch: &mut Batch, session_id: SessionId, object_id: Uuid) {
    let client_id = batch.client_id();
    batch.push(&INSERT_SESSION_TRY, args! { object_id, client_id, session_id });
}

/// Counts the refusal of a card that is tried at the next provider, once for each try.
pub fn refuse(batch: &mut Batch, session_id: SessionId, object_id: Uuid) {
    let client_id = batch.client_id();
    batch.push_at_most_one(&NOTE_REFUSAL_OF_TRY, args! { object_id, client_id });
    batch.push(&COUNT_REFUSAL_OF_TRY, args! { id: session_id, client_id, object_id });
    batch.push_at_most_one(&REMEMBER_REFUSAL_OF_TRY, args! { object_id, client_id });
}

/// Ends a try: its place is free, and its refusal counts. Without a place only the refusal does.
pub fn end(batch: &mut Batch, session_id: SessionId, object_id: Uuid, refused: CardRefused) {
    let client_id = batch.client_id();
    let refused = match refused {
        CardRefused::Yes => 1_i64,
        CardRefused::No => 0,
    };
    batch.push_at_most_one(&END_SESSION_TRY, args! { object_id, client_id });
    batch.push(&COUNT_SESSION_TRY, args! { id: session_id, client_id, object_id, refused });
    batch.push_at_most_one(&DELETE_SESSION_TRY, args! { object_id, client_id });
}

/// The session at which a card is being tried, by the id of its charge or, when it is checked, by its own.
pub async fn session_of(
    store: &Store,
    client_id: ClientId,
    object_id: Uuid,
) -> Result<Option<SessionId>, StoreError> {
    let found = store.row(&SESSION_OF_TRY, args! { object_id, client_id }).await?;
    found.map(|row| row.get("session_id")).transpose()
}

/// How many places are held at the sessions of a client.
pub async fn count(store: &Store, client_id: ClientId) -> Result<i64, StoreError> {
    let found = store.row(&COUNT_TRIES, args! { client_id }).await?;
    found.map_or(Ok(0), |row| row.get("n"))
}

/// The sessions of a client whose places are not those of the cards that are being tried.
pub async fn wrong(store: &Store, client_id: ClientId) -> Result<Vec<SessionId>, StoreError> {
    let rows = store.rows(&WRONG_TRIES, args! { client_id }).await?;
    rows.iter().map(|row| row.get("id")).collect()
}
