//! The JSON form of each record, as answers and events show it.

pub mod card;
pub mod instructions;
pub mod purchase;
pub mod registration_review;
pub mod seller;
pub mod session;
pub mod split;
pub mod transaction_request;
