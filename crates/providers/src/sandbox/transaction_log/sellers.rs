//! Entries of the log of sellers, one for each key of a registration. They contain nothing of the person.

use uuid::Uuid;

use crate::sandbox::sellers::KnownSeller;

/// The log entry of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SellerEntry {
    /// Our key of the registration.
    pub key: Uuid,
    /// What is known of the seller.
    pub known: KnownSeller,
}
