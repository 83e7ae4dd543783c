//! The addresses of receipts' files ([`crate::links`]): good for a quarter of an hour, for whoever has them. A token is a link and the
//! time until which it is good, in milliseconds; the digest of the link is of both.

use regente_domain::id::{ClientId, ReceiptId};
use regente_domain::time::Timestamp;
use regente_store::clients::{self, ClientStatus};

use crate::app::App;
use crate::error::Error;
use crate::links::Link;

/// What a token says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The account.
    pub client_id: ClientId,
    /// Until when the address is good, by the account's time.
    pub until: Timestamp,
}

/// The address of a file until this time; without the service's own address where it does not know that.
pub async fn address(
    app: &App,
    (client_id, id): (ClientId, ReceiptId),
    until: Timestamp,
) -> Result<String, Error> {
    let service = app.settings.base_url.as_deref().unwrap_or_default();
    let keys = app.vault.client_keys(client_id).await?;
    let link = Link::new(client_id, id.uuid(), keys.receipt_digest(id, until)).text();
    Ok(format!("{service}/v1/receipts/{id}/file?token={link}.{}", until.as_millis()))
}

/// Reads a token of this receipt; `None` when we did not make it, or when the account is suspended. Whether its time is over is not
/// looked at.
pub async fn open(app: &App, text: &str, id: ReceiptId) -> Result<Option<Token>, Error> {
    let Some((link, until)) = text.split_once('.') else { return Ok(None) };
    let Some(until) = until.parse().ok().map(Timestamp::from_millis) else { return Ok(None) };
    let Some((link, keys)) = Link::read(app, link).await? else { return Ok(None) };
    if link.id != id.uuid() || !link.is_ours(keys.receipt_digest(id, until)) {
        return Ok(None);
    }
    let account = clients::find(&app.store, link.client_id).await?;
    Ok(account.and_then(|account| match account.status {
        ClientStatus::Active => Some(Token { client_id: link.client_id, until }),
        ClientStatus::Suspended => None,
    }))
}
