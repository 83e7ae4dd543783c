//! Changes and deletes customers. E-mail address and document never change.

use regente_domain::customer::CustomerChanges;
use regente_domain::id::CustomerId;
use regente_domain::time::{Timestamp, later_of};
use regente_store::Batch;
use regente_store::customers;
use uuid::Uuid;

use super::{Customer, CustomerData, StoredAddress, find};
use crate::app::App;
use crate::audit;
use crate::caller::{Caller, RequestId};
use crate::error::Error;
use crate::races::{self, Changed};

/// The data after the changes; `new_address_id` is used when there was no address.
fn changed(
    before: &CustomerData,
    changes: &CustomerChanges,
    new_address_id: Uuid,
    now: Timestamp,
) -> CustomerData {
    let mut data = before.clone();
    if let Some(name) = &changes.name {
        data.name.clone_from(name);
    }
    if let Some(phone_number) = &changes.phone_number {
        data.phone_number.clone_from(phone_number);
    }
    if let Some(address) = changes.address.clone() {
        data.address = Some(match data.address.take() {
            Some(before) => before.changed(address, now),
            None => StoredAddress::new(new_address_id, address, now),
        });
    }
    data
}

/// Changes a customer.
///
/// # Errors
/// [`Error::NotFound`], also when a public key names an alias.
pub async fn change(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    id: CustomerId,
    changes: &CustomerChanges,
) -> Result<Customer, Error> {
    races::change(|| async {
        let before = find(app, caller, id).await?;
        let now = app.clock.of(caller.client_id);
        let data = changed(&before.data, changes, app.chance.id::<Customer>(now).uuid(), now);
        if data == before.data {
            return Ok(Changed::Already(before));
        }
        let after = before.changed(app, before.stored.keys, data, now)?;
        let mut batch = Batch::new(caller.client_id);
        customers::update(&mut batch, &after.stored);
        audit::record(app, &mut batch, caller, request_id, "customer.updated", after.id().uuid());
        let _admission = app.store.admit(caller.client_id)?;
        Ok(Changed::Written(app.store.apply(batch).await?, after))
    })
    .await
}

/// Deletes a customer with everything personal about them. Their cards and charges stay; their e-mail address and document are free
/// again.
///
/// # Errors
/// [`Error::NotFound`], also when a public key names an alias.
pub async fn delete(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    id: CustomerId,
) -> Result<(), Error> {
    races::delete(|| async {
        let customer = find(app, caller, id).await?;
        let mut batch = Batch::new(caller.client_id);
        let now = later_of(app.clock.of(caller.client_id), customer.stored.updated_at);
        customers::delete(&mut batch, &customer.stored, now);
        audit::record(app, &mut batch, caller, request_id, "customer.deleted", customer.id().uuid());
        let _admission = app.store.admit(caller.client_id)?;
        Ok(app.store.apply(batch).await?)
    })
    .await
}
