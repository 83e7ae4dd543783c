//! What events and answers say of records: the one form of each that leaves the product.

pub mod card;
pub mod purchase;
pub mod transaction_request;
