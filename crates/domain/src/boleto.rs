//! Boletos, the payment slips of Brazilian banks: the bar code with its typed line, and what is owed when one is paid
//! late.

mod charges;
mod issued;
mod line;
mod term;

pub use charges::{Fine, FineRate, Interest, InterestRate, LATE_DAYS_MAX, LateCharges, Owed};
pub use issued::IssuedBoleto;
pub use line::{BankCode, Barcode, BarcodeFacts, Digits, FreeField, NotABarcode};
pub use term::{awaited_until, latest_due_date, usual_due_date};
