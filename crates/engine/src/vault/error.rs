//! What can go wrong in the vault, and how a request is answered then.

use regente_domain::id::ClientId;
use regente_store::StoreError;
use uuid::Uuid;

use crate::error::Error;

/// Why the vault did not do it. No text holds anything secret.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// There is no such data key, or none any more.
    #[error("there is no data key {0}")]
    UnknownKey(Uuid),
    /// The bytes were changed, or lie where they were not sealed for: another row, purpose or client.
    #[error("a ciphertext does not open where it lies")]
    DoesNotOpen,
    /// The key-encryption key is not the one that the data keys are wrapped by.
    #[error("data key {key_id} is wrapped by key-encryption key {wrapped_by}, and {given} was given")]
    OtherKek {
        /// The data key.
        key_id: Uuid,
        /// The id of the key-encryption key that wraps it.
        wrapped_by: String,
        /// The id of the one that was given.
        given: String,
    },
    /// A wrapped data key was changed in the database.
    #[error("data key {0} cannot be unwrapped")]
    BrokenKey(Uuid),
    /// Data keys exist and none is current: the table was tampered with.
    #[error("none of the data keys is current")]
    NoCurrentKey,
    /// A data key of a backup has the name of one in use and is another one.
    #[error(
        "data key {0} of the backup is not the one in use: it is of another deployment; stop the server to restore it"
    )]
    OtherDeployment(Uuid),
    /// There is no such client, or its secret is missing.
    #[error("there is no client {0}")]
    UnknownClient(ClientId),
    /// Another rotation came first; nothing was done.
    #[error("another rotation came first")]
    RotatedMeanwhile,
    /// The fate of a rotation is not known: the connection was lost during the commit.
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
