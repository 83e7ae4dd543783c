//! Files that show who sellers are: uploads them, gives them to a seller, offers them to its providers, and deletes them at
//! their end (`docs/interface/seller-documents.md`).

use regente_domain::id::{ClientId, ProviderId, SellerDocumentId, SellerId};
use regente_domain::seller::Seller;
use regente_domain::seller::document::{
    DocumentKind, DocumentStage, DocumentStatus, FileFormat, SellerDocument, Takes,
};
use regente_domain::time::Timestamp;
use regente_providers::seller::SellerFile;
use regente_store::seller_documents as rows;
use regente_store::{Batch, Commit};

use crate::app::App;
use crate::caller::{Caller, RequestId};
use crate::error::Error;
use crate::vault::{Binding, Purpose};
use crate::{audit, queue, races};

/// The most files of one seller.
pub const OF_SELLER_MAX: usize = 20;

/// A file that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Upload<'a> {
    /// What it shows, as its sender says.
    pub kind: DocumentKind,
    /// Its format, as its content shows.
    pub format: FileFormat,
    /// Its content.
    pub bytes: &'a [u8],
}

/// A new file, and the batch that writes it, with the job that ends it.
pub fn plan_upload(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    upload: Upload<'_>,
) -> (Batch, SellerDocument) {
    let mut batch = Batch::new(caller.client_id);
    let document = add(app, &mut batch, upload, DocumentStage::Uploaded);
    audit::record(app, &mut batch, caller, request_id, "seller_document.uploaded", document.id.uuid());
    (batch, document)
}

/// Adds a file to the batch that a seller brings itself: it is the seller's at once.
pub(super) fn keep(app: &App, batch: &mut Batch, seller_id: SellerId, upload: Upload<'_>) -> SellerDocument {
    add(app, batch, upload, DocumentStage::Attached(seller_id))
}

fn add(app: &App, batch: &mut Batch, upload: Upload<'_>, place: DocumentStage) -> SellerDocument {
    let client_id = batch.client_id();
    let id: SellerDocumentId = app.chance.id(app.clock.of(client_id));
    let document = SellerDocument {
        id,
        client_id,
        kind: upload.kind,
        format: upload.format,
        place,
        offered: Vec::new(),
        version: 1,
    };
    rows::insert(batch, &document, app.vault.seal(binding(&document), upload.bytes));
    if let Some(at) = document.ends_at() {
        queue::sellers::end_document(app, batch, id, at);
    }
    document
}

/// A file that has not expired.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn find(app: &App, client_id: ClientId, id: SellerDocumentId) -> Result<SellerDocument, Error> {
    let found = rows::find(&app.store, client_id, id).await?;
    let now = app.clock.of(client_id);
    found.filter(|document| !document.is_over(now)).ok_or(Error::NotFound)
}

/// Deletes a file that waits for its seller.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::RuleBroken`] when a seller has it.
pub async fn delete(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    id: SellerDocumentId,
) -> Result<(), Error> {
    races::delete(|| async {
        let document = find(app, caller.client_id, id).await?;
        match document.status() {
            DocumentStatus::Uploaded => {}
            DocumentStatus::Attached | DocumentStatus::Sent => {
                return Err(Error::RuleBroken("document already attached to a seller"));
            }
        }
        let mut batch = Batch::new(caller.client_id);
        rows::delete(&mut batch, &document);
        audit::record(app, &mut batch, caller, request_id, "seller_document.deleted", id.uuid());
        let _admission = app.store.admit(caller.client_id)?;
        Ok(app.store.apply(batch).await?)
    })
    .await
}

/// The files that a seller is to be given, without those that it has. `seller` is absent for a new one.
///
/// # Errors
/// [`Error::Impossible`] names the entry of `documentIds` that is unknown, has expired or belongs to another seller.
pub async fn to_attach(
    app: &App,
    client_id: ClientId,
    ids: &[SellerDocumentId],
    seller: Option<&Seller>,
) -> Result<Vec<SellerDocument>, Error> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (now, found) = (app.clock.of(client_id), rows::find_many(&app.store, client_id, ids).await?);
    let mut wanted: Vec<SellerDocument> = Vec::new();
    for (place, id) in ids.iter().enumerate() {
        let document = found.iter().find(|document| document.id == *id && !document.is_over(now));
        let is_its_own = |document: &SellerDocument| match document.place {
            DocumentStage::Uploaded => false,
            DocumentStage::Attached(holder) | DocumentStage::Sent(holder, _) => {
                seller.is_some_and(|seller| seller.id == holder)
            }
        };
        match document {
            Some(document) if document.place == DocumentStage::Uploaded => {
                if !wanted.contains(document) {
                    wanted.push(document.clone());
                }
            }
            Some(document) if is_its_own(document) => {}
            Some(_) | None => return Err(refused(format!("documentIds[{place}] was not found"))),
        }
    }
    if let Some(seller) = seller.filter(|_| !wanted.is_empty()) {
        must_have_room(app, seller, wanted.len(), "documentIds").await?;
    }
    Ok(wanted)
}

/// A seller has so many files at most.
///
/// # Errors
/// [`Error::Impossible`] names the field that brings more.
pub(super) async fn must_have_room(
    app: &App,
    seller: &Seller,
    more: usize,
    field: &str,
) -> Result<(), Error> {
    let held = rows::of_seller(&app.store, seller.client_id, seller.id, 1 + OF_SELLER_MAX as i64).await?;
    if held.len() + more > OF_SELLER_MAX {
        return Err(refused(format!(
            "{field} must not bring the documents of a seller above {OF_SELLER_MAX}"
        )));
    }
    Ok(())
}

fn refused(detail: String) -> Error {
    Error::Impossible { message: "document not found".into(), details: vec![detail] }
}

/// Gives a seller its files, in the batch of its change. A file that another request has taken meanwhile refuses the batch.
pub(super) fn attach(app: &App, batch: &mut Batch, seller: &Seller, documents: &[SellerDocument]) {
    let now = app.clock.of(seller.client_id);
    for document in documents {
        // One that is over has been deleted, or is about to be: its guard refuses the batch, and it is not found.
        let after = document.attached_to(seller.id, now).unwrap_or_else(|| document.clone());
        rows::advance(batch, &after);
    }
}

/// The files of a seller that a provider has not been offered.
pub(super) async fn to_offer(
    app: &App,
    seller: &Seller,
    provider_id: ProviderId,
) -> Result<Vec<SellerDocument>, Error> {
    let now = app.clock.of(seller.client_id);
    let mut held = rows::of_seller(&app.store, seller.client_id, seller.id, OF_SELLER_MAX as i64).await?;
    held.retain(|held| !held.offered.contains(&provider_id) && !held.is_over(now));
    Ok(held)
}

/// A file with its content; `None` when it is gone.
pub(super) async fn open(app: &App, document: &SellerDocument) -> Result<Option<SellerFile>, Error> {
    let Some(sealed) = rows::file(&app.store, document.client_id, document.id).await? else {
        return Ok(None);
    };
    let bytes = app.vault.open(binding(document), &sealed).await?;
    let SellerDocument { id, kind, format, .. } = *document;
    Ok(Some(SellerFile { id: id.uuid(), kind, format, bytes }))
}

/// Notes that a provider has answered about a file, unless something came first.
pub(super) async fn note_offer(
    app: &App,
    document: &SellerDocument,
    provider_id: ProviderId,
    takes: Takes,
) -> Result<Commit, Error> {
    let after = document.offered_to(provider_id, takes, app.clock.of(document.client_id));
    let mut batch = Batch::new(document.client_id);
    rows::advance(&mut batch, &after);
    if let Some(at) = after.ends_at() {
        queue::sellers::end_document(app, &mut batch, after.id, at);
    }
    let _admission = app.store.admit_waiting().await?;
    Ok(app.store.apply(batch).await?)
}

/// Deletes a file that is over; answers when to look again, if ever.
pub async fn end(app: &App, client_id: ClientId, id: SellerDocumentId) -> Result<Option<Timestamp>, Error> {
    let Some(document) = rows::find(&app.store, client_id, id).await? else { return Ok(None) };
    // A seller has it until a provider does; then there is another job.
    let Some(end) = document.ends_at() else { return Ok(None) };
    let now = app.clock.of(client_id);
    if end > now {
        return Ok(Some(end));
    }
    let mut batch = Batch::new(client_id);
    rows::delete(&mut batch, &document);
    let _admission = app.store.admit_waiting().await?;
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(None),
        // Something came first, or the commit is unknown: the next look tells.
        Commit::Refused(_) | Commit::Unknown => Ok(Some(now)),
    }
}

fn binding(document: &SellerDocument) -> Binding {
    Binding::new(Purpose::SellerDocument, document.client_id, document.id.uuid())
}
