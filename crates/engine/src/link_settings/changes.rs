//! Creates and changes settings with their logo. A changed logo has a new name; the former file goes.

use regente_domain::id::{LogoId, MerchantId, SettingsId};
use regente_domain::time::later_of;
use regente_store::Batch;
use regente_store::settings::{self, Colors, LogoFile, LogoName, Settings, SettingsDetails};

use super::{check_merchant, exactly};
use crate::app::App;
use crate::audit;
use crate::caller::{Caller, RequestId};
use crate::error::Error;
use crate::races::{self, Changed};

/// `businessCode` of a change of settings that changes nothing.
pub const NO_EFFECTIVE_FIELD: &str = "settings_no_effective_field";

/// What is set; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SettingsChanges {
    /// The colours.
    pub colors: Colors,
    /// The address of the company, with or without a scheme.
    pub company_url: Option<String>,
    /// The origins of the pages to which buyers come back, apart by commas.
    pub redirect_origins: Option<String>,
    /// The id of the company in the card scheme's Click to Pay.
    pub mastercard_click_to_pay_dpaid: Option<String>,
    /// The logo.
    pub logo: Option<LogoFile>,
}

impl SettingsChanges {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Sets everything but the logo, which has a file of its own.
    fn apply(&self, details: &mut SettingsDetails) {
        let (new, colors) = (&self.colors, &mut details.colors);
        for (new, color) in [
            (&new.main_color, &mut colors.main_color),
            (&new.secondary_color, &mut colors.secondary_color),
            (&new.attention_color, &mut colors.attention_color),
            (&new.error_color, &mut colors.error_color),
            (&new.success_color, &mut colors.success_color),
            (&new.background_color, &mut colors.background_color),
        ] {
            if let Some(new) = new {
                *color = Some(new.clone());
            }
        }
        if let Some(url) = &self.company_url {
            details.company_url = Some(url.clone());
        }
        if let Some(origins) = &self.redirect_origins {
            details.redirect_origins = Some(origins.clone());
        }
        if let Some(id) = &self.mastercard_click_to_pay_dpaid {
            details.mastercard_click_to_pay_dpaid = Some(id.clone());
        }
    }
}

/// New settings of a merchant, or of the account, and the batch that writes them.
///
/// # Errors
/// [`Error::ReferenceNotFound`] without such a merchant; [`Error::Conflict`] when there are settings already.
pub async fn plan_creation(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    merchant_id: Option<MerchantId>,
    new: &SettingsChanges,
) -> Result<(Batch, Settings), Error> {
    let client_id = caller.client_id;
    check_merchant(app, client_id, merchant_id).await?;
    if exactly(app, client_id, merchant_id).await?.is_some() {
        let whose = if merchant_id.is_some() { "merchant" } else { "account" };
        return Err(Error::conflict(vec![format!("settings of this {whose} already exist")]));
    }
    let id: SettingsId = app.chance.id(app.clock.of(client_id));
    let mut settings = Settings {
        id,
        client_id,
        merchant_id,
        details: SettingsDetails::default(),
        version: 1,
        updated_at: id.created_at(),
    };
    new.apply(&mut settings.details);
    let mut batch = Batch::new(client_id);
    if let Some(logo) = new_logo(app, new) {
        logo.add(&mut batch, &mut settings.details);
    }
    settings::insert(&mut batch, &settings)?;
    audit::record(app, &mut batch, caller, request_id, "settings.created", id.uuid());
    Ok((batch, settings))
}

/// Changes the settings of exactly the merchant, or of exactly the account.
///
/// # Errors
/// [`Error::BusinessRule`] when nothing is set; [`Error::ReferenceNotFound`] without such a merchant; [`Error::NotFound`] without
/// settings.
pub async fn change(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    merchant_id: Option<MerchantId>,
    changes: &SettingsChanges,
) -> Result<Settings, Error> {
    let client_id = caller.client_id;
    if changes.is_empty() {
        let message = "No effective field to update".into();
        return Err(Error::BusinessRule { business_code: NO_EFFECTIVE_FIELD, message });
    }
    check_merchant(app, client_id, merchant_id).await?;
    let logo = new_logo(app, changes);
    races::change(|| async {
        let mut found = exactly(app, client_id, merchant_id).await?.ok_or(Error::NotFound)?;
        let before = found.details.clone();
        let mut batch = Batch::new(client_id);
        changes.apply(&mut found.details);
        if let Some(logo) = logo.as_ref().filter(|logo| Some(logo.name) != before.logo) {
            if let Some(former) = before.logo {
                settings::delete_logo(&mut batch, former.id);
            }
            logo.add(&mut batch, &mut found.details);
        }
        if found.details == before {
            return Ok(Changed::Already(found));
        }
        found.updated_at = later_of(app.clock.of(client_id), found.updated_at);
        settings::update(&mut batch, &found)?;
        audit::record(app, &mut batch, caller, request_id, "settings.updated", found.id.uuid());
        let _admission = app.store.admit(client_id)?;
        Ok(Changed::Written(app.store.apply(batch).await?, found))
    })
    .await
}

/// A logo that settings are given.
struct NewLogo<'a> {
    name: LogoName,
    file: &'a LogoFile,
}

fn new_logo<'a>(app: &App, changes: &'a SettingsChanges) -> Option<NewLogo<'a>> {
    let file = changes.logo.as_ref()?;
    let id: LogoId = app.chance.secret_id();
    Some(NewLogo { name: LogoName { id, format: file.format }, file })
}

impl NewLogo<'_> {
    fn add(&self, batch: &mut Batch, details: &mut SettingsDetails) {
        settings::insert_logo(batch, self.name.id, self.file);
        details.logo = Some(self.name);
    }
}
