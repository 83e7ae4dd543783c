//! Whether an authorization captures at once, or leaves that to a later call.

use serde::{Deserialize, Serialize};

/// Whether an authorization captures at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaptureMode {
    /// `capture: true`: authorized and captured in one step.
    Automatic,
    /// `capture: false`: reserved, captured later by a separate call.
    Manual,
}

impl CaptureMode {
    /// From the wire's boolean.
    pub const fn from_flag(capture: bool) -> Self {
        if capture { Self::Automatic } else { Self::Manual }
    }

    /// The wire's boolean.
    pub const fn flag(self) -> bool {
        match self {
            Self::Automatic => true,
            Self::Manual => false,
        }
    }
}
