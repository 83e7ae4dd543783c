//! Logos: PNG and JPEG files that are written anew. What was written is a logo itself, of the same format, and is written to the
//! same size.

#![no_main]

use libfuzzer_sys::fuzz_target;
use regente_documents::logo::{LogoError, written_anew};

fuzz_target!(|file: &[u8]| {
    let Ok(logo) = written_anew(file) else { return };
    match written_anew(&logo.bytes) {
        Ok(again) => assert_eq!(again.format, logo.format),
        // It may be larger than what was sent.
        Err(error) => assert_eq!(error, LogoError::TooManyBytes),
    }
});
