//! What a charge is paid with, as it is sent (`docs/interface/charges.md#payment-sources`): a card, or a payer.

use regente_domain::card::{CardNumber, CardNumberError, Cvv, Expiry, in_text};
use regente_domain::customer::Document;
use regente_domain::decline::DeclinedCode;
use regente_domain::id::{CardId, CustomerId, TokenId};
use regente_domain::text::chars_max;
use regente_domain::time::Timestamp;
use regente_engine::card_data::CvvSource;
use regente_engine::error::Error;
use regente_engine::flows::customers::NewCustomer;
use regente_providers::request::CardDetails;

use super::or_default;
use crate::api::customers::{read_document, read_inline};
use crate::api::fields::{Field, Fields};

/// Characters of a card holder's name.
const HOLDER_CHARS_MAX: usize = chars_max::NAME;

/// What a charge is paid with by card.
pub enum Source {
    /// A stored card.
    StoredCard {
        /// Which.
        card_id: CardId,
        /// Its security code, sent when the buyer is present.
        cvv: CvvSource,
    },
    /// A card in the body.
    InlineCard(InlineCard),
    /// A card token.
    Token(TokenId),
    /// The default card of a customer.
    Customer {
        /// Whose.
        payer: CardOwner,
        /// The card's security code, sent when the buyer is present.
        cvv: CvvSource,
    },
}

impl Source {
    /// The card token, when the source is one.
    pub const fn token_id(&self) -> Option<TokenId> {
        match self {
            Self::Token(token_id) => Some(*token_id),
            Self::StoredCard { .. } | Self::InlineCard(_) | Self::Customer { .. } => None,
        }
    }
}

/// The customer whose default card is charged.
pub enum CardOwner {
    /// A stored customer.
    Stored(CustomerId),
    /// A stored customer who matches the buyer in the body.
    Described {
        /// E-mail address.
        email: String,
        /// Document.
        document: Document,
    },
}

/// A card in the body with well-formed members. [`InlineCard::checked`] checks the card itself.
pub struct InlineCard {
    number: Option<CardNumber>,
    holder_name: String,
    expiry: Expiry,
    /// Absent only where the charge needs none.
    cvv: Option<Cvv>,
}

impl InlineCard {
    /// The card; an error when its check digit is wrong or it has expired, both answered as a declined card
    /// (`docs/interface/tokens-and-cards.md#tokens`).
    pub fn checked(self, now: Timestamp) -> Result<CardDetails, Error> {
        let Self { number, holder_name, expiry, cvv } = self;
        let declined = |code, message: &'static str| Error::CardDeclined { code, message: message.into() };
        let number = number.ok_or_else(|| declined(DeclinedCode::InvalidNumber, "invalid card number"))?;
        if expiry.is_past(now) {
            return Err(declined(DeclinedCode::ExpiredCard, "expired card"));
        }
        Ok(CardDetails { number, holder_name, expiry, cvv })
    }
}

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

/// Who pays without a card.
pub enum Payer {
    /// A stored customer, or an alias of one.
    Stored(CustomerId),
    /// A buyer in the body: found among the customers, or created.
    Described(Box<NewCustomer>),
}

/// Whether the provider must know where the payer lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressRule {
    /// It need not.
    Optional,
    /// It must, with every member of an address.
    Complete,
}

/// Reads the payer of a method that is paid without a card.
pub(super) fn read_payer(fields: &Fields<'_>, rule: AddressRule) -> Option<Payer> {
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
        fields.required("customer").object(described).map(|payer| Payer::Described(Box::new(payer)))
    } else {
        fields.required("customerId").id().map(Payer::Stored)
    }
}

/// Whether a card that is sent needs its security code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeRule {
    /// It does.
    Required,
    /// It does not: the buyer is not there to give it.
    Optional,
}

pub(super) fn read_source(fields: &Fields<'_>, code: CodeRule) -> Option<Source> {
    match fields.required("sourceType").one_of(&SourceType::WORDS)? {
        SourceType::Token => fields.required("tokenId").id().map(Source::Token),
        SourceType::Customer => {
            let payer = if fields.has("customer") && !fields.has("customerId") {
                fields.required("customer").object(read_owner)
            } else {
                fields.required("customerId").id().map(CardOwner::Stored)
            };
            let cvv = read_cvv_source(fields);
            Some(Source::Customer { payer: payer?, cvv: cvv? })
        }
        SourceType::Card if fields.has("card") && !fields.has("cardId") => {
            fields.required("card").object(|card| read_card(card, "cardCvv", code)).map(Source::InlineCard)
        }
        SourceType::Card => {
            let card_id = fields.required("cardId").id();
            let cvv = read_cvv_source(fields);
            Some(Source::StoredCard { card_id: card_id?, cvv: cvv? })
        }
    }
}

/// Reads the owner of a card. E-mail address and document identify him.
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
    field.text_as("must be 3 or 4 digits", Cvv::parse)
}

/// An expiry `MM/YYYY`.
pub fn read_expiry(field: Field<'_>) -> Option<Expiry> {
    field.text_as("must be a month in the form MM/YYYY", Expiry::parse)
}
