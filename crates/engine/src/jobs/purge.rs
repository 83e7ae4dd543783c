//! Deletes expired idempotency records, tokens, client tokens, receipts, listeners, deliveries, events, notifications and rates: a
//! limited number at once, client by client, because a transaction is for one client.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use regente_domain::credential::CLIENT_TOKEN_KEPT_FOR;
use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use regente_domain::webhook::schedule::LISTENER_KEPT_FOR;
use regente_store::accounts::Accounts;
use regente_store::expiring::{Expired, Expiring};
use regente_store::idempotency::ExpiredKey;
use regente_store::{
    Batch, Commit, authentication_setups, credentials, deliveries, events, held_security_codes, idempotency,
    listeners, provider_notifications, rates, receipts, tokens, wallet_payments,
};

use crate::app::App;
use crate::clock::AccountTime;
use crate::error::Error;
use crate::queue::Ended;

/// How often these jobs run.
const EVERY: Duration = Duration::from_secs(10 * 60);
/// Most clients of one run.
const CLIENTS_MAX: i64 = 100;
/// Most rows of one batch.
const ROWS_MAX: i64 = 500;
/// How often deliveries are purged, which scans a year's data.
const DELIVERIES_EVERY: Duration = Duration::from_secs(60 * 60);
/// How long a settled notification of a provider is kept.
const NOTIFICATIONS_KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Most pages of [`ROWS_MAX`] rows in one run.
const PAGES_MAX: usize = 4;
/// Clients whose rows of a page are deleted concurrently.
const CLIENTS_AT_ONCE: usize = 16;
/// What expires by itself, each record at a time of its own.
static EXPIRING: [&Expiring; 5] = [
    &held_security_codes::EXPIRING,
    &authentication_setups::EXPIRING,
    &wallet_payments::EXPIRING,
    &tokens::EXPIRING,
    &receipts::EXPIRING,
];

/// Deletes expired answers. Claims of what is under way or has moved since are kept, and not read again before their time.
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
    let (now, retention) = (*now, app.settings.idempotency_retention);
    let expired = idempotency::expired(&app.store, accounts, now, ROWS_MAX).await?;
    delete_each(app, expired, |batch, keys| {
        let mut gone = Vec::new();
        for ExpiredKey { digest, moved_at } in keys {
            match moved_at.map(|moved_at| moved_at + retention).filter(|until| *until > now) {
                Some(until) => idempotency::keep(batch, *digest, now, until),
                None => gone.push(*digest),
            }
        }
        idempotency::purge(batch, &gone, now, now - retention);
    })
    .await
}

/// Deletes expired tokens, setups of authentications, held security codes, payments of wallets and receipts.
pub(super) async fn tokens(app: &App) -> Result<Ended, Error> {
    let mut found = false;
    for AccountTime { accounts, now } in app.clock.times() {
        for expiring in EXPIRING {
            let expired = expiring.clients(&app.store, &accounts, now, ROWS_MAX).await?;
            found |= !expired.is_empty();
            for Expired { client_id, until } in expired {
                delete(app, client_id, |batch| expiring.purge(batch, until, ROWS_MAX)).await?;
            }
        }
    }
    Ok(again(app, found))
}

/// Deletes expired client tokens.
pub(super) async fn credentials(app: &App) -> Result<Ended, Error> {
    let mut found = false;
    for AccountTime { accounts, now } in app.clock.times() {
        found |= forget_ended_credentials(app, &accounts, now - CLIENT_TOKEN_KEPT_FOR, ROWS_MAX).await? > 0;
    }
    Ok(again(app, found))
}

/// Deletes expired listeners with their events.
pub(super) async fn listeners(app: &App) -> Result<Ended, Error> {
    let mut found = false;
    for AccountTime { accounts, now } in app.clock.times() {
        let before = now - LISTENER_KEPT_FOR;
        let clients = listeners::clients_with_ended(&app.store, &accounts, before, CLIENTS_MAX).await?;
        found |= purge(app, clients, |batch| listeners::purge(batch, before, ROWS_MAX)).await?;
    }
    Ok(again(app, found))
}

/// Deletes deliveries past their retention with their attempts, then events that are no longer needed.
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

/// Deletes notifications of providers that were settled long ago.
pub(super) async fn notifications(app: &App) -> Result<Ended, Error> {
    let mut found = false;
    for AccountTime { accounts, now } in app.clock.times() {
        let before = now - NOTIFICATIONS_KEPT_FOR;
        let settled = provider_notifications::settled(&app.store, &accounts, before, ROWS_MAX).await?;
        found |= delete_each(app, settled, |batch, ids| provider_notifications::purge(batch, ids, before))
            .await?
            > 0;
    }
    Ok(again(app, found))
}

/// Deletes rates past their retention.
pub(super) async fn rates(app: &App) -> Result<Ended, Error> {
    let mut found = false;
    for AccountTime { accounts, now } in app.clock.times() {
        let before = (now - app.settings.rates_retention).hour();
        let clients = rates::clients_with_old(&app.store, &accounts, before, CLIENTS_MAX).await?;
        found |= purge(app, clients, |batch| rates::purge(batch, before, ROWS_MAX)).await?;
    }
    Ok(again(app, found))
}

/// Deletes the rows of each client with `fill`, some clients concurrently. Returns the number of rows.
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
    // Deletions have no guard that could refuse; after an unknown commit the next run deletes what remains.
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
            // The next run deletes what remains.
            Commit::Applied | Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    Ok(ended.len())
}
