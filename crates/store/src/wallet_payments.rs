//! Stores which payments of wallets were made, by the digest of what the wallet has signed, or of the checkout that it names.
//! Each pays one charge.

use regente_domain::id::ChargeId;
use regente_domain::time::Timestamp;

use crate::batch::Batch;
use crate::error::Refusal;
use crate::expiring::{self, Expiring};
use crate::{args, sql};

sql! {
    /// Notes a payment; one that was made before refuses the batch.
    pub INSERT_WALLET_PAYMENT = "
        INSERT INTO wallet_payments (digest, client_id, charge_id, expires_at)
        VALUES (:digest, :client_id, :charge_id, :expires_at)
        ON CONFLICT (digest, client_id) DO NOTHING";
    /// The clients of the first expired payments, except some.
    pub CLIENTS_WITH_EXPIRED_WALLET_PAYMENTS =
        expiring::clients_of_first!("wallet_payments", "REACHABLE(client_id) AND client_id NOT IN EACH_UUID(:apart)");
    /// One client, if it has expired payments.
    pub CLIENT_WITH_EXPIRED_WALLET_PAYMENTS = expiring::clients_of_first!("wallet_payments", "client_id = :client_id");
    /// Deletes expired payments of a client, a bounded number at once.
    pub PURGE_WALLET_PAYMENTS = "
        DELETE FROM wallet_payments WHERE client_id = :client_id AND digest IN (
            SELECT digest FROM wallet_payments
            WHERE client_id = :client_id AND expires_at <= :now LIMIT :limit)";
}

/// Payments that have expired.
pub static EXPIRING: Expiring = Expiring {
    all_but: &CLIENTS_WITH_EXPIRED_WALLET_PAYMENTS,
    one: &CLIENT_WITH_EXPIRED_WALLET_PAYMENTS,
    purge: &PURGE_WALLET_PAYMENTS,
};

/// Notes that a charge is made of this payment. If one was made before, the batch is refused.
pub fn insert(batch: &mut Batch, digest: [u8; 32], charge_id: ChargeId, expires_at: Timestamp) {
    let client_id = batch.client_id();
    batch.guard(&INSERT_WALLET_PAYMENT, args! { digest, client_id, charge_id, expires_at });
}

/// Whether a batch was refused because its payment was made before.
pub fn is_repetition(refusal: &Refusal) -> bool {
    refusal.is(&INSERT_WALLET_PAYMENT)
}
