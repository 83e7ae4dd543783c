//! The closed lists of the interface that are no `words!` of the domain, as components of the OpenAPI document, so that
//! generated types have names. The words come from the table that the parser and the answers use.
//!
//! A member refers to its list: `#[schema(value_type = words::SentEventName)]`.

use regente_domain::card::Brand;
use regente_domain::scope;
use regente_domain::webhook::{self, PING};

use crate::api::query;
use crate::http::words::closed_lists;
pub use crate::http::words::{BusinessCode, DeclinedCode};

closed_lists! {
    /// What a public key may call: a group of routes, or `*` for all of them.
    ScopeWord = [scope::Scopes::ALL_WORD].into_iter().chain(scope::Scope::ALL.map(scope::Scope::word));
    /// A brand of cards that is known by the first digits of its numbers.
    KnownCardBrand = Brand::ALL.into_iter().map(Brand::name);
    /// The name of an event that was sent: `ping` is a test event.
    SentEventName = listed(webhook::EventName::WORDS).chain([PING]);
    /// The order of a list by creation; lower case is taken too.
    SortOrder = listed(&query::SortOrder::WORDS);
    /// The order of a list by creation.
    ListOrder = listed(&query::SortOrder::LOWER_CASE);
}

fn listed<T>(table: &[(&'static str, T)]) -> impl Iterator<Item = &'static str> {
    table.iter().map(|(word, _)| *word)
}
