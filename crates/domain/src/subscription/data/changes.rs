//! What a PUT of a subscription takes. What is absent stays. Members that cannot be changed, such as `trial` and
//! `customerId`, are not looked at, so that what was read can be sent back with changes.

use std::num::NonZeroU32;

use deserr::Deserr;
use jiff::civil::Date;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{
    Cycles, Installments, Items, Name, PaymentWord, Reference, SplitRules, installments, number_of_cycles,
    spelling,
};
use crate::id::{CardId, MerchantId};
use crate::problems::Problems;
use crate::split::{SentSplitRules, SplitRule, excess};
use crate::subscription::{CancellationChange, Interval, Item, Update, sum};
use crate::wire::{List, Patch, Text, Verbatim};

/// Changes of a subscription, from the next cycle on; what is absent stays.
#[derive(Clone, Debug, Default, Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase", example = json!({
    "cancelAtPeriodEnd": true, "scheduledCancellationAt": "2036-12-31", "scheduledCancellationReason": "Customer asked"
}))]
pub struct SubscriptionChanges {
    /// What it is called.
    #[deserr(default, from(Name) = some_name)]
    #[schema(value_type = Option<Name>)]
    pub name: Option<String>,
    /// The merchant whose providers process the next cycles.
    #[deserr(default, from(MerchantId) = Some)]
    pub merchant_id: Option<MerchantId>,
    /// The id in the client's own system; null removes it.
    #[deserr(default, from(Patch<Reference>) = reference)]
    #[schema(value_type = Option<Reference>)]
    pub reference_key: Patch<String>,
    /// All items, in place of the former ones.
    #[deserr(default, from(Items) = some_items)]
    #[schema(value_type = Option<Items>)]
    pub items: Option<Vec<Item>>,
    /// When it falls due.
    #[deserr(default)]
    #[schema(required = false)]
    pub recurrence: RecurrenceChanges,
    /// All rules, in place of the former ones; null or an empty list for no division.
    #[deserr(default, from(Option<SentSplitRules>) = some_rules)]
    #[schema(value_type = Option<SplitRules>)]
    pub split_rules: Option<Vec<SplitRule>>,
    /// How it is paid.
    #[deserr(default)]
    #[schema(required = false)]
    pub payment_method: PaymentChanges,
    /// Whether it ends at the end of the period. `false` takes back any end that was set.
    #[deserr(default)]
    pub cancel_at_period_end: Option<bool>,
    /// The day on which it ends, in place of the end of the period. It needs no `cancelAtPeriodEnd`.
    #[deserr(default)]
    pub scheduled_cancellation_at: Option<Date>,
    /// Why it ends; only with one of the two.
    #[deserr(default, from(Option<Text<0, 255>>) = some_text)]
    #[schema(value_type = Option<Text<0, 255>>)]
    pub scheduled_cancellation_reason: Option<String>,
}

/// Changes of when a subscription falls due.
#[derive(Clone, Copy, Debug, Default, Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = SubscriptionRecurrenceChanges, rename_all = "camelCase")]
pub struct RecurrenceChanges {
    /// The time between due dates, from the next one on, which stays. `daily` only in the sandbox.
    #[deserr(default, from(Interval) = Some)]
    pub interval: Option<Interval>,
    /// The number of cycles; null for endless.
    #[deserr(default, from(Patch<Cycles>) = cycle_count)]
    #[schema(value_type = Option<Cycles>)]
    pub cycles: Patch<NonZeroU32>,
    /// The first due date, before the first cycle. Today: the first cycle is charged at once.
    #[deserr(default, from(Date) = Some)]
    pub start_at: Option<Date>,
}

/// Changes of how a subscription is paid.
#[derive(Clone, Copy, Debug, Default, Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = SubscriptionPaymentChanges, rename_all = "camelCase")]
pub struct PaymentChanges {
    /// By credit card.
    #[deserr(rename = "type", default, from(PaymentWord) = Some)]
    #[schema(rename = "type")]
    pub kind: Option<PaymentWord>,
    /// The card.
    #[deserr(default, from(CardChange) = Some)]
    pub card: Option<CardChange>,
    /// Number of installments of the next cycles.
    #[deserr(default, from(Installments) = some_installments)]
    #[schema(value_type = Option<Installments>)]
    pub installments: Option<u8>,
}

/// Another card.
#[derive(Clone, Copy, Debug, Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = SubscriptionCardChange, rename_all = "camelCase")]
pub struct CardChange {
    /// A stored card, for the next attempt.
    pub card_id: CardId,
}

/// Reads changes of a subscription. `is_live` is whether they are made outside of the sandbox.
///
/// # Errors
/// Every problem that was found.
pub fn read_changes(sent: &Map<String, Value>, is_live: bool) -> Result<SubscriptionChanges, Problems> {
    let (changes, mut problems): (SubscriptionChanges, _) = spelling::read_any(sent, is_live)?;
    let says_when = changes.cancel_at_period_end.is_some() || changes.scheduled_cancellation_at.is_some();
    if changes.scheduled_cancellation_reason.is_some() && !says_when {
        let rule = "must come with cancelAtPeriodEnd or scheduledCancellationAt";
        problems.add("scheduledCancellationReason", rule);
    }
    // Where one of the two stays, the engine knows the other.
    if let (Some(items), Some(rules)) = (&changes.items, &changes.split_rules)
        && let Some(rule) = sum(items).and_then(|amount| excess(rules, amount))
    {
        problems.add("splitRules", rule);
    }
    problems.into_result().map(|()| changes)
}

impl SubscriptionChanges {
    /// `false` takes back an end, whatever else is said of it. `true` sets one, at the end of the period unless there is a day; so
    /// does a day alone.
    fn cancellation(&self) -> Option<CancellationChange> {
        let (on, reason) = (self.scheduled_cancellation_at, self.scheduled_cancellation_reason.clone());
        match (self.cancel_at_period_end, on) {
            (Some(false), _) => Some(CancellationChange::Undo),
            (Some(true), _) | (None, Some(_)) => Some(CancellationChange::Set { on, reason }),
            (None, None) => None,
        }
    }
}

impl From<&SubscriptionChanges> for Update {
    fn from(changes: &SubscriptionChanges) -> Self {
        Update {
            name: changes.name.clone(),
            merchant_id: changes.merchant_id,
            reference_key: changes.reference_key.clone().into(),
            items: changes.items.clone(),
            interval: changes.recurrence.interval,
            cycles: changes.recurrence.cycles.into(),
            start_at: changes.recurrence.start_at,
            split_rules: changes.split_rules.clone(),
            card_id: changes.payment_method.card.map(|card| card.card_id),
            installments: changes.payment_method.installments,
            cancellation: changes.cancellation(),
        }
    }
}

fn some_name(name: Name) -> Option<String> {
    Some(name.into_string())
}

fn reference(sent: Patch<Reference>) -> Patch<String> {
    sent.map(Verbatim::into_string)
}

fn some_items(items: Items) -> Option<Vec<Item>> {
    Some(List::into_vec(items))
}

/// Null is no division.
fn some_rules(sent: Option<SentSplitRules>) -> Option<Vec<SplitRule>> {
    Some(sent.unwrap_or_default().0)
}

fn some_text(text: Option<Text<0, 255>>) -> Option<String> {
    text.map(Text::into_string)
}

fn cycle_count(sent: Patch<Cycles>) -> Patch<NonZeroU32> {
    match sent {
        Patch::Leave => Patch::Leave,
        Patch::Remove => Patch::Remove,
        Patch::Set(number) => number_of_cycles(Some(number)).map_or(Patch::Remove, Patch::Set),
    }
}

fn some_installments(sent: Installments) -> Option<u8> {
    Some(installments(sent))
}
