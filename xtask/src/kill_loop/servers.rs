//! Ends or stops workers of a distributed database, while clients go on and the service lives.

use std::time::Duration;

use rustix::process::Signal;
use tokio::time::sleep;

use super::dice::Dice;
use crate::Outcome;
use crate::cluster::{Cluster, WORKERS};

/// How long a worker runs before something happens to it.
const LIFE_MS: std::ops::Range<u64> = 50..600;
/// How long it is stopped: also longer than it takes the service to find out.
const STOPPED_MS: std::ops::Range<u64> = 500..7_000;

/// What has happened to workers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Servers {
    killed: u32,
    stopped: u32,
}

impl Servers {
    /// Kills a worker and starts it again, or stops one for a while.
    pub(super) async fn disturb(&mut self, cluster: &Cluster, dice: &mut Dice) -> Outcome {
        let worker = dice.pick(&WORKERS);
        sleep(Duration::from_millis(dice.within(LIFE_MS))).await;
        if dice.one_in(3) {
            self.stopped += 1;
            cluster.signal(worker, Signal::STOP)?;
            sleep(Duration::from_millis(dice.within(STOPPED_MS))).await;
            return cluster.signal(worker, Signal::CONT);
        }
        self.killed += 1;
        cluster.kill(worker).await?;
        cluster.start(worker)
    }
}

impl std::fmt::Display for Servers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "workers of the database: {} killed, {} stopped for a while", self.killed, self.stopped)
    }
}
