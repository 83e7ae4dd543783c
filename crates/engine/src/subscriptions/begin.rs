//! How an attempt begins: in the batch of its charge, under the version of its subscription. So there is one charge for each attempt, whatever
//! crashes.

use regente_domain::id::{ChargeId, CycleId, SubscriptionId};
use regente_domain::subscription::{Advance, BegunAttempt, BillingRules, Made};
use regente_domain::time::Timestamp;
use regente_store::Batch;
use regente_store::subscriptions::charges::{self, ChargedAttempt};

use super::known::{ACTOR, GoesOn, Known};
use crate::app::App;
use crate::error::Error;

/// The attempt that an order is for. Its charge begins only if the subscription still has this version.
pub struct AttemptOrder {
    pub(super) known: Known,
    pub(super) cycle_id: CycleId,
    pub(super) rules: BillingRules,
}

/// A subscription before and after the charge of an attempt begins.
pub struct AttemptStep {
    known: Known,
    after: Advance,
    charged: ChargedAttempt,
}

impl AttemptOrder {
    /// The subscription that the charge is of.
    pub(crate) const fn subscription_id(&self) -> SubscriptionId {
        self.known.subscription.id
    }

    /// The attempt as it begins with this charge; nothing when it is not due any more.
    pub(crate) fn begin(self, app: &App, charge_id: ChargeId, now: Timestamp) -> Option<Box<AttemptStep>> {
        let Self { known, cycle_id, rules } = self;
        let begun = BegunAttempt { id: app.chance.id(now), made: Made::Charge(charge_id) };
        let after = known.subscription.begin(&known.cycles, cycle_id, begun, &rules, now).ok().flatten()?;
        let cycle = after.cycles.iter().find(|cycle| cycle.id == cycle_id)?;
        let charged = ChargedAttempt {
            subscription_id: known.subscription.id,
            cycle_id,
            attempt: cycle.attempts.last()?.number,
        };
        Some(Box::new(AttemptStep { known, after, charged }))
    }
}

impl AttemptStep {
    /// Adds the beginning of the attempt to the batch of its charge.
    pub(crate) fn write(&self, app: &App, batch: &mut Batch, charge_id: ChargeId) -> Result<(), Error> {
        charges::insert(batch, charge_id, self.charged);
        self.known.plan(app, batch, &self.after, GoesOn::Us, &ACTOR)
    }
}
