//! Makes an enum of a closed list of words of the interface. It reads itself from a body and is its own schema; the name of
//! the schema is that of the type, or that of `#[schema(as = …)]`.

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(::serde::Serialize, ::serde::Deserialize, ::utoipa::ToSchema)]
        $(#[$doc])*
        pub enum $name { $($(#[$variant_doc])* #[serde(rename = $word)] #[schema(rename = $word)] $variant),* }

        impl $name {
            /// Every word with its value, in the order of the interface.
            pub const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),*];

            /// The word on the wire.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// Parses a word, exactly as spelled in the interface.
            pub fn parse(word: &str) -> Option<Self> {
                Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
            }
        }

        impl ::deserr::Deserr<$crate::problems::Problems> for $name {
            fn deserialize_from_value<V: ::deserr::IntoValue>(
                value: ::deserr::Value<V>,
                location: ::deserr::ValuePointerRef<'_>,
            ) -> Result<Self, $crate::problems::Problems> {
                let rule = || $crate::wire::not_among(Self::WORDS.iter().map(|(word, _)| *word));
                $crate::wire::text_as(value, location, rule, Self::parse)
            }
        }
    };
}
pub(crate) use words;
