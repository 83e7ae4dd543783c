//! Files that sellers send: PDF, PNG, JPEG, BMP, WebP and HEIF. A file is what its first bytes say, and never too large.

#![no_main]

use libfuzzer_sys::fuzz_target;
use regente_documents::upload::format_of;
use regente_domain::seller::document::FileFormat;

fuzz_target!(|file: &[u8]| {
    let Ok(format) = format_of(file) else { return };
    let begins: &[u8] = match format {
        FileFormat::Pdf => b"%PDF-",
        FileFormat::Png => b"\x89PNG",
        FileFormat::Jpeg => b"\xff\xd8\xff",
        FileFormat::Bmp => b"BM",
        FileFormat::Webp => b"RIFF",
        FileFormat::Heif => &[],
    };
    assert!(file.starts_with(begins));
});
