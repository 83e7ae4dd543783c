//! Forgetting: idempotency records, tokens, client tokens, listeners, deliveries and events whose time is over. A bounded
//! number at once, client by client, since one transaction touches one client.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use regente_domain::credential::CLIENT_TOKEN_KEPT_FOR;
use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use regente_domain::webhook::schedule::LISTENER_KEPT_FOR;
use regente_store::accounts::Accounts;
use regente_store::{
    Batch, Commit, credentials, deliveries, events, held_security_codes, idempotency, listeners, tokens,
};

use crate::app::App;
use crate::clock::AccountTime;
use crate::error::Error;
use crate::queue::Ended;

/// How often there is a look.
const EVERY: Duration = Duration::from_secs(10 * 60);
/// Clients of one run.
const CLIENTS_MAX: i64 = 100;
/// Rows of one batch.
const ROWS_MAX: i64 = 500;
/// The same where a year's work is looked through.
const DELIVERIES_EVERY: Duration = Duration::from_secs(60 * 60);
/// Pages of [`ROWS_MAX`] rows of one run.
const PAGES_MAX: usize = 4;
/// Clients whose rows of a page are deleted side by side.
const CLIENTS_AT_ONCE: usize = 16;

/// Forgets answers that are kept no longer; claims of what is still under way stay.
pub(super) async fn idempotency(app: &App) -> Result<Ended, Error> {
    let mut found = false;
    for time in app.clock.times() {
        found |= pages_of_keys(app, &time).await?;
    }
    Ok(again(app, found))
}

/// Deletes page after page, a bounded number of them; answers whether there may be more.
async fn pages_of_keys(app: &App, time: &AccountTime) -> Result<bool, Error> {
    for _ in 0..PAGES_MAX {
        if page_of_keys(app, time).await? < ROWS_MAX {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn page_of_keys(app: &App, AccountTime { accounts, now }: &AccountTime) -> Result<i64, Error> {
    let (now, moved_after) = (*now, *now - app.settings.idempotency_retention);
    let expired = idempotency::expired(&app.store, accounts, now, moved_after, ROWS_MAX).await?;
    delete_each(app, expired, |batch, digests| idempotency::purge(batch, digests, now, moved_after)).await
}

/// Deletes tokens that nobody used in time, and security codes of payers who did not come back.
pub(super) async fn tokens(app: &App) -> Result<Ended, Error> {
    let mut found = false;
    for AccountTime { accounts, now } in app.clock.times() {
        let clients =
            held_security_codes::clients_with_expired(&app.store, &accounts, now, CLIENTS_MAX).await?;
        found |= purge(app, clients, |batch| held_security_codes::purge(batch, now, ROWS_MAX)).await?;
        let clients = tokens::clients_with_expired(&app.store, &accounts, now, CLIENTS_MAX).await?;
        found |= purge(app, clients, |batch| tokens::purge(batch, now, ROWS_MAX)).await?;
    }
    Ok(again(app, found))
}

/// Deletes client tokens whose life is over.
pub(super) async fn credentials(app: &App) -> Result<Ended, Error> {
    let mut found = false;
    for AccountTime { accounts, now } in app.clock.times() {
        found |= forget_ended_credentials(app, &accounts, now - CLIENT_TOKEN_KEPT_FOR, ROWS_MAX).await? > 0;
    }
    Ok(again(app, found))
}

/// Deletes listeners that are over, with what nobody fetched.
pub(super) async fn listeners(app: &App) -> Result<Ended, Error> {
    let mut found = false;
    for AccountTime { accounts, now } in app.clock.times() {
        let before = now - LISTENER_KEPT_FOR;
        let clients = listeners::clients_with_ended(&app.store, &accounts, before, CLIENTS_MAX).await?;
        found |= purge(app, clients, |batch| listeners::purge(batch, before, ROWS_MAX)).await?;
    }
    Ok(again(app, found))
}

/// Deletes deliveries that ended long ago, with their attempts, and then events that nobody needs any more.
pub(super) async fn deliveries(app: &App) -> Result<Ended, Error> {
    let mut found = false;
    for time in app.clock.times() {
        found |= pages_of_deliveries(app, &time).await?;
    }
    if found {
        return Ok(again(app, found));
    }
    Ok(Ended::Again { at: app.clock.deployment() + DELIVERIES_EVERY })
}

/// As [`pages_of_keys`].
async fn pages_of_deliveries(app: &App, time: &AccountTime) -> Result<bool, Error> {
    for _ in 0..PAGES_MAX {
        if page_of_deliveries(app, time).await?.max(page_of_events(app, time).await?) < ROWS_MAX {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn page_of_deliveries(app: &App, AccountTime { accounts, now }: &AccountTime) -> Result<i64, Error> {
    let before = *now - app.settings.webhooks.delivery_retention;
    let ended = deliveries::ended(&app.store, accounts, before, ROWS_MAX).await?;
    let ended = ended.into_iter().map(|ended| (ended.client_id, ended));
    delete_each(app, ended, |batch, ended| deliveries::purge(batch, ended, before)).await
}

async fn page_of_events(app: &App, AccountTime { accounts, now }: &AccountTime) -> Result<i64, Error> {
    let before = *now - app.settings.webhooks.event_retention;
    let old = events::old(&app.store, accounts, before, ROWS_MAX).await?;
    delete_each(app, old, |batch, objects| events::purge(batch, objects, before)).await
}

/// Deletes what was found, by `fill` for the rows of each client, some clients at once. How many rows there were.
async fn delete_each<T>(
    app: &App,
    found: impl IntoIterator<Item = (ClientId, T)>,
    fill: impl Fn(&mut Batch, &[T]),
) -> Result<i64, Error> {
    let mut by_client: BTreeMap<ClientId, Vec<T>> = BTreeMap::new();
    for (client_id, row) in found {
        by_client.entry(client_id).or_default().push(row);
    }
    let rows: usize = by_client.values().map(Vec::len).sum();
    let fill = &fill;
    let deleting = by_client
        .into_iter()
        .map(|(client_id, rows)| async move { delete(app, client_id, |batch| fill(batch, &rows)).await });
    stream::iter(deleting).buffer_unordered(CLIENTS_AT_ONCE).try_collect::<()>().await?;
    Ok(i64::try_from(rows).unwrap_or(i64::MAX))
}

/// Deletes what `fill` names of each client; answers whether there was a client.
async fn purge(app: &App, clients: Vec<ClientId>, fill: impl Fn(&mut Batch)) -> Result<bool, Error> {
    let found = !clients.is_empty();
    for client_id in clients {
        delete(app, client_id, &fill).await?;
    }
    Ok(found)
}

async fn delete(app: &App, client_id: ClientId, fill: impl Fn(&mut Batch)) -> Result<(), Error> {
    let mut batch = Batch::new(client_id);
    fill(&mut batch);
    let _admission = app.store.admit_waiting().await?;
    // Deleting has no guard that could refuse; what an unknown commit left is found by the next look.
    let _ = app.store.apply(batch).await?;
    Ok(())
}

/// While there was something, the next look comes at once.
fn again(app: &App, found: bool) -> Ended {
    let now = app.clock.deployment();
    Ended::Again { at: if found { now + Duration::from_secs(1) } else { now + EVERY } }
}

/// Forgets at most `limit` credentials of these accounts that ended before `before`; answers how many there were.
///
/// # Errors
/// [`Error::Store`].
pub async fn forget_ended_credentials(
    app: &App,
    accounts: &Accounts,
    before: Timestamp,
    limit: i64,
) -> Result<usize, Error> {
    let ended = credentials::ended(&app.store, accounts, before, limit).await?;
    for of_one_client in ended.chunk_by(|(one, _), (other, _)| one == other) {
        let Some((client_id, _)) = of_one_client.first() else { continue };
        let mut batch = Batch::new(*client_id);
        for (_, digest) in of_one_client {
            credentials::delete_ended(&mut batch, digest, before);
        }
        match app.store.apply(batch).await? {
            // The next run meets what was not forgotten.
            Commit::Applied | Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    Ok(ended.len())
}
