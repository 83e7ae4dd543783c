//! Who may be paid now: the account itself, and sellers that the own provider takes, that nobody has blocked or switched off, and to which
//! transfers are made. What others are due is in no batch, and is not set off either, until a change of the seller queues a payday
//! ([`queue::payouts::resume`](crate::queue::payouts::resume)).

use std::collections::HashSet;

use regente_domain::id::{ClientId, SellerId};
use regente_domain::payout::Receiver;
use regente_domain::provider_type::ProviderType;
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
    let paid: HashSet<SellerId> = found
        .iter()
        .filter(|seller| seller.is_paid_by(ProviderType::Platform))
        .map(|seller| seller.id)
        .collect();
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
