//! Captures and voids of an accepted purchase, and the check for operations on a single card of it.

use regente_domain::charge::{Charge, FollowUpKind};
use regente_domain::id::{ClientId, PurchaseId};
use regente_domain::money::Amount;
use regente_domain::purchase::{OperationRefusal, PurchaseStatus};
use regente_store::Batch;
use regente_store::purchases::{self, PurchaseVersion, StoredPurchase};

use super::{Cards, Private};
use crate::app::App;
use crate::caller::Caller;
use crate::error::Error;
use crate::events::purchase::PurchaseView;
use crate::queue::purchases::enqueue;

/// Business code: the state does not allow the operation.
pub const INVALID_STATE: &str = "purchase_invalid_state";
/// Business code: the operation does not fit the purchase.
pub const INTENT_MISMATCH: &str = "purchase_intent_mismatch";

/// Plans a capture or void: its batch, and the purchase as it will be. An `amount` must equal the full amount; partial
/// operations are not possible.
pub async fn plan(
    app: &App,
    caller: &Caller,
    id: PurchaseId,
    operation: FollowUpKind,
    amount: Option<Amount>,
) -> Result<(Batch, PurchaseView), Error> {
    let stored = find(app, caller.client_id, id).await?;
    let (before, now) = (&stored.purchase, app.clock.of(caller.client_id));
    let (cards, private) = (Cards::of(app, before).await?, Private::open(app, &stored).await?);
    let requested = match operation {
        FollowUpKind::Capture => before.request_capture(now),
        FollowUpKind::Void => before.request_void(&cards.seen(before, &[]), now),
    };
    let step = requested.map_err(refused)?;
    let view = cards.show(&step.purchase).with_metadata(private.metadata);
    if amount.is_some_and(|amount| amount != view.amount()) {
        return Err(refused(OperationRefusal::IntentMismatch));
    }
    let mut batch = Batch::new(caller.client_id);
    purchases::update(&mut batch, before, &step, &caller.actor(), || app.chance.id(now))?;
    enqueue(app, &mut batch, &step.purchase);
    Ok((batch, view))
}

fn refused(refusal: OperationRefusal) -> Error {
    match refusal {
        OperationRefusal::InvalidState => Error::BusinessRule {
            business_code: INVALID_STATE,
            message: "Purchase state does not allow this operation".into(),
        },
        OperationRefusal::IntentMismatch => Error::BusinessRule {
            business_code: INTENT_MISMATCH,
            message: "Operation does not fit the purchase".into(),
        },
        OperationRefusal::InProgress => Error::conflict(Vec::new()),
    }
}

/// Checks whether an operation on a single card of a purchase is allowed (`docs/interface/purchases.md#single-cards`):
/// it is not for a capture or while the purchase is under way. The caller must guard its batch with the returned
/// version.
pub async fn card_is_free(
    app: &App,
    charge: &Charge,
    operation: Option<FollowUpKind>,
) -> Result<Option<PurchaseVersion>, Error> {
    let Some(id) = charge.purchase_id else { return Ok(None) };
    let purchase = find(app, charge.client_id, id).await?.purchase;
    let why_not = match (operation, purchase.status()) {
        (Some(FollowUpKind::Capture), _) => ", and captured only with it",
        (Some(FollowUpKind::Void) | None, _) if purchase.is_at_rest() => {
            return Ok(Some(PurchaseVersion::of(&purchase)));
        }
        (Some(FollowUpKind::Void) | None, PurchaseStatus::Pending) => ", which is pending",
        (
            Some(FollowUpKind::Void) | None,
            PurchaseStatus::Paid | PurchaseStatus::Failed | PurchaseStatus::Cancelled,
        ) => ", which is being given back",
    };
    Err(Error::impossible(format!("charge is part of purchase {id}{why_not}")))
}

/// A purchase of the account, as answers show it.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn show(app: &App, client_id: ClientId, id: PurchaseId) -> Result<PurchaseView, Error> {
    let stored = find(app, client_id, id).await?;
    let cards = Cards::of(app, &stored.purchase).await?;
    let private = Private::open(app, &stored).await?;
    Ok(cards.show(&stored.purchase).with_metadata(private.metadata))
}

/// A purchase of the account.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn find(app: &App, client_id: ClientId, id: PurchaseId) -> Result<StoredPurchase, Error> {
    purchases::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)
}
