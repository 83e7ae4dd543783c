//! The address of the page at which the payer of one authorization pays or refuses. The service that made the call serves the
//! page; the link in the address names the registered provider and the charge, and ends with what nobody can guess.

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use uuid::Uuid;

use super::Sandbox;
use crate::request::{Call, NotificationAddress};

/// The path of the pages; a link follows.
pub const PAGES: &str = "/sandbox/payments/";
/// Where a payer is sent when the caller does not say where it is reached; nothing is there.
const NOWHERE: &str = "https://payments.sandbox.example";

/// Bytes of an id, and of what nobody can guess.
const PART_BYTES: usize = 16;
/// Bytes of a link. Base64 needs no padding for them: 64 characters.
const LINK_BYTES: usize = 3 * PART_BYTES;
/// Domain separation: the same key makes hashes of card numbers.
const PURPOSE: &[u8] = b"payment page of ";

/// What a link names. Whether somebody was given the link, the instructions of the charge tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLink {
    /// The registered provider.
    pub provider_id: Uuid,
    /// The charge.
    pub object_id: Uuid,
}

impl PageLink {
    /// Reads a link.
    pub fn read(link: &str) -> Option<Self> {
        let bytes: [u8; LINK_BYTES] = URL_SAFE_NO_PAD.decode(link).ok()?.try_into().ok()?;
        let id = |place: usize| Uuid::from_slice(&bytes[place * PART_BYTES..(place + 1) * PART_BYTES]).ok();
        Some(Self { provider_id: id(0)?, object_id: id(1)? })
    }
}

impl Sandbox {
    /// The address of the page for the payer of this call.
    pub(super) fn payment_page(&self, call: &Call) -> String {
        let tag = hmac::sign(&self.card_hash_key, &[PURPOSE, call.key.as_bytes()].concat());
        let Some(NotificationAddress { service, provider_id }) = &call.notify else {
            return format!("{NOWHERE}/{}", hex::encode(&tag.as_ref()[..PART_BYTES]));
        };
        let mut bytes = Vec::with_capacity(LINK_BYTES);
        bytes.extend_from_slice(provider_id.as_bytes());
        bytes.extend_from_slice(call.object_id.as_bytes());
        bytes.extend_from_slice(&tag.as_ref()[..PART_BYTES]);
        format!("{service}{PAGES}{}", URL_SAFE_NO_PAD.encode(bytes))
    }
}
