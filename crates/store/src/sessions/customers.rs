//! How many customers the buyers of a session have made with its key.

use regente_domain::id::SessionId;
use regente_domain::session::Capacity;

use crate::batch::Batch;
use crate::{args, sql};

sql! {
    /// Makes a place for one more customer. No row matches where the session has as many as it may.
    pub RESERVE_SESSION_CUSTOMER = "
        UPDATE sessions SET customers = customers + 1
        WHERE id = :id AND client_id = :client_id
          AND ((COALESCE(max_payments, 1) = 1 AND customers < :once_max)
            OR (COALESCE(max_payments, 1) <> 1 AND customers - :for_each_payment * paid < :many_max))";
}

/// Counts a customer in the batch that makes them, which is refused by [`RESERVE_SESSION_CUSTOMER`] where the session has as
/// many as it may.
pub fn begin(batch: &mut Batch, session_id: SessionId) {
    let client_id = batch.client_id();
    let args = args! {
        id: session_id,
        client_id,
        once_max: Capacity::CUSTOMERS_ONCE_MAX,
        many_max: Capacity::CUSTOMERS_MANY_MAX,
        for_each_payment: Capacity::CUSTOMERS_FOR_EACH_PAYMENT,
    };
    batch.guard(&RESERVE_SESSION_CUSTOMER, args);
}
