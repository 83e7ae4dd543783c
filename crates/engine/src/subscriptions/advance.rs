//! Lets what a subscription has due next fall due: advances the clock of its account, in the sandbox
//! (`docs/interface/subscriptions.md#advancing`).

use std::time::Duration;

use regente_domain::account_clock::NewAdvance;
use regente_domain::id::SubscriptionId;
use regente_domain::subscription::Next;
use regente_domain::time::Timestamp;
use regente_store::Batch;

use super::INVALID_STATE;
use super::known::Known;
use crate::account_clocks;
use crate::app::App;
use crate::audit::Author;
use crate::error::Error;

/// What is due already is done before the clock goes on, so any later time will do.
const A_MOMENT: Duration = Duration::from_millis(1);

/// The batch that begins the advance, and where it ends.
///
/// # Errors
/// [`Error::NotFound`], also in production; [`Error::BusinessRule`] when nothing falls due by itself; [`Error::Conflict`] while another
/// advance is under way.
pub async fn plan_advance(
    app: &App,
    author: Author<'_>,
    id: SubscriptionId,
) -> Result<(Batch, Option<Timestamp>), Error> {
    let client_id = author.client_id;
    let Known { subscription, cycles } =
        Known::find(app, client_id, id, None).await?.ok_or(Error::NotFound)?;
    let refused = |what: &str| {
        let message = format!("subscription is {}, and {what}", subscription.status().word());
        Error::BusinessRule { business_code: INVALID_STATE, message: message.into() }
    };
    let target = |now: Timestamp| {
        let to = match subscription.next(&cycles, now) {
            Next::Wait(at) => at,
            Next::Step | Next::Charge(_) => now + A_MOMENT,
            Next::Rest => return Err(refused("nothing of it falls due")),
        };
        let advance = NewAdvance { by: None, to: Some(to) };
        advance
            .target(now)
            .map_err(|_too_far| refused("what falls due is further ahead than an advance leads"))
    };
    let (batch, stored) = account_clocks::plan_advance_to(app, author, target).await?;
    Ok((batch, stored.clock.advance.map(|advance| advance.to)))
}
