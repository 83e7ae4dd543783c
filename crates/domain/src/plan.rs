//! Sales plans: when the platform's own provider pays its receivers out, and what it keeps of each charge for that
//! (`docs/interface/plans.md`). Pure.

mod sent;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::card::Brand;
use crate::id::{ClientId, PlanId};
use crate::money::Amount;
use crate::payment_type::PaymentType;
use crate::percentage::Percentage;
use crate::time::Timestamp;
use crate::words::words;

pub use sent::{NewPlan, PlanChanges};

words! {
    /// What a policy or a fee of a plan is for.
    PlanMethod {
        /// Credit cards, also those of a wallet.
        Credit = "credit",
        /// Pix.
        Pix = "pix",
        /// Boletos.
        Boleto = "boleto",
        /// NuPay.
        Nupay = "nupay",
    }
}

impl PlanMethod {
    /// The method of a payment type; `None` for those that no plan has terms for.
    pub const fn of(payment_type: PaymentType) -> Option<Self> {
        match payment_type {
            PaymentType::Credit | PaymentType::ApplePay | PaymentType::ClickToPay => Some(Self::Credit),
            PaymentType::Pix => Some(Self::Pix),
            PaymentType::Boleto => Some(Self::Boleto),
            PaymentType::Nupay => Some(Self::Nupay),
            PaymentType::Debit | PaymentType::Voucher | PaymentType::Drip | PaymentType::Picpay => None,
        }
    }
}

words! {
    /// Whether sellers can be linked to a plan.
    PlanStatus {
        /// They can.
        Active = "active",
        /// They cannot; those that are linked stay so.
        Inactive = "inactive",
    }
}

words! {
    /// On which days money is paid out.
    #[schema(as = PayoutRecurrence)]
    Recurrence {
        /// On every business day.
        Daily = "daily",
        /// On one day of the week.
        Weekly = "weekly",
        /// On one day of the month.
        Monthly = "monthly",
    }
}

/// When money of a payment method is paid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlanPolicy)]
pub struct Policy {
    /// Of which method.
    pub payment_method: PlanMethod,
    /// Days from the capture to the payout: 30 is D+30.
    #[schema(minimum = 0, maximum = 365)]
    pub payout_term_days: u16,
    /// On which days.
    pub payout_recurrence: Recurrence,
    /// Weekly 1 (Monday) to 5 (Friday); monthly 1 to 31, of which a shorter month has the last; daily none.
    #[schema(required = true, minimum = 1, maximum = 31)]
    pub payout_day: Option<u8>,
}

impl Policy {
    /// When money of a method is paid out where a plan does not say it: daily, a card after 30 days, and the others after one.
    pub const fn usual(payment_method: PlanMethod) -> Self {
        Self {
            payment_method,
            payout_term_days: match payment_method {
                PlanMethod::Credit => 30,
                PlanMethod::Pix | PlanMethod::Boleto | PlanMethod::Nupay => 1,
            },
            payout_recurrence: Recurrence::Daily,
            payout_day: None,
        }
    }
}

/// What is kept of charges of a payment method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fee {
    /// Of which method.
    pub payment_method: PlanMethod,
    /// Of cards of this brand; without one, of all.
    pub brand: Option<Brand>,
    /// From so many installments; without a number, from one.
    pub installments_from: Option<u8>,
    /// Up to so many; without a number, however many there are.
    pub installments_to: Option<u8>,
    /// The part of the gross amount.
    pub percentage: Option<Percentage>,
    /// What is kept beside it, in the minor unit of the currency.
    pub fixed_amount: Option<Amount>,
}

impl Fee {
    fn is_for(&self, method: PlanMethod, brand: Option<Brand>, installments: u8) -> bool {
        self.payment_method == method
            && (self.brand.is_none() || self.brand == brand)
            && self.installments_from.is_none_or(|from| from <= installments)
            && self.installments_to.is_none_or(|to| installments <= to)
    }

    /// The percentage, half a cent rounded up, and the fixed amount; never more than there is.
    fn of(&self, gross: Amount) -> Amount {
        let whole = i128::from(Percentage::HUNDRED.hundredths());
        let hundredths = self.percentage.map_or(0, |percentage| i128::from(percentage.hundredths()));
        let part = (i128::from(gross.minor_units()) * hundredths * 2 + whole) / (whole * 2);
        let fixed = self.fixed_amount.map_or(0, |fixed| i128::from(fixed.minor_units()));
        let fee = i64::try_from(part + fixed).ok().and_then(Amount::new);
        fee.map_or(gross, |fee| fee.min(gross))
    }
}

/// What a plan says of money.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Terms {
    /// When it is paid out: at most one policy for each method.
    pub policies: Vec<Policy>,
    /// What is kept of it. The first that fits a charge counts.
    pub fees: Vec<Fee>,
}

impl Terms {
    /// Those of a new account: the usual policies, and nothing is kept. Only the operator knows what the platform asks for.
    pub fn of_new_account() -> Self {
        let methods = PlanMethod::WORDS.iter().map(|(_, method)| *method);
        Self { policies: methods.map(Policy::usual).collect(), fees: Vec::new() }
    }

    /// What is kept of `gross`, which is paid so: the first fee that fits, never more than `gross`; 0 where none fits.
    pub fn fee_of(
        &self,
        method: PlanMethod,
        brand: Option<Brand>,
        installments: u8,
        gross: Amount,
    ) -> Amount {
        let fitting = self.fees.iter().find(|fee| fee.is_for(method, brand, installments));
        fitting.map_or(Amount::ZERO, |fee| fee.of(gross))
    }

    /// When money of a method is paid out.
    pub fn policy_of(&self, method: PlanMethod) -> Policy {
        let own = self.policies.iter().find(|policy| policy.payment_method == method);
        own.copied().unwrap_or(Policy::usual(method))
    }
}

/// A plan of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Its id.
    pub id: PlanId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Whether it is that of receivers without a plan of their own. One plan of an account is.
    pub is_default: bool,
    /// Whether sellers can be linked to it.
    pub status: PlanStatus,
    /// What it says of money captured from now on.
    pub terms: Terms,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
}
