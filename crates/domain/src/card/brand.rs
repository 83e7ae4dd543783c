//! Finds the brand of a card number by its first digits.

use std::borrow::Cow;

use serde::{Deserialize, Serialize, Serializer};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// A card brand; its name on the wire is in `docs/interface/tokens-and-cards.md#cards`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Brand {
    /// American Express.
    #[serde(rename = "American Express")]
    AmericanExpress,
    /// Mastercard.
    Mastercard,
    /// Visa.
    Visa,
    /// Elo.
    Elo,
    /// Discover.
    Discover,
    /// JCB.
    #[serde(rename = "JCB")]
    Jcb,
    /// Diners.
    Diners,
    /// Hipercard.
    Hipercard,
}

impl Brand {
    /// Every brand, in the order of `docs/interface/tokens-and-cards.md#cards`.
    pub const ALL: [Self; 8] = [
        Self::AmericanExpress,
        Self::Mastercard,
        Self::Visa,
        Self::Elo,
        Self::Discover,
        Self::Jcb,
        Self::Diners,
        Self::Hipercard,
    ];

    /// What stands on the wire for a number of no known range.
    pub const UNKNOWN: &str = "Unknown";

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AmericanExpress => "American Express",
            Self::Mastercard => "Mastercard",
            Self::Visa => "Visa",
            Self::Elo => "Elo",
            Self::Discover => "Discover",
            Self::Jcb => "JCB",
            Self::Diners => "Diners",
            Self::Hipercard => "Hipercard",
        }
    }

    /// Reads the name of the wire, exactly.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|brand| brand.name() == name)
    }

    /// How many digits its numbers have. Visa issues no numbers of 13 digits any more; bar codes of goods have as many.
    pub(super) const fn lengths(self) -> &'static [usize] {
        match self {
            Self::AmericanExpress => &[15],
            Self::Mastercard | Self::Elo => &[16],
            Self::Diners => &[14, 16],
            Self::Visa | Self::Discover | Self::Jcb | Self::Hipercard => &[16, 19],
        }
    }

    /// The brand with the longest matching range: Elo and Hipercard own small ranges inside those of other brands.
    pub(super) fn of_digits(digits: &str) -> Option<Self> {
        RANGES
            .iter()
            .filter(|range| range.holds(digits))
            .max_by_key(|range| range.first.len())
            .map(|range| range.brand)
    }
}

/// The brand of a card as the interface shows it: `Unknown` for a number of no known range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownBrand(pub Option<Brand>);

impl Serialize for ShownBrand {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.map_or(Brand::UNKNOWN, Brand::name))
    }
}

impl PartialSchema for ShownBrand {
    fn schema() -> RefOr<Schema> {
        let names = Brand::ALL.map(Brand::name).into_iter().chain([Brand::UNKNOWN]);
        let list = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names));
        list.description(Some("The brand of a card.")).into()
    }
}

impl ToSchema for ShownBrand {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("CardBrand")
    }
}

/// Numbers whose first digits lie between two prefixes of the same length, both included.
struct Range {
    first: &'static str,
    last: &'static str,
    brand: Brand,
}

impl Range {
    /// Digits of equal length compare as text as they do as numbers.
    fn holds(&self, digits: &str) -> bool {
        digits.get(..self.first.len()).is_some_and(|prefix| (self.first..=self.last).contains(&prefix))
    }
}

const fn range(first: &'static str, last: &'static str, brand: Brand) -> Range {
    Range { first, last, brand }
}

const fn prefix(digits: &'static str, brand: Brand) -> Range {
    range(digits, digits, brand)
}

/// The ranges that the schemes publish.
const RANGES: &[Range] = &[
    prefix("34", Brand::AmericanExpress),
    prefix("37", Brand::AmericanExpress),
    range("51", "55", Brand::Mastercard),
    range("2221", "2720", Brand::Mastercard),
    prefix("4", Brand::Visa),
    range("300", "305", Brand::Diners),
    prefix("3095", Brand::Diners),
    prefix("36", Brand::Diners),
    range("38", "39", Brand::Diners),
    prefix("6011", Brand::Discover),
    range("644", "649", Brand::Discover),
    prefix("65", Brand::Discover),
    range("622126", "622925", Brand::Discover),
    range("3528", "3589", Brand::Jcb),
    prefix("606282", Brand::Hipercard),
    prefix("384100", Brand::Hipercard),
    prefix("384140", Brand::Hipercard),
    prefix("384160", Brand::Hipercard),
    prefix("637095", Brand::Hipercard),
    prefix("637568", Brand::Hipercard),
    prefix("637599", Brand::Hipercard),
    prefix("637609", Brand::Hipercard),
    prefix("637612", Brand::Hipercard),
    range("401178", "401179", Brand::Elo),
    prefix("431274", Brand::Elo),
    prefix("438935", Brand::Elo),
    prefix("451416", Brand::Elo),
    prefix("457393", Brand::Elo),
    range("457631", "457632", Brand::Elo),
    prefix("504175", Brand::Elo),
    range("506699", "506778", Brand::Elo),
    range("509000", "509999", Brand::Elo),
    prefix("627780", Brand::Elo),
    prefix("636297", Brand::Elo),
    prefix("636368", Brand::Elo),
    range("650031", "650033", Brand::Elo),
    range("650035", "650051", Brand::Elo),
    range("650405", "650439", Brand::Elo),
    range("650485", "650538", Brand::Elo),
    range("650541", "650598", Brand::Elo),
    range("650700", "650718", Brand::Elo),
    range("650720", "650727", Brand::Elo),
    range("650901", "650978", Brand::Elo),
    range("651652", "651679", Brand::Elo),
    range("655000", "655019", Brand::Elo),
    range("655021", "655058", Brand::Elo),
];
