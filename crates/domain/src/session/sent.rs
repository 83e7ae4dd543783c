//! What is sent of sessions, as structs that read themselves (decision 36).

mod card_link;
mod chosen;
mod due_date;
mod new_session;
mod offer;
mod payment;

pub use card_link::NewCardLink;
pub(super) use due_date::DueDate;
pub use new_session::NewSession;
pub use offer::{Offer, Offers};
pub use payment::SessionPayment;
