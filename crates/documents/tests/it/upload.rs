//! What uploaded files are: by their content, within bounds, and without decoding them.

use miniz_oxide::deflate::compress_to_vec_zlib;
use regente_documents::upload::{UploadError, format_of};
use regente_domain::seller::document::{FILE_BYTES_MAX, FileFormat, PAGES_MAX};

/// The head of a PNG file with a picture of this size.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR".to_vec();
    file.extend([width.to_be_bytes(), height.to_be_bytes()].concat());
    file.extend([8, 6, 0, 0, 0, 1, 2, 3, 4]);
    file
}

/// The head of a bitmap; one with a negative height begins with its upper line.
fn bmp(width: u32, height: i32) -> Vec<u8> {
    let mut file = b"BM".to_vec();
    file.extend([0; 16]);
    file.extend(width.to_le_bytes());
    file.extend(height.to_le_bytes());
    file
}

fn heif(brand: &[u8; 4], width: u32, height: u32) -> Vec<u8> {
    let boxed = |name: &[u8; 4], content: &[u8]| {
        let length = u32::try_from(8 + content.len()).unwrap();
        [&length.to_be_bytes(), name, content].concat()
    };
    let size = boxed(b"ispe", &[&[0; 4][..], &width.to_be_bytes(), &height.to_be_bytes()].concat());
    let properties = boxed(b"iprp", &boxed(b"ipco", &size));
    let begin = boxed(b"ftyp", &[&brand[..], &[0; 4], b"mif1", b"heic"].concat());
    [begin, boxed(b"meta", &[&[0; 4][..], &properties].concat())].concat()
}

fn webp(width: u16, height: u16) -> Vec<u8> {
    let mut file = b"RIFF\x20\x00\x00\x00WEBPVP8 \x14\x00\x00\x00\x00\x00\x00\x9d\x01\x2a".to_vec();
    file.extend([width.to_le_bytes(), height.to_le_bytes()].concat());
    file.extend([0; 16]);
    file
}

fn jpeg(width: u16, height: u16) -> Vec<u8> {
    let mut file = b"\xff\xd8\xff\xe0\x00\x04\x00\x00\xff\xc0\x00\x0b\x08".to_vec();
    file.extend([height.to_be_bytes(), width.to_be_bytes()].concat());
    file.extend([1, 1, 0x11, 0]);
    file
}

fn pdf(body: &[u8]) -> Vec<u8> {
    [b"%PDF-1.7\n", body, b"\ntrailer\n%%EOF\n"].concat()
}

fn pages(count: usize) -> Vec<u8> {
    let page = b"<< /Type /Page /Parent 2 0 R >>\n<< /Type/Pages >>\n";
    page.repeat(count)
}

/// Pages in a stream of objects, as most programs write them.
fn compressed(content: &[u8]) -> Vec<u8> {
    let content = compress_to_vec_zlib(content, 9);
    let head = b"4 0 obj\n<< /Type /ObjStm /Filter /FlateDecode /N 3 >>\nstream\r\n";
    [&head[..], &content, b"\nendstream\nendobj\n"].concat()
}

/// A stream of objects that are not compressed, so that its bytes look like what is in it.
fn stored(content: &[u8]) -> Vec<u8> {
    let content = compress_to_vec_zlib(content, 0);
    let head = b"4 0 obj\n<< /Type /ObjStm /Filter /FlateDecode /N 3 >>\nstream\r\n";
    [&head[..], &content, b"\nendstream\nendobj\n"].concat()
}

#[test]
fn a_file_is_what_its_content_says() {
    let bomb = compressed(&vec![b' '; 64 * 1024 * 1024]);
    assert!(bomb.len() < 100_000);
    let table: Vec<(&str, Vec<u8>, Result<FileFormat, UploadError>)> = vec![
        ("png", png(4000, 3000), Ok(FileFormat::Png)),
        ("jpeg", jpeg(4000, 3000), Ok(FileFormat::Jpeg)),
        ("bmp", bmp(1000, 600), Ok(FileFormat::Bmp)),
        ("bmp upside down", bmp(1000, -600), Ok(FileFormat::Bmp)),
        ("webp", webp(1000, 600), Ok(FileFormat::Webp)),
        ("heic", heif(b"heic", 4000, 3000), Ok(FileFormat::Heif)),
        ("heif", heif(b"mif1", 4000, 3000), Ok(FileFormat::Heif)),
        ("pdf", pdf(&pages(1)), Ok(FileFormat::Pdf)),
        ("pdf with streams", pdf(&compressed(&pages(PAGES_MAX))), Ok(FileFormat::Pdf)),
        ("nothing", vec![], Err(UploadError::Empty)),
        ("too large", vec![0; FILE_BYTES_MAX + 1], Err(UploadError::TooManyBytes)),
        (
            "a program for Windows",
            b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff".to_vec(),
            Err(UploadError::OtherFormat),
        ),
        (
            "a program for Linux",
            b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec(),
            Err(UploadError::OtherFormat),
        ),
        ("a script", b"#!/bin/sh\nrm -rf /\n".to_vec(), Err(UploadError::OtherFormat)),
        ("a page", b"<html><script>alert(1)</script></html>".to_vec(), Err(UploadError::OtherFormat)),
        ("another picture", b"GIF89a\x01\0\x01\0\0\0\0\0".to_vec(), Err(UploadError::OtherFormat)),
        ("another container", heif(b"avif", 10, 10), Err(UploadError::OtherFormat)),
        ("a film", heif(b"isom", 10, 10), Err(UploadError::OtherFormat)),
        ("a beginning", b"\x89PNG\r\n\x1a\n\0\0\0\x0d".to_vec(), Err(UploadError::Broken)),
        ("no pixels", png(0, 10), Err(UploadError::Broken)),
        ("a bomb", png(60_000, 60_000), Err(UploadError::TooManyPixels)),
        ("a long side", jpeg(20_000, 10), Err(UploadError::TooManyPixels)),
        ("too many pixels", heif(b"heic", 10_000, 10_000), Err(UploadError::TooManyPixels)),
        ("no pages", pdf(b""), Err(UploadError::Broken)),
        ("no end", b"%PDF-1.7\n<< /Type /Page >>".to_vec(), Err(UploadError::Broken)),
        ("too many pages", pdf(&pages(PAGES_MAX + 1)), Err(UploadError::TooManyPages)),
        ("too many in a stream", pdf(&compressed(&pages(PAGES_MAX + 1))), Err(UploadError::TooManyPages)),
        ("a bomb in a stream", pdf(&[bomb, pages(1)].concat()), Err(UploadError::Broken)),
        (
            "as many streams as may be",
            pdf(&[compressed(b" ").repeat(499), compressed(&pages(1))].concat()),
            Ok(FileFormat::Pdf),
        ),
        (
            "too many streams",
            pdf(&[pages(1), compressed(b" ").repeat(501)].concat()),
            Err(UploadError::TooManyStreams),
        ),
        // What stands in the bytes of a stream is not inflated again.
        (
            "a stream in a stream",
            pdf(&stored(&[pages(1), b"4 0 obj /ObjStm /FlateDecode stream\nxx".to_vec()].concat())),
            Ok(FileFormat::Pdf),
        ),
        (
            "a broken stream",
            pdf(b"<< /Type /Page >> 4 0 obj << /Type /ObjStm /Filter /FlateDecode >> stream\nxx endstream"),
            Err(UploadError::Broken),
        ),
    ];
    for (name, file, expected) in table {
        assert_eq!(format_of(&file), expected, "{name}");
    }
}
