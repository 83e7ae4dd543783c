//! Decides when two buyers are the same (`docs/interface/customers.md#matching`), and parses their documents. The
//! store looks them up.

use serde::{Deserialize, Serialize};

use crate::check_digits;
use crate::country::Country;
use crate::id::CustomerId;
use crate::problems::Problems;
use crate::text::chars_max;

mod address;
mod sent_address;
mod sent_customer;
mod sent_document;

pub use address::{Address, Demand};
pub use sent_address::{SentAddress, SentParts, address_or_nothing};
pub use sent_customer::{CustomerChanges, NewCustomer};

/// The document type that means "no document".
pub const NO_DOCUMENT: &str = "noDocument";

/// Digits of a CPF, the tax number of a person.
const CPF_DIGITS: usize = 11;
/// Characters of a CNPJ, the tax number of a company; may contain letters since July 2026.
const CNPJ_CHARS: usize = 14;

/// Normalizes an e-mail address for comparison: trimmed, lower case.
pub fn normal_email(email: &str) -> String {
    email.trim().to_lowercase()
}

/// Normalizes a document number for comparison: letters and digits only, upper case.
pub fn normal_number(number: &str) -> String {
    number.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_uppercase).collect()
}

/// Normalizes a document for comparison: country, type in upper case, normalized number.
pub fn normal_document(country: Country, kind: &str, number: &str) -> String {
    format!("{country}:{}:{}", kind.to_uppercase(), normal_number(number))
}

/// A buyer's document, as it was sent; check digits are not verified (`docs/interface/customers.md#documents`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// The type in the caller's own spelling.
    #[serde(rename = "type")]
    pub kind: String,
    /// The number, with or without punctuation; may be empty only for [`NO_DOCUMENT`].
    pub number: String,
    /// The country that issued it.
    pub country: Country,
}

impl Document {
    /// Parses a document; `path` is that of the object, for example `document`. The default country is Brazil. `None`
    /// when it is invalid; the errors go to `problems`.
    pub fn parse(
        kind: &str,
        number: &str,
        country: Option<&str>,
        path: &str,
        problems: &mut Problems,
    ) -> Option<Self> {
        let Some(country) = country.map_or(Some(Country::BR), Country::parse) else {
            problems.add(format_args!("{path}.country"), one_of(Country::all().map(Country::code)));
            return None;
        };
        let kind_is_right = is_kind_of(country, kind);
        if !kind_is_right {
            problems.add(format_args!("{path}.type"), kind_rule(country));
        }
        let broken = broken_number_rule(country, kind, number);
        if let Some(rule) = &broken {
            problems.add(format_args!("{path}.number"), rule);
        }
        (kind_is_right && broken.is_none()).then(|| Self {
            kind: kind.to_owned(),
            number: number.to_owned(),
            country,
        })
    }

    /// Whether the type is [`NO_DOCUMENT`].
    pub fn is_absent(&self) -> bool {
        self.kind.eq_ignore_ascii_case(NO_DOCUMENT)
    }

    /// The rule that the check digits of the number break, such as `is not a valid CPF`; `None` also for types without a
    /// public rule.
    pub fn broken_check_digits(&self) -> Option<String> {
        if self.is_absent() {
            return None;
        }
        check_digits::broken(self.country.code(), &self.kind, &self.number)
    }

    /// The form that must be unique in an account; `None` without a document.
    pub fn key(&self) -> Option<String> {
        (!self.is_absent()).then(|| normal_document(self.country, &self.kind, &self.number))
    }

    /// How this document takes part in finding a customer.
    pub fn sent(&self) -> IdentifiedBy {
        if self.is_absent() { IdentifiedBy::NoDocument } else { IdentifiedBy::Document }
    }
}

fn is_kind_of(country: Country, kind: &str) -> bool {
    let types = country.document_types();
    if kind.eq_ignore_ascii_case(NO_DOCUMENT) {
        true
    } else if types.is_empty() {
        (1..=chars_max::DOCUMENT_NUMBER).contains(&kind.len())
            && kind.bytes().all(|byte| byte.is_ascii_alphanumeric())
    } else {
        types.iter().any(|known| known.name.eq_ignore_ascii_case(kind))
    }
}

/// Whether a country has such a document in its list, or it is `noDocument`; in any case.
pub fn is_listed_kind(kind: &str) -> bool {
    let mut listed = Country::all().flat_map(|country| country.document_types());
    kind.eq_ignore_ascii_case(NO_DOCUMENT) || listed.any(|known| known.name.eq_ignore_ascii_case(kind))
}

fn kind_rule(country: Country) -> String {
    match country.document_types() {
        [] => format!("must be 1 to {} letters and digits", chars_max::DOCUMENT_NUMBER),
        types => one_of(types.iter().map(|known| known.name).chain([NO_DOCUMENT])),
    }
}

/// The rule that the number breaks.
fn broken_number_rule(country: Country, kind: &str, number: &str) -> Option<String> {
    if number.chars().count() > chars_max::DOCUMENT_NUMBER {
        return Some(format!("must be shorter than or equal to {} characters", chars_max::DOCUMENT_NUMBER));
    }
    if kind.eq_ignore_ascii_case(NO_DOCUMENT) {
        return None;
    }
    let normal = normal_number(number);
    let is_kind = |name| country == Country::BR && kind.eq_ignore_ascii_case(name);
    if normal.is_empty() {
        Some("should not be empty".to_owned())
    } else if is_kind("CPF")
        && !(normal.len() == CPF_DIGITS && normal.bytes().all(|byte| byte.is_ascii_digit()))
    {
        Some(format!("must have {CPF_DIGITS} digits"))
    } else if is_kind("CNPJ")
        && !(normal.len() == CNPJ_CHARS && normal.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    {
        Some(format!("must have {CNPJ_CHARS} letters and digits"))
    } else {
        None
    }
}

fn one_of<'a>(words: impl Iterator<Item = &'a str>) -> String {
    format!("must be one of the following values: {}", words.collect::<Vec<_>>().join(", "))
}

/// Whether a stored customer has a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HasDocument {
    /// It has one that identifies it.
    Yes,
    /// None, or `noDocument`.
    No,
}

/// What the request identifies the buyer by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdentifiedBy {
    /// An e-mail address and a document.
    Document,
    /// Only an e-mail address.
    NoDocument,
}

/// Which customer the data belong to: cases 1 to 4 of `docs/interface/customers.md#matching`; the first that applies
/// decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// 1: this customer has the document, whoever has the e-mail address.
    DocumentBelongsTo(CustomerId),
    /// 2: this customer has the e-mail address, and no document contradicts it.
    EmailBelongsTo(CustomerId),
    /// 3: the e-mail address belongs to a customer with another document. The document decides, because it names the
    /// payer, while several people may share a mailbox.
    EmailTaken,
    /// 4: no customer has either.
    Free,
}

/// Decides the case. `found_by_document` counts only when a document was sent.
pub fn decide(
    found_by_document: Option<CustomerId>,
    found_by_email: Option<(CustomerId, HasDocument)>,
    sent_document: IdentifiedBy,
) -> Case {
    match (sent_document, found_by_document, found_by_email) {
        (IdentifiedBy::Document, Some(owner), _) => Case::DocumentBelongsTo(owner),
        (IdentifiedBy::NoDocument, _, Some((owner, HasDocument::Yes | HasDocument::No)))
        | (IdentifiedBy::Document, None, Some((owner, HasDocument::No))) => Case::EmailBelongsTo(owner),
        (IdentifiedBy::Document, None, Some((_, HasDocument::Yes))) => Case::EmailTaken,
        (IdentifiedBy::Document | IdentifiedBy::NoDocument, _, None) => Case::Free,
    }
}
