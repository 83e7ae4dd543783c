//! The buyer in the body of a charge (`docs/interface/charges.md#payment-sources`).

use deserr::Deserr;
use utoipa::ToSchema;

use crate::customer::{Address, Document, SentAddress, SentParts, address_or_nothing};
use crate::problems::Problems;
use crate::text::chars_max;
use crate::wire::{EmailAddress, Text, Verbatim};

type Name = Text<0, { chars_max::NAME }>;
type Phone = Verbatim<0, { chars_max::PHONE }>;

/// Who pays: the stored customer with this document, or with this e-mail address.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
pub struct Payer {
    #[deserr(default, from(Option<Name>) = name_or_blank)]
    #[schema(value_type = Option<Name>)]
    #[expect(missing_docs, reason = "the name says it")]
    pub name: String,
    /// Required by methods that are paid without a card; may be blank.
    #[deserr(default, from(Option<Phone>) = Verbatim::given)]
    #[schema(value_type = Option<Phone>)]
    pub phone_number: Option<String>,
    #[deserr(from(EmailAddress) = EmailAddress::into_string)]
    #[schema(value_type = EmailAddress)]
    #[expect(missing_docs, reason = "the name says it")]
    pub email: String,
    #[expect(missing_docs, reason = "the type says it")]
    pub document: Document,
    /// Where they live. `{}` counts as nothing.
    #[deserr(default, from(Option<SentAddress>) = SentAddress::given)]
    #[schema(schema_with = address_or_nothing)]
    pub address: Option<Address>,
    /// Where bills go.
    #[deserr(default, from(Option<SentParts>) = SentParts::given)]
    #[schema(ignore)]
    pub billing_address: Option<Address>,
    /// Where goods go.
    #[deserr(default, from(Option<SentParts>) = SentParts::given)]
    #[schema(ignore)]
    pub delivery_address: Option<Address>,
}

fn name_or_blank(sent: Option<Name>) -> String {
    sent.map(Text::into_string).unwrap_or_default()
}
