//! Reads what is stored of a charge, for the tasks that go on with it.

use regente_domain::charge::Charge;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::id::{ChargeId, ClientId, Id};
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

/// A charge with its requests, if there is such a charge.
pub(crate) async fn find(app: &App, client_id: ClientId, id: ChargeId) -> Result<Option<Ran>, Error> {
    let found = charges::find_with_requests(&app.store, client_id, id).await?;
    Ok(found.map(|(stored, requests)| Ran {
        charge: stored.charge,
        requests: requests.into_iter().map(|stored| stored.request).collect(),
    }))
}

/// The charge as it is stored now, with its requests.
pub(crate) async fn reread(app: &App, charge: &Charge) -> Result<Ran, Error> {
    let found = find(app, charge.client_id, charge.id).await?;
    found.ok_or_else(|| Error::internal("a charge that is gone"))
}

/// The charge that a request belongs to, with all its requests.
pub(crate) async fn whole_of(app: &App, request: &TransactionRequest) -> Result<Ran, Error> {
    find(app, request.client_id, Id::new(request.object_id)).await?.ok_or_else(without_charge)
}

/// The charge that a request belongs to.
pub(crate) async fn charge_of(app: &App, request: &TransactionRequest) -> Result<Charge, Error> {
    let found = charges::find(&app.store, request.client_id, Id::new(request.object_id)).await?;
    Ok(found.ok_or_else(without_charge)?.charge)
}

fn without_charge() -> Error {
    Error::internal("a transaction request without its charge")
}

/// The provider of a request as it is configured now, even if it was deleted since.
pub(crate) async fn provider_of(app: &App, request: &TransactionRequest) -> Result<Provider, Error> {
    regente_store::providers::find(&app.store, request.client_id, request.provider_id)
        .await?
        .ok_or_else(|| Error::internal("a transaction request without its provider"))
}
