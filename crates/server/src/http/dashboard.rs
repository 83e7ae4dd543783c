//! Whether this process serves the dashboard (`dashboard.enabled`).

/// What becomes of requests for the dashboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dashboard {
    /// They are answered.
    Served,
    /// There is nothing at its addresses.
    Off,
}
