//! What merchants do with their sessions: switch them on and off, change their terms, cancel them.

use regente_domain::id::SessionId;
use regente_domain::local_day::day_of;
use regente_domain::session::{NotCancelable, Patch, PatchRefusal, Session};
use regente_domain::time::Timestamp;
use regente_store::{Batch, Commit};

use super::access::visible;
use super::create::divided;
use super::{CONSUMED, DUE_DATE, LIMIT_REACHED, PIX_OR_BOLETO_WITH_LIMIT, write};
use crate::app::App;
use crate::caller::{Caller, RequestId};
use crate::charges::routing;
use crate::error::Error;
use crate::{audit, queue, races};

/// Changes a session, which the caller may see. What is changed already changes nothing.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Invalid`] names a date that has passed; why the session is not changed so; or why its charges
/// could not be divided.
pub async fn change(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    mut before: Session,
    mut changes: Patch,
) -> Result<(), Error> {
    let client_id = caller.client_id;
    if let Some(rules) = &mut changes.split_rules {
        let merchant = routing::merchant(app, client_id, before.merchant_id).await?;
        let now = app.clock.of(client_id);
        let fees = merchant
            .map(|merchant| before.terms.platform_fees(&merchant.merchant.details.platform_fee, now))
            .unwrap_or_default();
        *rules = divided(app, (client_id, before.merchant_id), before.amount, fees, rules).await?;
    }
    for _ in races::tries() {
        let now = app.clock.of(client_id);
        must_not_be_past(&changes, now)?;
        let Some(advance) = before.patch(&changes, now).map_err(refused)? else { return Ok(()) };
        let mut batch = Batch::new(client_id);
        write(app, &mut batch, &before, &advance, &caller.actor())?;
        queue::sessions::expire_when_due(app, &mut batch, &advance.session);
        audit::record(app, &mut batch, caller, request_id, "session.updated", before.id.uuid());
        let _admission = app.store.admit(client_id)?;
        match app.store.apply(batch).await? {
            Commit::Applied => return Ok(()),
            // Another change came first, or the commit's outcome is unknown: the stored session tells which.
            Commit::Refused(_) | Commit::Unknown => before = visible(app, caller, before.id).await?,
        }
    }
    Err(Error::busy())
}

fn must_not_be_past(changes: &Patch, now: Timestamp) -> Result<(), Error> {
    let today = day_of(now);
    match changes.due_at.flatten().filter(|due_at| day_of(*due_at) < today) {
        Some(_) => Err(Error::invalid(DUE_DATE, format!("must not be before {today}"))),
        None => Ok(()),
    }
}

fn refused(refusal: PatchRefusal) -> Error {
    match refusal {
        PatchRefusal::NoLimit => Error::invalid("maxPayments", "must be absent: the session is paid once"),
        PatchRefusal::PixOrBoletoWithLimit => pix_or_boleto_with_limit(),
        PatchRefusal::Consumed => Error::BusinessRule {
            business_code: CONSUMED,
            message: "Consumed one-to-one PIX or boleto sessions cannot be reactivated.".into(),
        },
        PatchRefusal::CardGiven => Error::impossible("session cannot be activated: its card was given"),
        PatchRefusal::Status(status) => {
            Error::impossible(format!("session cannot be activated in status {}", status.word()))
        }
        PatchRefusal::PastDue => Error::impossible("session cannot be activated: its due date has passed"),
        PatchRefusal::LimitReached => Error::BusinessRule {
            business_code: LIMIT_REACHED,
            message: "multiple payments limit reached".into(),
        },
    }
}

pub(super) fn pix_or_boleto_with_limit() -> Error {
    Error::BusinessRule {
        business_code: PIX_OR_BOLETO_WITH_LIMIT,
        message: "PIX and boleto payment methods do not support maxPayments greater than 1.".into(),
    }
}

/// Cancels a session, by a batch that is empty when it was canceled before.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Impossible`] when it is paid.
pub async fn plan_cancel(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    id: SessionId,
) -> Result<Batch, Error> {
    let before = visible(app, caller, id).await?;
    let canceled = before.cancel(app.clock.of(caller.client_id)).map_err(|NotCancelable(status)| {
        Error::impossible(format!("session cannot be canceled in status {}", status.word()))
    })?;
    let mut batch = Batch::new(caller.client_id);
    if let Some(advance) = canceled {
        write(app, &mut batch, &before, &advance, &caller.actor())?;
        queue::sessions::close(app, &mut batch, &advance.session);
        audit::record(app, &mut batch, caller, request_id, "session.canceled", id.uuid());
    }
    Ok(batch)
}
