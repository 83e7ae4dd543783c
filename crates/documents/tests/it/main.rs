//! Documents read back by programs of others: `zbarimg` reads codes, `pdftotext` and `pdftoppm` read files, Preflight of
//! PDFBox judges what is for archives.
#![allow(clippy::unwrap_used)]

mod judges;
mod logo;
mod qr;
mod receipt;
mod slip;
mod upload;
