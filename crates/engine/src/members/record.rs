//! A member with what is sealed of them, and the digests by which they are found.

use aws_lc_rs::hmac::{self, HMAC_SHA256};
use regente_domain::customer::normal_email;
use regente_store::members::{self, KEY_ROW, MemberDigest, StoredMember};
use regente_store::{Batch, Commit};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, Zeroizing};

use super::passwords::PasswordHash;
use super::totp::Secret;
use crate::app::App;
use crate::error::Error;
use crate::vault::{Binding, Purpose, sha256};

/// The format that this release writes.
const FORMAT: u32 = 1;
const KEY_BYTES: usize = 32;

/// A member with the opened column.
#[derive(Clone)]
pub(super) struct Record {
    pub(super) stored: StoredMember,
    pub(super) private: Private,
}

/// What is sealed of a member.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Private {
    pub(super) format: u32,
    pub(super) email: String,
    pub(super) name: String,
    /// What the member proves themselves by. Before the invitation is accepted, there is no password; a member of a sandbox
    /// who signs in by a link has none of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) proofs: Option<Proofs>,
}

/// What a member proves themselves by.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Proofs {
    pub(super) totp: Secret,
    /// The last step of time whose code was taken: no code works twice.
    pub(super) taken_step: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) password: Option<PasswordHash>,
    /// Digests of the recovery codes that are left.
    pub(super) recovery: Vec<String>,
}

impl Private {
    pub(super) fn new(email: &str, name: &str, proofs: Option<Proofs>) -> Self {
        Self { format: FORMAT, email: email.to_owned(), name: name.to_owned(), proofs }
    }
}

impl Record {
    pub(super) async fn open(app: &App, stored: StoredMember) -> Result<Self, Error> {
        let binding = Binding::new(Purpose::MemberData, stored.client_id, stored.id.uuid());
        let bytes = app.vault.open(binding, &stored.private).await?;
        let private: Private = serde_json::from_slice(&bytes).map_err(Error::internal)?;
        match private.format {
            FORMAT => Ok(Self { stored, private }),
            other => Err(Error::internal(format!("member {}: format {other}", stored.id))),
        }
    }

    /// The row to write, still at the version that was read.
    pub(super) fn sealed(&self, app: &App) -> Result<StoredMember, Error> {
        let Self { stored, private } = self;
        let plain = Zeroizing::new(serde_json::to_vec(private).map_err(Error::internal)?);
        let binding = Binding::new(Purpose::MemberData, stored.client_id, stored.id.uuid());
        Ok(StoredMember { private: app.vault.seal(binding, &plain), ..stored.clone() })
    }
}

/// The digest by which the member with this address is found: under a key of the deployment, since an address alone says no
/// account. The key is made when it is first needed.
pub(super) async fn email_key(app: &App, email: &str) -> Result<MemberDigest, Error> {
    let binding = Binding::new(Purpose::MemberKey, KEY_ROW, KEY_ROW.uuid());
    let stored = match members::key(&app.store).await? {
        Some(stored) => stored,
        None => {
            let mut secret: [u8; KEY_BYTES] = app.chance.bytes();
            let mut batch = Batch::new(KEY_ROW);
            members::insert_key(&mut batch, &app.vault.seal(binding, &secret));
            secret.zeroize();
            match app.store.apply(batch).await? {
                // Another node may have been first: the stored one counts.
                Commit::Applied | Commit::Refused(_) | Commit::Unknown => {}
            }
            members::key(&app.store).await?.ok_or_else(Error::busy)?
        }
    };
    let secret = app.vault.open(binding, &stored).await?;
    let tag = hmac::sign(&hmac::Key::new(HMAC_SHA256, &secret), normal_email(email).as_bytes());
    let mut digest = [0; KEY_BYTES];
    digest.copy_from_slice(tag.as_ref());
    Ok(digest)
}

/// The digest by which a link is found. It is long and random, so a slower hash would add no protection.
pub(super) fn link_digest(token: &str) -> MemberDigest {
    sha256(&[b"regente member link", token.as_bytes()])
}
