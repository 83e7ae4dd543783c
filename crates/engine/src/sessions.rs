//! Moves sessions by what becomes of their charges. A charge says in its own batches where it stands; here its session
//! counts it, once for each state, whoever comes first: the request that made the charge, or the job (decision 23).
//! What merchants do with sessions is in [`create`] and [`change`], what callers see of them in [`access`] and [`opened`].

pub mod access;
pub mod change;
pub mod create;
pub mod opened;

use std::time::Duration;

use regente_domain::actor::Actor;
use regente_domain::charge::Charge;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::reversal::refunds_reverted;
use regente_domain::id::{ChargeId, ClientId, SessionId};
use regente_domain::payment_type::PaymentType;
use regente_domain::session::cards::CardRefused;
use regente_domain::session::payment::{PaymentState, SessionPayment};
use regente_domain::session::{Advance, NotPayable, OpenPaymentKind, Session, SessionStatus};
use regente_domain::time::Timestamp;
use regente_store::sessions::payments;
use regente_store::{Batch, Commit, charges, sessions};

use crate::announce::{self, Changed};
use crate::app::App;
use crate::error::Error;
use crate::events::session::SessionView;
use crate::queue;
use crate::queue::sessions::Return;
use crate::races;

/// After how long a card may be sent again that found others being tried: most are answered by then.
const CARDS_RETRY_AFTER: Duration = Duration::from_secs(2);

/// `businessCode` of a session that cannot be paid.
pub const DISABLED: &str = "session_disabled";
/// `businessCode` of a session that was paid as often as it may be.
pub const LIMIT_REACHED: &str = "multiple_payments_limit_reached";
/// `businessCode` of a session that takes no card any more.
pub const CARDS_BLOCKED: &str = "session_cards_blocked";
/// `businessCode` of a session at which as many cards are being tried as may still be refused.
pub const CARDS_BEING_TRIED: &str = "session_cards_being_tried";
/// `businessCode` of a session whose buyers have as many instructions as may be open at once.
pub const TOO_MANY_OPEN: &str = "session_open_payments_limit_reached";
/// `businessCode` of a session whose buyers have made as many customers as they may.
pub const TOO_MANY_CUSTOMERS: &str = "session_customers_limit_reached";

/// `businessCode` of a session that is for a card of a subscription, where somebody pays it.
pub const TAKES_NO_PAYMENT: &str = "session_takes_no_payment";

/// `businessCode` of Pix or boleto with a limit above one.
pub const PIX_OR_BOLETO_WITH_LIMIT: &str = "pix_boleto_multiple_payments_not_allowed";
/// `businessCode` of a session that was paid by Pix or boleto and is switched on again.
pub const CONSUMED: &str = "pix_boleto_one_to_one_reactivation_blocked";

/// The member with the due date.
const DUE_DATE: &str = "dueDate";

/// Counts a charge of a session as it stands now.
pub async fn count(app: &App, client_id: ClientId, charge_id: ChargeId, actor: &Actor) -> Result<(), Error> {
    for _ in races::tries() {
        let Some(found) = payments::find(&app.store, client_id, charge_id).await? else { return Ok(()) };
        let SessionPayment { state, counted, .. } = found.payment;
        // What waits for its merchant is looked at again: its session may have been canceled.
        if counted == state && state != PaymentState::Underpaid {
            return Ok(());
        }
        let before = find(app, client_id, found.session_id).await?;
        let stored = charges::find_with_requests(&app.store, client_id, charge_id).await?;
        let (stored, requests) = stored.ok_or_else(|| Error::internal("a payment without a charge"))?;
        let (charge, now) = (stored.charge, app.clock.of(client_id));
        let reverted = refunds_reverted(requests.iter().map(|stored| &stored.request));
        if found.payment.counted == PaymentState::Surplus {
            return give_back_again(app, found.payment, &charge, reverted).await;
        }
        let refused = card_refused(&charge, requests.last().map(|last| &last.request));
        let Some(counted) = before.count(found.payment, &charge, refused, now) else { return Ok(()) };
        let mut batch = Batch::new(client_id);
        write(app, &mut batch, &before, &counted.advance, actor)?;
        payments::count(&mut batch, charge_id, found.payment, counted.counted);
        match counted.counted {
            PaymentState::Surplus => give_back(app, &mut batch, &before, &charge, reverted),
            // Canceled while the provider was making the instructions.
            PaymentState::Pending if before.status == SessionStatus::Canceled => {
                queue::sessions::close(app, &mut batch, &counted.advance.session);
            }
            PaymentState::Authorizing
            | PaymentState::Pending
            | PaymentState::Paid
            | PaymentState::Underpaid
            | PaymentState::Ended
            | PaymentState::Returned => {}
        }
        match app.store.apply(batch).await? {
            Commit::Applied => return Ok(()),
            // Another payment was counted first, or the commit is unknown: decide again.
            Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    Err(Error::busy())
}

/// Has a payment given back that its session did not take. What no provider gives back is the merchant's to settle.
fn give_back(app: &App, batch: &mut Batch, session: &Session, charge: &Charge, reverted: i64) {
    let (alert, amount) = ("session_paid_again", charge.amount.minor_units());
    match charge.can_be_given_back() {
        true => {
            tracing::error!(
                alert, session = %session.id, charge = %charge.id, amount,
                "A session was paid that takes no further payment: it is given back"
            );
            queue::sessions::give_back(app, batch, Return { charge_id: charge.id, reverted });
        }
        false => tracing::error!(
            alert, session = %session.id, charge = %charge.id, amount,
            "A session was paid that takes no further payment, and its provider cannot give it back: the merchant must"
        ),
    }
}

/// Has a payment given back once more whose refund came back: its session still does not take it.
async fn give_back_again(
    app: &App,
    payment: SessionPayment,
    charge: &Charge,
    reverted: i64,
) -> Result<(), Error> {
    let is_held = matches!(payment.state, PaymentState::Paid | PaymentState::Underpaid);
    if !is_held || reverted == 0 || !charge.can_be_given_back() {
        return Ok(());
    }
    tracing::error!(
        alert = "session_refund_came_back", charge = %charge.id, amount = charge.amount.minor_units(), reverted,
        "The refund of a payment that its session did not take came back"
    );
    let mut batch = Batch::new(charge.client_id);
    queue::sessions::give_back(app, &mut batch, Return { charge_id: charge.id, reverted });
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(()),
        Commit::Refused(_) | Commit::Unknown => Err(Error::unavailable()),
    }
}

/// Adds a change of a session to the batch, with its history and its events.
pub fn write(
    app: &App,
    batch: &mut Batch,
    before: &Session,
    advance: &Advance,
    actor: &Actor,
) -> Result<(), Error> {
    let now = app.clock.of(before.client_id);
    sessions::update(batch, before, advance, actor, || app.chance.id(now))?;
    announce(app, batch, advance, actor)
}

/// Adds the events of a change to the batch.
pub fn announce(app: &App, batch: &mut Batch, advance: &Advance, actor: &Actor) -> Result<(), Error> {
    let session = &advance.session;
    let changed = Changed { id: session.id.uuid(), version: session.version };
    for (ordinal, name) in (0..).zip(&advance.announces) {
        let view = SessionView::of(session, session.updated_at).for_others();
        announce::announce(app, batch, &changed, (ordinal, *name), &view, actor)?;
    }
    Ok(())
}

/// A session of an account.
pub async fn find(app: &App, client_id: ClientId, id: SessionId) -> Result<Session, Error> {
    sessions::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)
}

/// The error for a payment that found no room although the session looked payable: another buyer came first.
pub(crate) async fn taken(app: &App, charge: &Charge, session_id: SessionId) -> Error {
    let (payment_type, now) = (charge.method.payment_type(), app.clock.of(charge.client_id));
    match find(app, charge.client_id, session_id).await {
        Ok(session) => {
            must_take(&session, payment_type, now).err().unwrap_or_else(|| again(&session, payment_type))
        }
        Err(error) => error,
    }
}

/// The error for the check of a card that found no place although the session looked as if it had one.
pub(crate) async fn full_of_cards(app: &App, client_id: ClientId, id: SessionId) -> Error {
    match find(app, client_id, id).await {
        Ok(session) => must_try_card(&session, app.clock.of(client_id))
            .err()
            .unwrap_or_else(|| refusal(NotPayable::CardsBeingTried)),
        Err(error) => error,
    }
}

/// The error for a payment that finds room when it looks again: what took it has ended meanwhile. Where many pay, that was
/// a card; where one does, another buyer.
fn again(session: &Session, payment_type: PaymentType) -> Error {
    match OpenPaymentKind::of(payment_type) {
        OpenPaymentKind::Cards if !session.capacity.is_single() => refusal(NotPayable::CardsBeingTried),
        OpenPaymentKind::Cards | OpenPaymentKind::Instructions | OpenPaymentKind::Unbounded => Error::busy(),
    }
}

/// Whether a session is there to be paid at all.
///
/// # Errors
/// [`Error::BusinessRule`] where it is for a card of a subscription.
pub fn must_take_payments(session: &Session) -> Result<(), Error> {
    session.must_take_payments().map_err(refusal)
}

/// Whether a payment by this method may start.
///
/// # Errors
/// [`Error::BusinessRule`] and [`Error::TooManyAtOnce`] say why not.
pub fn must_take(session: &Session, payment_type: PaymentType, now: Timestamp) -> Result<(), Error> {
    session.must_take(payment_type, now).map_err(refusal)
}

/// Whether a provider may be asked to check a card of a buyer.
///
/// # Errors
/// [`Error::BusinessRule`] and [`Error::TooManyAtOnce`] say why not.
pub fn must_try_card(session: &Session, now: Timestamp) -> Result<(), Error> {
    session.must_try_card(now).map_err(refusal)
}

/// Whether a buyer may make one more customer with the key of a session.
///
/// # Errors
/// [`Error::BusinessRule`] says why not.
pub async fn must_take_customer(app: &App, client_id: ClientId, id: SessionId) -> Result<(), Error> {
    match find(app, client_id, id).await?.takes_customers() {
        true => Ok(()),
        false => Err(Error::BusinessRule {
            business_code: TOO_MANY_CUSTOMERS,
            message: "session has as many customers of its buyers as it may: no more are made".into(),
        }),
    }
}

/// Whether cards of its buyers may be kept.
///
/// # Errors
/// [`Error::BusinessRule`] says why not.
pub fn must_take_cards(session: &Session) -> Result<(), Error> {
    match session.takes_cards() {
        true => Ok(()),
        false => Err(refusal(NotPayable::NoMoreCards)),
    }
}

fn refusal(not_payable: NotPayable) -> Error {
    let (business_code, message) = match not_payable {
        NotPayable::WantsCard => {
            (TAKES_NO_PAYMENT, "session takes a card for a subscription, and no payment")
        }
        NotPayable::Disabled => (DISABLED, "session cannot be paid"),
        NotPayable::LimitReached => (LIMIT_REACHED, "multiple payments limit reached"),
        NotPayable::NoMoreCards => (CARDS_BLOCKED, "session takes no cards any more: too many were refused"),
        NotPayable::CardsBeingTried => {
            return Error::TooManyAtOnce {
                business_code: CARDS_BEING_TRIED,
                message: "as many cards are being tried as the session may still take: try again when one of them is answered"
                    .into(),
                retry_after: CARDS_RETRY_AFTER,
            };
        }
        NotPayable::TooManyOpen => (
            TOO_MANY_OPEN,
            "session has too many open payments: one must be paid or expire before the next one",
        ),
    };
    Error::BusinessRule { business_code, message: message.into() }
}

/// Whether the last request of a charge tells that the buyer's card was refused.
fn card_refused(charge: &Charge, last: Option<&TransactionRequest>) -> CardRefused {
    match charge.method.card_id() {
        Some(_) => CardRefused::by(last),
        None => CardRefused::No,
    }
}
