//! The documents of a charge as files, those that prove refunds among them, the logos on pages, and what uploaded files are: values in, bytes out. No I/O, and no rule about money: what
//! is owed, due or written in a code comes from the domain.
#![allow(clippy::float_arithmetic, reason = "positions on paper, never money")]

mod archive;
mod font;
mod itf;
pub mod logo;
mod mark;
mod page;
mod picture;
pub mod qr;
pub mod receipt;
pub mod slip;
pub mod upload;

pub use mark::Mark;

/// What cannot be drawn. Only a defect of a file of ours, or a text that is longer than any of the domain's, leads here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawError {
    /// The text is longer than a QR code holds.
    TextTooLong,
    /// The image cannot be written.
    Image,
    /// A font cannot be read or cut down.
    Font,
    /// Several files cannot be put into one.
    Zip,
}

impl std::fmt::Display for DrawError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::TextTooLong => "the text is longer than a QR code holds",
            Self::Image => "the image cannot be written",
            Self::Font => "the font cannot be read or cut down",
            Self::Zip => "the files cannot be put into one",
        })
    }
}
impl std::error::Error for DrawError {}
