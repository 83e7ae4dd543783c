//! What payment links look like (`docs/interface/settings.md`): whose settings count, how they change, and where a logo is.
//!
//! The name of a logo's file holds the account and a random id: a question to the database names the account, and whoever
//! does not have the name cannot guess it.

mod changes;

use std::fmt::Display;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use regente_domain::id::{ClientId, LogoId, MerchantId};
use regente_store::merchants;
use regente_store::settings::{self, LogoFile, LogoName, Settings};
use url::Url;
use uuid::Uuid;

pub use changes::{NO_EFFECTIVE_FIELD, SettingsChanges, change, plan_creation};

use crate::app::App;
use crate::error::Error;

/// The folder of the logos, below the address of the service.
pub const LOGOS: &str = "/v1/settings/assets/";

/// What an address must be that a page with a public key names.
pub const UNREGISTERED: &str = "must be at an origin of the settings redirectOrigins or companyUrl";
/// What names the merchant whose settings are meant.
pub const MERCHANT: &str = "X-Merchant-Id";

/// Bytes of one id.
const ID_BYTES: usize = 16;
/// Bytes of account and logo.
const NAME_BYTES: usize = 2 * ID_BYTES;

/// The settings that count for a merchant: its own, else those of the account; without a merchant those of the account.
/// Whether there is such a merchant is not looked at.
pub async fn in_force(
    app: &App,
    client_id: ClientId,
    merchant_id: Option<MerchantId>,
) -> Result<Option<Settings>, Error> {
    let levels = settings::levels(&app.store, client_id, merchant_id).await?;
    Ok(levels.of_merchant.or(levels.of_client))
}

/// As [`in_force`], of a merchant that there is.
///
/// # Errors
/// [`Error::ReferenceNotFound`] without such a merchant; [`Error::NotFound`] without settings.
pub async fn find(
    app: &App,
    client_id: ClientId,
    merchant_id: Option<MerchantId>,
) -> Result<Settings, Error> {
    check_merchant(app, client_id, merchant_id).await?;
    in_force(app, client_id, merchant_id).await?.ok_or(Error::NotFound)
}

/// Refuses a merchant that the account does not have.
async fn check_merchant(
    app: &App,
    client_id: ClientId,
    merchant_id: Option<MerchantId>,
) -> Result<(), Error> {
    let Some(merchant_id) = merchant_id else { return Ok(()) };
    match merchants::with_providers(&app.store, client_id, merchant_id).await? {
        Some(_) => Ok(()),
        None => Err(Error::ReferenceNotFound(MERCHANT)),
    }
}

/// The settings of exactly this merchant, or of exactly the account.
pub async fn exactly(
    app: &App,
    client_id: ClientId,
    merchant_id: Option<MerchantId>,
) -> Result<Option<Settings>, Error> {
    let levels = settings::levels(&app.store, client_id, merchant_id).await?;
    Ok(match merchant_id {
        Some(_) => levels.of_merchant,
        None => levels.of_client,
    })
}

/// Whether payers are led only to addresses that their merchant has registered. Whoever reads the public key of a page could
/// otherwise have this service, or a provider in the merchant's name, send others anywhere. The addresses come with the fields
/// that name them.
///
/// # Errors
/// [`Error::Invalid`] names the first field with another address; `rule` says what it must be.
pub async fn must_be_registered(
    app: &App,
    (client_id, merchant_id): (ClientId, MerchantId),
    addresses: &[(impl Display + Sync, &str)],
    rule: &str,
) -> Result<(), Error> {
    for (field, address) in addresses {
        let page = Url::parse(address).map_err(Error::internal)?;
        if !is_registered(app, client_id, merchant_id, &page).await? {
            return Err(Error::invalid(field, rule));
        }
    }
    Ok(())
}

/// Whether a page is at an origin that the settings in force name: one of `redirectOrigins`, or that of `companyUrl`.
async fn is_registered(
    app: &App,
    client_id: ClientId,
    merchant_id: MerchantId,
    page: &Url,
) -> Result<bool, Error> {
    let Some(settings) = in_force(app, client_id, Some(merchant_id)).await? else { return Ok(false) };
    let company = settings.details.company_url.as_deref().map(company_link);
    let company = company.and_then(|link| Url::parse(&link).ok()).map(|link| link.origin());
    let origin = page.origin();
    if company.as_ref() == Some(&origin) {
        return Ok(true);
    }
    let origin = origin.ascii_serialization();
    let registered = settings.details.redirect_origins.unwrap_or_default();
    Ok(registered.split(',').any(|registered| registered == origin))
}

/// The address of a logo; `None` when the service does not know its own address.
pub fn logo_url(app: &App, client_id: ClientId, logo: LogoName) -> Option<String> {
    app.settings.base_url.as_ref().map(|base_url| format!("{base_url}{}", logo_path(client_id, logo)))
}

/// The path of a logo's address, for pages of the service itself.
pub fn logo_path(client_id: ClientId, logo: LogoName) -> String {
    let mut bytes = Vec::with_capacity(NAME_BYTES);
    bytes.extend_from_slice(client_id.uuid().as_bytes());
    bytes.extend_from_slice(logo.id.uuid().as_bytes());
    format!("{LOGOS}{}.{}", URL_SAFE_NO_PAD.encode(bytes), logo.format.word())
}

/// The logo with this file name; `None` when there is none, or when the name has the ending of another format.
pub async fn find_logo(app: &App, file: &str) -> Result<Option<LogoFile>, Error> {
    let Some((name, ending)) = file.rsplit_once('.') else { return Ok(None) };
    let Some((client_id, id)) = ids_in(name) else { return Ok(None) };
    let found = settings::find_logo(&app.store, client_id, id).await?;
    Ok(found.filter(|found| found.format.word() == ending))
}

fn ids_in(name: &str) -> Option<(ClientId, LogoId)> {
    let bytes: [u8; NAME_BYTES] = URL_SAFE_NO_PAD.decode(name).ok()?.try_into().ok()?;
    let (client_id, id) = bytes.split_at(ID_BYTES);
    Some((ClientId::new(Uuid::from_slice(client_id).ok()?), LogoId::new(Uuid::from_slice(id).ok()?)))
}

/// Where a company's address leads: those without a scheme are names of hosts.
pub fn company_link(company_url: &str) -> String {
    if company_url.contains("://") { company_url.to_owned() } else { format!("https://{company_url}") }
}
