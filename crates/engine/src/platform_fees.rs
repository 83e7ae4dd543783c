//! What the platform keeps of the charges of a merchant (`docs/interface/merchants-and-providers.md#platform-fee`). The rules are
//! a part of the merchant, with which they are read.

use regente_domain::id::{Id, MerchantId, of};
use regente_domain::platform_fee::{Fees, Refusal, Rule, Terms};
use regente_domain::time::later_of;
use regente_store::merchants::{self, Merchant};
use regente_store::{Batch, Commit};

use crate::app::App;
use crate::caller::{Caller, RequestId};
use crate::error::Error;
use crate::merchants::find;
use crate::{audit, races};

/// Whether the rules of a merchant are applied.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    /// They are.
    pub enabled: bool,
}

/// New rules, all or none, and the batch that writes them.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Conflict`] when there is a rule for a method and band.
pub async fn plan_creation(
    app: &App,
    by: (&Caller, &RequestId),
    id: MerchantId,
    new: &[Terms],
) -> Result<(Batch, Vec<Rule>), Error> {
    let client_id = by.0.client_id;
    let merchant = find(app, client_id, id).await?.merchant;
    let now = app.clock.of(client_id);
    let new: Vec<(Id<of::PlatformFeeRule>, Terms)> =
        new.iter().map(|terms| (app.chance.id(now), *terms)).collect();
    let fees = merchant.details.platform_fee.with(&new).map_err(refused)?;
    let added = fees.rules[fees.rules.len() - new.len()..].to_vec();
    let batch = changed(app, by, merchant, fees)?;
    Ok((batch, added))
}

/// Changes rules that are found by their method and band, all or none, and returns them. Those that are not named stay.
///
/// # Errors
/// [`Error::NotFound`] without such a merchant, or without a rule for a method and band; [`Error::Conflict`] when one is named
/// twice.
pub async fn change(
    app: &App,
    by: (&Caller, &RequestId),
    id: MerchantId,
    new: &[Terms],
) -> Result<Vec<Rule>, Error> {
    let now = app.clock.of(by.0.client_id);
    let mut named = Vec::new();
    let fees = write(app, by, id, |fees| {
        let (fees, ids) = fees.changed(new, now).map_err(refused)?;
        named = ids;
        Ok(fees)
    });
    let fees = fees.await?;
    let rule = |id: &Id<of::PlatformFeeRule>| fees.rules.iter().find(|rule| rule.id == *id);
    Ok(named.iter().filter_map(rule).cloned().collect())
}

/// Deletes a rule.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn delete(
    app: &App,
    by: (&Caller, &RequestId),
    id: MerchantId,
    rule_id: Id<of::PlatformFeeRule>,
) -> Result<(), Error> {
    let mut was_there = false;
    let without = |fees: &Fees| match fees.without(rule_id) {
        Some(fees) => {
            was_there = true;
            Ok(fees)
        }
        // An earlier commit with an unknown outcome did delete it.
        None if was_there => Ok(fees.clone()),
        None => Err(Error::NotFound),
    };
    write(app, by, id, without).await?;
    Ok(())
}

/// Switches the rules of a merchant on or off; whether they are applied then.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn switch(
    app: &App,
    by: (&Caller, &RequestId),
    id: MerchantId,
    Switch { enabled }: Switch,
) -> Result<Switch, Error> {
    let fees = write(app, by, id, |fees| Ok(Fees { enabled, rules: fees.rules.clone() }));
    Ok(Switch { enabled: fees.await?.enabled })
}

/// Changes the rules of a merchant, whatever else changes it meanwhile.
async fn write(
    app: &App,
    by: (&Caller, &RequestId),
    id: MerchantId,
    mut apply: impl FnMut(&Fees) -> Result<Fees, Error> + Send,
) -> Result<Fees, Error> {
    let client_id = by.0.client_id;
    for _ in races::tries() {
        let merchant = find(app, client_id, id).await?.merchant;
        let fees = apply(&merchant.details.platform_fee)?;
        if fees == merchant.details.platform_fee {
            return Ok(fees);
        }
        let batch = changed(app, by, merchant, fees.clone())?;
        let _admission = app.store.admit(client_id)?;
        match app.change_merchant(batch).await? {
            Commit::Applied => return Ok(fees),
            // Another change came first, or the commit's outcome is unknown: the stored record tells which.
            Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    Err(Error::busy())
}

/// The batch that gives a merchant these rules.
fn changed(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    mut merchant: Merchant,
    fees: Fees,
) -> Result<Batch, Error> {
    merchant.details.platform_fee = fees;
    merchant.updated_at = later_of(app.clock.of(caller.client_id), merchant.updated_at);
    let mut batch = Batch::new(caller.client_id);
    merchants::update(&mut batch, &merchant)?;
    audit::record(app, &mut batch, caller, request_id, "merchant.platform_fee", merchant.id.uuid());
    Ok(batch)
}

fn refused(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Taken(index) => {
            let rule = "there is a rule for this paymentMethod and band of installments";
            Error::conflict(vec![format!("[{index}] {rule}")])
        }
        Refusal::Missing(_) => Error::NotFound,
    }
}
