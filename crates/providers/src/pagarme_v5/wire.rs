//! What the provider is sent and what it answers, as far as it is used. Members that are not known are ignored.

pub mod sent;
pub mod told;
