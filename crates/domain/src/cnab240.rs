//! Payment files in the banks' format CNAB 240, by the "Layout Padrão FEBRABAN 240 posições", version 08.6, sections 2.2
//! and 3.1.2: the remittance that a company sends to its bank, and the return by which the bank tells what became of it.
//! `G…` and `P…` in comments are the notes of that layout. Pure: text in, text out.
//!
//! Every line has 240 columns. Numbers stand at the right after zeros, texts at the left before blanks.

mod line;
pub mod name;
pub mod occurrence;
pub mod parties;
pub mod remittance;
pub mod returned;

/// Columns of a line.
pub const COLUMNS: usize = 240;
/// The number of the trailer of a file among the lots (G002).
const FILE_TRAILER: &str = "9999";
