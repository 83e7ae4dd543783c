//! Reads the service's own counters from its metrics page.

use regente_store::testing::ReservedPort;

use crate::Outcome;
use crate::place::Place;

/// The address of the page.
pub(super) struct Counters {
    port: ReservedPort,
}

/// Commits so far, or between two readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Commits {
    /// Commit groups, each with one sync.
    pub(super) commits: f64,
    /// The batches in them.
    pub(super) batches: f64,
}

impl Counters {
    /// For a service that is about to start; returns the place to start it from.
    pub(super) fn of(place: Place) -> Outcome<(Self, Place)> {
        let port = ReservedPort::any();
        let place = place.with("REGENTE_METRICS__LISTEN", port.address());
        Ok((Self { port }, place))
    }

    /// Reads the counters.
    pub(super) async fn read(&self) -> Outcome<Commits> {
        let page = reqwest::get(format!("http://{}/metrics", self.port.address()))
            .await?
            .error_for_status()?
            .text()
            .await?;
        let value = |name: &str| -> Outcome<f64> {
            let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            Ok(line.ok_or_else(|| format!("the metrics have no {name}"))?.trim().parse()?)
        };
        Ok(Commits {
            commits: value("regente_store_commits_total")?,
            batches: value("regente_store_batches_total")?,
        })
    }
}

impl Commits {
    /// The difference to an earlier reading.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self { commits: self.commits - earlier.commits, batches: self.batches - earlier.batches }
    }

    /// Batches that share a sync, on average.
    pub(super) fn batches_a_commit(self) -> f64 {
        self.batches / self.commits.max(1.0)
    }
}
