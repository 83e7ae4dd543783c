//! The rules of a merchant about what the platform keeps: one for each method, and for each band of installments of credit
//! cards.

use serde::{Deserialize, Serialize};

use super::{FeeMethod, PlatformFee};
use crate::id::{Id, of};
use crate::money::Amount;
use crate::payment_type::PaymentType;
use crate::percentage::Percentage;
use crate::time::Timestamp;

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Terms {
    /// The percentage of the charge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentage: Option<Percentage>,
    /// The fixed amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_amount: Option<Amount>,
    /// What it is for.
    pub payment_method: FeeMethod,
    /// Any number of its band: of credit cards alone, and then always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub installment: Option<u8>,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// Its id; the time of creation is the id's own.
    pub id: Id<of::PlatformFeeRule>,
    /// What it says.
    #[serde(flatten)]
    pub terms: Terms,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// The first number of installments of each band; the last band ends with the most that there are.
const BANDS: [u8; 4] = [1, 2, 7, 13];

/// What there is one rule for.
#[derive(Clone, Copy, PartialEq, Eq)]
struct RuleKey {
    method: FeeMethod,
    band: usize,
}

impl RuleKey {
    fn of(method: FeeMethod, installments: u8) -> Self {
        let band = match method {
            FeeMethod::Credit => BANDS.iter().filter(|first| **first <= installments).count(),
            FeeMethod::Pix | FeeMethod::Boleto | FeeMethod::Default => 0,
        };
        Self { method, band }
    }
}

impl Terms {
    fn place(&self) -> RuleKey {
        RuleKey::of(self.payment_method, self.installment.unwrap_or(1))
    }
}

/// Why rules are not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is one for the same method and band: the terms at this index clash with it.
    Taken(usize),
    /// There is none for the method and band of the terms at this index.
    Missing(usize),
}

/// What the platform keeps of the charges of a merchant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fees {
    /// Whether it keeps anything.
    pub enabled: bool,
    /// The rules, oldest first.
    pub rules: Vec<Rule>,
}

impl Fees {
    /// The fee of a charge that is paid so: by the rule of its method, else by the default; `None` where the platform keeps
    /// nothing.
    pub fn of_charge(
        &self,
        payment_type: PaymentType,
        installments: u8,
        now: Timestamp,
    ) -> Option<PlatformFee> {
        let method = match payment_type {
            PaymentType::Credit => Some(FeeMethod::Credit),
            PaymentType::Pix => Some(FeeMethod::Pix),
            PaymentType::Boleto => Some(FeeMethod::Boleto),
            PaymentType::Debit
            | PaymentType::Voucher
            | PaymentType::Nupay
            | PaymentType::Drip
            | PaymentType::Picpay
            | PaymentType::ApplePay
            | PaymentType::ClickToPay => None,
        };
        let own = method.and_then(|method| self.at(RuleKey::of(method, installments)));
        let rule = own.or_else(|| self.at(RuleKey::of(FeeMethod::Default, 1))).filter(|_| self.enabled)?;
        Some(PlatformFee { rule_id: rule.id, terms: rule.terms, applied_at: now })
    }

    /// With rules for methods and bands that have none.
    ///
    /// # Errors
    /// [`Refusal::Taken`].
    pub fn with(&self, new: &[(Id<of::PlatformFeeRule>, Terms)]) -> Result<Self, Refusal> {
        let mut fees = self.clone();
        for (index, (id, terms)) in new.iter().enumerate() {
            if fees.at(terms.place()).is_some() {
                return Err(Refusal::Taken(index));
            }
            fees.rules.push(Rule { id: *id, terms: *terms, updated_at: id.created_at() });
        }
        Ok(fees)
    }

    /// With other terms for methods and bands that have a rule. Rules that are not named stay. Also returns the ids of those
    /// that are named, in the order of `new`.
    ///
    /// # Errors
    /// [`Refusal::Missing`], and [`Refusal::Taken`] for a method and band that is named twice.
    pub fn changed(
        &self,
        new: &[Terms],
        now: Timestamp,
    ) -> Result<(Self, Vec<Id<of::PlatformFeeRule>>), Refusal> {
        let mut fees = self.clone();
        let mut named = Vec::with_capacity(new.len());
        for (index, terms) in new.iter().enumerate() {
            let is_of_place = |rule: &&mut Rule| rule.terms.place() == terms.place();
            let Some(rule) = fees.rules.iter_mut().find(is_of_place) else {
                return Err(Refusal::Missing(index));
            };
            if named.contains(&rule.id) {
                return Err(Refusal::Taken(index));
            }
            named.push(rule.id);
            if rule.terms != *terms {
                (rule.terms, rule.updated_at) = (*terms, now);
            }
        }
        Ok((fees, named))
    }

    /// Without this rule; `None` when there is none.
    pub fn without(&self, id: Id<of::PlatformFeeRule>) -> Option<Self> {
        let rules: Vec<Rule> = self.rules.iter().filter(|rule| rule.id != id).cloned().collect();
        (rules.len() < self.rules.len()).then_some(Self { rules, enabled: self.enabled })
    }

    fn at(&self, place: RuleKey) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.terms.place() == place)
    }
}
