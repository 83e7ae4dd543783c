//! Merchants with their providers: creates, changes, deletes and lists them. [`crate::platform_fees`] changes what the platform
//! keeps of their charges, [`crate::providers`] a provider.

use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, MerchantId};
use regente_domain::merchant::{MerchantChanges, MerchantStatus, PROVIDERS_MAX};
use regente_domain::time::later_of;
use regente_domain::wire::Text;
use regente_store::merchants::{self, Merchant, MerchantDetails, MerchantWithProviders};
use regente_store::providers::{self as provider_rows, Provider};
use regente_store::{Batch, settings};

use crate::app::App;
use crate::caller::{Caller, RequestId};
use crate::error::Error;
use crate::providers::{self, NewProvider};
use crate::races::{self, Changed};
use crate::sellers::takes_sellers;
use crate::{audit, link_settings, queue};

/// A merchant that is to be created.
pub struct NewMerchant {
    /// What is known of it.
    pub details: MerchantDetails,
    /// Its providers.
    pub providers: Vec<NewProvider>,
}

fn apply(changes: &MerchantChanges, details: &mut MerchantDetails) {
    if let Some(mcc) = &changes.mcc {
        details.mcc = mcc.clone();
    }
    changes.name.clone().map(Text::into_string).apply(&mut details.name);
    changes.merchant_name.clone().map(Text::into_string).apply(&mut details.merchant_name);
    changes.merchant_url.clone().map(Text::into_string).apply(&mut details.merchant_url);
}

/// A merchant of the account. A deleted one is not found.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn find(app: &App, client_id: ClientId, id: MerchantId) -> Result<MerchantWithProviders, Error> {
    merchants::with_providers(&app.store, client_id, id).await?.ok_or(Error::NotFound)
}

/// A page of the merchants of an account, newest first, and how many there are.
pub async fn list(
    app: &App,
    client_id: ClientId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<MerchantWithProviders>, u64), Error> {
    let total = merchants::count(&app.store, client_id).await?;
    Ok((merchants::list(&app.store, client_id, limit, offset).await?, total))
}

/// A new merchant with its providers, and the batch that writes it. [`providers::check_credentials`] has been asked before.
///
/// # Errors
/// [`Error::Internal`] when something cannot be written.
pub fn plan_creation(
    app: &App,
    client_id: ClientId,
    by: (&Actor, Option<&RequestId>),
    new: &NewMerchant,
) -> Result<(Batch, MerchantWithProviders), Error> {
    let id: MerchantId = app.chance.id(app.clock.of(client_id));
    let merchant = Merchant {
        id,
        client_id,
        status: MerchantStatus::Active,
        details: new.details.clone(),
        version: 1,
        updated_at: id.created_at(),
    };
    if !merchant.details.mcc.is_listed() {
        // An unlisted code is accepted: shipped integrations use such codes
        // (`docs/interface/merchants-and-providers.md#category-codes`).
        tracing::info!(merchant = %id, mcc = merchant.details.mcc.digits(), "the category code is not in the list");
    }
    let mut batch = Batch::new(client_id);
    merchants::insert(&mut batch, &merchant)?;
    audit::record_of(app, &mut batch, by, "merchant.created", id.uuid());
    let providers = records_of(app, client_id, id, &new.providers)?;
    add_providers(app, by, &mut batch, &providers)?;
    Ok((batch, MerchantWithProviders { merchant, providers }))
}

fn records_of(
    app: &App,
    client_id: ClientId,
    merchant_id: MerchantId,
    new: &[NewProvider],
) -> Result<Vec<Provider>, Error> {
    let now = app.clock.of(client_id);
    new.iter().map(|provider| providers::record_of(app, client_id, merchant_id, provider, now)).collect()
}

fn add_providers(
    app: &App,
    by: (&Actor, Option<&RequestId>),
    batch: &mut Batch,
    records: &[Provider],
) -> Result<(), Error> {
    for provider in records {
        provider_rows::insert(batch, provider)?;
        audit::record_of(app, batch, by, "provider.created", provider.id.uuid());
    }
    Ok(())
}

/// Changes a merchant, or adds providers to it, at which its sellers are then registered.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Invalid`] when a provider does not know its credentials, or there would be too many providers.
pub async fn change(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    id: MerchantId,
    (changes, added): (&MerchantChanges, &[NewProvider]),
) -> Result<MerchantWithProviders, Error> {
    let (client_id, actor) = (caller.client_id, caller.actor());
    let by = (&actor, Some(request_id));
    providers::check_credentials(app, added).await?;
    let added = records_of(app, client_id, id, added)?;
    races::change(|| async {
        let mut found = find(app, client_id, id).await?;
        let is_written = added.iter().any(|new| found.providers.iter().any(|known| known.id == new.id));
        if is_written {
            return Ok(Changed::Already(found));
        }
        if found.providers.len() + added.len() > PROVIDERS_MAX {
            let rule = format!("must contain no more than {PROVIDERS_MAX} elements with those that exist");
            return Err(Error::invalid("providers", rule));
        }
        let before = found.merchant.details.clone();
        apply(changes, &mut found.merchant.details);
        if found.merchant.details == before && added.is_empty() {
            return Ok(Changed::Already(found));
        }
        found.merchant.updated_at = later_of(app.clock.of(client_id), found.merchant.updated_at);
        let mut batch = Batch::new(client_id);
        merchants::update(&mut batch, &found.merchant)?;
        audit::record_of(app, &mut batch, by, "merchant.updated", id.uuid());
        add_providers(app, by, &mut batch, &added)?;
        for provider in added.iter().filter(|provider| takes_sellers(app, provider)) {
            queue::sellers::link(app, &mut batch, id, provider.id);
        }
        found.providers.extend(added.iter().cloned());
        let _admission = app.store.admit(client_id)?;
        Ok(Changed::Written(app.change_merchant(batch).await?, found))
    })
    .await
}

/// Deletes a merchant with its settings of links. Its charges stay readable; new ones are refused.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn delete(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    id: MerchantId,
) -> Result<(), Error> {
    let client_id = caller.client_id;
    races::delete(|| async {
        let merchant = find(app, client_id, id).await?.merchant;
        let mut batch = Batch::new(client_id);
        merchants::delete(&mut batch, &merchant, later_of(app.clock.of(client_id), merchant.updated_at));
        if let Some(of_merchant) = link_settings::exactly(app, client_id, Some(id)).await? {
            settings::delete(&mut batch, &of_merchant);
        }
        audit::record(app, &mut batch, caller, request_id, "merchant.deleted", id.uuid());
        let _admission = app.store.admit(client_id)?;
        app.change_merchant(batch).await
    })
    .await
}
