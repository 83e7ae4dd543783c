//! Logos written anew: what is kept, what stays behind, and what is refused before it costs memory.

use std::io::Cursor;

use jpeg_encoder::{ColorType as JpegColor, Encoder as JpegEncoder};
use png::{BitDepth, ColorType, Decoder, Encoder, Transformations};
use regente_documents::logo::{Logo, LogoError, written_anew};
use regente_domain::settings::{LOGO_BYTES_MAX, LogoFormat};
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

/// What must not be in a logo that strangers load.
const SECRET: &str = "GPS 23.5505 S 46.6333 W";

fn png(width: u32, height: u32, color: ColorType, depth: BitDepth, pixels: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    if color == ColorType::Indexed {
        encoder.set_palette(&[255, 0, 0, 0, 255, 0][..]);
        encoder.set_trns(&[255, 9][..]);
    }
    encoder.add_text_chunk("Comment".to_owned(), SECRET.to_owned()).unwrap();
    encoder.add_ztxt_chunk("More".to_owned(), SECRET.repeat(1000)).unwrap();
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(pixels).unwrap();
    writer.finish().unwrap();
    file.extend_from_slice(b"<script>alert(1)</script>");
    file
}

fn png_pixels(file: &[u8]) -> (ColorType, BitDepth, Vec<u8>) {
    let mut decoder = Decoder::new(Cursor::new(file));
    decoder.set_transformations(Transformations::IDENTITY);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    (frame.color_type, frame.bit_depth, pixels)
}

fn jpeg(width: u16, height: u16, color: JpegColor, pixels: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = JpegEncoder::new(&mut file, 95);
    encoder.set_progressive(true);
    encoder.add_exif_metadata(SECRET.as_bytes()).unwrap();
    encoder.add_app_segment(13, SECRET.as_bytes().to_vec()).unwrap();
    encoder.encode(pixels, width, height, color).unwrap();
    file.extend_from_slice(b"<script>alert(1)</script>");
    file
}

fn has(file: &[u8], text: &str) -> bool {
    file.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn pixels_of_a_png_stay_and_everything_else_goes() {
    let pixels = |bytes: usize| (0..bytes).map(|at| (at * 7 % 256) as u8).collect::<Vec<_>>();
    for (color, depth, bytes) in [
        (ColorType::Rgba, BitDepth::Eight, 9 * 4 * 4),
        (ColorType::Rgb, BitDepth::Sixteen, 9 * 4 * 6),
        (ColorType::Grayscale, BitDepth::One, 2 * 4),
        (ColorType::GrayscaleAlpha, BitDepth::Eight, 9 * 4 * 2),
    ] {
        let sent = png(9, 4, color, depth, &pixels(bytes));
        let Logo { format, bytes } = written_anew(&sent).unwrap();
        assert_eq!(format, LogoFormat::Png);
        assert_eq!(png_pixels(&bytes), png_pixels(&sent), "{color:?} {depth:?}");
        assert!(!has(&bytes, SECRET) && !has(&bytes, "zTXt") && !has(&bytes, "script"));
        assert!(bytes.ends_with(b"IEND\xae\x42\x60\x82"));
    }
    let by_palette = png(2, 1, ColorType::Indexed, BitDepth::Eight, &[0, 1]);
    let anew = written_anew(&by_palette).unwrap().bytes;
    let mut decoder = Decoder::new(Cursor::new(anew.as_slice()));
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut shown = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut shown).unwrap();
    assert_eq!(shown, [255, 0, 0, 255, 0, 255, 0, 9], "colours and transparency");
}

#[test]
fn a_jpeg_looks_the_same_and_everything_else_goes() {
    for (color, into, samples) in [
        (JpegColor::Rgb, ColorSpace::RGB, 3),
        (JpegColor::Luma, ColorSpace::Luma, 1),
        (JpegColor::Cmyk, ColorSpace::RGB, 4),
    ] {
        let pixels: Vec<u8> = (0..64 * 48 * samples).map(|at| (at / 64 / samples * 5) as u8).collect();
        let sent = jpeg(64, 48, color, &pixels);
        let Logo { format, bytes } = written_anew(&sent).unwrap();
        assert_eq!(format, LogoFormat::Jpeg);
        assert!(!has(&bytes, SECRET) && !has(&bytes, "Exif") && !has(&bytes, "script"));
        let seen = |file: &[u8]| {
            let options = DecoderOptions::default().jpeg_set_out_colorspace(into);
            let mut decoder = JpegDecoder::new_with_options(ZCursor::new(file.to_vec()), options);
            let pixels = decoder.decode().unwrap();
            (decoder.dimensions(), pixels)
        };
        let ((size, before), (same_size, after)) = (seen(&sent), seen(&bytes));
        assert_eq!(size, same_size);
        let apart = before.iter().zip(&after).map(|(one, other)| one.abs_diff(*other)).max();
        assert!(apart.unwrap() < 12, "{color:?}: {apart:?}");
    }
}

#[test]
fn the_widest_logo_is_taken_and_a_wider_one_is_not() {
    let line = |width: usize| vec![0; width];
    assert!(written_anew(&png(1000, 1, ColorType::Grayscale, BitDepth::Eight, &line(1000))).is_ok());
    assert!(written_anew(&jpeg(1, 1000, JpegColor::Luma, &line(1000))).is_ok());
    for file in [
        png(1001, 1, ColorType::Grayscale, BitDepth::Eight, &line(1001)),
        png(1, 1001, ColorType::Grayscale, BitDepth::Eight, &line(1001)),
        jpeg(1001, 1, JpegColor::Luma, &line(1001)),
        jpeg(1, 1001, JpegColor::Luma, &line(1001)),
    ] {
        assert_eq!(written_anew(&file), Err(LogoError::TooManyPixels));
    }
}

/// A picture of some gigabytes in a small file is refused by its first lines.
#[test]
fn a_bomb_is_refused_before_it_is_unpacked() {
    let mut file = png(1, 1, ColorType::Rgba, BitDepth::Sixteen, &[0; 8]);
    file[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
    let checked = crc(&file[12..29]);
    file[29..33].copy_from_slice(&checked);
    assert_eq!(written_anew(&file), Err(LogoError::TooManyPixels));

    let mut file = jpeg(8, 8, JpegColor::Rgb, &[0; 192]);
    let frame = file.windows(2).position(|marker| marker == [0xff, 0xc2]).unwrap();
    file[frame + 5..frame + 9].copy_from_slice(&[0xff, 0xff, 0xff, 0xff]);
    assert_eq!(written_anew(&file), Err(LogoError::TooManyPixels));

    let many_bytes = vec![0x89; LOGO_BYTES_MAX + 1];
    assert_eq!(written_anew(&many_bytes), Err(LogoError::TooManyBytes));
}

/// The check of a PNG chunk (ISO/IEC 15948 annex D).
fn crc(bytes: &[u8]) -> [u8; 4] {
    let crc = bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 },
        )
    });
    (!crc).to_be_bytes()
}

#[test]
fn what_is_no_picture_is_refused() {
    let others: [&[u8]; 6] = [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"GIF89a",
        b"RIFF\0\0\0\0WEBPVP8 ",
        b"<html>",
        b"\x89PNG",
    ];
    for file in others {
        assert_eq!(written_anew(file), Err(LogoError::OtherFormat));
    }
    let whole = png(64, 64, ColorType::Rgb, BitDepth::Eight, &[7; 64 * 64 * 3]);
    let cut = &whole[..whole.len() / 2];
    for file in [
        cut,
        b"\x89PNG\r\n\x1a\n",
        b"\x89PNG\r\n\x1a\nxxxxxxxxxxxxxxxxxxxxxxxx",
        b"\xff\xd8\xff",
        b"\xff\xd8\xff\xe0xx",
    ] {
        assert_eq!(written_anew(file), Err(LogoError::Broken), "{:?}", file.get(..16));
    }
}
