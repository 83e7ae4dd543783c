//! What a token is made of, as it is sent (`docs/interface/tokens-and-cards.md#tokens`).

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde_json::{Map, Value as Json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use zeroize::Zeroizing;

use crate::card::{
    Cvv, Expiry, HOLDER_NAME, HolderName, InlineCard, NUMBER, SentNumber, must_not_name_itself,
};
use crate::problems::Problems;
use crate::wire::{read_with, refused};

const CVV: &str = "cardCvv";
const EXPIRATION_DATE: &str = "cardExpirationDate";
const CVV_UPDATE: &str = "cvvUpdate";

/// What a token is made of.
pub enum NewToken {
    /// A card with its security code.
    Card(InlineCard),
    /// The security code of a stored card.
    Cvv(Cvv),
}

/// A card, a security code, or both.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewToken, rename_all = "camelCase", example = json!({
    "cardHolderName": "JOSE DAS NEVES", "cardNumber": "4916745120294124", "cardCvv": "560",
    "cardExpirationDate": "12/2030"
}))]
struct SentToken {
    /// The name on the card. Required for a card.
    #[deserr(default)]
    card_holder_name: Option<HolderName>,
    /// 13 to 19 digits with a right check digit; spaces and dashes do not count. Required for a card.
    #[deserr(default)]
    card_number: Option<SentNumber>,
    /// 3 or 4 digits. Required for a card.
    #[deserr(default)]
    card_cvv: Option<Cvv>,
    /// The month in which the card ends, `MM/YYYY`. Required for a card.
    #[deserr(default)]
    card_expiration_date: Option<Expiry>,
    /// The security code of a stored card, alone; or that of the card in the same body.
    #[deserr(default)]
    cvv_update: Option<Cvv>,
}

impl Deserr<Problems> for NewToken {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let mut sent: Json = Deserr::<Problems>::deserialize_from_value(value, location)?;
        let needed = sent.as_object_mut().map(settle_code).unwrap_or_default();
        let look = |members: &Map<String, Json>, problems: &mut Problems| {
            for name in needed.iter().filter(|name| !members.contains_key(**name)) {
                problems.extend(refused(location.push_key(name), "should not be empty"));
            }
            must_not_name_itself(members, location, problems);
        };
        let sent: SentToken = read_with(sent.into_value(), location, look)?;
        sent.contents().ok_or_else(|| refused(location, "is not valid"))
    }
}

fn has(members: &Map<String, Json>, name: &str) -> bool {
    members.get(name).is_some_and(|value| !value.is_null())
}

/// The members that must be there: none of a card where a security code is alone. Beside a card it counts in place of the card's
/// own, which is left out.
fn settle_code(members: &mut Map<String, Json>) -> Vec<&'static str> {
    let of_card = [HOLDER_NAME, NUMBER, CVV, EXPIRATION_DATE];
    if !has(members, CVV_UPDATE) {
        return of_card.to_vec();
    }
    let is_alone = !of_card.iter().any(|name| has(members, name));
    if let Some(Json::String(replaced)) = members.shift_remove(CVV) {
        drop(Zeroizing::new(replaced));
    }
    if is_alone { Vec::new() } else { vec![HOLDER_NAME, NUMBER, EXPIRATION_DATE] }
}

impl SentToken {
    fn contents(self) -> Option<NewToken> {
        let Self { card_holder_name, card_number, card_cvv, card_expiration_date, cvv_update } = self;
        match (card_holder_name, card_number, card_expiration_date) {
            (None, None, None) => cvv_update.map(NewToken::Cvv),
            (holder_name, number, expiry) => Some(NewToken::Card(InlineCard {
                number: number?,
                holder_name: holder_name?.into_string(),
                expiry: expiry?,
                cvv: cvv_update.or(card_cvv),
            })),
        }
    }
}

impl PartialSchema for NewToken {
    fn schema() -> RefOr<Schema> {
        SentToken::schema()
    }
}

impl ToSchema for NewToken {
    fn name() -> Cow<'static, str> {
        SentToken::name()
    }

    fn schemas(found: &mut Vec<(String, RefOr<Schema>)>) {
        SentToken::schemas(found);
    }
}
