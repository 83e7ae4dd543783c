//! The charges of sessions: where each stands, written in the batches of the charge, and where it stood when its session
//! counted it.

use regente_domain::charge::Charge;
use regente_domain::id::{ChargeId, ClientId, SessionId};
use regente_domain::session::payment::{Made, PaymentState, SessionPayment};
use regente_domain::session::{Capacity, DECLINES_MAX, OpenPaymentKind};
use regente_domain::time::Timestamp;

use super::tries;
use crate::batch::Batch;
use crate::row::Row;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Makes room for a payment that begins. No row matches where the session cannot be paid now: of buyers who come
    /// at once, one finds room. The bounds are those of its method.
    pub RESERVE_SESSION = "
        UPDATE sessions SET authorizing = authorizing + 1, trying = trying + :tries, version = version + 1,
            updated_at = CASE WHEN updated_at < :now THEN :now ELSE updated_at + 1 END
        WHERE id = :id AND client_id = :client_id AND status = 'created' AND active = 1
          AND (due_at IS NULL OR due_at > :now)
          AND (max_payments = -1 OR (COALESCE(max_payments, 1) = 1 AND paid + authorizing = 0)
            OR (max_payments > 1 AND paid + authorizing + pending < max_payments))
          AND ((COALESCE(max_payments, 1) = 1 AND authorizing + pending < :open_once_max)
            OR (COALESCE(max_payments, 1) <> 1 AND authorizing + pending < :open_many_max))
          AND trying + refused - paid < :tries_max";
    /// Adds a payment that begins.
    pub INSERT_SESSION_PAYMENT = "
        INSERT INTO session_payments (charge_id, client_id, session_id, state, made, counted)
        VALUES (:charge_id, :client_id, :session_id, :state, 0, :state)";
    /// Follows the charge of a payment. What was paid once stays so.
    pub FOLLOW_SESSION_PAYMENT = "
        UPDATE session_payments SET state = :state, made = CASE WHEN made < :made THEN :made ELSE made END
        WHERE charge_id = :charge_id AND client_id = :client_id";
    /// Records that a payment was counted, unless its charge has moved on since it was read.
    pub COUNT_SESSION_PAYMENT = "
        UPDATE session_payments SET counted = :counted
        WHERE charge_id = :charge_id AND client_id = :client_id AND counted = :counted_before AND state = :state";
    /// One payment.
    pub FIND_SESSION_PAYMENT = "
        SELECT session_id, state, made, counted FROM session_payments
        WHERE charge_id = :charge_id AND client_id = :client_id";
    /// The charges of a session that are under way or wait for its merchant, oldest first.
    pub OPEN_SESSION_PAYMENTS = "
        SELECT charge_id FROM session_payments
        WHERE client_id = :client_id AND session_id = :session_id AND state IN ('authorizing', 'pending', 'underpaid')
        ORDER BY charge_id";
}

/// A payment with its session.
#[derive(Clone, Copy, Debug)]
pub struct StoredPayment {
    /// The session.
    pub session_id: SessionId,
    /// The payment.
    pub payment: SessionPayment,
}

/// Begins a payment in the batch of its charge. The batch is refused by [`RESERVE_SESSION`] where the session cannot be
/// paid now.
pub fn begin(batch: &mut Batch, session_id: SessionId, charge: &Charge, now: Timestamp) {
    let client_id = batch.client_id();
    let place = OpenPaymentKind::of(charge.method.payment_type());
    let (open_once_max, open_many_max) = match place {
        OpenPaymentKind::Instructions => (Capacity::OPEN_ONCE_MAX, Capacity::OPEN_MANY_MAX),
        OpenPaymentKind::Cards | OpenPaymentKind::Unbounded => (i64::MAX, i64::MAX),
    };
    let (tries, tries_max) = match place {
        OpenPaymentKind::Cards => (1_i64, DECLINES_MAX),
        OpenPaymentKind::Instructions | OpenPaymentKind::Unbounded => (0, i64::MAX),
    };
    let args = args! { id: session_id, client_id, now, open_once_max, open_many_max, tries, tries_max };
    batch.guard(&RESERVE_SESSION, args);
    let state = PaymentState::Authorizing.word();
    batch.push(&INSERT_SESSION_PAYMENT, args! { charge_id: charge.id, client_id, session_id, state });
    match place {
        OpenPaymentKind::Cards => tries::hold(batch, session_id, charge.id.uuid()),
        OpenPaymentKind::Instructions | OpenPaymentKind::Unbounded => {}
    }
}

/// Follows the charge of a payment, in the batch that changes the charge.
pub fn follow(batch: &mut Batch, charge: &Charge) {
    let client_id = batch.client_id();
    let state = PaymentState::of(charge);
    let made = i64::from(state == PaymentState::Paid);
    let args = args! { charge_id: charge.id, client_id, state: state.word(), made };
    batch.push_at_most_one(&FOLLOW_SESSION_PAYMENT, args);
}

/// Records that a payment was counted. The batch is refused when somebody else has counted it, or its charge has moved.
pub fn count(batch: &mut Batch, charge_id: ChargeId, before: SessionPayment, counted: PaymentState) {
    let client_id = batch.client_id();
    batch.guard(
        &COUNT_SESSION_PAYMENT,
        args! {
            charge_id,
            client_id,
            counted: counted.word(),
            counted_before: before.counted.word(),
            state: before.state.word(),
        },
    );
}

/// The payment by a charge.
pub async fn find(
    store: &Store,
    client_id: ClientId,
    charge_id: ChargeId,
) -> Result<Option<StoredPayment>, StoreError> {
    let found = store.row(&FIND_SESSION_PAYMENT, args! { charge_id, client_id }).await?;
    found.as_ref().map(from_row).transpose()
}

/// The charges of a session that are under way or wait for its merchant, oldest first.
pub async fn open(
    store: &Store,
    client_id: ClientId,
    session_id: SessionId,
) -> Result<Vec<ChargeId>, StoreError> {
    let rows = store.rows(&OPEN_SESSION_PAYMENTS, args! { client_id, session_id }).await?;
    rows.iter().map(|row| row.get("charge_id")).collect()
}

fn from_row(row: &Row) -> Result<StoredPayment, StoreError> {
    let state = |column: &str| {
        let word: String = row.get(column)?;
        PaymentState::parse(&word).ok_or_else(|| StoreError::Corrupt(format!("session_payments.{column}")))
    };
    let made = match row.get("made")? {
        true => Made::Yes,
        false => Made::Never,
    };
    let payment = SessionPayment { state: state("state")?, made, counted: state("counted")? };
    Ok(StoredPayment { session_id: row.get("session_id")?, payment })
}
