//! Boletos: the digits, and the money of late payers.

mod charges;
mod line;
