//! Reads what a charge is paid with (`docs/interface/charges.md#payment-sources`): a card, or a payer.

use regente_domain::card::InlineCard;
use regente_engine::card_data::CvvSource;
use regente_engine::charges::{AddressRule, CardOwner, CodeRule, OrderedCard, OrderedPayer};
use serde_json::Value;

use super::or_default;
use crate::api::customers::read_inline;
use crate::api::fields::Fields;

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
            read_card(fields, code).map(OrderedCard::Inline)
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
    let document = fields.required("document").read_as();
    Some(CardOwner::Described { email: email?, document: document? })
}

fn read_cvv_source(fields: &Fields<'_>) -> Option<CvvSource> {
    if fields.has("tokenCvv") {
        return fields.optional("tokenCvv").id().map(CvvSource::Token);
    }
    or_default(fields, "cardCvv", CvvSource::None, |field| field.read_as().map(CvvSource::Inline))
}

/// Reads a card.
fn read_card(fields: &Fields<'_>, code: CodeRule) -> Option<InlineCard> {
    let sent = fields.members().get("card").and_then(Value::as_object);
    let lacks_code = sent.is_some_and(|card| card.get("cardCvv").is_none_or(Value::is_null));
    let card = fields.required("card").read_as();
    match code {
        CodeRule::Required if lacks_code => {
            fields.problem("card.cardCvv", "should not be empty");
            None
        }
        CodeRule::Required | CodeRule::Optional => card,
    }
}
