//! What is sent of subscriptions, as structs that read themselves (decision 36). The older shape of how one is paid is read
//! too: `paymentSource { sourceType, cardId }` beside `paymentMethod { paymentType }`. Its problems are named in the
//! published shape.

mod changes;
mod settings;
mod spelling;

use std::num::NonZeroU32;

use deserr::Deserr;
use jiff::civil::Date;
use serde_json::{Map, Value};
use utoipa::ToSchema;

pub use changes::{SubscriptionChanges, read_changes};
pub use settings::{Retries, RetryRule, SubscriptionSettingsChanges, read_settings};

use super::{INSTALLMENTS_MAX, Interval, Item, NAME_CHARS_MAX, NewSubscription, Payment, sum};
use crate::card::Cvv;
use crate::id::{CardId, ClientId, CustomerId, MerchantId, SubscriptionId};
use crate::problems::Problems;
use crate::split::{NewSplitRule, SELLERS_MAX, SentSplitRules, SplitRule, excess};
use crate::wire::{Integer, List, Text, Verbatim};
use crate::words::words;

/// Most items of a subscription.
pub const ITEMS_MAX: usize = 100;
/// Most characters of a merchant's own reference.
pub const REFERENCE_CHARS_MAX: usize = 255;

/// Items of a body.
pub type Items = List<Item, 1, ITEMS_MAX>;
type Name = Text<1, NAME_CHARS_MAX>;
type Reference = Verbatim<0, REFERENCE_CHARS_MAX>;
type Installments = Integer<1, { INSTALLMENTS_MAX as i64 }>;
type Cycles = Integer<1, { u32::MAX as i64 }>;
type SplitRules = List<NewSplitRule, 0, SELLERS_MAX>;

words! {
    /// How a subscription is paid.
    #[schema(as = SubscriptionPaymentType)]
    PaymentWord {
        /// By credit card.
        Credit = "credit",
    }
}

/// A subscription to create.
#[derive(Clone, Debug, Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewSubscription, rename_all = "camelCase", example = json!({
    "name": "Premium", "merchantId": "225d39bc-1fbb-480a-90bd-f0caad05d2d0",
    "customerId": "2a8b64ce-904c-4256-b79a-49525808609c", "referenceKey": "SUB-PREMIUM-001",
    "items": [{ "name": "Plan", "amount": 29900, "quantity": 1 }],
    "recurrence": { "interval": "monthly", "cycles": 12 },
    "paymentMethod": { "type": "credit", "card": { "cardId": "148d5db0-f1c3-439f-902d-f1f268086e1d" },
        "installments": 1 }
}))]
pub struct SubscriptionData {
    /// What it is called.
    #[deserr(from(Name) = Text::into_string)]
    #[schema(value_type = Name)]
    pub name: String,
    /// The merchant whose providers process its cycles.
    pub merchant_id: MerchantId,
    /// The buyer.
    pub customer_id: CustomerId,
    /// The id in the client's own system; not unique.
    #[deserr(default, from(Option<Reference>) = reference)]
    #[schema(value_type = Option<Reference>)]
    pub reference_key: Option<String>,
    /// What each cycle charges for: the sum of amount × quantity.
    #[deserr(from(Items) = List::into_vec)]
    #[schema(value_type = Items)]
    pub items: Vec<Item>,
    /// When it falls due.
    pub recurrence: RecurrenceData,
    /// How it is paid.
    #[deserr(from(SentPayment) = PaymentData::from)]
    #[schema(value_type = SentPayment)]
    pub payment_method: PaymentData,
    /// A time before the first charge.
    #[deserr(rename = "trial", default, from(Option<Trial>) = end_of)]
    #[schema(rename = "trial", value_type = Option<Trial>)]
    pub trial_end: Option<Date>,
    /// How its charges are divided among sellers; the rest is the merchant's.
    #[deserr(default, from(Option<SentSplitRules>) = rules)]
    #[schema(value_type = Option<SplitRules>)]
    pub split_rules: Vec<SplitRule>,
}

/// When a subscription falls due. All days are UTC days.
#[derive(Clone, Copy, Debug, Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewSubscriptionRecurrence, rename_all = "camelCase")]
pub struct RecurrenceData {
    /// The time from one due date to the next. `daily` only in the sandbox.
    pub interval: Interval,
    /// The number of cycles; endless without one.
    #[deserr(default, from(Option<Cycles>) = number_of_cycles)]
    #[schema(value_type = Option<Cycles>)]
    pub cycles: Option<NonZeroU32>,
    /// The first due date; today by default, or the end of the trial.
    #[deserr(default)]
    pub start_at: Option<Date>,
}

/// How a subscription is paid.
#[derive(Clone, Debug)]
pub struct PaymentData {
    /// The stored card.
    pub card_id: CardId,
    /// Number of installments of each cycle, 1 to [`INSTALLMENTS_MAX`].
    pub installments: u8,
    /// The security code, for the first charge of what begins today. It is stored nowhere.
    pub cvv: Option<Cvv>,
}

/// How a subscription is paid, in the published shape.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewSubscriptionPayment, rename_all = "camelCase")]
struct SentPayment {
    /// By credit card.
    #[deserr(rename = "type")]
    #[schema(rename = "type")]
    #[expect(dead_code, reason = "there is one")]
    kind: PaymentWord,
    /// The card.
    card: SentCard,
    /// Number of installments of each cycle; 1 by default.
    #[deserr(default)]
    installments: Option<Installments>,
}

/// The card of a subscription.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewSubscriptionCard, rename_all = "camelCase")]
struct SentCard {
    /// A stored card.
    card_id: CardId,
    /// Its security code, for the first charge of a subscription that begins today. It is stored nowhere, and dropped where it begins later.
    #[deserr(default)]
    #[schema(value_type = Option<String>, pattern = "^[0-9]{3,4}$")]
    cvv: Option<Cvv>,
}

impl From<SentPayment> for PaymentData {
    fn from(sent: SentPayment) -> Self {
        let installments = sent.installments.map_or(1, installments);
        Self { card_id: sent.card.card_id, installments, cvv: sent.card.cvv }
    }
}

/// A time before the first charge.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewSubscriptionTrial, rename_all = "camelCase")]
struct Trial {
    /// The first day after it, in the future.
    end_at: Date,
}

/// Reads a subscription to create. `is_live` is whether it is made outside of the sandbox.
///
/// # Errors
/// Every problem that was found.
pub fn read_new(sent: &Map<String, Value>, is_live: bool) -> Result<SubscriptionData, Problems> {
    let (data, mut problems): (SubscriptionData, _) = spelling::read_any(sent, is_live)?;
    if let Some(rule) = sum(&data.items).and_then(|amount| excess(&data.split_rules, amount)) {
        problems.add("splitRules", rule);
    }
    problems.into_result().map(|()| data)
}

impl SubscriptionData {
    /// The subscription to create. The ids of its split rules are those that the data have.
    pub fn create(&self, id: SubscriptionId, client_id: ClientId, is_live: bool) -> NewSubscription {
        let RecurrenceData { interval, cycles, start_at } = self.recurrence;
        let PaymentData { card_id, installments, cvv: _ } = self.payment_method;
        NewSubscription {
            id,
            client_id,
            merchant_id: self.merchant_id,
            customer_id: self.customer_id,
            name: self.name.clone(),
            reference_key: self.reference_key.clone(),
            items: self.items.clone(),
            interval,
            cycles,
            start_at,
            trial_end: self.trial_end,
            payment: Payment { card_id, installments },
            split_rules: self.split_rules.clone(),
            is_live,
        }
    }
}

fn reference(sent: Option<Reference>) -> Option<String> {
    sent.map(Verbatim::into_string)
}

fn number_of_cycles(sent: Option<Cycles>) -> Option<NonZeroU32> {
    sent.and_then(|number| u32::try_from(number.get()).ok()).and_then(NonZeroU32::new)
}

fn installments(sent: Installments) -> u8 {
    u8::try_from(sent.get()).unwrap_or(INSTALLMENTS_MAX)
}

fn end_of(trial: Option<Trial>) -> Option<Date> {
    trial.map(|trial| trial.end_at)
}

fn rules(sent: Option<SentSplitRules>) -> Vec<SplitRule> {
    sent.unwrap_or_default().0
}
