//! Charges are ordered here, by everybody alike: a request, a payment of a session, the job of a purchase. Each says what
//! it wants in a [`ChargeOrder`] and calls [`place`], which resolves what the order names, writes the intent, calls the
//! providers and answers. Nobody else looks up what an order names, chooses its route or makes its charge.

pub(crate) mod approval_revoked;
pub(crate) mod call_providers;
mod coming_back;
pub mod create;
mod dry_run;
mod guard;
pub mod late_answer;
mod method;
mod order;
mod place;
pub(crate) mod plan_step;
pub(crate) mod provider_report;
mod resolve;
pub mod routing;
pub(crate) mod security_code;
pub mod sent;
mod series;
mod source;
pub mod split;
pub(crate) mod stored;
pub(crate) mod underpaid;
pub mod write_outcome;

pub use coming_back::return_page;
pub use dry_run::{DryRun, dry_run};
pub use guard::{CardTriedObserver, Guard, Unguarded};
pub use method::{CardMethod, PayerMethod, WalletMethod};
pub use order::{Buyer, ChargeOrder, Origin, PaidBy, PlacedBy, PurchaseSlot, Requester};
pub use place::place;
pub use resolve::{find_buyer, find_merchant, must_be_servable};
pub use source::{CardOwner, OrderedCard, OrderedPayer};
