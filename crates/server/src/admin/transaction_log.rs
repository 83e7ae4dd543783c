//! Compares what Regente records about money with the transaction log of a provider. Pure: charges and log are
//! arguments, and the result is text for operators.

use std::collections::HashSet;
use std::fmt;

use regente_domain::charge::attempt::{Outcome, TransactionRequest};
use regente_domain::charge::reversal::lost;
use regente_domain::charge::{ChargeStatus, StateName};
use regente_domain::id::ChargeId;
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_store::money::ChargeMoney;

/// What the transaction log says about the money of one approved authorization, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Money {
    /// Authorized and not captured.
    pub reserved: i64,
    /// Captured and neither refunded nor charged back.
    pub kept: i64,
}

/// How a charge compares with the transaction log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Both say the same.
    Agrees,
    /// Not compared: an operation is under way or its outcome is unknown.
    Waits,
    /// Not in this log: another provider handled the charge.
    NotInLog,
    /// A tester has set its status by hand in the sandbox, which the log does not know. Both may say the same all the same.
    SetByHand(Difference),
    /// They differ.
    Differs(Difference),
}

/// What a charge and the transaction log say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which charge.
    pub charge_id: ChargeId,
    /// Its state.
    pub status: ChargeStatus,
    /// The money by the charge.
    pub believed: Money,
    /// The money by the transaction log.
    pub logged: Money,
}

impl Money {
    /// An authorization that only reserves the amount.
    pub fn reserved(amount: Amount) -> Self {
        Self { reserved: amount.minor_units(), kept: 0 }
    }

    /// An authorization that captures the amount at once.
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

impl Difference {
    /// Whether both say the same.
    pub fn is_none(&self) -> bool {
        self.believed == self.logged
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { charge_id, status, believed, logged } = self;
        write!(
            f,
            "charge {charge_id} is {} with {believed}, the transaction log says {logged}",
            status.word()
        )
    }
}

/// Compares one charge. `money_of` returns what the log says about the authorization that a request made, `None` when
/// none was approved.
pub fn compare(charge: &ChargeMoney, money_of: impl Fn(&TransactionRequest) -> Option<Money>) -> Comparison {
    // An anti-fraud provider moves no money.
    let of_payment = |request: &&TransactionRequest| !request.request_type.is_about_risk();
    let requests = || charge.requests.iter().map(|stored| &stored.request).filter(of_payment);
    let has_result =
        |accepted: &TransactionRequest| requests().any(|request| request.follows == Some(accepted.id));
    let is_under_way = |request: &TransactionRequest| match &request.outcome {
        Outcome::Open => true,
        Outcome::Accepted(_) => !has_result(request),
        Outcome::Pending(_)
        | Outcome::Approved(_)
        | Outcome::Declined(_)
        | Outcome::NoEffect(_)
        | Outcome::Analysed(_) => false,
    };
    if requests().any(is_under_way) {
        return Comparison::Waits;
    }
    if requests().any(|request| request.provider_type != ProviderType::Sandbox) {
        return Comparison::NotInLog;
    }
    let believed = match charge.state {
        StateName::Processing
        | StateName::AwaitingPayer
        | StateName::RefundPending
        | StateName::RefundAccepted
        | StateName::CapturePending => {
            return Comparison::Waits;
        }
        StateName::PreAuthorized => Money::reserved(charge.amount),
        StateName::Authorized => Money::kept(charge.amount),
        StateName::ChargedBack => {
            let requests: Vec<_> = requests().cloned().collect();
            Money::kept(charge.amount.minus(lost(&requests, charge.amount)).unwrap_or_default())
        }
        StateName::Failed | StateName::Canceled | StateName::Voided => Money::default(),
    };
    // What the payer did is a request of its own under the same key, or two: expired, and paid after all.
    let mut keys = HashSet::new();
    let logged = requests()
        .filter(|request| request.pending().is_none())
        .filter(|request| keys.insert(request.provider_key()))
        .filter_map(money_of)
        .fold(Money::default(), Money::plus);
    let difference = Difference { charge_id: charge.id, status: charge.state.status(), believed, logged };
    if has_one_set_by_hand(requests()) {
        return Comparison::SetByHand(difference);
    }
    if difference.is_none() { Comparison::Agrees } else { Comparison::Differs(difference) }
}

/// Whether a tester has set one of these requests by hand, which are in order: an approval without the provider's id, or a
/// refusal to authorize what was authorized, which follows nothing that the provider has done.
fn has_one_set_by_hand<'a>(requests: impl Iterator<Item = &'a TransactionRequest>) -> bool {
    let mut is_taken = false;
    for request in requests {
        let is_authorization = request.request_type.is_authorization();
        let is_by_hand = match &request.outcome {
            Outcome::Approved(approval) => approval.transaction_id.is_none(),
            Outcome::Declined(_) => is_taken && is_authorization && request.follows.is_none(),
            Outcome::Open
            | Outcome::Pending(_)
            | Outcome::Accepted(_)
            | Outcome::NoEffect(_)
            | Outcome::Analysed(_) => false,
        };
        if is_by_hand {
            return true;
        }
        is_taken |= is_authorization && matches!(request.outcome, Outcome::Approved(_));
    }
    false
}
