//! Links to the files of a report, for whoever it is mailed to ([`crate::links`]). A link is of one file, and good as long as the
//! file lives: 30 days, or until somebody is erased.

use regente_domain::id::{ClientId, ReportId};
use regente_store::clients::{self, ClientStatus};

use crate::app::App;
use crate::error::Error;
use crate::links::Link;

/// The addresses of a report's first `pages` files, each with its link; `None` when the service does not know its own address.
pub async fn addresses(
    app: &App,
    (client_id, id): (ClientId, ReportId),
    pages: u32,
) -> Result<Option<Vec<String>>, Error> {
    let Some(service) = &app.settings.base_url else { return Ok(None) };
    let keys = app.vault.client_keys(client_id).await?;
    let address = |number| {
        let link = Link::new(client_id, id.uuid(), keys.report_digest(id, number)).text();
        format!("{service}/v1/reports/{id}/files/{number}?link={link}")
    };
    Ok(Some((1..=pages).map(address).collect()))
}

/// The account of a link to this file; `None` when we did not make it, or when the account is suspended.
pub async fn open(app: &App, text: &str, (id, number): (ReportId, u32)) -> Result<Option<ClientId>, Error> {
    let Some((link, keys)) = Link::read(app, text).await? else { return Ok(None) };
    if link.id != id.uuid() || !link.is_ours(keys.report_digest(id, number)) {
        return Ok(None);
    }
    let account = clients::find(&app.store, link.client_id).await?;
    Ok(account.and_then(|account| match account.status {
        ClientStatus::Active => Some(link.client_id),
        ClientStatus::Suspended => None,
    }))
}
