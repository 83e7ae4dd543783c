//! Which account a command is about.

use clap::Args;
use regente_domain::id::ClientId;

use super::OutputArg;

/// The account, where there may be one alone.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct AccountArg {
    /// The account; not needed where there is one
    #[arg(long = "client", value_name = "CLIENT_ID")]
    pub(super) client_id: Option<ClientId>,
}

/// The same, and how the answer is printed.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct AccountArgs {
    #[command(flatten)]
    pub(super) account: AccountArg,
    #[command(flatten)]
    pub(super) output: OutputArg,
}

/// An account that has to be named, and how the answer is printed.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct NamedAccountArgs {
    /// The account's id
    pub(super) client_id: ClientId,
    #[command(flatten)]
    pub(super) output: OutputArg,
}
