//! Reads what a charge is paid with (`docs/interface/charges.md#payment-sources`): a card, or a payer.

use regente_domain::card::{CardNumber, CardNumberError, Cvv, Expiry, NOT_A_CVV, in_text};
use regente_domain::text::chars_max;
use regente_engine::card_data::{CvvSource, InlineCard};
use regente_engine::charges::{AddressRule, CardOwner, CodeRule, OrderedCard, OrderedPayer};

use super::or_default;
use crate::api::customers::{read_document, read_inline};
use crate::api::fields::{Field, Fields};

/// Characters of a card holder's name.
const HOLDER_CHARS_MAX: usize = chars_max::NAME;

/// The payment sources that lead to a card, by `sourceType`.
#[derive(Clone, Copy, Debug)]
pub(in crate::api::charges) enum SourceType {
    /// A stored card or a card in the body.
    Card,
    /// A card token.
    Token,
    /// A customer's default card.
    Customer,
}

impl SourceType {
    const WORDS: [(&str, Self); 3] = [
        (Self::Card.word(), Self::Card),
        (Self::Token.word(), Self::Token),
        (Self::Customer.word(), Self::Customer),
    ];

    /// The word of the interface.
    pub(in crate::api::charges) const fn word(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::Token => "token",
            Self::Customer => "customer",
        }
    }
}

/// `sourceType` of what a wallet has handed out.
pub(in crate::api::charges) const WALLET_SOURCE: &str = "wallet";

/// Reads the payer of a method that is paid without a card.
pub(super) fn read_payer(fields: &Fields<'_>, rule: AddressRule) -> Option<OrderedPayer> {
    fields.required("sourceType").one_of(&[(SourceType::Customer.word(), ())])?;
    if fields.has("customer") && !fields.has("customerId") {
        let described = |payer: &Fields<'_>| {
            let read = read_inline(payer, "paymentSource.customer");
            let lacks_address = read.as_ref().map_or(!payer.has("address"), |read| read.address.is_none());
            if rule == AddressRule::Complete && lacks_address {
                payer.problem("address", "should not be empty for this paymentType");
            }
            read
        };
        fields.required("customer").object(described).map(|payer| OrderedPayer::Described(Box::new(payer)))
    } else {
        fields.required("customerId").id().map(OrderedPayer::Stored)
    }
}

pub(super) fn read_source(fields: &Fields<'_>, code: CodeRule) -> Option<OrderedCard> {
    match fields.required("sourceType").one_of(&SourceType::WORDS)? {
        SourceType::Token => fields.required("tokenId").id().map(OrderedCard::Token),
        SourceType::Customer => {
            let owner = if fields.has("customer") && !fields.has("customerId") {
                fields.required("customer").object(read_owner)
            } else {
                fields.required("customerId").id().map(CardOwner::Stored)
            };
            let cvv = read_cvv_source(fields);
            Some(OrderedCard::Default { owner: owner?, cvv: cvv? })
        }
        SourceType::Card if fields.has("card") && !fields.has("cardId") => {
            fields.required("card").object(|card| read_card(card, "cardCvv", code)).map(OrderedCard::Inline)
        }
        SourceType::Card => {
            let card_id = fields.required("cardId").id();
            let cvv = read_cvv_source(fields);
            Some(OrderedCard::Stored { card_id: card_id?, cvv: cvv? })
        }
    }
}

/// Reads the owner of a card. E-mail address and document identify them.
fn read_owner(fields: &Fields<'_>) -> Option<CardOwner> {
    let email = fields.required("email").email();
    let document = fields
        .required("document")
        .object(|document| read_document(document, "paymentSource.customer.document"));
    Some(CardOwner::Described { email: email?, document: document? })
}

fn read_cvv_source(fields: &Fields<'_>) -> Option<CvvSource> {
    if fields.has("tokenCvv") {
        return fields.optional("tokenCvv").id().map(CvvSource::Token);
    }
    or_default(fields, "cardCvv", CvvSource::None, |field| read_cvv(field).map(CvvSource::Inline))
}

/// Reads a card with all its members; `cvv` is the name of its security code, which differs in tokens
/// (`docs/interface/tokens-and-cards.md#tokens`).
pub fn read_card(fields: &Fields<'_>, cvv: &'static str, code: CodeRule) -> Option<InlineCard> {
    let holder_name = fields.required("cardHolderName").non_empty_text(HOLDER_CHARS_MAX);
    let number = read_card_number(fields.required("cardNumber"));
    let cvv = match code {
        CodeRule::Optional if !fields.has(cvv) => Some(None),
        CodeRule::Optional | CodeRule::Required => read_cvv(fields.required(cvv)).map(Some),
    };
    let expiry = read_expiry(fields.required("cardExpirationDate"));
    if let (Some(name), Some(Some(number))) = (&holder_name, &number)
        && in_text::names(name, number)
    {
        fields.problem("cardHolderName", "must not contain the number of the card");
    }
    Some(InlineCard { number: number?, holder_name: holder_name?, expiry: expiry?, cvv: cvv? })
}

/// Reads a well-formed card number; the inner `None` means a wrong check digit, which is a decline and no problem of
/// the body.
fn read_card_number(field: Field<'_>) -> Option<Option<CardNumber>> {
    field.verbatim().text_as("must be a card number of 13 to 19 digits", |text| {
        match CardNumber::parse(text) {
            Ok(number) => Some(Some(number)),
            Err(CardNumberError::Checksum) => Some(None),
            Err(CardNumberError::NotDigits | CardNumberError::Length) => None,
        }
    })
}

/// A security code.
pub fn read_cvv(field: Field<'_>) -> Option<Cvv> {
    field.text_as(NOT_A_CVV, Cvv::parse)
}

/// An expiry `MM/YYYY`.
pub fn read_expiry(field: Field<'_>) -> Option<Expiry> {
    field.text_as("must be a month in the form MM/YYYY", Expiry::parse)
}
