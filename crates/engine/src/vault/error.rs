//! Errors of the vault, and the errors that requests get for them.

use regente_domain::id::ClientId;
use regente_store::StoreError;
use uuid::Uuid;

use crate::error::Error;

/// Why the vault refused or failed. The texts contain no secrets.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The data key does not exist or was destroyed.
    #[error("there is no data key {0}")]
    UnknownKey(Uuid),
    /// The bytes were changed, or moved to another row, purpose or client.
    #[error("a ciphertext does not open where it lies")]
    DoesNotOpen,
    /// The data keys are wrapped by another key-encryption key.
    #[error("data key {key_id} is wrapped by key-encryption key {wrapped_by}, and {given} was given")]
    OtherKek {
        /// The data key.
        key_id: Uuid,
        /// The id of the key-encryption key that wraps it.
        wrapped_by: String,
        /// The id of the key-encryption key that was given.
        given: String,
    },
    /// A wrapped data key was changed in the database.
    #[error("data key {0} cannot be unwrapped")]
    BrokenKey(Uuid),
    /// There are data keys, but none is current: the table was tampered with.
    #[error("none of the data keys is current")]
    NoCurrentKey,
    /// A backup has a different data key with the same id.
    #[error(
        "data key {0} of the backup is not the one in use: it is of another deployment; stop the server to restore it"
    )]
    OtherDeployment(Uuid),
    /// The client does not exist, or its secret is missing.
    #[error("there is no client {0}")]
    UnknownClient(ClientId),
    /// Another rotation came first; nothing was changed.
    #[error("another rotation came first")]
    RotatedMeanwhile,
    /// The connection was lost during the commit: the rotation may or may not have happened.
    #[error("it is not known whether the rotation was written")]
    RotationUnknown,
    /// The database failed.
    #[error("the vault cannot use the database")]
    Store(#[from] StoreError),
}

impl From<VaultError> for Error {
    fn from(error: VaultError) -> Self {
        match error {
            VaultError::Store(error) => error.into(),
            VaultError::UnknownKey(_)
            | VaultError::DoesNotOpen
            | VaultError::OtherKek { .. }
            | VaultError::BrokenKey(_)
            | VaultError::NoCurrentKey
            | VaultError::OtherDeployment(_)
            | VaultError::UnknownClient(_)
            | VaultError::RotatedMeanwhile
            | VaultError::RotationUnknown => Self::internal(error),
        }
    }
}
