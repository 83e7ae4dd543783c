//! The payment that a later one of a subscription names.

use regente_domain::charge::{Charge, approved_authorization};
use regente_domain::id::SubscriptionId;
use regente_store::{subscriptions, transaction_requests};

use crate::app::App;
use crate::error::Error;

/// The card network's id of the payment that begins the series of a subscription at the card of this charge; `None` before one is
/// approved. Other payments of the same card begin other series (decision 37).
pub(super) async fn begun_by(
    app: &App,
    charge: &Charge,
    subscription_id: SubscriptionId,
) -> Result<Option<String>, Error> {
    let client_id = charge.client_id;
    let subscription = subscriptions::find(&app.store, client_id, subscription_id).await?;
    let (Some(subscription), Some(card_id)) = (subscription, charge.method.card_id()) else {
        return Ok(None);
    };
    let Some(first) = subscription.first_charge_by(card_id) else { return Ok(None) };
    let stored = transaction_requests::of_object(&app.store, client_id, first.uuid()).await?;
    let requests: Vec<_> = stored.into_iter().map(|stored| stored.request).collect();
    let reference = approved_authorization(&requests).and_then(|request| request.reference());
    Ok(reference.and_then(|approval| approval.network_transaction_id.clone()))
}
