//! Changes sellers as their clients ask for it.

use regente_domain::id::{MerchantId, SellerDocumentId, SellerId};
use regente_domain::seller::data::SellerData;
use regente_domain::seller::document::SellerDocument;
use regente_domain::seller::{ReasonType, Seller, SellerStatus, Switch};
use regente_domain::time::later_of;
use regente_store::sellers as rows;
use regente_store::{Batch, Commit};

use super::{Record, Registers, announce, check, documents, enqueue, find, must_be_only, new_uuid, settled};
use crate::app::App;
use crate::caller::{Caller, RequestId};
use crate::error::Error;
use crate::{audit, plans, queue, races};

/// A change of a seller that a client asks for. What is absent stays.
#[derive(Clone, Debug)]
pub struct Change {
    /// Switched on or off by hand.
    pub switch: Option<Switch>,
    /// The reason for the status.
    pub status_reason: Option<Option<String>>,
    /// The kind of that reason.
    pub reason_type: Option<Option<ReasonType>>,
    /// All its data, after the change.
    pub data: SellerData,
    /// Files that it is given.
    pub document_ids: Vec<SellerDocumentId>,
    /// Who waits for its providers.
    pub registers: Registers,
}

/// A seller does not change its merchant.
///
/// # Errors
/// [`Error::Impossible`] for another one.
pub fn must_stay_with(seller: &Seller, merchant_id: MerchantId) -> Result<(), Error> {
    if merchant_id == seller.merchant_id {
        return Ok(());
    }
    Err(Error::Impossible {
        message: "a seller stays with its merchant".into(),
        details: vec!["merchantId cannot be changed".to_owned()],
    })
}

/// What brings a seller into a status.
///
/// # Errors
/// [`Error::Impossible`] for a status that only providers bring it into.
pub fn switch_to(status: SellerStatus) -> Result<Switch, Error> {
    match status {
        SellerStatus::Active => Ok(Switch::On),
        SellerStatus::Inactive => Ok(Switch::Off),
        SellerStatus::Pending | SellerStatus::Partial | SellerStatus::Blocked => Err(Error::Impossible {
            message: "only the providers bring a seller into this status".into(),
            details: vec!["status must be one of the following values: active, inactive".to_owned()],
        }),
    }
}

/// The seller after a change, at the next version; `None` when nothing changes.
fn changed(app: &App, before: &Record, change: &Change, documents: &[SellerDocument]) -> Option<Record> {
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
    after.take(change.data.clone(), now, || new_uuid(app, now));
    if after == *before && documents.is_empty() {
        return None;
    }
    after.seller.version += 1;
    after.seller.updated_at = now;
    Some(after)
}

/// Changes a seller, and tells its providers of new data. `asked` says what is changed of the seller as it stands.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Impossible`] names a plan or a file that is not there; [`Error::Conflict`] when another seller of the
/// merchant has its document; or what [`check`] and `asked` say.
pub async fn change<E: From<Error>>(
    app: &App,
    by: (&Caller, &RequestId),
    id: SellerId,
    asked: impl Fn(&Record) -> Result<Change, E>,
) -> Result<Record, E> {
    let client_id = by.0.client_id;
    for _ in races::tries() {
        let before = find(app, client_id, id).await?;
        let change = asked(&before)?;
        check(app, client_id, &change.data).await?;
        if change.data.plan_id != before.private.data.plan_id {
            plans::must_take_links(app, client_id, change.data.plan_id).await?;
        }
        let ids = &change.document_ids;
        let documents = documents::to_attach(app, client_id, ids, Some(&before.seller)).await?;
        let Some(after) = changed(app, &before, &change, &documents) else { return Ok(before) };
        match write_change(app, by, (&before, &after), &documents, change.registers).await? {
            Commit::Applied => {}
            // Another change came first, or the commit is unknown: the stored seller tells.
            Commit::Refused(_) | Commit::Unknown => continue,
        }
        return Ok(match change.registers {
            Registers::Now if is_news(&before, &after, &documents) => {
                settled(app, client_id, id).await.unwrap_or(after)
            }
            Registers::Now | Registers::InBackground => after,
        });
    }
    Err(Error::busy().into())
}

/// Whether a change has something to tell the providers.
fn is_news(before: &Record, after: &Record, documents: &[SellerDocument]) -> bool {
    after.seller.data_version != before.seller.data_version || !documents.is_empty()
}

async fn write_change(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    (before, after): (&Record, &Record),
    documents: &[SellerDocument],
    registers: Registers,
) -> Result<Commit, Error> {
    let (seller, now) = (&after.seller, app.clock.of(caller.client_id));
    let mut batch = Batch::new(caller.client_id);
    let stored = after.private.stored(app, seller.clone()).await?;
    must_be_only(app, &stored).await?;
    rows::update(&mut batch, &stored)?;
    queue::payouts::resume(app, &mut batch, &before.seller, seller);
    let plan_id = after.private.data.plan_id;
    if plan_id != before.private.data.plan_id {
        plans::link(app, &mut batch, seller, plan_id);
    }
    documents::attach(app, &mut batch, seller, documents);
    audit::record(app, &mut batch, caller, request_id, "seller.updated", seller.id.uuid());
    if seller.status() != before.seller.status() {
        announce(app, &mut batch, seller, None, &caller.actor())?;
    }
    if is_news(before, after, documents) {
        enqueue(app, &mut batch, seller, registers.job_at(now));
    }
    let _admission = app.store.admit(caller.client_id)?;
    Ok(app.store.apply(batch).await?)
}
