//! Who may be paid now: the account itself; sellers that the own provider takes, that nobody has blocked or switched off, and to which
//! transfers are made; and those that are deleted, once an operator has said where their money goes. What others are due is in no batch,
//! and is not set off either, until the change that ends this queues a payday ([`queue::payouts::resume`](crate::queue::payouts::resume)).

use std::collections::HashSet;

use regente_domain::id::{ClientId, SellerId};
use regente_domain::payout::Receiver;
use regente_domain::provider_type::ProviderType;
use regente_domain::seller::Seller;
use regente_store::payouts::accounts;
use regente_store::sellers;

use crate::app::App;
use crate::error::Error;

/// Those of these receivers that may be paid now, in their order.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn paid_now(
    app: &App,
    client_id: ClientId,
    receivers: &[Receiver],
) -> Result<Vec<Receiver>, Error> {
    let ids: Vec<SellerId> = receivers.iter().copied().flatten().collect();
    let found = sellers::find_many(&app.store, client_id, &ids).await?;
    let live: HashSet<SellerId> = found.iter().map(|seller| seller.id).collect();
    let deleted: Vec<SellerId> = ids.into_iter().filter(|id| !live.contains(id)).collect();
    let mut paid: HashSet<SellerId> = match deleted.is_empty() {
        true => HashSet::new(),
        false => accounts::of_sellers(&app.store, client_id, &deleted).await?.into_iter().collect(),
    };
    let is_paid = |seller: &&Seller| seller.is_paid_by(ProviderType::Platform);
    paid.extend(found.iter().filter(is_paid).map(|seller| seller.id));
    let may_be_paid = |receiver: &Receiver| receiver.is_none_or(|id| paid.contains(&id));
    Ok(receivers.iter().copied().filter(may_be_paid).collect())
}

/// Whether a receiver may be paid now.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn is_paid_now(app: &App, client_id: ClientId, receiver: Receiver) -> Result<bool, Error> {
    Ok(!paid_now(app, client_id, &[receiver]).await?.is_empty())
}
