//! Moves the clocks of accounts, in the sandbox (`docs/interface/sandbox.md#clock`). `jobs/advance.rs` does what falls due
//! on the way of an advance.

use std::collections::BTreeMap;

use regente_domain::account_clock::{AccountClock, IsAdvancing, NewAdvance, Running};
use regente_domain::id::ClientId;
use regente_domain::time::Timestamp;
use regente_providers::request::Mode;
use regente_store::account_clocks::{self, StoredClock};
use regente_store::{Batch, Commit, DatabaseKind};

use crate::app::App;
use crate::audit::Author;
use crate::clock::FOLLOWED_WITHIN;
use crate::error::Error;
use crate::queue::{self, Kind, NO_PAYLOAD};
use crate::races::{self, Changed};

/// What the audit calls the changes.
const ADVANCED: &str = "clock.advanced";
const FROZEN: &str = "clock.frozen";
const UNFROZEN: &str = "clock.unfrozen";
const RESET: &str = "clock.reset";

/// The clock of an account as it is stored.
///
/// # Errors
/// [`Error::NotFound`] in production.
pub async fn find(app: &App, client_id: ClientId) -> Result<StoredClock, Error> {
    match app.settings.mode {
        Mode::Sandbox => Ok(account_clocks::find(&app.store, client_id).await?),
        Mode::Production => Err(Error::NotFound),
    }
}

/// As [`find`]; this node goes by it from now on.
///
/// # Errors
/// As [`find`].
pub async fn follow(app: &App, client_id: ClientId) -> Result<StoredClock, Error> {
    let stored = find(app, client_id).await?;
    app.clock.take(&stored);
    Ok(stored)
}

/// Waits until every node goes by what is stored.
pub async fn followed(app: &App) {
    match app.store.database_kind() {
        // One process has it open.
        DatabaseKind::Sqlite => {}
        DatabaseKind::Postgres if app.clock.is_system() => tokio::time::sleep(FOLLOWED_WITHIN).await,
        DatabaseKind::Postgres => {}
    }
}

/// The batch that begins an advance, with its job, and the clock as it will be.
///
/// # Errors
/// [`Error::NotFound`] in production; [`Error::Invalid`]; [`Error::Conflict`] while another advance is under way.
pub async fn plan_advance(
    app: &App,
    author: Author<'_>,
    new: &NewAdvance,
) -> Result<(Batch, StoredClock), Error> {
    plan_advance_to(app, author, |now| new.target(now).map_err(Error::Invalid)).await
}

/// The same to what `target` makes of the account's time.
///
/// # Errors
/// Of `target`; besides, as [`plan_advance`].
pub(crate) async fn plan_advance_to(
    app: &App,
    author: Author<'_>,
    target: impl FnOnce(Timestamp) -> Result<Timestamp, Error>,
) -> Result<(Batch, StoredClock), Error> {
    let client_id = author.client_id;
    let stored = follow(app, client_id).await?;
    let deployment = app.clock.deployment();
    let now = stored.clock.running.now(deployment);
    // Whoever comes second is told so, whatever time they ask for.
    if let Running::Advancing { to, .. } = stored.clock.running {
        return Err(under_way(IsAdvancing { to }));
    }
    let to = target(now)?;
    let version = stored.version + 1;
    let clock = stored.clock.begin_advance(to, version, deployment).map_err(under_way)?;
    let mut batch = Batch::new(client_id);
    account_clocks::put(&mut batch, &stored, &clock, deployment)?;
    queue::enqueue(app, &mut batch, Kind::AdvanceClock, &version.to_string(), NO_PAYLOAD, now);
    author.record(app, &mut batch, ADVANCED, client_id.uuid());
    Ok((batch, StoredClock { clock, version, ..stored }))
}

/// Begins an advance.
///
/// # Errors
/// As [`plan_advance`].
pub async fn begin_advance(app: &App, author: Author<'_>, new: &NewAdvance) -> Result<StoredClock, Error> {
    let stored = races::change(|| async {
        let (batch, stored) = plan_advance(app, author, new).await?;
        Ok(Changed::Written(app.store.apply(batch).await?, stored))
    })
    .await?;
    app.clock.take(&stored);
    Ok(stored)
}

/// Lets a clock stand where it is, which stops an advance, or go on from there.
///
/// # Errors
/// [`Error::NotFound`] in production; [`Error::Conflict`] when a clock that is being advanced is to go on.
pub async fn set_frozen(app: &App, author: Author<'_>, frozen: Frozen) -> Result<StoredClock, Error> {
    let (action, decide): (_, Decide) = match frozen {
        Frozen::Yes => (FROZEN, |clock, deployment| Ok(clock.freeze(deployment))),
        Frozen::No => (UNFROZEN, AccountClock::unfreeze),
    };
    self::change(app, author, action, decide).await
}

/// The clock after a change, at this time of the deployment.
type Decide = fn(&AccountClock, Timestamp) -> Result<AccountClock, IsAdvancing>;

/// Whether a clock is to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frozen {
    /// It stands.
    Yes,
    /// It goes on.
    No,
}

/// Gives an account the deployment's time again.
///
/// # Errors
/// [`Error::NotFound`] in production.
pub async fn reset(app: &App, author: Author<'_>) -> Result<StoredClock, Error> {
    self::change(app, author, RESET, |_, _| Ok(AccountClock::reset())).await
}

async fn change(
    app: &App,
    author: Author<'_>,
    action: &'static str,
    decide: Decide,
) -> Result<StoredClock, Error> {
    let client_id = author.client_id;
    let stored = races::change(|| async {
        let stored = follow(app, client_id).await?;
        let deployment = app.clock.deployment();
        let clock = decide(&stored.clock, deployment).map_err(under_way)?;
        if clock == stored.clock {
            return Ok(Changed::Already(stored));
        }
        let mut batch = Batch::new(client_id);
        account_clocks::put(&mut batch, &stored, &clock, deployment)?;
        author.record(app, &mut batch, action, client_id.uuid());
        let _admission = app.store.admit_waiting().await?;
        let commit = app.store.apply(batch).await?;
        Ok(Changed::Written(commit, StoredClock { clock, version: stored.version + 1, ..stored }))
    })
    .await?;
    app.clock.take(&stored);
    followed(app).await;
    Ok(stored)
}

/// Moves a clock that is being advanced to its next stop, or to the end without one, and counts what was done.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Internal`].
pub(crate) async fn step(
    app: &App,
    stored: &StoredClock,
    at: Option<Timestamp>,
    done: &BTreeMap<String, u64>,
) -> Result<Commit, Error> {
    let clock = stored.clock.step(at, done, app.clock.deployment());
    write(app, stored, clock).await
}

/// Counts what was done on the way of an advance that was stopped meanwhile.
///
/// # Errors
/// As [`step`].
pub(crate) async fn count(
    app: &App,
    stored: &StoredClock,
    done: &BTreeMap<String, u64>,
) -> Result<Commit, Error> {
    write(app, stored, stored.clock.counting(done)).await
}

async fn write(app: &App, stored: &StoredClock, clock: AccountClock) -> Result<Commit, Error> {
    let mut batch = Batch::new(stored.client_id);
    account_clocks::put(&mut batch, stored, &clock, app.clock.deployment())?;
    let _admission = app.store.admit_waiting().await?;
    let commit = app.store.apply(batch).await?;
    if commit == Commit::Applied {
        app.clock.take(&StoredClock { clock, version: stored.version + 1, client_id: stored.client_id });
    }
    Ok(commit)
}

fn under_way(IsAdvancing { to }: IsAdvancing) -> Error {
    Error::conflict(vec![format!(
        "the clock is being advanced to {to}; it can be frozen or reset on the way"
    )])
}
