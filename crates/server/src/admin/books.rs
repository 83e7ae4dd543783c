//! Holds what Regente believes about money against what a provider's books say. Pure: charges and books are arguments,
//! and what comes out is words for an operator.

use std::fmt;

use regente_domain::charge::attempt::{Outcome, TransactionRequest};
use regente_domain::charge::{ChargeStatus, StateName};
use regente_domain::id::ChargeId;
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_store::money::ChargeMoney;

/// What the books say of the money of one approved authorization, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Money {
    /// Held and not yet taken.
    pub reserved: i64,
    /// Taken and not given back.
    pub kept: i64,
}

/// How a charge stands next to the books.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Both say the same.
    Agrees,
    /// Something about it is under way or not known yet.
    Waits,
    /// The books cannot know about it: another provider took it, or the sandbox's caller said how it ended.
    NotTheirs,
    /// They differ.
    Differs(Difference),
}

/// A difference between what is believed and what the books say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which charge.
    pub charge_id: ChargeId,
    /// Its state.
    pub status: ChargeStatus,
    /// What is believed.
    pub believed: Money,
    /// What the books say.
    pub books: Money,
}

impl Money {
    /// An authorization that only reserves.
    pub fn reserved(amount: Amount) -> Self {
        Self { reserved: amount.minor_units(), kept: 0 }
    }

    /// An authorization that takes at once.
    pub fn kept(amount: Amount) -> Self {
        Self { reserved: 0, kept: amount.minor_units() }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            reserved: self.reserved.saturating_add(other.reserved),
            kept: self.kept.saturating_add(other.kept),
        }
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.reserved, self.kept) {
            (0, 0) => f.write_str("nothing"),
            (0, kept) => write!(f, "{kept} kept"),
            (reserved, 0) => write!(f, "{reserved} reserved"),
            (reserved, kept) => write!(f, "{kept} kept and {reserved} reserved"),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { charge_id, status, believed, books } = self;
        write!(f, "charge {charge_id} is {} with {believed}, the books say {books}", status.word())
    }
}

/// Compares one charge. `money_of` answers what the books say of the authorization that a request made, if one was
/// approved.
pub fn compare(charge: &ChargeMoney, money_of: impl Fn(&TransactionRequest) -> Option<Money>) -> Comparison {
    let requests = || charge.requests.iter().map(|stored| &stored.request);
    if requests().any(|request| request.outcome == Outcome::Open) {
        return Comparison::Waits;
    }
    if requests().any(|request| !is_in_the_books(request)) {
        return Comparison::NotTheirs;
    }
    let believed = match charge.state {
        StateName::Processing
        | StateName::AwaitingPayer
        | StateName::RefundPending
        | StateName::CapturePending => {
            return Comparison::Waits;
        }
        // The bank took it back from the merchant; the provider's books of the sale stay as they are.
        StateName::ChargedBack => return Comparison::NotTheirs,
        StateName::PreAuthorized => Money::reserved(charge.amount),
        StateName::Authorized => Money::kept(charge.amount),
        StateName::Failed | StateName::Canceled | StateName::Voided => Money::default(),
    };
    // What a payer did is told by a request of its own, under the same key.
    let books = requests()
        .filter(|request| request.pending().is_none())
        .filter_map(money_of)
        .fold(Money::default(), Money::plus);
    if believed == books {
        return Comparison::Agrees;
    }
    Comparison::Differs(Difference { charge_id: charge.id, status: charge.state.status(), believed, books })
}

/// An approval without an id at the provider was never given by one.
fn is_in_the_books(request: &TransactionRequest) -> bool {
    let was_given = match &request.outcome {
        Outcome::Approved(approval) => approval.transaction_id.is_some(),
        Outcome::Open | Outcome::Pending(_) | Outcome::Declined(_) | Outcome::NoEffect(_) => true,
    };
    was_given && request.provider_type == ProviderType::Sandbox
}
