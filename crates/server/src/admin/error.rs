//! Why a command of an operator failed.

use regente_engine::customers::erasure::ErasureError;
use regente_engine::deliveries::keys::RotationError;
use regente_engine::deliveries::listeners::ListenError;
use regente_engine::error::Error;
use regente_engine::vault::VaultError;
use regente_store::moving::MoveError;
use regente_store::{BackupError, StoreError};

use crate::access::AccessError;
use crate::bootstrap::StartError;
use crate::config::ConfigError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// A client or a key cannot be changed.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The vault's keys failed.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The key of a webhook cannot be shown or replaced.
    #[error(transparent)]
    Rotation(#[from] RotationError),
    /// Listening failed.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// A person cannot be erased, or not yet.
    #[error(transparent)]
    Erasure(#[from] ErasureError),
    /// A change was refused.
    #[error(transparent)]
    Change(#[from] Error),
    /// A backup or restore failed.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// A move failed.
    #[error(transparent)]
    Move(#[from] MoveError),
    /// The database of a move cannot be used.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The command needs an embedded database, which is one file.
    #[error(
        "this is for the embedded database; back PostgreSQL up with `pg_dump` or `pg_basebackup`, and restore with \
         `pg_restore` while Regente is stopped"
    )]
    NotEmbedded,
    /// A name is empty or too long, or a named thing cannot be used.
    #[error("{0}")]
    Argument(String),
    /// The connection was lost during the commit.
    #[error("it is not known whether the change was written; look before you try again")]
    Unknown,
}

impl CommandError {
    /// Why a change was refused. What is wrong with the arguments is told in the words of the interface.
    pub(super) fn of(error: Error) -> Self {
        if let Error::Invalid(problems) = error {
            return Self::Argument(problems.into_details().join("; "));
        }
        if let Error::Conflict { details, .. } = error {
            return Self::Argument(details.join("; "));
        }
        if let Error::Impossible { message, .. } = error {
            return Self::Argument(message.into_owned());
        }
        if let Error::ReferenceNotFound(name) = error {
            return Self::Argument(format!("{name} is not one of the account's"));
        }
        Self::Change(error)
    }

    /// Whether the same command may succeed a moment later, when the database answers again.
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Listen(ListenError::Failed(_)))
    }
}
