//! Documents read back by programs of others: `zbarimg` reads codes, `pdftotext` and `pdftoppm` read files.
#![allow(clippy::unwrap_used)]

mod judges;
mod logo;
mod qr;
mod slip;
mod upload;
