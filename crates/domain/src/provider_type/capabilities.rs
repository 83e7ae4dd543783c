//! The capabilities of a provider type. The table says which type has which; routing subtracts what a configured
//! provider does not offer.

use crate::card::Brand;
use crate::currency::Currency;
use crate::payment_type::PaymentType;

/// Whether a provider supports something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ability {
    /// It can.
    Yes,
    /// No, or nothing is published about it.
    No,
}

impl Ability {
    /// Whether it can.
    pub const fn is_yes(self) -> bool {
        matches!(self, Self::Yes)
    }
}

/// How much of a payment a provider refunds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refund {
    /// Nothing through its API.
    No,
    /// Only the full amount, for these payment types.
    FullOnly(&'static [PaymentType]),
    /// Any part, for these payment types.
    Partial(&'static [PaymentType]),
}

/// The ways in which a provider analyses the risk of a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AntiFraud {
    /// The verdict is in the answer to the call.
    pub real_time: Ability,
    /// The verdict comes later.
    pub asynchronous: Ability,
}

/// What a provider type can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Payment types it charges; empty for a type that only analyses risk.
    pub payment_types: &'static [PaymentType],
    /// Payment types it can reserve now and capture later.
    pub pre_authorization: &'static [PaymentType],
    /// Payment types it can capture in part.
    pub partial_capture: &'static [PaymentType],
    /// What it refunds.
    pub refund: Refund,
    /// Payment types it can split among sellers.
    pub split: &'static [PaymentType],
    /// Pix in installments.
    pub pix_installments: Ability,
    /// Its own 3-D Secure 2.
    pub three_ds: Ability,
    /// Checks a card with a zero amount.
    pub zero_dollar: Ability,
    /// The only brands that it checks this way; `None` means any.
    pub zero_dollar_brands: Option<&'static [Brand]>,
    /// Accepts the recurrence flag; other providers process a normal charge.
    pub recurrence: Ability,
    /// Charges in every listed currency what is not [in reais alone](PaymentType::is_in_reais_alone); others only in BRL.
    pub multi_currency: Ability,
    /// Analyses risk within the charge.
    pub own_anti_fraud: Ability,
    /// Uses network tokens.
    pub network_tokens: Ability,
    /// Reports disputes.
    pub dispute_notice: Ability,
    /// Reports chargebacks.
    pub chargeback_notice: Ability,
    /// Forwards the data of a vendor; others drop it.
    pub vendors: Ability,
    /// Set for a type that only analyses risk.
    pub anti_fraud: Option<AntiFraud>,
    /// Most installments of a charge.
    pub installments_max: u8,
}

impl Capabilities {
    /// Whether it charges this payment type.
    pub fn can_charge(&self, payment_type: PaymentType) -> bool {
        self.payment_types.contains(&payment_type)
    }

    /// Whether it can reserve now and capture later.
    pub fn can_pre_authorize(&self, payment_type: PaymentType) -> bool {
        self.pre_authorization.contains(&payment_type)
    }

    /// Whether it can capture less than it reserved.
    pub fn can_capture_part(&self, payment_type: PaymentType) -> bool {
        self.partial_capture.contains(&payment_type)
    }

    /// Whether it can refund in full.
    pub fn can_refund(&self, payment_type: PaymentType) -> bool {
        match self.refund {
            Refund::No => false,
            Refund::FullOnly(types) | Refund::Partial(types) => types.contains(&payment_type),
        }
    }

    /// Whether it can refund in part.
    pub fn can_refund_part(&self, payment_type: PaymentType) -> bool {
        match self.refund {
            Refund::No | Refund::FullOnly(_) => false,
            Refund::Partial(types) => types.contains(&payment_type),
        }
    }

    /// Whether it can split the amount among sellers.
    pub fn can_split(&self, payment_type: PaymentType) -> bool {
        self.split.contains(&payment_type)
    }

    /// Whether it charges this payment type in `currency` (`docs/interface/provider-types.md#abilities`).
    pub fn takes_currency(&self, payment_type: PaymentType, currency: Currency) -> bool {
        currency == Currency::BRL || (self.multi_currency.is_yes() && !payment_type.is_in_reais_alone())
    }

    /// Whether it can check a card of this brand with a zero amount; `None` is an unknown brand.
    pub fn can_check_card(&self, brand: Option<Brand>) -> bool {
        self.zero_dollar.is_yes()
            && self.zero_dollar_brands.is_none_or(|brands| brand.is_some_and(|brand| brands.contains(&brand)))
    }
}
