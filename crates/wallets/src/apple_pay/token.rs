//! The token as a device hands it out: encrypted, signed, and safe to store.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::error::TokenError;
use super::payment::Digest;

/// The version that is supported.
pub(super) const VERSION: &str = "EC_v1";

/// A payment token, the member `paymentData` of Apple's `PKPaymentToken`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// The encrypted payment, base64.
    pub data: String,
    /// The detached signature, base64.
    pub signature: String,
    /// What is needed to verify and to decrypt.
    pub header: Header,
    /// `EC_v1`.
    pub version: String,
}

/// The header of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// The device's public key for this payment, X.509, base64.
    pub ephemeral_public_key: String,
    /// The digest of the merchant's public key, base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key_hash: Option<String>,
    /// The device's id of the payment, hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_id: Option<String>,
    /// The digest of what the merchant's app added to the payment request, hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application_data: Option<String>,
}

/// What a device signs, decoded.
pub(super) struct SignedContent {
    pub(super) ephemeral_public_key: Vec<u8>,
    pub(super) data: Vec<u8>,
    transaction_id: Vec<u8>,
    application_data: Vec<u8>,
}

impl Token {
    /// Decodes what is signed, of a token of the supported version.
    pub(super) fn signed_content(&self) -> Result<SignedContent, TokenError> {
        if self.version != VERSION {
            return Err(TokenError::Version);
        }
        let Header { ephemeral_public_key, transaction_id, application_data, public_key_hash: _ } =
            &self.header;
        let hexadecimal = |text: &Option<String>| hex::decode(text.as_deref().unwrap_or_default());
        Ok(SignedContent {
            ephemeral_public_key: STANDARD
                .decode(ephemeral_public_key)
                .map_err(|_| TokenError::EphemeralPublicKeyEncoding)?,
            data: STANDARD.decode(&self.data).map_err(|_| TokenError::DataEncoding)?,
            transaction_id: hexadecimal(transaction_id).map_err(|_| TokenError::TransactionIdEncoding)?,
            application_data: hexadecimal(application_data)
                .map_err(|_| TokenError::ApplicationDataEncoding)?,
        })
    }
}

impl Header {
    pub(super) fn public_key_hash(&self) -> Result<Option<Digest>, TokenError> {
        let Some(text) = &self.public_key_hash else { return Ok(None) };
        let digest = STANDARD.decode(text).ok().and_then(|bytes| Digest::try_from(bytes).ok());
        digest.map(Some).ok_or(TokenError::PublicKeyHashEncoding)
    }
}

impl SignedContent {
    /// The bytes that the signature covers.
    pub(super) fn bytes(&self) -> Vec<u8> {
        [&self.ephemeral_public_key, &self.data, &self.transaction_id, &self.application_data]
            .map(Vec::as_slice)
            .concat()
    }

    /// What identifies the payment: it changes when any signed byte changes.
    pub(super) fn digest(&self) -> Digest {
        sha256(&self.bytes())
    }
}

pub(super) fn sha256(bytes: &[u8]) -> Digest {
    let mut digest = Digest::default();
    digest.copy_from_slice(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes).as_ref());
    digest
}
