//! Where receivers are paid: sellers to the bank account of their data, the account itself, and sellers that are deleted, to the one that
//! the operator has set.

use regente_domain::id::{ClientId, SellerId};
use regente_domain::payout::Receiver;
use regente_domain::seller::data::BankAccount;
use regente_store::payouts::accounts as rows;
use regente_store::sellers::{find_many, find_many_ever};
use regente_store::{Batch, Commit};
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::app::App;
use crate::audit::Author;
use crate::error::Error;
use crate::vault::{Binding, Purpose};
use crate::{queue, sellers};

/// A seller says by itself where it is paid.
const IS_LIVE: &str = "the seller is not deleted: the bank account of its data counts";

/// The bank account of a receiver; `None` where it has none.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Internal`].
pub async fn of(app: &App, client_id: ClientId, receiver: Receiver) -> Result<Option<BankAccount>, Error> {
    if let Some(seller_id) = receiver {
        match sellers::find(app, client_id, seller_id).await {
            Ok(record) => return Ok(Some(record.private.data.bank_account)),
            Err(Error::NotFound) => {}
            Err(error) => return Err(error),
        }
    }
    let id = key_of(client_id, receiver);
    let Some(sealed) = rows::find(&app.store, client_id, id).await? else { return Ok(None) };
    let bytes = app.vault.open(binding(client_id, id), &sealed).await?;
    serde_json::from_slice(&bytes).map(Some).map_err(Error::internal)
}

/// Sets that of the account itself, or of a seller that is deleted, from the next transfer on. What the seller is due is paid out on the next
/// payday.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Impossible`] for a seller that is not deleted; [`Error::Unavailable`], [`Error::Internal`].
pub async fn set(
    app: &App,
    author: &Author<'_>,
    receiver: Receiver,
    account: &BankAccount,
) -> Result<(), Error> {
    let client_id = author.client_id;
    let (id, now) = (key_of(client_id, receiver), app.clock.of(client_id));
    let mut batch = Batch::new(client_id);
    if let Some(seller_id) = receiver {
        must_be_deleted(app, client_id, seller_id).await?;
        queue::payouts::pay_out_on(app, &mut batch, queue::payouts::next_payday(&app.settings.calendar, now));
    }
    let bytes = serde_json::to_vec(account).map(Zeroizing::new).map_err(Error::internal)?;
    rows::set(&mut batch, id, &app.vault.seal(binding(client_id, id), &bytes), now);
    author.record(app, &mut batch, "payout_account.set", id);
    let _admission = app.store.admit_waiting().await?;
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(()),
        Commit::Refused(_) | Commit::Unknown => Err(Error::busy()),
    }
}

async fn must_be_deleted(app: &App, client_id: ClientId, seller_id: SellerId) -> Result<(), Error> {
    if find_many_ever(&app.store, client_id, &[seller_id]).await?.is_empty() {
        return Err(Error::NotFound);
    }
    match find_many(&app.store, client_id, &[seller_id]).await?.is_empty() {
        true => Ok(()),
        false => Err(Error::impossible(IS_LIVE)),
    }
}

fn key_of(client_id: ClientId, receiver: Receiver) -> Uuid {
    receiver.map_or(client_id.uuid(), |seller_id| seller_id.uuid())
}

fn binding(client_id: ClientId, id: Uuid) -> Binding {
    Binding::new(Purpose::PayoutAccount, client_id, id)
}
