//! Boletos: the digits, the days, and the money of late payers.

mod charges;
mod line;
mod term;
