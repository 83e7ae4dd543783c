//! How an account charges its subscriptions (`docs/interface/subscriptions.md#settings`).

use regente_domain::id::ClientId;
use regente_domain::subscription::data::SubscriptionSettingsChanges;
use regente_domain::subscription::{BillingRules, SubscriptionSettings};
use regente_domain::time::later_of;
use regente_store::Batch;
use regente_store::subscriptions::settings as rows;

use crate::app::App;
use crate::audit;
use crate::caller::{Caller, RequestId};
use crate::error::Error;
use crate::races::{self, Changed};

/// The settings of an account.
///
/// # Errors
/// [`Error::NotFound`] when it has set nothing.
pub async fn find(app: &App, client_id: ClientId) -> Result<SubscriptionSettings, Error> {
    rows::find(&app.store, client_id).await?.ok_or(Error::NotFound)
}

/// The rules by which an account charges: its own, or those of everybody.
pub(super) async fn rules(app: &App, client_id: ClientId) -> Result<BillingRules, Error> {
    Ok(rows::find(&app.store, client_id).await?.map(|settings| settings.rules).unwrap_or_default())
}

/// Changes the settings of an account, which may have none yet. They hold from the next attempt on.
///
/// # Errors
/// [`Error::Unavailable`] while other changes come first.
pub async fn change(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    changes: &SubscriptionSettingsChanges,
) -> Result<SubscriptionSettings, Error> {
    let client_id = caller.client_id;
    races::change(|| async {
        let before = rows::find(&app.store, client_id).await?;
        let now = app.clock.of(client_id);
        let mut batch = Batch::new(client_id);
        let after = match &before {
            None => {
                let rules = changes.applied_to(&Default::default());
                let (created_at, updated_at) = (now, now);
                let new = SubscriptionSettings { client_id, rules, created_at, updated_at, version: 1 };
                rows::insert(&mut batch, &new)?;
                new
            }
            Some(before) => {
                let rules = changes.applied_to(&before.rules);
                if rules == before.rules {
                    return Ok(Changed::Already(before.clone()));
                }
                let updated_at = later_of(now, before.updated_at);
                let after =
                    SubscriptionSettings { rules, updated_at, version: before.version + 1, ..before.clone() };
                rows::update(&mut batch, before, &after)?;
                after
            }
        };
        audit::record(app, &mut batch, caller, request_id, "subscription_settings.updated", client_id.uuid());
        let _admission = app.store.admit(client_id)?;
        Ok(Changed::Written(app.store.apply(batch).await?, after))
    })
    .await
}
