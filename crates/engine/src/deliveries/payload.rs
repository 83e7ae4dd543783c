//! Builds the payload of an event: `data` as of right after the change, built once and stored, and its envelope
//! (`docs/interface/webhooks.md#envelope`). All attempts send the same bytes.

use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::{ChargeEvent, ChargeStatus};
use regente_domain::id::{ChargeId, ClientId, Id};
use regente_domain::seller::SellerStatus;
use regente_domain::time::Timestamp;
use regente_domain::webhook::EventName;
use regente_store::deliveries::{Delivery, DueDelivery};
use regente_store::events::{PING, PING_OBJECT, Undispatched};
use regente_store::{Store, StoreError, charges, transaction_requests};
use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::app::App;
use crate::document_links::Addresses;
use crate::error::Error;
use crate::events::transaction::{ChargeVersion, TransactionView};
use crate::sellers;

/// Largest body in bytes; older transaction requests are left out to stay below it
/// (`docs/interface/webhooks.md#payloads`).
const BODY_BYTES_MAX: usize = 256 * 1024;
/// Bytes reserved for the envelope.
const ENVELOPE_BYTES_MAX: usize = 1024;

/// Why the payload of an event cannot be built.
#[derive(Debug, thiserror::Error)]
pub(super) enum PayloadError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The record of the event does not exist.
    #[error("{0} has no record to tell of")]
    NoRecord(String),
    /// The addresses of its documents are not known.
    #[error(transparent)]
    Addresses(#[from] Error),
    /// A record is not valid JSON.
    #[error("an event that is no JSON")]
    Json(#[from] serde_json::Error),
}

/// Builds `data` of an event that was stored without one.
pub(super) async fn data(
    app: &App,
    client_id: ClientId,
    event: &Undispatched,
) -> Result<String, PayloadError> {
    let no_record = || PayloadError::NoRecord(event.full_name.clone());
    let announced = EventName::parse(&event.full_name).and_then(ChargeEvent::of).ok_or_else(no_record)?;
    let id = Id::new(event.object_id);
    let shown = shown(&app.store, client_id, id, event, announced).await?.ok_or_else(no_record)?;
    let addresses = Addresses::of(app, &shown.charge).await?;
    let stored = transaction_requests::of_object(&app.store, client_id, event.object_id).await?;
    let requests: Vec<TransactionRequest> = stored.into_iter().map(|stored| stored.request).collect();
    let mut requests = requests_at(&shown, &requests);
    let is_disputed = shown.charge.is_disputed(&requests);
    loop {
        let data = serde_json::to_string(&TransactionView::of(&shown, &addresses, &requests, is_disputed)?)?;
        if data.len() + ENVELOPE_BYTES_MAX <= BODY_BYTES_MAX || requests.is_empty() {
            return Ok(data);
        }
        requests.remove(0);
    }
}

/// The charge at the version of the event. Versions that no caller was answered with are not stored: they are derived
/// from the event and the adjacent version.
async fn shown(
    store: &Store,
    client_id: ClientId,
    id: ChargeId,
    event: &Undispatched,
    announced: ChargeEvent,
) -> Result<Option<ChargeVersion>, StoreError> {
    if let Some(stored) = charges::find_version(store, client_id, id, event.version).await? {
        let charge = stored.charge;
        return Ok(Some(ChargeVersion {
            status: charge.state.status(),
            is_processing: !charge.state.is_settled(),
            amount: charge.amount,
            requests: usize::try_from(charge.requests).unwrap_or(usize::MAX),
            at: charge.updated_at,
            charge,
        }));
    }
    let (beside, status) = match announced {
        ChargeEvent::Pending => (charges::find(store, client_id, id).await?, ChargeStatus::Pending),
        ChargeEvent::RefundPending => (
            charges::find_version(store, client_id, id, event.version - 1).await?,
            ChargeStatus::RefundPending,
        ),
        ChargeEvent::PreAuthorized
        | ChargeEvent::Authorized
        | ChargeEvent::Failed
        | ChargeEvent::Canceled
        | ChargeEvent::Voided
        | ChargeEvent::ChargedBack
        | ChargeEvent::Dispute
        | ChargeEvent::DisputeClosed
        | ChargeEvent::RevertVoid
        | ChargeEvent::ProbeVoid => return Ok(None),
    };
    Ok(beside.map(|stored| {
        let charge = stored.charge;
        let (amount, requests) = match announced {
            ChargeEvent::Pending => (charge.original_amount, 1),
            ChargeEvent::RefundPending
            | ChargeEvent::PreAuthorized
            | ChargeEvent::Authorized
            | ChargeEvent::Failed
            | ChargeEvent::Canceled
            | ChargeEvent::Voided
            | ChargeEvent::ChargedBack
            | ChargeEvent::Dispute
            | ChargeEvent::DisputeClosed
            | ChargeEvent::RevertVoid
            | ChargeEvent::ProbeVoid => {
                (charge.amount, usize::try_from(charge.requests + 1).unwrap_or(usize::MAX))
            }
        };
        ChargeVersion { status, is_processing: true, amount, requests, at: event.id.created_at(), charge }
    }))
}

/// The requests of the version, oldest first. A request that ended later is shown as open.
fn requests_at(shown: &ChargeVersion, requests: &[TransactionRequest]) -> Vec<TransactionRequest> {
    requests.iter().take(shown.requests).map(|request| request.as_of(shown.at)).collect()
}

/// The whole body.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    id: Uuid,
    api_version: &'static str,
    object: &'a str,
    event: &'a str,
    created_at: Timestamp,
    data: &'a RawValue,
}

/// The bytes to send: always the same for one delivery, but for the data of a seller, which is not stored with its event.
pub(super) async fn body(app: &App, due: &DueDelivery) -> Result<Vec<u8>, Error> {
    let news = match EventName::parse(&due.delivery.event) {
        Some(name) if SellerStatus::of_event(name).is_some() => {
            Some(sellers::told(app, &due.snapshot).await?.to_string())
        }
        Some(_) | None => None,
    };
    enveloped(&due.delivery, news.as_deref().unwrap_or(&due.snapshot)).map_err(Error::internal)
}

fn enveloped(delivery: &Delivery, data: &str) -> Result<Vec<u8>, serde_json::Error> {
    let (object, event) = delivery.event.split_once('.').unwrap_or((PING_OBJECT, PING));
    serde_json::to_vec(&Envelope {
        id: delivery.event_id.uuid(),
        api_version: delivery.api_version.word(),
        object,
        event,
        created_at: delivery.event_id.created_at(),
        data: serde_json::from_str(data)?,
    })
}
