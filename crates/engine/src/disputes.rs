//! Applies what happened to a payment after it was taken (`docs/interface/charges.md#disputes`): a dispute, a charge back or
//! a reverted refund. A notification and a probe meet here. The version of the charge guards the change and the id of the
//! case makes it single, so the number of reports does not matter.

pub(crate) mod payment_returned;

use regente_domain::actor::Actor;
use regente_domain::charge::Charge;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::reversal::{
    Doubt, Reversal, ReversalReason, ReversalVerdict, Reversed, counting,
};
use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use regente_store::Commit;

use crate::app::App;
use crate::charges::stored::{self, Ran};
use crate::charges::write_outcome;
use crate::error::Error;
use crate::metrics::{self, ReversalOutcome};
use crate::races;

/// What became of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The charge shows it, now or before.
    Yes,
    /// It is to be tried again later.
    TooEarly(ReversalReason),
    /// It changes nothing.
    Refused(ReversalReason),
}

/// Applies what happened to the payment of `about`. The caller has admission.
///
/// # Errors
/// [`Error::Busy`] when other changes came first each time.
pub async fn apply(
    app: &App,
    about: &TransactionRequest,
    reversal: &Reversal,
    actor: &Actor,
) -> Result<Applied, Error> {
    let count = |outcome| metrics::reversal(about.provider_type, reversal.kind, outcome);
    for _ in races::tries() {
        let Ran { charge, requests } = stored::whole_of(app, about).await?;
        match charge.reverse(&requests, about, reversal, app.clock.of(about.client_id)) {
            ReversalVerdict::Known => {
                count(ReversalOutcome::Known);
                return Ok(Applied::Yes);
            }
            ReversalVerdict::TooEarly(reason) => return Ok(Applied::TooEarly(reason)),
            ReversalVerdict::Refused(reason) => {
                count(ReversalOutcome::Refused(reason));
                if reason == ReversalReason::OtherCurrency {
                    tracing::error!(
                        alert = "reversal_in_another_currency", charge = %charge.id, kind = reversal.kind.word(),
                        case = reversal.id, currency = reversal.currency.map(|currency| currency.code()),
                        "what a provider says of a payment is in another currency than the charge: the operator must look"
                    );
                }
                return Ok(Applied::Refused(reason));
            }
            ReversalVerdict::Applies(reversed) => match write(app, &charge, &reversed, actor).await? {
                Commit::Applied => {
                    count(ReversalOutcome::Applied);
                    alert(about, reversal, &reversed);
                    return Ok(Applied::Yes);
                }
                // Another node moved the charge, or this change is written: decide again.
                Commit::Refused(_) | Commit::Unknown => {}
            },
        }
    }
    Err(Error::busy())
}

/// What a provider says of a case does not fit the payment, or several cases: the operator must look.
fn alert(about: &TransactionRequest, reversal: &Reversal, reversed: &Reversed) {
    let Some(doubt) = reversed.doubt else { return };
    if doubt == Doubt::OneOfSeveral {
        tracing::error!(
            alert = "dispute_of_several_cases", charge = %about.object_id, client = %about.client_id,
            provider = %about.provider_type.code(), kind = reversal.kind.word(),
            amount = reversed.asks.amount.minor_units(),
            "a provider names a payment, of which several cases have this sum: the operator must look which one is meant"
        );
        return;
    }
    tracing::error!(
        alert = "dispute_of_another_amount", charge = %about.object_id, client = %about.client_id,
        provider = %about.provider_type.code(), case = reversal.id, kind = reversal.kind.word(),
        why = doubt.word(), reported = reversal.amount.map(Amount::minor_units),
        currency = reversal.currency.map(Currency::code), recorded = reversed.asks.amount.minor_units(),
        "a provider reports a case of another amount than the payment has: the operator must look"
    );
}

/// Applies all that a probe tells, in order. What is too early or refused is left to the next report.
pub(crate) async fn apply_all(
    app: &App,
    about: &TransactionRequest,
    reversals: &[Reversal],
    actor: &Actor,
) -> Result<(), Error> {
    for reversal in counting(reversals) {
        match apply(app, about, reversal, actor).await? {
            Applied::Yes => {}
            Applied::TooEarly(reason) | Applied::Refused(reason) => tracing::warn!(
                charge = %about.object_id, provider = %about.provider_type.code(),
                kind = reversal.kind.word(), reason = reason.word(),
                "what a provider says of a payment changed nothing"
            ),
        }
    }
    Ok(())
}

pub(crate) async fn write(
    app: &App,
    before: &Charge,
    reversed: &Reversed,
    actor: &Actor,
) -> Result<Commit, Error> {
    let told = reversed.request(app.chance.id(app.clock.of(before.client_id)));
    write_outcome::write_report(app, before, &reversed.transition, &told, actor).await
}
