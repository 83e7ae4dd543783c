//! Where receivers are paid: sellers to the bank account of their data, the account itself to the one that the operator has set.

use regente_domain::id::ClientId;
use regente_domain::payout::Receiver;
use regente_domain::seller::data::BankAccount;
use regente_store::payouts::accounts as rows;
use regente_store::{Batch, Commit};
use zeroize::Zeroizing;

use crate::app::App;
use crate::audit::Author;
use crate::error::Error;
use crate::sellers;
use crate::vault::{Binding, Purpose};

/// The bank account of a receiver; `None` where it has none.
pub(super) async fn of(
    app: &App,
    client_id: ClientId,
    receiver: Receiver,
) -> Result<Option<BankAccount>, Error> {
    match receiver {
        None => find(app, client_id).await,
        Some(seller_id) => match sellers::find(app, client_id, seller_id).await {
            Ok(record) => Ok(Some(record.private.data.bank_account)),
            Err(Error::NotFound) => Ok(None),
            Err(error) => Err(error),
        },
    }
}

/// The bank account of the account itself.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Internal`].
pub async fn find(app: &App, client_id: ClientId) -> Result<Option<BankAccount>, Error> {
    let Some(sealed) = rows::find(&app.store, client_id).await? else { return Ok(None) };
    let bytes = app.vault.open(binding(client_id), &sealed).await?;
    serde_json::from_slice(&bytes).map(Some).map_err(Error::internal)
}

/// Sets it, from the next transfer on.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Internal`].
pub async fn set(app: &App, author: &Author<'_>, account: &BankAccount) -> Result<(), Error> {
    let client_id = author.client_id;
    let bytes = serde_json::to_vec(account).map(Zeroizing::new).map_err(Error::internal)?;
    let mut batch = Batch::new(client_id);
    rows::set(&mut batch, &app.vault.seal(binding(client_id), &bytes), app.clock.of(client_id));
    author.record(app, &mut batch, "payout_account.set", client_id.uuid());
    let _admission = app.store.admit_waiting().await?;
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(()),
        Commit::Refused(_) | Commit::Unknown => Err(Error::busy()),
    }
}

fn binding(client_id: ClientId) -> Binding {
    Binding::new(Purpose::PayoutAccount, client_id, client_id.uuid())
}
