//! Plans as an operator writes them. A member that is not known is refused: one that is misspelt would be a fee that is not taken.

use deserr::{Deserr, ValuePointerRef};

use super::{Fee, Plan, PlanMethod, Policy, Recurrence, Terms};
use crate::card::Brand;
use crate::money::Amount;
use crate::payment_type::INSTALLMENTS_MAX;
use crate::percentage::Percentage;
use crate::problems::Problems;
use crate::text::chars_max;
use crate::wire::{Integer, List, OfMember, Patch, Rule, Text, not_among, refused};

type Name = Text<1, 100>;
type Description = Text<0, { chars_max::FREE }>;
type Installments = Integer<1, { INSTALLMENTS_MAX as i64 }>;
type Policies = List<SentPolicy, 0, { PlanMethod::WORDS.len() }>;
type Fees = List<SentFee, 0, FEES_MAX>;

/// The most fees of a plan.
const FEES_MAX: usize = 200;

/// A plan to be created.
#[derive(Clone, Debug, PartialEq, Eq, Deserr)]
#[deserr(rename_all = camelCase, error = Problems, deny_unknown_fields = unknown)]
pub struct NewPlan {
    /// What it is called.
    pub name: Name,
    /// What it is for.
    #[deserr(default)]
    pub description: Option<Description>,
    /// When money is paid out, for each method at most once.
    #[deserr(default, try_from(Policies) = policies_of -> Rule)]
    pub policies: Vec<Policy>,
    /// What is kept; the first that fits counts.
    #[deserr(default, try_from(Fees) = fees_of -> Rule)]
    pub fees: Vec<Fee>,
}

impl NewPlan {
    /// What it says of money.
    pub fn terms(&self) -> Terms {
        Terms { policies: self.policies.clone(), fees: self.fees.clone() }
    }
}

/// Changes of a plan. What is absent stays; a list takes the place of the former one as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserr)]
#[deserr(rename_all = camelCase, error = Problems, deny_unknown_fields = unknown)]
pub struct PlanChanges {
    /// What it is called.
    #[deserr(default, from(Name) = Some)]
    pub name: Option<Name>,
    /// What it is for; null removes it.
    #[deserr(default)]
    pub description: Patch<Description>,
    /// When money is paid out, for each method at most once.
    #[deserr(default, try_from(Policies) = some_policies -> Rule)]
    pub policies: Option<Vec<Policy>>,
    /// What is kept; the first that fits counts.
    #[deserr(default, try_from(Fees) = some_fees -> Rule)]
    pub fees: Option<Vec<Fee>>,
}

impl PlanChanges {
    /// The plan with these changes, still at the version and time of `before`.
    pub fn applied_to(&self, before: &Plan) -> Plan {
        let mut plan = before.clone();
        if let Some(name) = &self.name {
            plan.name = name.as_str().to_owned();
        }
        self.description.clone().map(Text::into_string).apply(&mut plan.description);
        if let Some(policies) = &self.policies {
            plan.terms.policies.clone_from(policies);
        }
        if let Some(fees) = &self.fees {
            plan.terms.fees.clone_from(fees);
        }
        plan
    }
}

#[derive(Deserr)]
#[deserr(rename_all = camelCase, error = Problems, deny_unknown_fields = unknown,
    validate = has_its_day -> OfMember)]
struct SentPolicy {
    payment_method: PlanMethod,
    payout_term_days: Integer<0, 365>,
    payout_recurrence: Recurrence,
    #[deserr(default)]
    payout_day: Option<Integer<1, 31>>,
}

const PAYOUT_DAY: &str = "payoutDay";
const LAST_DAY_OF_WEEK: i64 = 5;

fn has_its_day(policy: SentPolicy, _: ValuePointerRef<'_>) -> Result<SentPolicy, OfMember> {
    let day = policy.payout_day.map(Integer::get);
    let rule: Option<&str> = match (policy.payout_recurrence, day) {
        (Recurrence::Daily, Some(_)) => Some("must be absent where payoutRecurrence is daily"),
        (Recurrence::Weekly | Recurrence::Monthly, None) => Some("should not be empty"),
        (Recurrence::Weekly, Some(day)) if day > LAST_DAY_OF_WEEK => {
            Some("must be 1 (Monday) to 5 (Friday) where payoutRecurrence is weekly")
        }
        (Recurrence::Daily, None) | (Recurrence::Weekly | Recurrence::Monthly, Some(_)) => None,
    };
    rule.map_or(Ok(policy), |rule| Err(OfMember(PAYOUT_DAY, Rule::Borrowed(rule))))
}

#[derive(Deserr)]
#[deserr(rename_all = camelCase, error = Problems, deny_unknown_fields = unknown,
    validate = goes_together -> Problems)]
struct SentFee {
    payment_method: PlanMethod,
    #[deserr(default, try_from(Option<String>) = brand_named -> Rule)]
    brand: Option<Brand>,
    #[deserr(default)]
    installments_from: Option<Installments>,
    #[deserr(default)]
    installments_to: Option<Installments>,
    #[deserr(default)]
    percentage: Option<Percentage>,
    #[deserr(default)]
    fixed_amount: Option<Amount>,
}

fn brand_named(name: Option<String>) -> Result<Option<Brand>, Rule> {
    let Some(name) = name else { return Ok(None) };
    let known = Brand::parse(&name);
    known.map(Some).ok_or_else(|| not_among(Brand::ALL.into_iter().map(Brand::name)))
}

const BRAND: &str = "brand";
const INSTALLMENTS_FROM: &str = "installmentsFrom";
const INSTALLMENTS_TO: &str = "installmentsTo";

fn goes_together(fee: SentFee, location: ValuePointerRef<'_>) -> Result<SentFee, Problems> {
    let mut problems = Problems::new();
    if fee.percentage.is_none() && fee.fixed_amount.is_none() {
        problems.extend(refused(location, "must have percentage, fixedAmount or both"));
    }
    let of_cards_alone = [
        (BRAND, fee.brand.is_some(), "must be absent: only credit has brands"),
        (INSTALLMENTS_FROM, fee.installments_from.is_some(), "must be absent: only credit has installments"),
        (INSTALLMENTS_TO, fee.installments_to.is_some(), "must be absent: only credit has installments"),
    ];
    match fee.payment_method {
        PlanMethod::Credit => {}
        PlanMethod::Pix | PlanMethod::Boleto | PlanMethod::Nupay => {
            for (member, _, rule) in of_cards_alone.into_iter().filter(|(_, is_sent, _)| *is_sent) {
                problems.extend(refused(location.push_key(member), rule));
            }
        }
    }
    if let (Some(from), Some(to)) = (fee.installments_from, fee.installments_to)
        && from.get() > to.get()
    {
        let rule = format!("must not be less than {INSTALLMENTS_FROM}, which is {}", from.get());
        problems.extend(refused(location.push_key(INSTALLMENTS_TO), rule));
    }
    problems.into_result().map(|()| fee)
}

fn policies_of(sent: Policies) -> Result<Vec<Policy>, Rule> {
    let read: Vec<Policy> = sent.into_vec().into_iter().map(Policy::from).collect();
    for (index, policy) in read.iter().enumerate() {
        let method = policy.payment_method;
        if read.iter().take(index).any(|earlier| earlier.payment_method == method) {
            return Err(Rule::Owned(format!("must have one policy for {}, not several", method.word())));
        }
    }
    Ok(read)
}

fn fees_of(sent: Fees) -> Result<Vec<Fee>, Rule> {
    let read: Vec<Fee> = sent.into_vec().into_iter().map(Fee::from).collect();
    match first_idle(&read) {
        None => Ok(read),
        Some(index) => {
            let why = format!("fees[{index}] never does, since those before it take all of its charges");
            Err(Rule::Owned(format!("must each be able to count: {why}")))
        }
    }
}

/// The place of the first fee that no charge would have.
fn first_idle(fees: &[Fee]) -> Option<usize> {
    let mut counts = vec![false; fees.len()];
    for (_, method) in PlanMethod::WORDS {
        for brand in Brand::ALL.into_iter().map(Some).chain([None]) {
            for installments in 1..=INSTALLMENTS_MAX {
                let first = fees.iter().position(|fee| fee.is_for(*method, brand, installments));
                if let Some(counting) = first.and_then(|index| counts.get_mut(index)) {
                    *counting = true;
                }
            }
        }
    }
    counts.iter().position(|counts| !counts)
}

fn some_policies(sent: Policies) -> Result<Option<Vec<Policy>>, Rule> {
    policies_of(sent).map(Some)
}

fn some_fees(sent: Fees) -> Result<Option<Vec<Fee>>, Rule> {
    fees_of(sent).map(Some)
}

fn unknown(member: &str, accepted: &[&str], location: ValuePointerRef<'_>) -> Problems {
    let rule = format!("is not known: there are {}", accepted.join(", "));
    refused(location.push_key(member), rule)
}

/// A number that its type keeps far below the limit of `T`.
fn small<T: TryFrom<i64> + Default, const MIN: i64, const MAX: i64>(number: Integer<MIN, MAX>) -> T {
    T::try_from(number.get()).unwrap_or_default()
}

impl From<SentPolicy> for Policy {
    fn from(sent: SentPolicy) -> Self {
        Self {
            payment_method: sent.payment_method,
            payout_term_days: small(sent.payout_term_days),
            payout_recurrence: sent.payout_recurrence,
            payout_day: sent.payout_day.map(small),
        }
    }
}

impl From<SentFee> for Fee {
    fn from(sent: SentFee) -> Self {
        Self {
            payment_method: sent.payment_method,
            brand: sent.brand,
            installments_from: sent.installments_from.map(small),
            installments_to: sent.installments_to.map(small),
            percentage: sent.percentage,
            fixed_amount: sent.fixed_amount,
        }
    }
}
