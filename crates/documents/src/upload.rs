//! What a file is that somebody has sent: its format by its content, whatever its name says, and whether it is small enough
//! for whoever will open it. Nothing is decoded: a picture tells its size in its head, and of a PDF only the streams
//! that may hold pages are inflated, within a bound.

use imagesize::{Compression, ImageType, blob_size, image_type};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_PARSE_ZLIB_HEADER, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};
use regente_domain::seller::document::{FILE_BYTES_MAX, FileFormat, PAGES_MAX, PIXELS_MAX, SIDE_PIXELS_MAX};

/// The general brands of pictures in that container, whatever their compression.
const HEIF_BRANDS: [&[u8]; 4] = [b"mif1", b"msf1", b"mif2", b"miaf"];
/// Bytes that the streams of a PDF may have together, once inflated.
const INFLATED_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Streams of objects that a PDF may have: programs put a hundred objects into each.
const OBJECT_STREAMS_MAX: usize = 500;
/// How far from the end of a PDF its last line may be.
const END_WITHIN_BYTES: usize = 1024;
/// How far a dictionary reaches back from its stream: what is longer is none of a page tree.
const DICTIONARY_BYTES_MAX: usize = 4096;

/// Why a file is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadError {
    /// It has no bytes.
    Empty,
    /// It has more than [`FILE_BYTES_MAX`].
    TooManyBytes,
    /// It is none of the formats.
    OtherFormat,
    /// It begins like one of the formats and goes on differently.
    Broken,
    /// Its picture has too many pixels.
    TooManyPixels,
    /// It has too many pages.
    TooManyPages,
    /// Its objects are in more than [`OBJECT_STREAMS_MAX`] streams.
    TooManyStreams,
}

impl std::fmt::Display for UploadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => f.write_str("should not be empty"),
            Self::TooManyBytes => write!(f, "must not be larger than {FILE_BYTES_MAX} bytes"),
            Self::OtherFormat => f.write_str("must be a PNG, JPEG, BMP, WebP, HEIC, HEIF or PDF file"),
            Self::Broken => f.write_str("must be a file that can be read"),
            Self::TooManyPixels => write!(
                f,
                "must not have more than {PIXELS_MAX} pixels, nor more than {SIDE_PIXELS_MAX} on a side"
            ),
            Self::TooManyPages => write!(f, "must not have more than {PAGES_MAX} pages"),
            Self::TooManyStreams => {
                write!(f, "must not have more than {OBJECT_STREAMS_MAX} streams of objects")
            }
        }
    }
}
impl std::error::Error for UploadError {}

/// The format of a file.
///
/// # Errors
/// Any [`UploadError`].
pub fn format_of(file: &[u8]) -> Result<FileFormat, UploadError> {
    if file.is_empty() {
        return Err(UploadError::Empty);
    }
    if file.len() > FILE_BYTES_MAX {
        return Err(UploadError::TooManyBytes);
    }
    if file.starts_with(b"%PDF-") {
        pdf(file)?;
        return Ok(FileFormat::Pdf);
    }
    let format = match image_type(file) {
        Ok(ImageType::Png) => FileFormat::Png,
        Ok(ImageType::Jpeg) => FileFormat::Jpeg,
        Ok(ImageType::Bmp) => FileFormat::Bmp,
        Ok(ImageType::Webp) => FileFormat::Webp,
        Ok(ImageType::Heif(Compression::Hevc | Compression::Jpeg)) => FileFormat::Heif,
        // Videos begin alike.
        Ok(ImageType::Heif(Compression::Unknown)) if HEIF_BRANDS.contains(&brand(file)) => FileFormat::Heif,
        // The list is open: it grows with the library.
        Ok(_) | Err(_) => return Err(UploadError::OtherFormat),
    };
    let size = blob_size(file).map_err(|_| UploadError::Broken)?;
    let height = match format {
        // A bitmap that begins with its upper line has a height below zero.
        FileFormat::Bmp => pixels(size.height)?.cast_signed().unsigned_abs(),
        FileFormat::Png | FileFormat::Jpeg | FileFormat::Webp | FileFormat::Heif | FileFormat::Pdf => {
            pixels(size.height)?
        }
    };
    let (width, height) = (u64::from(pixels(size.width)?), u64::from(height));
    if width == 0 || height == 0 {
        return Err(UploadError::Broken);
    }
    if width.max(height) > SIDE_PIXELS_MAX || width * height > PIXELS_MAX {
        return Err(UploadError::TooManyPixels);
    }
    Ok(format)
}

fn pixels(side: usize) -> Result<u32, UploadError> {
    u32::try_from(side).map_err(|_| UploadError::TooManyPixels)
}

/// The main brand of a file in the container of ISO 14496-12.
fn brand(file: &[u8]) -> &[u8] {
    file.get(8..12).unwrap_or_default()
}

/// Checks that a PDF is whole and counts its pages, also those in streams of objects (ISO 32000-1, 7.5.7). No byte is inflated
/// twice: what is looked at next begins where a stream has ended.
fn pdf(file: &[u8]) -> Result<(), UploadError> {
    let end = file.len().saturating_sub(END_WITHIN_BYTES);
    if find(&file[end..], b"%%EOF").is_none() {
        return Err(UploadError::Broken);
    }
    let mut pages = pages_in(file);
    let mut streams = 0;
    let mut inflater = Inflater::default();
    let mut rest = file;
    while let Some(at) = find(rest, b"stream") {
        let (before, from) = rest.split_at(at);
        rest = &from[b"stream".len()..];
        if before.ends_with(b"end") || !is_of_objects(before) {
            continue;
        }
        streams += 1;
        if streams > OBJECT_STREAMS_MAX {
            return Err(UploadError::TooManyStreams);
        }
        let (objects, after) = inflater.next(stream_content(rest)).ok_or(UploadError::Broken)?;
        pages += pages_in(objects);
        rest = after;
        if pages > PAGES_MAX {
            break;
        }
    }
    match pages {
        0 => Err(UploadError::Broken),
        1..=PAGES_MAX => Ok(()),
        _ => Err(UploadError::TooManyPages),
    }
}

/// Inflates the streams of one file, in one memory.
struct Inflater {
    state: Box<DecompressorOxide>,
    /// As large as the streams that are left may be together; there since the first one.
    memory: Vec<u8>,
    left: usize,
}

impl Default for Inflater {
    fn default() -> Self {
        Self { state: Box::default(), memory: Vec::new(), left: INFLATED_BYTES_MAX }
    }
}

impl Inflater {
    /// What the stream that begins here holds, and what stands behind it; `None` when it is broken or too large.
    fn next<'a>(&mut self, content: &'a [u8]) -> Option<(&[u8], &'a [u8])> {
        if self.memory.is_empty() {
            self.memory = vec![0; self.left];
        }
        let memory = &mut self.memory[..self.left];
        self.state.init();
        let flags = TINFL_FLAG_PARSE_ZLIB_HEADER | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, read, written) = decompress(&mut self.state, content, memory, 0, flags);
        self.left -= written;
        (status == TINFLStatus::Done).then(|| (&self.memory[..written], &content[read..]))
    }
}

/// Whether the dictionary that ends here is one of a compressed stream of objects.
fn is_of_objects(before: &[u8]) -> bool {
    let dictionary = &before[before.len().saturating_sub(DICTIONARY_BYTES_MAX)..];
    let dictionary = rfind(dictionary, b" obj").map_or(dictionary, |at| &dictionary[at..]);
    find(dictionary, b"/ObjStm").is_some() && find(dictionary, b"/FlateDecode").is_some()
}

/// The content of a stream begins after the end of its line.
fn stream_content(after: &[u8]) -> &[u8] {
    after.strip_prefix(b"\r\n").or_else(|| after.strip_prefix(b"\n")).unwrap_or(after)
}

/// How many objects say that they are a page.
fn pages_in(text: &[u8]) -> usize {
    let mut pages = 0;
    let mut rest = text;
    while let Some(at) = find(rest, b"/Type") {
        rest = &rest[at + b"/Type".len()..];
        let value = rest.trim_ascii_start();
        if let Some(after) = value.strip_prefix(b"/Page")
            && after.first().is_none_or(|next| !next.is_ascii_alphanumeric())
        {
            pages += 1;
        }
    }
    pages
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

fn rfind(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).rposition(|window| window == wanted)
}
