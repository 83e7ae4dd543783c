//! Deletes the receipts of a person's charges: they name the cardholder or the payer. The next call issues them without the name.

use regente_domain::id::{ChargeId, Id, ReceiptId};
use regente_store::receipts::{self, StoredReceipt};
use regente_store::{Batch, Commit, charges};
use uuid::Uuid;

use super::apply;
use super::pages::ROWS_MAX;
use super::person::Person;
use crate::app::App;
use crate::error::Error;

/// Deletes the receipts of charges that the person has paid, or that a card of theirs has.
pub(super) async fn receipts(app: &App, person: &Person) -> Result<(), Error> {
    let mut after: ReceiptId = Id::new(Uuid::nil());
    loop {
        let page = receipts::after(&app.store, person.client_id, after, ROWS_MAX).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.id;
        let theirs = theirs(app, person, &page).await?;
        let mut batch = Batch::new(person.client_id);
        for receipt in page.iter().filter(|receipt| theirs.contains(&receipt.charge_id)) {
            receipts::delete(&mut batch, receipt.id);
        }
        if !batch.is_empty() {
            match apply(app, batch).await? {
                // Nothing in it can be refused; the job looks for what an unknown commit has left.
                Commit::Applied | Commit::Refused(_) | Commit::Unknown => {}
            }
        }
    }
}

/// Those of the charges that are the person's.
async fn theirs(app: &App, person: &Person, page: &[StoredReceipt]) -> Result<Vec<ChargeId>, Error> {
    let ids: Vec<ChargeId> = page.iter().map(|receipt| receipt.charge_id).collect();
    let found = charges::find_many(&app.store, person.client_id, &ids).await?;
    let is_theirs = |charge: &regente_domain::charge::Charge| {
        charge.customer_id == Some(person.customer_id)
            || person.has(charge.id.uuid())
            || charge.method.card_id().is_some_and(|card_id| person.has(card_id.uuid()))
    };
    Ok(found.into_iter().map(|stored| stored.charge).filter(is_theirs).map(|charge| charge.id).collect())
}
