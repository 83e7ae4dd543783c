//! The rules of a merchant about what the platform keeps: one for each method, and for each band of installments of credit
//! cards.

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{FeeMethod, PlatformFee};
use crate::id::{Id, of};
use crate::money::Amount;
use crate::payment_type::PaymentType;
use crate::percentage::{Percent, Percentage};
use crate::problems::Problems;
use crate::time::Timestamp;
use crate::wire::{Integer, read_with, refused};

const INSTALLMENT: &str = "installment";

/// What a rule says. At least one of `percentage` and `fixedAmount` is there; `installment` is there for `credit` alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewPlatformFeeRule,
    example = json!({ "paymentMethod": "credit", "percentage": 3.5, "fixedAmount": 50, "installment": 3 }))]
pub struct Terms {
    /// The percentage of the charge, with at most two decimals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[deserr(default)]
    #[schema(value_type = Option<Percent>)]
    pub percentage: Option<Percentage>,
    /// In the minor unit of the currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[deserr(default)]
    pub fixed_amount: Option<Amount>,
    /// What it is for.
    pub payment_method: FeeMethod,
    /// Any number of the band that the rule is for: 1, 2 to 6, 7 to 12, 13 to 24.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[deserr(default, from(Option<Integer<1, 24>>) = small)]
    #[schema(minimum = 1, maximum = 24)]
    pub installment: Option<u8>,
}

fn small(number: Option<Integer<1, 24>>) -> Option<u8> {
    number.and_then(|number| u8::try_from(number.get()).ok())
}

/// Terms as sent: those that go together.
pub struct SentTerms(pub Terms);

impl Deserr<Problems> for SentTerms {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        read_with(value, location, |members, problems| {
            if !members.contains_key("percentage") && !members.contains_key("fixedAmount") {
                problems.extend(refused(location, "must have percentage, fixedAmount or both"));
            }
            let method = members.get("paymentMethod").and_then(|word| FeeMethod::parse(word.as_str()?));
            let at = location.push_key(INSTALLMENT);
            match (method, members.contains_key(INSTALLMENT)) {
                (Some(FeeMethod::Credit), false) => problems.extend(refused(at, "should not be empty")),
                (Some(FeeMethod::Pix | FeeMethod::Boleto | FeeMethod::Default), true) => {
                    problems.extend(refused(at, "must be absent: only credit has installments"));
                }
                (Some(_), _) | (None, _) => {}
            }
        })
        .map(Self)
    }
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
