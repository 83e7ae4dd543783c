//! Opens both ends of a move: no node may use either, their schemas must be of this release.

use std::path::Path;
use std::sync::Arc;

use regente_domain::time::Timestamp;

use super::end::End;
use super::{Move, MoveError, NOT_MOVED, Source, mark, table};
use crate::error::StoreError;
#[cfg(feature = "testing")]
use crate::fuse::Fuse;
use crate::migrate::{MIGRATIONS, pending};
use crate::postgres::moving::{PostgresEnd, Taken};
use crate::sqlite::moving::{SqliteEnd, outlines};
use crate::store::StoreOptions;

impl Move {
    /// Opens both databases, and migrates an empty target.
    ///
    /// # Errors
    /// [`MoveError`] when one of them is in use or does not fit.
    pub async fn open(source: Source, target: StoreOptions, now: Timestamp) -> Result<Self, MoveError> {
        must_differ(&source, &target)?;
        let source = open_source(source).await?;
        let missing = pending(&source.applied().await?, MIGRATIONS)?;
        if !missing.is_empty() {
            return Err(MoveError::Earlier(missing.iter().map(|migration| migration.name).collect()));
        }
        let mut target = open_target(target).await?;
        let applied = target.applied().await?;
        if applied.is_empty() {
            target.migrate(now).await?;
        } else if !pending(&applied, MIGRATIONS)?.is_empty() {
            return Err(MoveError::EarlierTarget);
        }
        let (of_source, of_target) = (source.catalogue().await?, target.catalogue().await?);
        if of_source.contains_key(mark::TABLE) {
            return Err(MoveError::Store(StoreError::Configuration(
                "the source is itself the target of a move that has not ended".to_owned(),
            )));
        }
        // The same move may have been interrupted when all but its end was done.
        if of_source.contains_key(mark::LEFT) && !of_target.contains_key(mark::TABLE) {
            return Err(MoveError::MovedAway);
        }
        let mut outlines = outlines()?;
        outlines.retain(|outline| !NOT_MOVED.contains(&outline.name.as_str()));
        let databases = [(source.kind(), &of_source), (target.kind(), &of_target)];
        let tables = table::tables(outlines, &databases)?.into_iter().map(Arc::new).collect();
        Ok(Self {
            source,
            target: Some(target),
            tables,
            #[cfg(feature = "testing")]
            fuse: Fuse::default(),
        })
    }

    /// The names of the tables that are moved, in the order of writing.
    pub fn tables(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().map(|table| table.name.as_str())
    }
}

fn must_differ(source: &Source, target: &StoreOptions) -> Result<(), MoveError> {
    let path = match source {
        Source::Database(StoreOptions::Sqlite(options)) => &options.path,
        Source::Backup(path) => path,
        Source::Database(StoreOptions::Postgres(_)) => return Ok(()),
    };
    match target {
        StoreOptions::Sqlite(options) if is_same(path, &options.path) => Err(MoveError::Same),
        StoreOptions::Sqlite(_) => Err(MoveError::TwoFiles),
        StoreOptions::Postgres(_) => Ok(()),
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other
        || match (one.canonicalize(), other.canonicalize()) {
            (Ok(one), Ok(other)) => one == other,
            (Err(_), _) | (_, Err(_)) => false,
        }
}

async fn open_source(source: Source) -> Result<End, MoveError> {
    const END: &str = "source";
    match source {
        Source::Backup(path) => Ok(End::Sqlite(SqliteEnd::backup(path).await?)),
        Source::Database(StoreOptions::Sqlite(options)) => {
            Ok(End::Sqlite(SqliteEnd::source(options).await.map_err(|error| locked(END, error))?))
        }
        Source::Database(StoreOptions::Postgres(options)) => {
            let opened = PostgresEnd::source(&options).await;
            Ok(End::Postgres(Box::new(opened.map_err(|why| taken(END, why))?)))
        }
    }
}

async fn open_target(target: StoreOptions) -> Result<End, MoveError> {
    const END: &str = "target";
    match target {
        StoreOptions::Sqlite(options) => {
            Ok(End::Sqlite(SqliteEnd::target(options).await.map_err(|error| locked(END, error))?))
        }
        StoreOptions::Postgres(options) => {
            let opened = PostgresEnd::target(&options).await;
            Ok(End::Postgres(Box::new(opened.map_err(|why| taken(END, why))?)))
        }
    }
}

fn locked(end: &'static str, error: StoreError) -> MoveError {
    match error {
        StoreError::Locked(_) => MoveError::Locked(end),
        other @ (StoreError::Unavailable(_)
        | StoreError::Overloaded
        | StoreError::Programming(_)
        | StoreError::Corrupt(_)
        | StoreError::Configuration(_)
        | StoreError::Schema(_)) => MoveError::Store(other),
    }
}

pub(super) fn taken(end: &'static str, why: Taken) -> MoveError {
    match why {
        Taken::ByAMove => MoveError::OfAnotherMove(end),
        Taken::ByNodes(connections) => MoveError::InUse { end, connections },
        Taken::Failed(error) => MoveError::Store(error),
    }
}
