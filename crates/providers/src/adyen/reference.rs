//! The merchant's reference of a payment, a capture or a void: notifications repeat it. It says which operation it is of,
//! since some notifications of a capture or refund carry the reference of their payment instead.

use std::fmt;

use uuid::Uuid;

use crate::request::OperationKind;

/// What we send as `reference`: at most 79 of the 80 characters that are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The charge or the card.
    pub object_id: Uuid,
    /// The key of the call.
    pub key: Uuid,
    /// The operation.
    pub operation: OperationKind,
}

impl Reference {
    /// The inverse of its text; `None` for a reference of somebody else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '-');
        let (object_id, key, word) = (parts.next()?, parts.next()?, parts.next()?);
        let reference = Self {
            object_id: Uuid::try_parse(object_id).ok()?,
            key: Uuid::try_parse(key).ok()?,
            operation: OperationKind::parse(word)?,
        };
        (reference.to_string() == text).then_some(reference)
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object_id, key, operation } = self;
        write!(f, "{}-{}-{}", object_id.simple(), key.simple(), operation.word())
    }
}
