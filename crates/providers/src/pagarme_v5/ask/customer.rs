//! The customer of an order, as far as the charge knows them.

use regente_domain::country::Country;

use crate::pagarme_v5::wire::sent::{Address, Customer, CustomerKind, Phone, Phones};
use crate::request::{CardDetails, PayerDetails};

/// Digits of a Brazilian number without its area code: of a fixed line, and of a mobile phone.
const FIXED_DIGITS: usize = 8;
const MOBILE_DIGITS: usize = 9;
/// Digits of an area code of Brazil.
const AREA_DIGITS: usize = 2;
/// The country code of Brazil.
const BRAZIL: &str = "55";

/// A document that the provider knows.
pub(super) struct Document {
    /// Letters and digits, without punctuation.
    pub(super) number: String,
    kind: &'static str,
    customer: CustomerKind,
}

/// The customer. Of a card whose buyer is not known it is its holder.
pub(super) fn of<'a>(buyer: Option<&'a PayerDetails>, card: Option<&'a CardDetails>) -> Customer<'a> {
    let name = buyer.map(|buyer| buyer.name.trim()).filter(|name| !name.is_empty());
    let holder = card.map(|card| &*card.holder_name);
    let document = buyer.and_then(document);
    Customer {
        name: name.or(holder).unwrap_or_default(),
        email: buyer.and_then(|buyer| buyer.email.as_deref()),
        kind: document.as_ref().map_or(CustomerKind::Individual, |document| document.customer),
        document_type: document.as_ref().map(|document| document.kind),
        document: document.map(|document| document.number),
        address: buyer.and_then(address),
        phones: buyer.map_or_else(Phones::default, |buyer| phones(&buyer.phone_number)),
    }
}

/// The buyer's document, if it is of a kind that the provider knows.
pub(super) fn document(buyer: &PayerDetails) -> Option<Document> {
    let sent = &buyer.document;
    let is = |kind: &str| sent.kind.eq_ignore_ascii_case(kind);
    let (kind, customer) = if sent.country == Country::BR && is("CPF") {
        ("CPF", CustomerKind::Individual)
    } else if sent.country == Country::BR && is("CNPJ") {
        ("CNPJ", CustomerKind::Company)
    } else if is("PASSPORT") {
        ("PASSPORT", CustomerKind::Individual)
    } else {
        return None;
    };
    let number: String = sent.number.chars().filter(char::is_ascii_alphanumeric).collect();
    (!number.is_empty()).then_some(Document { number, kind, customer })
}

/// The buyer's address, if it is complete.
pub(super) fn address(buyer: &PayerDetails) -> Option<Address<'_>> {
    let address = buyer.address.as_ref().filter(|address| address.missing().is_empty())?;
    fn text(part: &Option<String>) -> Option<&str> {
        part.as_deref()
    }
    let (street, number) = (text(&address.street)?, text(&address.street_number)?);
    let neighborhood = text(&address.district)?;
    let complement = text(&address.complement).unwrap_or_default();
    Some(Address {
        street,
        number,
        zip_code: text(&address.zip_code)?,
        neighborhood,
        city: text(&address.city)?,
        state: text(&address.state)?,
        country: address.country?.code().to_owned(),
        complement,
        line_1: format!("{number}, {street}, {neighborhood}"),
        line_2: complement,
    })
}

/// A number in its parts, if it is one of Brazil: `+55 11 98888-7777`.
fn phones(number: &str) -> Phones {
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    if number.trim_start().starts_with('+') && !digits.starts_with(BRAZIL) {
        return Phones::default();
    }
    let national = match digits.strip_prefix(BRAZIL) {
        Some(national) if national.len() >= AREA_DIGITS + FIXED_DIGITS => national,
        Some(_) | None => digits.trim_start_matches('0'),
    };
    let Some((area_code, local)) = national.split_at_checked(AREA_DIGITS) else { return Phones::default() };
    let phone = || {
        Some(Phone {
            country_code: BRAZIL.to_owned(),
            area_code: area_code.to_owned(),
            number: local.to_owned(),
        })
    };
    match local.len() {
        FIXED_DIGITS => Phones { home_phone: phone(), ..Phones::default() },
        MOBILE_DIGITS => Phones { mobile_phone: phone(), ..Phones::default() },
        _ => Phones::default(),
    }
}
