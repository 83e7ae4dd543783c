//! A payer has paid less than was charged: the operator is told, and the merchant may accept it (decision 30).

use regente_domain::actor::Actor;
use regente_domain::charge::{Charge, Transition};
use regente_store::{Batch, Commit, charges, events};

use crate::app::App;
use crate::error::Error;
use crate::idempotency::{self, Claim, Claiming, Finished};
use crate::metrics;
use crate::queue::sessions;

/// What became of an acceptance.
pub(crate) enum Accepted {
    /// It is written.
    Written,
    /// The charge has moved: decide again.
    LostRace,
    /// Another request with the same key came first; this is its answer.
    Answered(Finished),
}

/// Tells the operator of a payment that was too small, when its charge is written.
pub(crate) fn report(before: &Charge, after: &Charge) {
    if before.is_underpaid() || !after.is_underpaid() {
        return;
    }
    metrics::underpaid();
    tracing::error!(
        alert = "underpaid", charge = %after.id, client = %after.client_id,
        amount = after.amount.minor_units(), charged = after.original_amount.minor_units(),
        "A payer has paid less than was charged: the merchant accepts it by a capture, or gives it back by a void"
    );
}

/// Writes that the merchant has accepted what was paid. No provider is asked.
pub(crate) async fn accept(
    app: &App,
    before: &Charge,
    accepted: &Transition,
    claim: Option<&Claim>,
    actor: &Actor,
) -> Result<Accepted, Error> {
    let Transition { charge: after, announces } = accepted;
    let batch = || -> Result<Batch, Error> {
        let mut batch = Batch::new(before.client_id);
        if let Some(claim) = claim {
            claim.answer_with(app, &mut batch, after);
        }
        charges::update(&mut batch, before, after, actor)?;
        sessions::wake(app, &mut batch, before, after, None);
        if let Some(event) = announces {
            let id = app.chance.id(app.clock.of(before.client_id));
            events::charge_changed(&mut batch, id, after, *event, actor);
        }
        Ok(batch)
    };
    Ok(match idempotency::apply_claiming(app, claim, batch).await? {
        Claiming::Overtaken(finished) => Accepted::Answered(finished),
        Claiming::Ended(Commit::Applied) => Accepted::Written,
        Claiming::Ended(Commit::Refused(_)) => Accepted::LostRace,
        // The commit may have succeeded although its answer was lost.
        Claiming::Ended(Commit::Unknown) => {
            match charges::find(&app.store, before.client_id, before.id).await? {
                Some(stored) if stored.charge == *after => Accepted::Written,
                Some(_) | None => return Err(Error::unavailable()),
            }
        }
    })
}
