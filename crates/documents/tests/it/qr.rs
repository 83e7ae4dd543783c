use regente_documents::{DrawError, Mark, qr};

use crate::judges::codes_in_picture;

const PIX: &str = "00020101021226770014BR.GOV.BCB.PIX2555pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a99\
                   5204000053039865802BR5907EMPRESA6009SAO PAULO62070503***6304EEAB";

#[test]
fn a_scanner_reads_the_picture() {
    for text in [PIX, "1", &"A1b2".repeat(500)] {
        for mark in [Mark::None, Mark::Sandbox] {
            let png = qr::picture(text, mark).unwrap().png().unwrap();
            assert_eq!(codes_in_picture(&png), [format!("QR-Code:{text}")], "{mark:?}");
        }
    }
}

#[test]
fn the_picture_is_sharp_and_small() {
    let png = qr::picture(PIX, Mark::None).unwrap().png().unwrap();
    let info = png::Decoder::new(std::io::Cursor::new(&png)).read_info().unwrap();
    let (width, height) = (info.info().width, info.info().height);
    assert_eq!(width, height);
    assert!((720..1_000).contains(&width), "{width}");
    assert!(png.len() < 8_000, "{}", png.len());
}

/// The vector picture has the same black squares as the one of pixels.
#[test]
fn both_pictures_are_the_same() {
    for mark in [Mark::None, Mark::Sandbox] {
        let picture = qr::picture(PIX, mark).unwrap();
        let svg = picture.svg();
        let view: Vec<usize> =
            between(&svg, "viewBox=\"0 0 ", "\"").split(' ').map(|side| side.parse().unwrap()).collect();
        let (width, height) = (view[0], view[1]);
        let mut black = vec![false; width * height];
        for square in between(&svg, "<path d=\"M", "\"").split('M') {
            let (x, rest) = square.split_once(' ').unwrap();
            let (y, rest) = rest.split_once('h').unwrap();
            let (length, rest) = rest.split_once("v1h-").unwrap();
            assert_eq!(rest, format!("{length}z"));
            let at = y.parse::<usize>().unwrap() * width + x.parse::<usize>().unwrap();
            black[at..at + length.parse::<usize>().unwrap()].fill(true);
        }
        let (pixels, scale, row_pixels) = pixels(&picture.png().unwrap(), width);
        for (at, is_black) in black.into_iter().enumerate() {
            let (x, y) = (at % width * scale + scale / 2, at / width * scale + scale / 2);
            assert_eq!(pixels[y * row_pixels + x] == 0, is_black, "{mark:?}: {x}, {y}");
        }
    }
}

/// The quiet zone is white, and the mark stands below the code alone.
#[test]
fn the_mark_is_below_the_code() {
    let (plain, marked) =
        (qr::picture(PIX, Mark::None).unwrap().svg(), qr::picture(PIX, Mark::Sandbox).unwrap().svg());
    let body = |svg: &str| between(svg, "<path d=\"", "\"").to_owned();
    assert!(body(&marked).len() > body(&plain).len());
    assert!(body(&marked).starts_with(&body(&plain)));
}

#[test]
fn a_text_that_no_code_holds_is_refused() {
    assert_eq!(qr::picture(&"a".repeat(2_332), Mark::None), Err(DrawError::TextTooLong));
    assert!(qr::picture(&"a".repeat(2_331), Mark::None).is_ok());
}

fn pixels(file: &[u8], width: usize) -> (Vec<u8>, usize, usize) {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let row_pixels = reader.next_frame(&mut pixels).unwrap().line_size;
    (pixels, row_pixels / width, row_pixels)
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0
}
