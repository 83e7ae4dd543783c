//! Checks documents by the settings of their account.

use regente_domain::check_digits::CheckDigits;
use regente_domain::customer::Document;
use regente_domain::id::ClientId;
use regente_store::clients;

use crate::app::App;
use crate::error::Error;

/// Refuses a document with wrong check digits where the account wants that; `path` is that of the document.
///
/// # Errors
/// [`Error::Store`], and the broken rule.
pub async fn check_digits(
    app: &App,
    client_id: ClientId,
    document: &Document,
    path: &str,
) -> Result<(), Error> {
    let Some(rule) = document.broken_check_digits() else { return Ok(()) };
    let client = clients::find(&app.store, client_id).await?;
    match client.map(|client| client.document_check_digits) {
        Some(CheckDigits::On) => Err(Error::invalid(format_args!("{path}.number"), rule)),
        Some(CheckDigits::Off) | None => Ok(()),
    }
}
