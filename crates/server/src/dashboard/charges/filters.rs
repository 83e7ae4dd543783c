//! The filters of the list, as the address of the page has them and as the interface takes them.

use std::collections::BTreeMap;

use regente_domain::currency::Currency;
use regente_domain::local_day;
use regente_domain::time::{Timestamp, parse_date};

use super::super::visit::encoded;
use crate::api::buyer_page::{Language, money};

/// Those that the interface takes as they are.
const AS_THEY_ARE: [&str; 9] = [
    "status",
    "paymentType",
    "providerType",
    "orderId",
    "merchantId",
    "sessionId",
    "subscriptionId",
    "splitRules",
    "sort",
];
/// Those of the page alone: days where the reader is, and an amount as it is written there.
const DAY_FROM: &str = "from";
const DAY_TO: &str = "to";
const AMOUNT: &str = "amount";
const PAGE: &str = "page";
/// An amount is typed with the decimals of this currency. The interface compares minor units alone.
const TYPED_IN: &str = "BRL";

/// What was typed, by the name of the filter. Nothing is empty.
pub(crate) struct Filters(BTreeMap<String, String>);

impl Filters {
    /// Those of an address; others than those of this page are left out.
    pub(super) fn read(query: &str) -> Self {
        let pairs = url::form_urlencoded::parse(query.as_bytes());
        let own = [DAY_FROM, DAY_TO, AMOUNT, PAGE];
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in pairs {
            let value = value.trim();
            if value.is_empty() || !(AS_THEY_ARE.contains(&&*name) || own.contains(&&*name)) {
                continue;
            }
            // A filter that is repeated means "or", as in the interface.
            match found.get_mut(&*name) {
                Some(before) => before.extend([",", value]),
                None => drop(found.insert(name.into_owned(), value.to_owned())),
            }
        }
        Self(found)
    }

    /// What was typed into a filter.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Whether there is one besides the page and the order.
    pub(crate) fn are_any(&self) -> bool {
        self.0.keys().any(|name| name != PAGE && name != "sort")
    }

    /// Whether one is set that is folded away otherwise.
    pub(crate) fn have_more(&self) -> bool {
        ["providerType", "merchantId", "sessionId", "subscriptionId", "splitRules", "sort", AMOUNT]
            .iter()
            .any(|name| self.0.contains_key(*name))
    }

    /// The query of the address of another page of the list.
    pub(super) fn address(&self, page: u64) -> String {
        let kept = self.0.iter().filter(|(name, _)| *name != PAGE);
        let mut query: Vec<String> = kept.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        query.push(format!("{PAGE}={page}"));
        query.join("&")
    }

    /// The query that the interface takes. None where a day or an amount cannot be read.
    pub(super) fn of_the_interface(&self, language: Language) -> Option<String> {
        let mut query: Vec<String> = AS_THEY_ARE
            .iter()
            .filter_map(|name| Some(format!("{name}={}", encoded(self.0.get(*name)?))))
            .collect();
        if let Some(page) = self.0.get(PAGE) {
            query.push(format!("page={}", encoded(page)));
        }
        if let Some(day) = self.0.get(DAY_FROM) {
            let begin = local_day::hour_of(parse_date(day)?, 0);
            // The moment itself is left out.
            query.push(format!("created.gt={}", Timestamp::from_millis(begin.as_millis() - 1)));
        }
        if let Some(day) = self.0.get(DAY_TO) {
            query.push(format!("created.lt={}", local_day::end_of(parse_date(day)?)));
        }
        if let Some(amount) = self.0.get(AMOUNT) {
            let amount = money::typed(amount, Currency::parse(TYPED_IN)?, language)?;
            query.push(format!("originalAmount={amount}"));
        }
        Some(query.join("&"))
    }
}
