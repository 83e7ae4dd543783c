//! The code under which an operator shows their own provider: that of an installation, for as long as the process lives.
//! Records and logs always have `PLATFORM`.

use std::borrow::Cow;
use std::sync::OnceLock;

use serde::{Serialize, Serializer};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::ProviderType;
use crate::wire::one_of;

const CHARS_MAX: usize = 32;

static OWN_CODE: OnceLock<String> = OnceLock::new();

impl ProviderType {
    /// Names the platform's own provider. Only the first name counts; the process has one.
    pub fn name_own_provider(code: &str) {
        OWN_CODE.get_or_init(|| code.to_owned());
    }

    /// Whether `code` may name it: upper-case letters, digits and `_`, and no other type's.
    pub fn is_good_own_code(code: &str) -> bool {
        let is_word = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        let is_free = Self::all().all(|other| other == Self::Platform || other.code() != code);
        (1..=CHARS_MAX).contains(&code.len()) && code.bytes().all(is_word) && is_free
    }

    /// The code that the interface shows.
    pub fn shown(self) -> &'static str {
        match (self, OWN_CODE.get()) {
            (Self::Platform, Some(own)) => own,
            (_, _) => self.code(),
        }
    }

    /// Every code that the interface reads, with its type.
    pub fn all_shown() -> Vec<(&'static str, Self)> {
        let mut shown: Vec<(&str, Self)> =
            Self::all().flat_map(|of| [(of.shown(), of), (of.code(), of)]).collect();
        shown.dedup();
        shown
    }

    /// The type that the interface knows under this code: `PLATFORM` is read as well as the operator's own.
    pub fn parse_shown(code: &str) -> Option<Self> {
        match OWN_CODE.get().is_some_and(|own| own == code) {
            true => Some(Self::Platform),
            false => Self::parse(code),
        }
    }
}

/// A provider's code as the interface shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownProviderType(pub ProviderType);

impl Serialize for ShownProviderType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.shown())
    }
}

impl PartialSchema for ShownProviderType {
    fn schema() -> RefOr<Schema> {
        let codes = ProviderType::all().map(ProviderType::code);
        one_of("The code of a payment or anti-fraud provider.", codes)
    }
}

impl ToSchema for ShownProviderType {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("ProviderType")
    }
}
