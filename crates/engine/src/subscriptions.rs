//! Subscriptions: what a customer is charged at each due date (`docs/interface/subscriptions.md`). The domain decides what falls due and
//! what an outcome means; [`known`] reads, writes and announces its decisions. [`create`] and [`change`] are what merchants do,
//! [`card_links`] lets buyers give another card; [`drive`] is what happens by itself, [`attempt`] the charges and [`begin`] how one begins, [`settings`] how an account charges.

mod advance;
mod attempt;
pub mod begin;
pub mod card_links;
mod change;
mod create;
pub mod drive;
pub(crate) mod known;
mod settings;

use regente_domain::id::{ClientId, CycleId, SubscriptionId};
use regente_domain::subscription::{Cycle, Subscription};
use regente_store::subscriptions as rows;

pub use advance::plan_advance;
pub use change::{Move, carry_out, change, plan};
pub use create::{plan_creation, plan_preview};
pub use drive::begin_with_code;
pub use regente_store::subscriptions::SubscriptionFilter;
pub use settings::{change as change_settings, find as settings};

use crate::app::App;
use crate::error::Error;

/// `businessCode` of what a subscription does not allow in its status.
pub const INVALID_STATE: &str = "subscription_invalid_state";

/// A subscription as answers show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The subscription.
    pub subscription: Subscription,
    /// Its newest cycle, if it has one.
    pub last_cycle: Option<Cycle>,
}

/// A subscription of the account.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn find(app: &App, client_id: ClientId, id: SubscriptionId) -> Result<Shown, Error> {
    let subscription = rows::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)?;
    let last_cycle = rows::cycles::newest(&app.store, client_id, id).await?;
    Ok(Shown { subscription, last_cycle })
}

/// A page of the subscriptions of an account, newest first, and how many match.
pub async fn list(
    app: &App,
    client_id: ClientId,
    filter: &SubscriptionFilter,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Subscription>, i64), Error> {
    let total = rows::count(&app.store, client_id, filter).await?;
    Ok((rows::page(&app.store, client_id, filter, limit, offset).await?, total))
}

/// A page of the cycles of a subscription, newest first, and how many there are.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn cycles(
    app: &App,
    client_id: ClientId,
    id: SubscriptionId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Cycle>, i64), Error> {
    rows::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)?;
    let total = rows::cycles::count(&app.store, client_id, id).await?;
    Ok((rows::cycles::page(&app.store, client_id, id, limit, offset).await?, total))
}

/// One cycle of a subscription.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn cycle(
    app: &App,
    client_id: ClientId,
    id: SubscriptionId,
    cycle_id: CycleId,
) -> Result<Cycle, Error> {
    rows::cycles::find(&app.store, client_id, id, cycle_id).await?.ok_or(Error::NotFound)
}
