//! A PostgreSQL server with a seeded database, and what it counts.

use std::process::Command;
use std::time::Duration;

use regente_store::testing::TestPostgres;

use crate::Outcome;
use crate::bench::meter::Usage;

/// Interval and number of looks whether all connections have ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);
const LOOKS_MAX: usize = 500;

/// Rows that statements have read, by an index or without one.
const ROWS_READ: &str = "
    SELECT COALESCE(SUM(rows) FILTER (WHERE relname LIKE 'charge_counter%'), 0)::BIGINT,
           COALESCE(SUM(rows) FILTER (WHERE relname NOT LIKE 'charge_counter%'), 0)::BIGINT
    FROM (SELECT relname, idx_tup_read AS rows FROM pg_stat_user_indexes
          UNION ALL SELECT relname, seq_tup_read FROM pg_stat_user_tables) AS tables
    WHERE relname LIKE 'charge%'";
const CONNECTIONS: &str = "
    SELECT COUNT(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";

/// The server, and the address of the database on it.
pub(in crate::bench) struct Server {
    server: TestPostgres,
    url: String,
}

/// Rows that have been read since the server began to count, or between two moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::bench) struct RowsRead {
    /// Of hours and spans.
    pub(in crate::bench) counters: i64,
    /// Of charges and what belongs to them.
    pub(in crate::bench) charges: i64,
}

impl Server {
    pub(super) async fn start() -> Self {
        let server = TestPostgres::durable();
        let url = server.empty_database().await;
        Self { server, url }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Does at once what the server does by itself some minutes after so many rows were written.
    pub(super) fn maintain(&self) -> Outcome {
        self.ask("VACUUM ANALYZE").map(drop)
    }

    /// The processor time of all its processes.
    pub(in crate::bench) fn usage(&self) -> Usage {
        Usage::of_family(self.server.process_id())
    }

    /// Rows read until now. The server counts them when a connection ends, so the service must have been stopped.
    pub(in crate::bench) fn rows_read(&self) -> Outcome<RowsRead> {
        for _ in 0..LOOKS_MAX {
            if self.ask(CONNECTIONS)?.trim() == "0" {
                let text = self.ask(ROWS_READ)?;
                let (counters, charges) = text.trim().split_once('|').ok_or("no two numbers of rows")?;
                return Ok(RowsRead { counters: counters.parse()?, charges: charges.parse()? });
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Err("connections of a stopped service did not end".into())
    }

    fn ask(&self, statement: &str) -> Outcome<String> {
        let psql = TestPostgres::programs().join("psql");
        let output = Command::new(psql)
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--command", statement])
            .arg(&self.url)
            .output()?;
        if output.status.success() {
            Ok(String::from_utf8(output.stdout)?)
        } else {
            Err(format!("psql: {}", String::from_utf8_lossy(&output.stderr)).into())
        }
    }
}

impl RowsRead {
    /// The rows read since `earlier`.
    pub(in crate::bench) const fn since(self, earlier: Self) -> Self {
        Self { counters: self.counters - earlier.counters, charges: self.charges - earlier.charges }
    }
}
