//! Runs random sequences, each from a seed, in several databases at once.
//!
//! `REGENTE_SEEDS=2000` runs that many seeds; `REGENTE_FIRST_SEED=17 REGENTE_SEEDS=1` repeats one.

use std::ops::Range;

use futures_util::{StreamExt, stream};
use regente_engine::settings::Settings;
use regente_store::testing::TestDatabase;

use crate::support::app::TestApp;

/// How the seeds of a test are divided.
pub struct Seeds {
    /// So many by default.
    pub default: u64,
    /// So many share a database and a clock.
    pub of_a_database: usize,
    pub databases_at_once: usize,
}

impl Seeds {
    /// Runs the sequences of each database, and sums what they told. How many seeds there were, and the sum.
    pub async fn run<T: Default>(
        &self,
        fresh: impl AsyncFn() -> TestDatabase,
        sequences: impl AsyncFn(TestApp, Range<u64>) -> T,
        plus: impl Fn(T, T) -> T,
    ) -> (u64, T) {
        let first = number("REGENTE_FIRST_SEED", 1);
        let seeds = number("REGENTE_SEEDS", self.default);
        let end = first + seeds;
        let running = (first..end).step_by(self.of_a_database).map(async |begin| {
            // Circuits depend on machine time, which the seed does not control.
            let settings = Settings { circuits: None, ..Settings::default() };
            let app = TestApp::on(fresh().await, settings).await;
            sequences(app, begin..end.min(begin + self.of_a_database as u64)).await
        });
        let told: Vec<T> = stream::iter(running).buffer_unordered(self.databases_at_once).collect().await;
        (seeds, told.into_iter().fold(T::default(), plus))
    }
}

/// The number in a variable of the environment.
pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}
