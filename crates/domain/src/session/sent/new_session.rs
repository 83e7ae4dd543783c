//! `POST /v1/sessions`, as it is sent (`docs/interface/sessions.md#creating`).

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde_json::{Map, Value as Json};
use utoipa::ToSchema;
use uuid::Uuid;

use super::super::{Capacity, Item};
use super::due_date::DueDate;
use super::offer::{Offer, Offers};
use crate::currency::Currency;
use crate::id::{Id, MerchantId};
use crate::money::Amount;
use crate::problems::Problems;
use crate::split::{NewSplitRule, SELLERS_MAX, SentSplitRules, SplitRule, excess};
use crate::text::chars_max;
use crate::time::Timestamp;
use crate::vendor::{NamedVendor, NewNamedVendor};
use crate::wire::tagged::peek;
use crate::wire::{Integer, List, Text, Verbatim, read, refused};

/// Items of a session.
const ITEMS_MAX: usize = 1000;
/// The fewest characters of a text on a statement.
const STATEMENT_CHARS_MIN: usize = 3;

type Name = Text<0, { chars_max::NAME }>;
type Free = Text<0, { chars_max::FREE }>;
type Identifier = Verbatim<0, { chars_max::LINE }>;
type Items = List<NewItem, 1, ITEMS_MAX>;
type SplitRules = List<NewSplitRule, 0, SELLERS_MAX>;

/// What a session is made of.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase", example = json!({
    "name": "Order 77", "merchantId": "7f8870a2-71c9-4ef0-a531-82000e00b7e1", "amount": 10000,
    "dueDate": "2030-10-25T09:28:45.000Z", "createLink": true,
    "paymentMethods": [{ "paymentType": "pix", "expiresIn": 3600 }, { "paymentType": "credit", "installments": 6 }],
    "items": [{ "name": "Shoe", "description": "Blue", "unitPrice": 10000, "quantity": 1, "tangible": true }]
}))]
#[expect(missing_docs, reason = "the names of some members say it")]
pub struct NewSession {
    /// The merchant whose providers process its charges.
    pub merchant_id: MerchantId,
    /// How it can be paid; one entry for each method.
    #[schema(value_type = Vec<Offer>, min_items = 1)]
    pub payment_methods: Offers,
    /// What is sold.
    #[deserr(from(Items) = without_ids)]
    #[schema(value_type = Items)]
    pub items: Vec<Item>,
    /// What a buyer pays, in the minor unit of the currency; by default the sum of the items.
    #[deserr(default)]
    pub amount: Option<Amount>,
    #[deserr(default)]
    #[schema(default = "BRL")]
    pub currency: Option<Currency>,
    #[deserr(default, from(Option<Name>) = Text::given)]
    #[schema(value_type = Option<Name>)]
    pub name: Option<String>,
    #[deserr(default, from(Option<Free>) = Text::given)]
    #[schema(value_type = Option<Free>)]
    pub description: Option<String>,
    /// The merchant's own reference; not unique.
    #[deserr(default, from(Option<Identifier>) = Verbatim::given)]
    #[schema(value_type = Option<Identifier>)]
    pub order_id: Option<String>,
    /// Reference handed to the provider.
    #[deserr(default, from(Option<Identifier>) = Verbatim::given)]
    #[schema(value_type = Option<Identifier>)]
    pub provider_reference_key: Option<String>,
    /// Text on the buyer's statement.
    #[deserr(default, from(Option<StatementText>) = StatementText::given)]
    #[schema(value_type = Option<String>, min_length = 3, max_length = 255)]
    pub statement_descriptor: Option<String>,
    /// Whether the amount is captured at once; otherwise it is only reserved.
    #[deserr(default)]
    #[schema(default = true)]
    pub capture: Option<bool>,
    #[deserr(default)]
    #[schema(default = true)]
    pub is_active: Option<bool>,
    /// When it can be paid no longer: from tomorrow on, by the days of São Paulo. A day means its end.
    #[deserr(default, from(Option<DueDate>) = DueDate::given)]
    #[schema(value_type = Option<String>)]
    pub due_date: Option<Timestamp>,
    /// Whether the answer has a `paymentLink`.
    #[deserr(default)]
    #[schema(default = false)]
    pub create_link: Option<bool>,
    #[deserr(default)]
    #[schema(default = false)]
    pub captcha_enabled: Option<bool>,
    /// How often it can be paid: once where it is absent, without limit at -1. Above 1 not with Pix or boleto.
    #[deserr(default)]
    #[schema(value_type = Option<i64>, minimum = -1, maximum = 99_999)]
    pub max_payments: Option<Capacity>,
    /// How its charges are divided among sellers; the rest is the merchant's.
    #[deserr(default, from(Option<SentSplitRules>) = rules)]
    #[schema(value_type = Option<SplitRules>)]
    pub split_rules: Vec<SplitRule>,
    /// In whose name its charges are taken.
    #[deserr(default, from(Option<NewNamedVendor>) = NamedVendor::of)]
    #[schema(value_type = Option<NewNamedVendor>)]
    pub vendor: Option<Box<NamedVendor>>,
}

impl NewSession {
    /// Reads a session. `others` are problems that cannot be seen here.
    ///
    /// # Errors
    /// Every problem that was found, and then those others.
    pub fn read(sent: Map<String, Json>, mut others: Problems) -> Result<Self, Problems> {
        look(&sent, &mut others);
        others.beside(read(sent))
    }

    /// What a buyer pays; `None` where its items are worth more than an amount can be.
    pub fn amount(&self) -> Option<Amount> {
        self.amount.or_else(|| sum(&self.items))
    }
}

/// What goes with what: the sum of the items where there is no amount, and the parts of the sellers.
fn look(sent: &Map<String, Json>, problems: &mut Problems) {
    let amount = match sent.get("amount").is_some_and(|amount| !amount.is_null()) {
        true => peek(sent, "amount"),
        false => peek(sent, "items").map(without_ids).and_then(|items| {
            let sum = sum(&items);
            if sum.is_none() {
                let most = Amount::MINOR_UNITS_MAX;
                problems.add("items", format_args!("must not be worth more than {most}"));
            }
            sum
        }),
    };
    if let (Some(amount), Some(SentSplitRules(rules))) = (amount, peek(sent, "splitRules"))
        && let Some(rule) = excess(&rules, amount)
    {
        problems.add("splitRules", rule);
    }
}

/// What the items are worth; `None` above what an amount can be.
fn sum(items: &[Item]) -> Option<Amount> {
    items.iter().try_fold(Amount::ZERO, |sum, item| {
        let of_item = item.unit_price.minor_units().checked_mul(item.quantity)?;
        sum.plus(Amount::new(of_item)?)
    })
}

/// An item of a new session.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewSessionItem, rename_all = "camelCase")]
struct NewItem {
    name: Text<1, 256>,
    /// In the minor unit of the currency.
    unit_price: Amount,
    quantity: Integer<1, 1_000_000>,
    #[deserr(default)]
    description: Option<Text<0, 2048>>,
    #[deserr(default)]
    tangible: Option<bool>,
    #[deserr(default)]
    category_id: Option<Text<0, 255>>,
}

impl From<NewItem> for Item {
    /// Its id is not drawn yet.
    fn from(new: NewItem) -> Self {
        Self {
            id: Id::new(Uuid::nil()),
            name: new.name.into_string(),
            description: Text::given(new.description),
            unit_price: new.unit_price,
            quantity: new.quantity.get(),
            tangible: new.tangible,
            category_id: Text::given(new.category_id),
        }
    }
}

/// A text on a statement.
struct StatementText(String);

impl StatementText {
    fn given(sent: Option<Self>) -> Option<String> {
        sent.map(|Self(text)| text)
    }
}

impl Deserr<Problems> for StatementText {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let text: Text<0, { chars_max::LINE }> = Deserr::deserialize_from_value(value, at)?;
        match text.chars().count() < STATEMENT_CHARS_MIN {
            true => Err(refused(
                at,
                format_args!("must be longer than or equal to {STATEMENT_CHARS_MIN} characters"),
            )),
            false => Ok(Self(text.into_string())),
        }
    }
}

fn without_ids(sent: Items) -> Vec<Item> {
    sent.into_vec().into_iter().map(Item::from).collect()
}

fn rules(sent: Option<SentSplitRules>) -> Vec<SplitRule> {
    sent.unwrap_or_default().0
}
