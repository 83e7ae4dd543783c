//! The cards of customers (`docs/interface/tokens-and-cards.md#linking`). A card that is being checked is no card yet.

use regente_domain::card::record::{Card, Linked};
use regente_domain::id::{CardId, CustomerId};
use regente_store::Batch;
use regente_store::cards::{self, StoredCard};

use super::resolve_customer;
use crate::app::App;
use crate::audit;
use crate::caller::{Caller, RequestId};
use crate::error::Error;

/// The batch that links a card to a customer. To link again what is linked already writes nothing.
///
/// # Errors
/// [`Error::NotFound`] without such a customer, [`Error::ReferenceNotFound`] without such a card; [`Error::Conflict`] when the card
/// is another customer's.
pub async fn plan_link(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    customer_id: CustomerId,
    card_id: CardId,
) -> Result<Batch, Error> {
    let client_id = caller.client_id;
    let customer = resolve_customer(app, client_id, customer_id).await?.ok_or(Error::NotFound)?;
    let found = cards::find(&app.store, client_id, card_id).await?.filter(|stored| stored.card.is_shown());
    let card = found.ok_or(Error::ReferenceNotFound("cardId"))?.card;
    let mut batch = Batch::new(client_id);
    if link(app, &mut batch, &card, customer.real_id)? {
        audit::record(app, &mut batch, caller, request_id, "card.linked", card.id.uuid());
    }
    Ok(batch)
}

/// Adds the link of a card to a customer to the batch; `false` when it is linked already.
///
/// # Errors
/// [`Error::Conflict`] when the card is another customer's.
pub(crate) fn link(
    app: &App,
    batch: &mut Batch,
    card: &Card,
    customer_id: CustomerId,
) -> Result<bool, Error> {
    match card.link(customer_id, app.clock.of(card.client_id)) {
        Linked::Already => Ok(false),
        Linked::ToAnother => Err(Error::conflict(vec!["cardId is linked to another customer".to_owned()])),
        Linked::Now(linked) => {
            cards::update(batch, card, &linked)?;
            Ok(true)
        }
    }
}

/// The cards of a customer, the default card first.
///
/// # Errors
/// [`Error::NotFound`] without such a customer.
pub async fn list(app: &App, caller: &Caller, customer_id: CustomerId) -> Result<Vec<StoredCard>, Error> {
    let client_id = caller.client_id;
    let customer = resolve_customer(app, client_id, customer_id).await?.ok_or(Error::NotFound)?;
    // A public key must not see the cards of the customer behind an alias: it may have sent anybody's data.
    if customer.via_alias && caller.is_public_key() {
        return Ok(Vec::new());
    }
    let mut found = cards::of_customer(&app.store, client_id, customer.real_id).await?;
    found.retain(|stored| stored.card.is_shown());
    Ok(found)
}
