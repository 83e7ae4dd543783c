//! What an authorization says of the authentication of its cardholder.

use regente_domain::charge::authentication::{Authenticated, Purpose};
use regente_domain::charge::sent::{Mpi, ThreeDSecure};
use serde::{Deserialize, Serialize};

/// What an authorization carries along about the authentication of the cardholder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Proof {
    /// A 3DS server has answered.
    Answered(Authenticated),
    /// The merchant has a result of a 3DS server of its own.
    Outside(Mpi),
    /// The payment provider is to authenticate the cardholder while it authorizes.
    ToDo {
        /// What it is asked for.
        purpose: Purpose,
        /// What the merchant has sent about the cardholder and the browser.
        data: Box<ThreeDSecure>,
        /// Where the browser goes after a challenge.
        return_url: String,
    },
}
