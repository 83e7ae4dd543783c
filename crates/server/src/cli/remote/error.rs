//! Why a service did not do what it was asked: what is certain, and what is not.

use std::fmt;

use reqwest::{StatusCode, Url};
use serde::Deserialize;

use crate::terminal::printable;

/// Why there is no successful answer. No variant holds the key.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum RemoteError {
    /// Nothing was sent.
    #[error("{0} cannot be reached; nothing was sent")]
    Unreachable(String, #[source] reqwest::Error),
    /// It may have been done.
    #[error("no answer came")]
    Unanswered(#[source] reqwest::Error),
    /// It was done, as far as the status says.
    #[error("the answer cannot be read")]
    Unreadable,
    /// The service failed, or is still at it. It may have been done.
    #[error("{0}")]
    Failed(Refusal),
    /// It was not done.
    #[error("{0}")]
    Refused(Refusal),
}

/// What the service said.
#[derive(Debug)]
pub(in crate::cli) struct Refusal {
    pub(in crate::cli) status: StatusCode,
    message: String,
    details: Vec<String>,
    request_id: Option<String>,
}

/// The envelope of errors, as far as all resources share it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Envelope {
    error: Body,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Body {
    #[serde(rename = "type")]
    kind: String,
    message: String,
    details: Vec<String>,
}

impl RemoteError {
    pub(super) fn of_connection(base: &Url, error: reqwest::Error) -> Self {
        let error = error.without_url();
        if error.is_connect() {
            return Self::Unreachable(base.origin().ascii_serialization(), error);
        }
        Self::Unanswered(error)
    }

    pub(super) fn of_answer(status: StatusCode, request_id: Option<String>, bytes: &[u8]) -> Self {
        let Envelope { error: Body { kind, message, details } } =
            serde_json::from_slice(bytes).unwrap_or_default();
        // Another operation that is under way has its name in the details; the first request with this key has none.
        let is_under_way = status == StatusCode::CONFLICT
            && kind == "conflict"
            && details.is_empty()
            && message.ends_with("is processing");
        // What does not speak as the service does comes from something in between, which may have passed the request on.
        let is_of_the_service = !kind.is_empty();
        let refusal = Refusal { status, message, details, request_id };
        match status.is_client_error() && is_of_the_service && !is_under_way {
            true => Self::Refused(refusal),
            false => Self::Failed(refusal),
        }
    }

    /// Whether what was asked may have been done although nobody said so.
    pub(in crate::cli) const fn leaves_open_what_was_done(&self) -> bool {
        match self {
            Self::Unanswered(_) | Self::Unreadable | Self::Failed(_) => true,
            Self::Unreachable(..) | Self::Refused(_) => false,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, message, details, request_id } = self;
        match *status {
            StatusCode::UNAUTHORIZED => {
                f.write_str(
                    "the service does not know the account (401): see `--client-id` and REGENTE_CLIENT_ID",
                )?;
            }
            StatusCode::FORBIDDEN => {
                f.write_str("the service refuses the key (403): see `--api-key` and REGENTE_API_KEY")?;
            }
            status => {
                let reason = status.canonical_reason().unwrap_or_default();
                let message = if message.is_empty() { reason } else { message };
                write!(f, "the service answers {} ({})", status.as_u16(), printable(message))?;
                if !details.is_empty() {
                    write!(f, ": {}", printable(&details.join("; ")))?;
                }
            }
        }
        match request_id {
            Some(id) => write!(f, " [request {}]", printable(id)),
            None => Ok(()),
        }
    }
}
