//! Sellers: creates, changes, deletes and lists them, with their files ([`documents`]). [`registration`] tells their providers,
//! after the batch of the change or in a job; what a provider answers is written with the event of the status that follows.

mod change;
pub mod documents;
mod record;
pub mod registration;
pub mod reviews;

use std::time::Duration;

use regente_domain::actor::Actor;
use regente_domain::customer::normal_email;
use regente_domain::id::{ClientId, MerchantId, ProviderId, SellerDocumentId, SellerId};
use regente_domain::seller::data::{Marks, SellerData};
use regente_domain::seller::{Link, LinkStatus, Seller, Switch};
use regente_domain::time::{Timestamp, later_of};
use regente_store::customers::Slice;
use regente_store::merchants::{self, MerchantWithProviders};
use regente_store::providers::Provider;
use regente_store::sellers::{self as rows, SellerFilter, StoredSeller};
use regente_store::{Batch, Commit, seller_documents};
use serde_json::Value;
use uuid::Uuid;

pub use change::{Change, change, must_stay_with, switch_to};
pub use record::Private;

use crate::announce::{self, Changed};
use crate::app::App;
use crate::caller::{Caller, RequestId};
use crate::customers::check_digits;
use crate::error::Error;
use crate::events::seller::News;
use crate::queue::sellers::About;
use crate::vault::Lookup;
use crate::{audit, plans, queue, races};

/// How long a request waits for providers before their answers are waited for in the background.
pub const REGISTERS_WITHIN: Duration = Duration::from_secs(10);
/// When the job of a registration looks that a request makes itself: the request has ended by then.
const JOB_AFTER: Duration = Duration::from_secs(15);

/// Who waits for a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registers {
    /// The request, for a while.
    Now,
    /// A job alone.
    InBackground,
}

/// A seller with its data.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What is in the clear.
    pub seller: Seller,
    /// What is sealed.
    pub private: Private,
}

impl Record {
    /// Opens a row.
    ///
    /// # Errors
    /// [`Error::Internal`] when the data does not open.
    pub async fn open(app: &App, stored: StoredSeller) -> Result<Self, Error> {
        let private = Private::open(app, &stored.seller, &stored.private).await?;
        Ok(Self { seller: stored.seller, private })
    }

    /// Takes over changed data.
    fn take(&mut self, data: SellerData, now: Timestamp, new_id: impl FnMut() -> Uuid) {
        if data == self.private.data {
            return;
        }
        self.private.marks = self.private.marks.of(Some(&self.private.data), &data, now, new_id);
        self.seller.bears = data.bears();
        self.seller.transfers = data.transfers();
        self.seller.data_version += 1;
        self.private.data = data;
    }
}

/// A live seller of an account.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn find(app: &App, client_id: ClientId, id: SellerId) -> Result<Record, Error> {
    let stored = rows::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)?;
    Record::open(app, stored).await
}

/// A page of the sellers of an account, and how many there are; `email` is of the owner or of the company.
pub async fn list(
    app: &App,
    client_id: ClientId,
    (email, others): (Option<&str>, SellerFilter),
    slice: Slice,
) -> Result<(Vec<Record>, u64), Error> {
    let keys = app.vault.client_keys(client_id).await?;
    let email = email.map(|email| keys.lookup_key(Lookup::Email, &normal_email(email)));
    let filter = SellerFilter { email, ..others };
    let total = rows::count(&app.store, client_id, &filter).await?;
    let mut found = Vec::new();
    for stored in rows::page(&app.store, client_id, &filter, slice).await? {
        found.push(Record::open(app, stored).await?);
    }
    Ok((found, total))
}

async fn merchant_of(
    app: &App,
    client_id: ClientId,
    merchant_id: MerchantId,
) -> Result<MerchantWithProviders, Error> {
    let found = merchants::with_providers(&app.store, client_id, merchant_id).await?;
    found.ok_or_else(|| Error::Impossible {
        message: "merchant not found".into(),
        details: vec!["merchantId was not found".to_owned()],
    })
}

/// Whether sellers are registered at a provider: it splits some kind of payment.
pub fn takes_sellers(app: &App, provider: &Provider) -> bool {
    app.settings.simulators.permit(provider.provider_type)
        && !provider.provider_type.capabilities().split.is_empty()
}

/// A seller that a client asks for.
#[derive(Clone, Debug)]
pub struct NewSeller {
    /// The merchant that it is to belong to.
    pub merchant_id: MerchantId,
    /// What the client says of it; [`check`] has checked it.
    pub data: SellerData,
    /// Files that it is given.
    pub document_ids: Vec<SellerDocumentId>,
    /// Who waits for its registrations.
    pub registers: Registers,
}

/// Checks what the fields of a seller alone do not tell.
///
/// # Errors
/// [`Error::Invalid`] names a document with wrong check digits.
pub async fn check(app: &App, client_id: ClientId, data: &SellerData) -> Result<(), Error> {
    check_digits(app, client_id, &data.owner.document, "owner.document").await?;
    if let Some(business) = &data.business {
        check_digits(app, client_id, &business.document, "business.document").await?;
    }
    Ok(())
}

/// A new seller, and the batch that writes it, with its event and the jobs that register it.
///
/// # Errors
/// [`Error::Impossible`] names a merchant, a plan or a file that is not there; [`Error::Conflict`] when another seller of the
/// merchant has its document.
pub async fn plan_creation(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    new: &NewSeller,
) -> Result<(Batch, Record), Error> {
    let client_id = caller.client_id;
    let merchant = merchant_of(app, client_id, new.merchant_id).await?;
    plans::must_take_links(app, client_id, new.data.plan_id).await?;
    let documents = documents::to_attach(app, client_id, &new.document_ids, None).await?;
    let now = app.clock.of(client_id);
    let id: SellerId = app.chance.id(now);
    let created_at = id.created_at();
    let mut able: Vec<&Provider> =
        merchant.providers.iter().filter(|provider| takes_sellers(app, provider)).collect();
    able.sort_by_key(|provider| (provider.priority, provider.id));
    let links = able
        .into_iter()
        .map(|provider| Link::new(provider.id, provider.provider_type, new_uuid(app, now), created_at))
        .collect();
    let seller = Seller {
        id,
        client_id,
        merchant_id: new.merchant_id,
        switch: Switch::On,
        status_reason: None,
        reason_type: None,
        bears: new.data.bears(),
        transfers: new.data.transfers(),
        links,
        data_version: 1,
        version: 1,
        updated_at: created_at,
    };
    let marks = Marks::default().of(None, &new.data, created_at, || new_uuid(app, now));
    let record = Record { seller, private: Private { data: new.data.clone(), marks } };
    let stored = record.private.stored(app, record.seller.clone()).await?;
    must_be_only(app, &stored).await?;
    let mut batch = Batch::new(client_id);
    rows::insert(&mut batch, &stored)?;
    if new.data.plan_id.is_some() {
        plans::link(app, &mut batch, &record.seller, new.data.plan_id);
    }
    documents::attach(app, &mut batch, &record.seller, &documents);
    audit::record(app, &mut batch, caller, request_id, "seller.created", id.uuid());
    announce(app, &mut batch, &record.seller, None, &caller.actor())?;
    enqueue(app, &mut batch, &record.seller, new.registers.job_at(now));
    Ok((batch, record))
}

/// A new seller once its providers were asked. Its registrations are shown as pending: what its providers have decided is an
/// event, and what the next read shows.
pub async fn registered(app: &App, client_id: ClientId, id: SellerId) -> Result<Record, Error> {
    let mut record = settled(app, client_id, id).await?;
    for link in &mut record.seller.links {
        link.status = LinkStatus::Pending;
    }
    Ok(record)
}

/// A seller after its providers were asked.
async fn settled(app: &App, client_id: ClientId, id: SellerId) -> Result<Record, Error> {
    let record = find(app, client_id, id).await?;
    registration::now(app, &record.seller).await;
    find(app, client_id, id).await
}

/// Deletes a seller of this merchant, and erases its data and files.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn delete(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    merchant_id: MerchantId,
    id: SellerId,
) -> Result<(), Error> {
    let client_id = caller.client_id;
    races::delete(|| async {
        let found = rows::find(&app.store, client_id, id).await?.map(|stored| stored.seller);
        let seller = found.filter(|seller| seller.merchant_id == merchant_id).ok_or(Error::NotFound)?;
        let mut batch = Batch::new(client_id);
        rows::delete(&mut batch, &seller, later_of(app.clock.of(client_id), seller.updated_at))?;
        seller_documents::delete_of(&mut batch, seller.id);
        reviews::cancel_all(app, &mut batch, &seller, &caller.actor()).await?;
        audit::record(app, &mut batch, caller, request_id, "seller.deleted", seller.id.uuid());
        let _admission = app.store.admit(client_id)?;
        Ok(app.store.apply(batch).await?)
    })
    .await
}

/// A merchant has one seller for each document: one receiver for each account at its providers.
async fn must_be_only(app: &App, stored: &StoredSeller) -> Result<(), Error> {
    let StoredSeller { seller, keys, .. } = stored;
    let holder = rows::of_document(&app.store, seller.client_id, seller.merchant_id, keys.document).await?;
    match holder.filter(|holder| *holder != seller.id) {
        Some(_) => Err(Error::conflict(vec!["seller with this document already exists".to_owned()])),
        None => Ok(()),
    }
}

fn enqueue(app: &App, batch: &mut Batch, seller: &Seller, run_at: Timestamp) {
    for link in &seller.links {
        let about = About { seller_id: seller.id, provider_id: link.provider_id };
        queue::sellers::register(app, batch, about, run_at);
    }
}

impl Registers {
    /// When the jobs look that go on with what the request leaves.
    fn job_at(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Now => now + JOB_AFTER,
            Self::InBackground => now,
        }
    }
}

fn new_uuid(app: &App, now: Timestamp) -> Uuid {
    app.chance.id::<()>(now).uuid()
}

/// Adds the event of a seller that has come into its status.
fn announce(
    app: &App,
    batch: &mut Batch,
    seller: &Seller,
    origin: Option<&Link>,
    actor: &Actor,
) -> Result<(), Error> {
    let changed = Changed { id: seller.id.uuid(), version: seller.version };
    announce::announce(app, batch, &changed, (0, seller.event()), &News::of(seller, origin), actor)
}

/// `data` of an event of a seller, with its data as it is now; a deleted seller has none.
pub async fn told(app: &App, snapshot: &str) -> Result<Value, Error> {
    let mut news: News = serde_json::from_str(snapshot).map_err(Error::internal)?;
    let (client_id, id) = (news.seller().client_id, news.seller().id);
    let private = match rows::find(&app.store, client_id, id).await? {
        Some(stored) => {
            news.takes_reasons_of(&stored.seller);
            Some(Record::open(app, stored).await?.private)
        }
        None => None,
    };
    news.data(private.as_ref().map(|private| (&private.data, &private.marks))).map_err(Error::internal)
}

/// Makes the job of a registration look at its provider now; whether there is such a registration.
pub(crate) async fn look_again(
    app: &App,
    client_id: ClientId,
    seller_id: SellerId,
    (provider_id, key): (ProviderId, Uuid),
) -> Result<bool, Error> {
    let Some(stored) = rows::find(&app.store, client_id, seller_id).await? else { return Ok(false) };
    if stored.seller.link(provider_id).is_none_or(|link| link.key != key) {
        return Ok(false);
    }
    let mut batch = Batch::new(client_id);
    let about = About { seller_id, provider_id };
    queue::sellers::register(app, &mut batch, about, app.clock.of(client_id));
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(true),
        Commit::Refused(_) | Commit::Unknown => Err(Error::unavailable()),
    }
}
