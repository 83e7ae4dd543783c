//! Payment tokens that a payer's wallet makes: their signatures are checked, their content is decrypted. No I/O, no
//! clock, no rule about charges. Keys are given as text, times as arguments.

pub mod apple_pay;
