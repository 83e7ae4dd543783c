//! Sellers: creates, changes and deletes them, with their files ([`documents`]). [`registration`] tells their providers, after the batch of the change or in a
//! job; what a provider answers is written with the event of the status that follows.

pub mod documents;
mod record;
pub mod registration;
pub mod reviews;

use std::time::Duration;

use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, MerchantId, ProviderId, SellerId};
use regente_domain::seller::data::{Marks, SellerData};
use regente_domain::seller::document::SellerDocument;
use regente_domain::seller::{Link, ReasonType, Seller, Switch};
use regente_domain::time::{Timestamp, later_of};
use regente_store::merchants::{self, MerchantWithProviders};
use regente_store::providers::Provider;
use regente_store::sellers::{self as rows, StoredSeller};
use regente_store::{Batch, Commit, events, seller_documents};
use serde_json::Value;
use uuid::Uuid;

pub use record::Private;

use crate::app::App;
use crate::audit;
use crate::caller::{Caller, RequestId};
use crate::error::Error;
use crate::events::seller::News;
use crate::queue;
use crate::queue::sellers::About;

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

/// The live merchant that a seller is to belong to.
///
/// # Errors
/// [`Error::Impossible`] names the field.
pub async fn merchant(
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

/// Adds a new seller to the batch, with its event and the jobs that register it.
pub async fn plan_creation(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    batch: &mut Batch,
    merchant: &MerchantWithProviders,
    (data, documents): (SellerData, &[SellerDocument]),
    registers: Registers,
) -> Result<Record, Error> {
    let now = app.clock.of(caller.client_id);
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
        client_id: caller.client_id,
        merchant_id: merchant.merchant.id,
        switch: Switch::On,
        status_reason: None,
        reason_type: None,
        bears: data.bears(),
        links,
        data_version: 1,
        version: 1,
        updated_at: created_at,
    };
    let marks = Marks::default().of(None, &data, created_at, || new_uuid(app, now));
    let record = Record { seller, private: Private { data, marks } };
    let stored = record.private.stored(app, record.seller.clone()).await?;
    must_be_only(app, &stored).await?;
    rows::insert(batch, &stored)?;
    documents::attach(app, batch, &record.seller, documents);
    audit::record(app, batch, caller, request_id, "seller.created", id.uuid());
    announce(app, batch, &record.seller, None, &caller.actor())?;
    enqueue(app, batch, &record.seller, registers.job_at(now));
    Ok(record)
}

/// A change of a seller that a client asks for. What is absent stays.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Switched on or off by hand.
    pub switch: Option<Switch>,
    /// The reason for the status.
    pub status_reason: Option<Option<String>>,
    /// The kind of that reason.
    pub reason_type: Option<Option<ReasonType>>,
    /// All its data, after the change.
    pub data: Option<SellerData>,
    /// Files that it is given.
    pub documents: Vec<SellerDocument>,
}

/// The seller after a change, at the next version; `None` when nothing changes.
fn changed(app: &App, before: &Record, change: &Change) -> Option<Record> {
    let now = later_of(app.clock.of(before.seller.client_id), before.seller.updated_at);
    let mut after = before.clone();
    if let Some(switch) = change.switch {
        after.seller.switch = switch;
    }
    if let Some(reason) = &change.status_reason {
        after.seller.status_reason.clone_from(reason);
    }
    if let Some(kind) = change.reason_type {
        after.seller.reason_type = kind;
    }
    if let Some(data) = change.data.as_ref().filter(|data| **data != before.private.data) {
        after.take(data.clone(), now, || new_uuid(app, now));
    }
    if after == *before && change.documents.is_empty() {
        return None;
    }
    after.seller.version += 1;
    after.seller.updated_at = now;
    Some(after)
}

/// Changes a seller, and tells its providers of new data.
///
/// # Errors
/// [`Error::Conflict`] when another seller of the merchant has its document.
pub async fn change(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    before: &Record,
    change: &Change,
    registers: Registers,
) -> Result<Option<Record>, Error> {
    let Some(after) = changed(app, before, change) else { return Ok(Some(before.clone())) };
    let (seller, now) = (&after.seller, app.clock.of(caller.client_id));
    let mut batch = Batch::new(caller.client_id);
    let stored = after.private.stored(app, seller.clone()).await?;
    must_be_only(app, &stored).await?;
    rows::update(&mut batch, &stored)?;
    documents::attach(app, &mut batch, seller, &change.documents);
    audit::record(app, &mut batch, caller, request_id, "seller.updated", seller.id.uuid());
    if seller.status() != before.seller.status() {
        announce(app, &mut batch, seller, None, &caller.actor())?;
    }
    if seller.data_version != before.seller.data_version || !change.documents.is_empty() {
        enqueue(app, &mut batch, seller, registers.job_at(now));
    }
    let _admission = app.store.admit(caller.client_id)?;
    Ok(match app.store.apply(batch).await? {
        Commit::Applied => Some(after),
        // Another change came first, or the commit is unknown: the stored seller tells.
        Commit::Refused(_) | Commit::Unknown => None,
    })
}

/// Deletes a seller and erases its data and files; whether that is known to be done.
pub async fn delete(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    seller: &Seller,
) -> Result<Commit, Error> {
    let mut batch = Batch::new(caller.client_id);
    rows::delete(&mut batch, seller, later_of(app.clock.of(caller.client_id), seller.updated_at))?;
    seller_documents::delete_of(&mut batch, seller.id);
    reviews::cancel_all(app, &mut batch, seller, &caller.actor()).await?;
    audit::record(app, &mut batch, caller, request_id, "seller.deleted", seller.id.uuid());
    let _admission = app.store.admit(caller.client_id)?;
    Ok(app.store.apply(batch).await?)
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
    let snapshot = serde_json::to_string(&News::of(seller, origin)).map_err(Error::internal)?;
    let event = events::NewEvent {
        id: app.chance.id(app.clock.of(seller.client_id)),
        object_id: seller.id.uuid(),
        version: seller.version,
        ordinal: 0,
        name: seller.event(),
        snapshot: &snapshot,
        actor,
    };
    events::announce(batch, event);
    Ok(())
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
    Ok(news.data(private.as_ref().map(|private| (&private.data, &private.marks))))
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
