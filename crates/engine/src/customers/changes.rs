//! Changes and deletes customers. E-mail address and document never change.

use regente_domain::customer::Address;
use regente_domain::id::CustomerId;
use regente_domain::time::{Timestamp, later_of};
use regente_store::customers;
use regente_store::{Batch, Commit};
use uuid::Uuid;

use super::{Customer, CustomerData, StoredAddress, find};
use crate::app::App;
use crate::caller::{Caller, RequestId};
use crate::error::Error;
use crate::{audit, deletion, races};

/// A change of a customer; what is absent stays.
pub struct CustomerChanges {
    /// Name.
    pub name: Option<String>,
    /// Phone number.
    pub phone_number: Option<String>,
    /// Home address.
    pub address: Option<Address>,
}

impl CustomerChanges {
    /// The data after the change; `new_address_id` is used when there was no address.
    fn apply(&self, before: &CustomerData, new_address_id: Uuid, now: Timestamp) -> CustomerData {
        let mut data = before.clone();
        if let Some(name) = &self.name {
            data.name.clone_from(name);
        }
        if let Some(phone_number) = &self.phone_number {
            data.phone_number.clone_from(phone_number);
        }
        if let Some(address) = self.address.clone() {
            data.address = Some(match data.address.take() {
                Some(before) => before.changed(address, now),
                None => StoredAddress::new(new_address_id, address, now),
            });
        }
        data
    }
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
    for _ in races::tries() {
        let before = find(app, caller, id).await?;
        let now = app.clock.of(caller.client_id);
        let data = changes.apply(&before.data, app.chance.id::<Customer>(now).uuid(), now);
        if data == before.data {
            return Ok(before);
        }
        let after = before.changed(app, before.stored.keys, data, now)?;
        let mut batch = Batch::new(caller.client_id);
        customers::update(&mut batch, &after.stored);
        audit::record(app, &mut batch, caller, request_id, "customer.updated", after.id().uuid());
        let _admission = app.store.admit(caller.client_id)?;
        match app.store.apply(batch).await? {
            Commit::Applied => return Ok(after),
            // Another change came first, or the commit's outcome is unknown: applying the same change again is right in
            // both cases.
            Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    Err(Error::busy())
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
    deletion::delete(|| async {
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
