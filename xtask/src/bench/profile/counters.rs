//! What the service counts itself, from its page of metrics.

use std::net::TcpListener;

use crate::Outcome;
use crate::place::Place;

/// Where the page is.
pub(super) struct Counters {
    url: String,
}

/// Commits so far, or between two looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Commits {
    /// Groups of batches, each with one sync.
    pub(super) commits: f64,
    /// Batches in them.
    pub(super) batches: f64,
}

impl Counters {
    /// Of a service that is about to be started; with the place that it starts from.
    pub(super) fn of(place: Place) -> Outcome<(Self, Place)> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let place = place.with("REGENTE_METRICS__LISTEN", address);
        Ok((Self { url: format!("http://{address}/metrics") }, place))
    }

    /// Now.
    pub(super) async fn read(&self) -> Outcome<Commits> {
        let page = reqwest::get(&self.url).await?.error_for_status()?.text().await?;
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
    /// Between two looks.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self { commits: self.commits - earlier.commits, batches: self.batches - earlier.batches }
    }

    /// How many share a sync.
    pub(super) fn batches_a_commit(self) -> f64 {
        self.batches / self.commits.max(1.0)
    }
}
