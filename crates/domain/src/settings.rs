//! What an account or a merchant sets for its payment links: colours and a logo (`docs/interface/settings.md`).

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::words::words;

/// The lengths of a colour in hexadecimal digits: RGB with one digit each, RGB with two, and with an alpha.
const DIGITS: [usize; 3] = [3, 6, 8];

/// A colour as it stands in a style: `#` and 3, 6 or 8 hexadecimal digits, and nothing else that a style could hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Color(String);

impl Color {
    /// Parses a colour; upper and lower case stay as they are.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#')?;
        let is_color = DIGITS.contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_color.then(|| Self(text.to_owned()))
    }

    /// The colour as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Color> for String {
    fn from(color: Color) -> Self {
        color.0
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Color {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Color {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("not a colour"))
    }
}

words! {
    /// The formats of a logo, by the endings of their files.
    LogoFormat {
        /// Without loss.
        Png = "png",
        /// With loss.
        Jpeg = "jpg",
    }
}

/// The widest and highest logo, in pixels.
pub const LOGO_PIXELS_MAX: u16 = 1000;
/// The most bytes of a logo as it is sent.
pub const LOGO_BYTES_MAX: usize = 1_000_000;
