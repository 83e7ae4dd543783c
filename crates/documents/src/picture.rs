//! A logo as documents hold it: pixels without transparency, which paper does not have, and no more of them than paper shows.

use std::io::Cursor;

use png::{ColorType, Transformations};
use regente_domain::settings::LogoFormat;
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

use crate::DrawError;

/// The most pixels across, at 300 dots an inch on the width that a logo has.
const ACROSS_MAX: usize = 512;
/// The most pixels down.
const DOWN_MAX: usize = 256;
/// Bytes of a pixel.
const RGB: usize = 3;

/// A picture in red, green and blue, row by row from above.
#[derive(Clone)]
pub(crate) struct Picture {
    pub(crate) width: u16,
    pub(crate) height: u16,
    pub(crate) rgb: Vec<u8>,
}

/// Pixels as they were read.
struct Pixels {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Picture {
    /// The picture in a file of a logo, which was written anew when it was sent.
    ///
    /// # Errors
    /// [`DrawError::Image`] when it cannot be read.
    pub(crate) fn read(format: LogoFormat, file: &[u8]) -> Result<Self, DrawError> {
        match format {
            LogoFormat::Png => of_png(file)?,
            LogoFormat::Jpeg => of_jpeg(file)?,
        }
        .reduced()
    }
}

impl Pixels {
    /// Means of squares of pixels, as few in a square as are needed.
    fn reduced(self) -> Result<Picture, DrawError> {
        let side = self.width.div_ceil(ACROSS_MAX).max(self.height.div_ceil(DOWN_MAX)).max(1);
        let (width, height) = (self.width.div_ceil(side), self.height.div_ceil(side));
        let mut rgb = Vec::with_capacity(width * height * RGB);
        for row in 0..height {
            for column in 0..width {
                for color in 0..RGB {
                    rgb.push(self.mean((column * side, row * side), side, color));
                }
            }
        }
        let length = |pixels: usize| u16::try_from(pixels).ok().filter(|pixels| *pixels > 0);
        match (length(width), length(height)) {
            (Some(width), Some(height)) => Ok(Picture { width, height, rgb }),
            (_, _) => Err(DrawError::Image),
        }
    }

    fn mean(&self, (left, top): (usize, usize), side: usize, color: usize) -> u8 {
        let (right, bottom) = ((left + side).min(self.width), (top + side).min(self.height));
        let (mut sum, mut count) = (0_usize, 0_usize);
        for row in top..bottom {
            for column in left..right {
                let sample = self.rgb.get((row * self.width + column) * RGB + color);
                sum += usize::from(sample.copied().unwrap_or(u8::MAX));
                count += 1;
            }
        }
        u8::try_from(sum / count.max(1)).unwrap_or(u8::MAX)
    }
}

fn of_png(file: &[u8]) -> Result<Pixels, DrawError> {
    let mut decoder = png::Decoder::new(Cursor::new(file));
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|_| DrawError::Image)?;
    let mut bytes = vec![0; reader.output_buffer_size().ok_or(DrawError::Image)?];
    let frame = reader.next_frame(&mut bytes).map_err(|_| DrawError::Image)?;
    let bytes = bytes.get(..frame.buffer_size()).ok_or(DrawError::Image)?;
    let rgb: Vec<u8> = match frame.color_type {
        ColorType::Grayscale => bytes.iter().flat_map(|gray| [*gray; RGB]).collect(),
        ColorType::GrayscaleAlpha => {
            bytes.chunks_exact(2).flat_map(|pixel| on_white(&[pixel[0]; RGB], pixel[1])).collect()
        }
        ColorType::Rgb => bytes.to_vec(),
        ColorType::Rgba => bytes
            .chunks_exact(4)
            .flat_map(|pixel| on_white(&[pixel[0], pixel[1], pixel[2]], pixel[3]))
            .collect(),
        ColorType::Indexed => return Err(DrawError::Image),
    };
    let side = |pixels: u32| usize::try_from(pixels).map_err(|_| DrawError::Image);
    Ok(Pixels { width: side(frame.width)?, height: side(frame.height)?, rgb })
}

/// A pixel on white paper.
fn on_white(color: &[u8; RGB], alpha: u8) -> [u8; RGB] {
    let white = u16::from(u8::MAX);
    let alpha = u16::from(alpha);
    color.map(|sample| {
        let mixed = (u16::from(sample) * alpha + white * (white - alpha) + white / 2) / white;
        u8::try_from(mixed).unwrap_or(u8::MAX)
    })
}

fn of_jpeg(file: &[u8]) -> Result<Pixels, DrawError> {
    let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(file), options);
    let rgb = decoder.decode().map_err(|_| DrawError::Image)?;
    let info = decoder.info().ok_or(DrawError::Image)?;
    Ok(Pixels { width: usize::from(info.width), height: usize::from(info.height), rgb })
}
