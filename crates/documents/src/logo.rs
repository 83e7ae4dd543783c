//! A logo as strangers may load it: the pixels of the picture that was sent, written anew. What else was in the file
//! (places, cameras, comments, bytes after the end) stays behind. What a decoder may allocate is bounded before it begins.

use std::io::Cursor;

use jpeg_encoder::{ColorType as JpegColor, Encoder as JpegEncoder};
use png::{Limits, Transformations};
use regente_domain::settings::{LOGO_BYTES_MAX, LOGO_PIXELS_MAX, LogoFormat};
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;
use zune_jpeg::errors::DecodeErrors;

const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
const JPEG_SIGNATURE: &[u8] = b"\xff\xd8\xff";

/// Bytes that the PNG decoder may allocate beside the picture itself.
const PNG_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Scans of a progressive JPEG: files of common programs have about ten, and each costs a pass over the picture.
const JPEG_SCANS_MAX: usize = 32;
/// Of a JPEG that is written anew: the loss is not seen.
const JPEG_QUALITY: u8 = 90;

/// A picture written anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logo {
    /// Its format, which is that of the picture that was sent.
    pub format: LogoFormat,
    /// Its file.
    pub bytes: Vec<u8>,
}

/// Why a file is no logo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogoError {
    /// It is larger than [`LOGO_BYTES_MAX`].
    TooManyBytes,
    /// It begins like neither format, whatever its name says.
    OtherFormat,
    /// A side is longer than [`LOGO_PIXELS_MAX`].
    TooManyPixels,
    /// It cannot be read to its end.
    Broken,
}

impl std::fmt::Display for LogoError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooManyBytes => write!(f, "must not be larger than {LOGO_BYTES_MAX} bytes"),
            Self::OtherFormat => f.write_str("must be a PNG or JPEG file"),
            Self::TooManyPixels => {
                write!(f, "must not be wider or higher than {LOGO_PIXELS_MAX} pixels")
            }
            Self::Broken => f.write_str("must be a picture that can be read"),
        }
    }
}
impl std::error::Error for LogoError {}

/// Writes a picture anew, in its own format.
///
/// # Errors
/// Any [`LogoError`].
pub fn written_anew(file: &[u8]) -> Result<Logo, LogoError> {
    if file.len() > LOGO_BYTES_MAX {
        return Err(LogoError::TooManyBytes);
    }
    if file.starts_with(PNG_SIGNATURE) {
        Ok(Logo { format: LogoFormat::Png, bytes: png_anew(file)? })
    } else if file.starts_with(JPEG_SIGNATURE) {
        Ok(Logo { format: LogoFormat::Jpeg, bytes: jpeg_anew(file)? })
    } else {
        Err(LogoError::OtherFormat)
    }
}

/// Samples, palette and transparency stay as they are.
fn png_anew(file: &[u8]) -> Result<Vec<u8>, LogoError> {
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(file), Limits { bytes: PNG_BYTES_MAX });
    decoder.set_transformations(Transformations::IDENTITY);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let header = decoder.read_header_info().map_err(|_| LogoError::Broken)?;
    if header.width.max(header.height) > u32::from(LOGO_PIXELS_MAX) {
        return Err(LogoError::TooManyPixels);
    }
    let mut reader = decoder.read_info().map_err(|_| LogoError::Broken)?;
    let mut pixels = vec![0; reader.output_buffer_size().ok_or(LogoError::Broken)?];
    let frame = reader.next_frame(&mut pixels).map_err(|_| LogoError::Broken)?;
    // The frame of an animated file may be smaller than its canvas.
    let info = reader.info();
    if (frame.width, frame.height) != (info.width, info.height) {
        return Err(LogoError::Broken);
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, info.width, info.height);
    encoder.set_color(info.color_type);
    encoder.set_depth(info.bit_depth);
    if let Some(palette) = &info.palette {
        encoder.set_palette(palette.as_ref());
    }
    if let Some(transparency) = &info.trns {
        encoder.set_trns(transparency.as_ref());
    }
    let mut writer = encoder.write_header().map_err(|_| LogoError::Broken)?;
    writer
        .write_image_data(pixels.get(..frame.buffer_size()).ok_or(LogoError::Broken)?)
        .map_err(|_| LogoError::Broken)?;
    writer.finish().map_err(|_| LogoError::Broken)?;
    Ok(bytes)
}

fn jpeg_anew(file: &[u8]) -> Result<Vec<u8>, LogoError> {
    let side_max = usize::from(LOGO_PIXELS_MAX);
    // Its own bound on sides would hide what is wrong.
    let options = DecoderOptions::default()
        .set_max_width(usize::from(u16::MAX))
        .set_max_height(usize::from(u16::MAX))
        .jpeg_set_max_scans(JPEG_SCANS_MAX);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(file), options);
    decoder.decode_headers().map_err(broken)?;
    let info = decoder.info().ok_or(LogoError::Broken)?;
    if usize::from(info.width.max(info.height)) > side_max {
        return Err(LogoError::TooManyPixels);
    }
    let (into, color) = match decoder.input_colorspace() {
        Some(ColorSpace::Luma) => (ColorSpace::Luma, JpegColor::Luma),
        Some(_) => (ColorSpace::RGB, JpegColor::Rgb),
        None => return Err(LogoError::Broken),
    };
    decoder.set_options(options.jpeg_set_out_colorspace(into));
    let pixels = decoder.decode().map_err(broken)?;
    let mut bytes = Vec::new();
    let encoder = JpegEncoder::new(&mut bytes, JPEG_QUALITY);
    encoder.encode(&pixels, info.width, info.height, color).map_err(|_| LogoError::Broken)?;
    Ok(bytes)
}

fn broken(_: DecodeErrors) -> LogoError {
    LogoError::Broken
}
