//! QR codes as pictures (ISO/IEC 18004).

use std::fmt::Write;

use qrcodegen::{QrCode, QrCodeEcc};

use crate::DrawError;
use crate::mark::{Mark, SANDBOX_PIXELS};

/// Modules of white around the code, without which scanners do not find it.
const QUIET_ZONE: usize = 4;
/// Pixels of the picture's side at least: sharp on phones, which show it at about 200 points.
const SIDE_PIXELS_MIN: usize = 720;

/// A picture of black and white squares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Squares {
    width: usize,
    /// Row by row; true is black.
    black: Vec<bool>,
}

/// The picture of a QR code with its quiet zone, and with the mark below it.
///
/// # Errors
/// [`DrawError::TextTooLong`].
pub fn picture(text: &str, mark: Mark) -> Result<Squares, DrawError> {
    let code = squares(text)?;
    let width = code.width + 2 * QUIET_ZONE;
    let mut picture = Squares::white(width, width);
    picture.put(&code, QUIET_ZONE, QUIET_ZONE);
    match mark {
        Mark::None => {}
        Mark::Sandbox => {
            let word = Squares::of_pixels(&SANDBOX_PIXELS);
            let top = width;
            picture.grow(word.height() + QUIET_ZONE);
            picture.put(&word, width.saturating_sub(word.width) / 2, top);
        }
    }
    Ok(picture)
}

/// The code alone, without a quiet zone.
pub(crate) fn squares(text: &str) -> Result<Squares, DrawError> {
    let code = QrCode::encode_text(text, QrCodeEcc::Medium).map_err(|_| DrawError::TextTooLong)?;
    let side = code.size();
    let black =
        (0..side).flat_map(|y| (0..side).map(move |x| (x, y))).map(|(x, y)| code.get_module(x, y)).collect();
    Ok(Squares { width: usize::try_from(side).map_err(|_| DrawError::TextTooLong)?, black })
}

impl Squares {
    /// A PNG file with one bit a pixel.
    ///
    /// # Errors
    /// [`DrawError::Image`].
    pub fn png(&self) -> Result<Vec<u8>, DrawError> {
        let scale = SIDE_PIXELS_MIN.div_ceil(self.width);
        let mut pixels = Vec::new();
        for row in self.rows() {
            let row = bits(row, scale);
            for _ in 0..scale {
                pixels.extend_from_slice(&row);
            }
        }
        let side = |squares: usize| u32::try_from(squares * scale).map_err(|_| DrawError::Image);
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, side(self.width)?, side(self.height())?);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::One);
        let mut writer = encoder.write_header().map_err(|_| DrawError::Image)?;
        writer.write_image_data(&pixels).map_err(|_| DrawError::Image)?;
        writer.finish().map_err(|_| DrawError::Image)?;
        Ok(file)
    }

    /// An SVG file. It has no script and no reference, and takes the size that it is given.
    pub fn svg(&self) -> String {
        let (width, height) = (self.width, self.height());
        let mut path = String::new();
        for (x, y, length) in self.runs() {
            let _ = write!(path, "M{x} {y}h{length}v1h-{length}z");
        }
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{}" height="{}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h{width}v{height}H0z"/><path d="{path}"/></svg>"##,
            width * 4,
            height * 4,
        )
    }

    /// The squares of one side.
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    /// Black squares that stand side by side: where the first one is, and how many.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        self.rows().enumerate().flat_map(|(y, row)| {
            let mut x = 0;
            row.chunk_by(|one, next| one == next).filter_map(move |run| {
                let begin = x;
                x += run.len();
                run[0].then_some((begin, y, run.len()))
            })
        })
    }

    fn rows(&self) -> impl Iterator<Item = &[bool]> {
        self.black.chunks(self.width)
    }

    fn height(&self) -> usize {
        self.black.len() / self.width
    }

    fn white(width: usize, height: usize) -> Self {
        Self { width, black: vec![false; width * height] }
    }

    fn of_pixels(rows: &[&str]) -> Self {
        let width = rows.first().map_or(1, |row| row.len());
        Self { width, black: rows.iter().flat_map(|row| row.bytes().map(|byte| byte == b'#')).collect() }
    }

    fn grow(&mut self, rows: usize) {
        self.black.resize(self.black.len() + rows * self.width, false);
    }

    fn put(&mut self, other: &Self, left: usize, top: usize) {
        for (x, y, length) in other.runs() {
            let at = (top + y) * self.width + left + x;
            self.black[at..at + length].fill(true);
        }
    }
}

/// A row of pixels, each square `scale` wide; a set bit is white.
fn bits(row: &[bool], scale: usize) -> Vec<u8> {
    let mut bytes = vec![0; (row.len() * scale).div_ceil(8)];
    for at in (0..row.len() * scale).filter(|at| !row[at / scale]) {
        bytes[at / 8] |= 0x80 >> (at % 8);
    }
    bytes
}
