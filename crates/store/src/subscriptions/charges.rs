//! The charges of subscriptions: which attempt of which cycle each of them is. A row is written with the intent of its charge and
//! never changes.

use regente_domain::id::{ChargeId, ClientId, CycleId, SubscriptionId};

use crate::batch::Batch;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Adds the charge of an attempt.
    pub INSERT_SUBSCRIPTION_CHARGE = "
        INSERT INTO subscription_charges (charge_id, client_id, subscription_id, cycle_id, attempt)
        VALUES (:charge_id, :client_id, :subscription_id, :cycle_id, :attempt)";
    /// The attempt that a charge is.
    pub FIND_SUBSCRIPTION_CHARGE = "
        SELECT subscription_id, cycle_id, attempt FROM subscription_charges
        WHERE charge_id = :charge_id AND client_id = :client_id";
}

/// The attempt of a cycle that a charge is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChargedAttempt {
    /// The subscription.
    pub subscription_id: SubscriptionId,
    /// The cycle.
    pub cycle_id: CycleId,
    /// The number of the attempt.
    pub attempt: u32,
}

/// Adds the charge of an attempt.
pub fn insert(batch: &mut Batch, charge_id: ChargeId, of: ChargedAttempt) {
    let client_id = batch.client_id();
    let ChargedAttempt { subscription_id, cycle_id, attempt } = of;
    batch.push(
        &INSERT_SUBSCRIPTION_CHARGE,
        args! { charge_id, client_id, subscription_id, cycle_id, attempt },
    );
}

/// The attempt that a charge is; `None` for the charge of no subscription.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    charge_id: ChargeId,
) -> Result<Option<ChargedAttempt>, StoreError> {
    let found = store.row(&FIND_SUBSCRIPTION_CHARGE, args! { charge_id, client_id }).await?;
    let Some(row) = found else { return Ok(None) };
    Ok(Some(ChargedAttempt {
        subscription_id: row.get("subscription_id")?,
        cycle_id: row.get("cycle_id")?,
        attempt: row.get("attempt")?,
    }))
}
