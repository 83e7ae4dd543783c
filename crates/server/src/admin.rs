//! What an operator may do to a running deployment, each once: asked for on the command line, done here, in the server
//! through its socket or in the command's own process. How it is printed is the command line's business.

mod backup;
pub mod books;
mod command;
mod doctor;
mod recount;
mod socket;
mod unknowns;
mod webhooks;

pub use backup::{BackedUp, Restored, partial_path, restore_alone, staged_path};
pub use command::{Answer, ClientRow, Command, CommandError, ExistingFile, KeyRow, run};
pub use doctor::{Check, Report, Subject, Verdict, examine};
pub use socket::{AdminSocket, SOCKET_NAME, SocketError, ask, is_answering};
pub use unknowns::UnknownRow;
pub use webhooks::{COUNTED_MAX, ReplayRange, ReplayStatus, WebhookKeys, WebhooksCommand};
