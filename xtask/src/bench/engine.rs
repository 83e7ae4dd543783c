//! The databases that a scenario charges on in turns.

use std::path::Path;

use regente_store::testing::TestPostgres;

use super::Bench;
use super::meter::Usage;
use crate::Outcome;
use crate::cluster::Cluster;
use crate::place::Place;

/// A database and what runs beside the service for it.
pub(super) enum Engine {
    Sqlite,
    Postgres(TestPostgres),
    /// Distributed over the servers of a cluster.
    Distributed(Cluster),
}

impl Engine {
    /// SQLite, and a PostgreSQL server of its own.
    pub(super) fn both() -> [Self; 2] {
        [Self::Sqlite, Self::Postgres(TestPostgres::durable())]
    }

    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres(_) => "PostgreSQL",
            Self::Distributed(_) => "distributed PostgreSQL",
        }
    }

    /// A place with a fresh database.
    pub(super) async fn place(&self, binary: &Path) -> Outcome<Place> {
        let place = Bench::place_of(binary)?;
        Ok(match self {
            Self::Sqlite => place,
            Self::Postgres(server) => {
                server.administer("CHECKPOINT").await;
                place.on_postgres(&server.empty_database().await)
            }
            Self::Distributed(cluster) => place.on_postgres(&cluster.fresh_database(binary).await?),
        })
    }

    /// Whether the database is a process beside the service, or several.
    pub(super) const fn is_beside(&self) -> bool {
        !matches!(self, Self::Sqlite)
    }

    /// What runs beside the service has used so far.
    pub(super) fn usage(&self) -> Usage {
        match self {
            Self::Sqlite => Usage::default(),
            Self::Postgres(server) => Usage::of_family(server.process_id()),
            Self::Distributed(cluster) => cluster.usage(),
        }
    }
}
