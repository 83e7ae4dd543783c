//! The posting rules: which accounts a movement debits and credits. `docs/ledger.md` has the same table, and a test
//! compares both.

use super::{Movement, Purpose};
use crate::words::words;

words! {
    /// Whose part of a movement an entry is.
    Subject {
        /// What is reserved.
        Hold = "hold",
        /// The merchant's part.
        Merchant = "merchant",
        /// A seller's part.
        Seller = "seller",
        /// The platform's fee.
        PlatformFee = "platform_fee",
        /// What the provider deducts from what it owes.
        Provider = "provider",
    }
}

/// A posting rule, for a positive amount. A negative one is posted the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posting {
    /// What happened.
    pub movement: Movement,
    /// Whose part.
    pub subject: Subject,
    /// The account that is debited.
    pub debit: Purpose,
    /// The account that is credited.
    pub credit: Purpose,
}

/// Every posting rule.
#[rustfmt::skip]
pub const POSTINGS: &[Posting] = {
    use Movement as M;
    use Purpose as P;
    use Subject as S;
    &[
        rule(M::AuthorizationHold,    S::Hold,        P::Hold,                 P::HoldContra),
        rule(M::HoldRelease,          S::Hold,        P::HoldContra,           P::Hold),
        rule(M::Capture,              S::Merchant,    P::ProviderReceivable,   P::MerchantPayable),
        rule(M::Capture,              S::Seller,      P::ProviderReceivable,   P::SellerPayable),
        rule(M::Capture,              S::PlatformFee, P::ProviderReceivable,   P::PlatformFee),
        rule(M::Refund,               S::Merchant,    P::MerchantPayable,      P::ProviderReceivable),
        rule(M::Refund,               S::Seller,      P::SellerPayable,        P::ProviderReceivable),
        rule(M::Refund,               S::PlatformFee, P::PlatformFee,          P::ProviderReceivable),
        rule(M::RefundReverted,       S::Merchant,    P::ProviderReceivable,   P::MerchantPayable),
        rule(M::RefundReverted,       S::Seller,      P::ProviderReceivable,   P::SellerPayable),
        rule(M::RefundReverted,       S::PlatformFee, P::ProviderReceivable,   P::PlatformFee),
        rule(M::ChargeBack,           S::Merchant,    P::MerchantPayable,      P::ProviderReceivable),
        rule(M::ChargeBack,           S::Seller,      P::SellerPayable,        P::ProviderReceivable),
        rule(M::ChargeBack,           S::PlatformFee, P::PlatformFee,          P::ProviderReceivable),
        rule(M::ChargeBackReversal,   S::Merchant,    P::ProviderReceivable,   P::MerchantPayable),
        rule(M::ChargeBackReversal,   S::Seller,      P::ProviderReceivable,   P::SellerPayable),
        rule(M::ChargeBackReversal,   S::PlatformFee, P::ProviderReceivable,   P::PlatformFee),
        rule(M::Opening,              S::Hold,        P::Hold,                 P::HoldContra),
        rule(M::Opening,              S::Merchant,    P::ProviderReceivable,   P::MerchantPayable),
        rule(M::Opening,              S::Seller,      P::ProviderReceivable,   P::SellerPayable),
        rule(M::Opening,              S::PlatformFee, P::ProviderReceivable,   P::PlatformFee),
        rule(M::ProviderFee,          S::Provider,    P::ProviderFee,          P::ProviderReceivable),
        rule(M::Payout,               S::Provider,    P::Payout,               P::ProviderReceivable),
        rule(M::Anticipation,         S::Provider,    P::Anticipation,         P::ProviderReceivable),
        rule(M::SettlementDifference, S::Provider,    P::SettlementDifference, P::ProviderReceivable),
    ]
};

const fn rule(movement: Movement, subject: Subject, debit: Purpose, credit: Purpose) -> Posting {
    Posting { movement, subject, debit, credit }
}

impl Posting {
    /// The rule of a movement; `None` for a subject that it does not have.
    pub fn of(movement: Movement, subject: Subject) -> Option<Self> {
        POSTINGS.iter().find(|rule| rule.movement == movement && rule.subject == subject).copied()
    }
}

impl Subject {
    /// The subject whose part an account holds. A credit of it is a gain.
    pub(super) const fn held_in(purpose: Purpose) -> Option<Self> {
        match purpose {
            Purpose::HoldContra => Some(Self::Hold),
            Purpose::MerchantPayable => Some(Self::Merchant),
            Purpose::SellerPayable => Some(Self::Seller),
            Purpose::PlatformFee => Some(Self::PlatformFee),
            Purpose::ProviderReceivable
            | Purpose::ProviderFee
            | Purpose::Anticipation
            | Purpose::Payout
            | Purpose::SettlementDifference
            | Purpose::Hold => None,
        }
    }
}
