//! Vendors: creates, changes, deletes and lists them, opens and seals what is known of
//! them, and finds the vendor of a charge (`docs/interface/vendors.md#charges`).

use regente_domain::id::{ClientId, VendorId};
use regente_domain::provider_type::ProviderType;
use regente_domain::time::{Timestamp, later_of};
use regente_domain::vendor::{NamedVendor, NewVendor, VendorChanges, VendorData};
use regente_providers::request::VendorDetails;
use regente_store::Batch;
use regente_store::sealed::Sealed;
use regente_store::vendors::{self, StoredVendor};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::app::App;
use crate::audit;
use crate::caller::{Caller, RequestId};
use crate::error::Error;
use crate::races::{self, Changed};
use crate::vault::{Binding, Purpose};

/// The format that this release writes.
const FORMAT: u32 = 1;
const VENDOR_PATH: &str = "vendor.id";
const FACILITATOR_PATH: &str = "vendor.paymentFacilitatorId";

/// The sealed document.
#[derive(Serialize, Deserialize)]
struct Document<D> {
    format: u32,
    #[serde(flatten)]
    data: D,
}

/// A live vendor with its opened data.
#[derive(Clone, Debug, PartialEq)]
pub struct Vendor {
    /// The row.
    pub stored: StoredVendor,
    /// The contents of its sealed column.
    pub data: VendorData,
}

impl Vendor {
    /// A vendor that is not stored yet.
    fn new(app: &App, client_id: ClientId, id: VendorId, new: &NewVendor) -> Result<Self, Error> {
        let NewVendor { reference, data } = new.clone();
        let reference_id = reference.reference_id.as_str().to_owned();
        let private = seal(app, client_id, id, &data)?;
        let updated_at = id.created_at();
        let stored = StoredVendor { id, client_id, reference_id, private, version: 1, updated_at };
        Ok(Self { stored, data })
    }

    /// Opens a row.
    async fn open(app: &App, stored: StoredVendor) -> Result<Self, Error> {
        let binding = Binding::new(Purpose::VendorData, stored.client_id, stored.id.uuid());
        let bytes = app.vault.open(binding, &stored.private).await?;
        let Document { format, data } = serde_json::from_slice(&bytes).map_err(Error::internal)?;
        match format {
            FORMAT => Ok(Self { stored, data }),
            other => Err(Error::internal(format!("vendor {}: format {other}", stored.id))),
        }
    }

    /// The vendor after a change, sealed; still at the version that was read.
    fn changed(
        &self,
        app: &App,
        reference_id: String,
        data: VendorData,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let private = seal(app, self.stored.client_id, self.stored.id, &data)?;
        let updated_at = later_of(now, self.stored.updated_at);
        Ok(Self { stored: StoredVendor { reference_id, private, updated_at, ..self.stored.clone() }, data })
    }
}

/// A vendor of the account.
///
/// # Errors
/// [`Error::NotFound`] when there is none with this id.
pub async fn find(app: &App, client_id: ClientId, id: VendorId) -> Result<Vendor, Error> {
    let stored = vendors::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)?;
    Vendor::open(app, stored).await
}

/// A page of the vendors of an account, newest first, and how many there are.
pub async fn list(
    app: &App,
    client_id: ClientId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Vendor>, u64), Error> {
    let total = vendors::count(&app.store, client_id).await?;
    let mut found = Vec::new();
    for stored in vendors::list(&app.store, client_id, limit, offset).await? {
        found.push(Vendor::open(app, stored).await?);
    }
    Ok((found, total))
}

/// A new vendor, and the batch that writes it.
///
/// # Errors
/// [`Error::Conflict`] when its reference is another vendor's.
pub async fn plan_creation(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    new: &NewVendor,
) -> Result<(Batch, Vendor), Error> {
    let client_id = caller.client_id;
    let id: VendorId = app.chance.id(app.clock.of(client_id));
    must_be_free(app, client_id, &new.reference.reference_id, id).await?;
    let vendor = Vendor::new(app, client_id, id, new)?;
    let mut batch = Batch::new(client_id);
    vendors::insert(&mut batch, &vendor.stored);
    audit::record(app, &mut batch, caller, request_id, "vendor.created", id.uuid());
    Ok((batch, vendor))
}

/// Changes a vendor.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Invalid`] when its number would not fit its type; [`Error::Conflict`] when its reference would
/// be another vendor's.
pub async fn change(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    id: VendorId,
    changes: &VendorChanges,
) -> Result<Vendor, Error> {
    let client_id = caller.client_id;
    races::change(|| async {
        let before = find(app, client_id, id).await?;
        let data = changes.applied_to(&before.data)?;
        let reference_id = changes.reference_id.as_deref().unwrap_or(&before.stored.reference_id).to_owned();
        if data == before.data && reference_id == before.stored.reference_id {
            return Ok(Changed::Already(before));
        }
        must_be_free(app, client_id, &reference_id, id).await?;
        let after = before.changed(app, reference_id, data, app.clock.of(client_id))?;
        let mut batch = Batch::new(client_id);
        vendors::update(&mut batch, &after.stored);
        audit::record(app, &mut batch, caller, request_id, "vendor.updated", id.uuid());
        let _admission = app.store.admit(client_id)?;
        Ok(Changed::Written(app.store.apply(batch).await?, after))
    })
    .await
}

/// Deletes a vendor with everything that is known of it. Its reference is free again.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn delete(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    id: VendorId,
) -> Result<(), Error> {
    let client_id = caller.client_id;
    races::delete(|| async {
        let stored = vendors::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)?;
        let mut batch = Batch::new(client_id);
        vendors::delete(&mut batch, &stored, later_of(app.clock.of(client_id), stored.updated_at));
        audit::record(app, &mut batch, caller, request_id, "vendor.deleted", id.uuid());
        let _admission = app.store.admit(client_id)?;
        Ok(app.store.apply(batch).await?)
    })
    .await
}

async fn must_be_free(app: &App, client_id: ClientId, reference_id: &str, of: VendorId) -> Result<(), Error> {
    match vendors::find_by_reference(&app.store, client_id, reference_id).await? {
        Some(other) if other.id != of => {
            Err(Error::conflict(vec!["vendor with this referenceId already exists".to_owned()]))
        }
        Some(_) | None => Ok(()),
    }
}

/// The vendor that a new charge or session names, as the providers that may be asked, which are of these types, would be
/// told of it.
///
/// # Errors
/// The account has no such vendor, or a provider would have to know the number of the payment facilitator.
pub async fn checked(
    app: &App,
    client_id: ClientId,
    named: Option<&NamedVendor>,
    asked: impl Iterator<Item = ProviderType>,
) -> Result<Option<Box<VendorDetails>>, Error> {
    let Some(named) = named else { return Ok(None) };
    if let Some(provider_type) = named.lacks_facilitator_for(asked) {
        let rule = format!("should not be empty: {} needs it", provider_type.shown());
        return Err(Error::invalid(FACILITATOR_PATH, rule));
    }
    told(app, client_id, named)
        .await?
        .map_or(Err(Error::ReferenceNotFound(VENDOR_PATH)), |told| Ok(Some(told)))
}

/// The vendor that a charge names, as its providers are told of it; `None` when it was deleted.
pub async fn told(
    app: &App,
    client_id: ClientId,
    named: &NamedVendor,
) -> Result<Option<Box<VendorDetails>>, Error> {
    let Some(stored) = vendors::find(&app.store, client_id, named.id).await? else { return Ok(None) };
    let Vendor { stored, data } = Vendor::open(app, stored).await?;
    Ok(Some(Box::new(VendorDetails {
        reference_id: stored.reference_id,
        payment_facilitator_id: named.payment_facilitator_id.clone(),
        data,
    })))
}

fn seal(app: &App, client_id: ClientId, id: VendorId, data: &VendorData) -> Result<Sealed, Error> {
    let document = Document { format: FORMAT, data };
    let bytes = serde_json::to_vec(&document).map(Zeroizing::new).map_err(Error::internal)?;
    Ok(app.vault.seal(Binding::new(Purpose::VendorData, client_id, id.uuid()), &bytes))
}
