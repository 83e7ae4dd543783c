//! Keeps the system's clock to that of the database: what is due, and when a call or an attempt counts as lost, must be
//! the same on every node, and must not jump with the clock of a machine.

use std::time::Duration;

use regente_store::{Store, StoreError};

use super::{Business, Clock};

/// How often the two clocks are compared.
const COMPARED_EVERY: Duration = Duration::from_secs(5);
/// The largest difference that is left alone. Small corrections would only make the time go back now and then.
const DIFFERENCE_MAX: Duration = Duration::from_millis(100);
/// From this difference on, the operator is told.
const TOLD_FROM: Duration = Duration::from_secs(2);

impl Clock {
    /// Compares the system's clock with the database's and corrects it. A manual clock stays as it is.
    ///
    /// # Errors
    /// The database cannot be asked.
    pub async fn follow(&self, store: &Store) -> Result<(), StoreError> {
        let Business::System(wall) = &self.business else { return Ok(()) };
        let asked = self.started.elapsed();
        let shown = store.now().await?;
        let round_trip = self.started.elapsed().saturating_sub(asked);
        // The database looked at its clock at some time in between.
        let here = wall.at(asked + round_trip / 2);
        let behind_millis = shown.as_millis() - here.as_millis();
        let difference = Duration::from_millis(behind_millis.unsigned_abs());
        if difference <= DIFFERENCE_MAX.max(round_trip) {
            return Ok(());
        }
        wall.put_forward(behind_millis);
        if difference >= TOLD_FROM {
            tracing::warn!(
                behind_millis,
                "the clock of this machine differs from the database's, which counts: see that both are synchronized"
            );
        }
        Ok(())
    }

    /// Compares the clocks again and again.
    pub async fn keep_following(self, store: Store) -> std::convert::Infallible {
        loop {
            tokio::time::sleep(COMPARED_EVERY).await;
            if let Err(error) = self.follow(&store).await {
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "the database's clock cannot be read"
                );
            }
        }
    }
}
