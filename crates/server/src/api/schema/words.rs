//! The closed lists of the interface as components of the OpenAPI document, so that generated types have names. The
//! words come from the table that the parser and the answers use.
//!
//! A member refers to its list: `#[schema(value_type = words::ChargeStatus)]`.

use regente_domain::charge::{self, attempt, timeline};
pub use regente_domain::country::{Country, CountryOrBlank};
use regente_domain::currency;
use regente_domain::ledger;
use regente_domain::payment_type;
use regente_domain::provider_type;
use regente_domain::routing::explanation;
use regente_domain::scope;
use regente_domain::seller;
use regente_domain::session;
use regente_domain::webhook::{self, PING};

use crate::api::query;
use crate::http::words::closed_lists;
pub use crate::http::words::{BusinessCode, DeclinedCode};

closed_lists! {
    /// Where a charge stands.
    ChargeStatus = listed(charge::ChargeStatus::WORDS);
    /// How is paid.
    PaymentType = listed(payment_type::PaymentType::WORDS);
    /// Whether a stored card is used for the first time, again, or without the buyer and without a schedule.
    Recurrence = listed(charge::Recurrence::WORDS);
    /// Why the outcome of a request was not known at once.
    OpenReason = listed(attempt::OpenReason::WORDS);
    /// What told the outcome of a request, if it was not the answer to the call.
    OutcomeSource = listed(attempt::ToldBy::WORDS);
    /// Why a provider was left out.
    SkipReason = listed(explanation::Skipped::WORDS);
    /// Why a provider might be asked although it had stopped answering.
    CircuitNote = listed(explanation::CircuitNote::WORDS);
    /// Why no further provider was asked.
    StopReason = listed(explanation::Stopped::WORDS);
    /// How a step of an explanation ended.
    StepOutcome = listed(timeline::Ended::WORDS);
    /// What came after a step of an explanation.
    StepSequel = listed(timeline::Then::WORDS);
    /// The code of a payment or anti-fraud provider.
    ProviderType = provider_type::ProviderType::all().map(provider_type::ProviderType::code);
    /// Where a seller stands.
    SellerStatus = listed(seller::SellerStatus::WORDS);
    /// What a file shows of a seller.
    SellerFileType = listed(seller::document::DocumentKind::WORDS);
    /// Where such a file stands.
    SellerFileStatus = listed(seller::document::DocumentStatus::WORDS);
    /// Where a review of a registration stands.
    RegistrationReviewStatus = listed(seller::review::ReviewStatus::WORDS);
    /// An accepted ISO 4217 code.
    Currency = currency::Currency::all().map(currency::Currency::code);
    /// What an account of the books is for.
    LedgerPurpose = listed(ledger::Purpose::WORDS);
    /// The kind of an account of the books.
    LedgerNature = listed(ledger::Nature::WORDS);
    /// What an entry of the books records.
    LedgerMovement = listed(ledger::Movement::WORDS);
    /// Where a session stands.
    SessionStatus = listed(session::SessionStatus::WORDS);
    /// Whether a payment of a session can start.
    SessionAvailability = listed(session::Availability::WORDS);
    /// What a public key may call: a group of routes, or `*` for all of them.
    ScopeWord = [scope::Scopes::ALL_WORD].into_iter().chain(scope::Scope::ALL.map(scope::Scope::word));
    /// The name of an event that was sent: `ping` is a test event.
    SentEventName = listed(webhook::EventName::WORDS).chain([PING]);
    /// What happened to a charge.
    TransactionEventWord = events_of(webhook::Family::Transaction);
    /// What happened to a purchase.
    PurchaseEventWord = events_of(webhook::Family::Purchase);
    /// What happened to a seller.
    SellerEventWord = events_of(webhook::Family::Seller);
    /// What happened to a subscription.
    SubscriptionEventWord = events_of(webhook::Family::Subscription);
    /// What happened to a session.
    SessionEventWord = events_of(webhook::Family::Session);
    /// The word of a test event.
    TestEventWord = [PING];
    /// The version of what is sent to a webhook.
    EventVersion = webhook::Version::ALL.map(webhook::Version::word);
    /// The order of a list by creation; lower case is taken too.
    SortOrder = listed(&query::SortOrder::WORDS);
}

fn listed<T>(table: &[(&'static str, T)]) -> impl Iterator<Item = &'static str> {
    table.iter().map(|(word, _)| *word)
}

/// The names of a family's events without the family.
fn events_of(family: webhook::Family) -> impl Iterator<Item = &'static str> {
    let of_family = webhook::EventName::WORDS.iter().filter(move |(_, name)| name.family() == family);
    of_family.map(|(_, name)| name.event())
}
