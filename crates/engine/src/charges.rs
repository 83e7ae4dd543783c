//! Charges are ordered here, by everybody alike: a request, a payment of a session, the job of a purchase. Each says what
//! it wants in a [`ChargeOrder`] and calls [`place`], which resolves what the order names, writes the intent, calls the
//! providers and answers. Nobody else looks up what an order names, chooses its route or makes its charge.

mod coming_back;
mod guard;
mod method;
mod order;
mod place;
mod resolve;
mod source;

pub use coming_back::{UNREGISTERED, return_page};
pub use guard::{Guard, Heard, Unguarded};
pub use method::{CardMethod, CodeRule, DripBody, NewBoleto, NupayTerms, PayerMethod, WalletMethod};
pub use order::{AuthenticationRule, Buyer, ChargeOrder, Origin, PaidBy, PlacedBy, PurchaseSlot, Requester};
pub use place::place;
pub use resolve::{find_buyer, find_merchant, route};
pub use source::{AddressRule, CardOwner, OrderedCard, OrderedPayer};
