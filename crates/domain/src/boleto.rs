//! Boletos, the payment slips of Brazilian banks: the bar code with its typed line, and what is owed when one is paid
//! late.

mod charges;
mod line;

pub use charges::{Fine, FineRate, Interest, InterestRate, LateCharges, Owed};
pub use line::{BankCode, Barcode, BarcodeFacts, Digits, FreeField, NotABarcode};
