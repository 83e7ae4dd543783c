//! Addresses of pages to which a browser is led.

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde::Serialize;

use crate::problems::Problems;
use crate::text::chars_max;
use crate::wire::{Text, Verbatim};

/// An address as the document shows it.
pub(crate) type ShownAddress = Text<0, { chars_max::FREE }>;

/// The address of a page. Whether it is one that this deployment takes, and holds no card data, its mode says: that is looked for in
/// the members as sent, before they are read (decision 36).
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct PageAddress(String);

impl Deserr<Problems> for PageAddress {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let text: Verbatim<0, { usize::MAX }> = Deserr::deserialize_from_value(value, location)?;
        Ok(Self(text.into_string()))
    }
}

/// What may have been sent.
pub(super) fn address(sent: Option<PageAddress>) -> Option<String> {
    sent.map(|PageAddress(text)| text)
}
