//! Makes an enum of a closed list of words of the interface.

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize)]
        pub enum $name { $($(#[$variant_doc])* #[serde(rename = $word)] $variant),* }

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
    };
}
pub(crate) use words;
