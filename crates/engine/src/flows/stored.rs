//! Reads what is stored of a charge, for the flows that go on with it.

use regente_domain::charge::Charge;
use regente_domain::charge::attempt::TransactionRequest;
use regente_store::charges;
use regente_store::providers::Provider;

use crate::app::App;
use crate::error::Error;
use crate::idempotency::Finished;

/// The result of a new charge or operation.
pub enum Created {
    /// The charge ran; it may still be pending.
    Ran(Box<Ran>),
    /// Another request with the same key came first; this is its answer.
    Answered(Finished),
}

/// A charge with its requests, oldest first.
pub struct Ran {
    /// The charge.
    pub charge: Charge,
    /// Its requests, oldest first.
    pub requests: Vec<TransactionRequest>,
}

/// The stored charge with its requests.
pub(super) async fn reread(app: &App, charge: &Charge) -> Result<Ran, Error> {
    let (client_id, id) = (charge.client_id, charge.id);
    let Some((stored, requests)) = charges::find_with_requests(&app.store, client_id, id).await? else {
        return Err(Error::internal("a charge that is gone"));
    };
    let requests = requests.into_iter().map(|stored| stored.request).collect();
    Ok(Ran { charge: stored.charge, requests })
}

/// The charge that a request belongs to.
pub(super) async fn charge_of(app: &App, request: &TransactionRequest) -> Result<Charge, Error> {
    let id = regente_domain::id::Id::new(request.object_id);
    let found = charges::find(&app.store, request.client_id, id).await?;
    let found = found.ok_or_else(|| Error::internal("a transaction request without its charge"))?;
    Ok(found.charge)
}

/// The provider of a request as it is configured now, even if it was deleted since.
pub(super) async fn provider_of(app: &App, request: &TransactionRequest) -> Result<Provider, Error> {
    regente_store::providers::find(&app.store, request.client_id, request.provider_id)
        .await?
        .ok_or_else(|| Error::internal("a transaction request without its provider"))
}
