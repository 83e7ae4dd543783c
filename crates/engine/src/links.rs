//! Links that cannot be guessed: whoever has one may. A link names an account and a thing of it, and ends with a digest under
//! a key of the account's. Nothing is stored, and a link to the same thing is always the same.

use std::sync::Arc;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use regente_domain::id::ClientId;
use uuid::Uuid;

use crate::app::App;
use crate::error::Error;
use crate::vault::{ClientKeys, VaultError};

/// Bytes of an id, and of the digest.
const PART_BYTES: usize = 16;
/// Bytes of account, thing and digest. Base64 needs no padding for them: 64 characters.
const LINK_BYTES: usize = 3 * PART_BYTES;

/// What a link says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The account.
    pub(crate) client_id: ClientId,
    /// The id of the thing.
    pub(crate) id: Uuid,
    digest: Uuid,
}

impl Link {
    pub(crate) const fn new(client_id: ClientId, id: Uuid, digest: Uuid) -> Self {
        Self { client_id, id, digest }
    }

    /// In characters that stand in an address as they are.
    pub(crate) fn text(self) -> String {
        let mut bytes = Vec::with_capacity(LINK_BYTES);
        for part in [self.client_id.uuid(), self.id, self.digest] {
            bytes.extend_from_slice(part.as_bytes());
        }
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads a link, which may be forged; `None` for what is none. With it come the keys of the account that it names.
    pub(crate) async fn read(app: &App, text: &str) -> Result<Option<(Self, Arc<ClientKeys>)>, Error> {
        let Some(link) = Self::parse(text) else { return Ok(None) };
        match app.vault.client_keys(link.client_id).await {
            Ok(keys) => Ok(Some((link, keys))),
            Err(VaultError::UnknownClient(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether we made the link; `digest` is that of the thing it names.
    pub(crate) fn is_ours(self, digest: Uuid) -> bool {
        verify_slices_are_equal(digest.as_bytes(), self.digest.as_bytes()).is_ok()
    }

    fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; LINK_BYTES] = URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?;
        let mut parts = bytes.chunks_exact(PART_BYTES).map(Uuid::from_slice);
        let mut part = || parts.next()?.ok();
        Some(Self { client_id: ClientId::new(part()?), id: part()?, digest: part()? })
    }
}
