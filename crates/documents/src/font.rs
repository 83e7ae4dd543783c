//! Fonts in PDF files: measuring text, and embedding the glyphs that were used, with the characters they stand for, so
//! that text can be selected and searched.

use std::collections::BTreeMap;

use deunicode::deunicode_char;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Filter, Finish, Name, Pdf, Rect, Ref, Str};
use subsetter::GlyphRemapper;
use ttf_parser::{Face, GlyphId};

use crate::DrawError;

/// The fonts of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

/// A font and what of it was used.
pub(crate) struct Font {
    file: &'static [u8],
    face: Face<'static>,
    remapper: GlyphRemapper,
    /// By its number in the file that is written: the character and the width in thousandths.
    used: BTreeMap<u16, (char, f32)>,
    base_name: &'static str,
    resource: &'static str,
}

/// The objects of an embedded font.
#[derive(Clone, Copy)]
pub(crate) struct FontRefs {
    font: Ref,
    cid_font: Ref,
    descriptor: Ref,
    to_unicode: Ref,
    cid_set: Ref,
    file: Ref,
}

impl FontRefs {
    /// Takes six numbers from `next`.
    pub(crate) fn take(next: &mut Ref) -> Self {
        Self {
            font: next.bump(),
            cid_font: next.bump(),
            descriptor: next.bump(),
            to_unicode: next.bump(),
            cid_set: next.bump(),
            file: next.bump(),
        }
    }

    /// The font itself.
    pub(crate) const fn font(self) -> Ref {
        self.font
    }
}

const SYSTEM_INFO: SystemInfo<'static> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

impl Font {
    /// Reads a font.
    pub(crate) fn read(weight: Weight) -> Result<Self, DrawError> {
        let (file, base_name, resource): (&'static [u8], _, _) = match weight {
            Weight::Regular => {
                (include_bytes!("../fonts/Roboto-Regular.ttf"), "REGENT+Roboto-Regular", "Regular")
            }
            Weight::Bold => (include_bytes!("../fonts/Roboto-Bold.ttf"), "REGENT+Roboto-Bold", "Bold"),
        };
        let face = Face::parse(file, 0).map_err(|_| DrawError::Font)?;
        Ok(Self { file, face, remapper: GlyphRemapper::new(), used: BTreeMap::new(), base_name, resource })
    }

    /// Its name in the page's resources.
    pub(crate) const fn resource(&self) -> Name<'static> {
        Name(self.resource.as_bytes())
    }

    /// The width of a text of size 1.
    pub(crate) fn width(&self, text: &str) -> f32 {
        self.glyphs(text).map(|(_, glyph)| self.advance(glyph)).sum::<f32>() / 1_000.0
    }

    /// The text as the page refers to it. The glyphs count as used.
    pub(crate) fn encode(&mut self, text: &str) -> Vec<u8> {
        let glyphs: Vec<(char, GlyphId)> = self.glyphs(text).collect();
        let mut encoded = Vec::with_capacity(glyphs.len() * 2);
        for (sign, glyph) in glyphs {
            let number = self.remapper.remap(glyph.0);
            let width = self.advance(glyph);
            self.used.entry(number).or_insert((sign, width));
            encoded.extend(number.to_be_bytes());
        }
        encoded
    }

    /// Writes what was used into the file.
    pub(crate) fn embed(&self, pdf: &mut Pdf, refs: FontRefs) -> Result<(), DrawError> {
        let base_name = Name(self.base_name.as_bytes());
        pdf.type0_font(refs.font)
            .base_font(base_name)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(refs.cid_font)
            .to_unicode(refs.to_unicode);

        let mut cid_font = pdf.cid_font(refs.cid_font);
        cid_font.subtype(CidFontType::Type2).base_font(base_name).system_info(SYSTEM_INFO);
        cid_font
            .font_descriptor(refs.descriptor)
            .default_width(0.0)
            .cid_to_gid_map_predefined(Name(b"Identity"));
        let mut widths = cid_font.widths();
        for (number, (_, width)) in &self.used {
            widths.consecutive(*number, [*width]);
        }
        widths.finish();
        cid_font.finish();

        let per_thousand = |units: i16| self.per_thousand(f32::from(units));
        let bounds = self.face.global_bounding_box();
        pdf.font_descriptor(refs.descriptor)
            .name(base_name)
            .flags(FontFlags::NON_SYMBOLIC)
            .bbox(Rect::new(
                per_thousand(bounds.x_min),
                per_thousand(bounds.y_min),
                per_thousand(bounds.x_max),
                per_thousand(bounds.y_max),
            ))
            .italic_angle(0.0)
            .ascent(per_thousand(self.face.ascender()))
            .descent(per_thousand(self.face.descender()))
            .cap_height(per_thousand(self.face.capital_height().unwrap_or_default()))
            .stem_v(80.0)
            .cid_set(refs.cid_set)
            .font_file2(refs.file);
        pdf.stream(refs.cid_set, &compressed(&self.cid_set())).filter(Filter::FlateDecode);

        let mut to_unicode = UnicodeCmap::new(Name(b"Custom"), SYSTEM_INFO);
        for (number, (sign, _)) in &self.used {
            to_unicode.pair(*number, *sign);
        }
        pdf.cmap(refs.to_unicode, &compressed(&to_unicode.finish())).filter(Filter::FlateDecode);

        let subset = subsetter::subset(self.file, 0, &self.remapper).map_err(|_| DrawError::Font)?;
        pdf.stream(refs.file, &compressed(&subset)).filter(Filter::FlateDecode);
        Ok(())
    }

    /// One bit for each glyph in the file, the first one highest: all of them, from the one that stands for what is missing on.
    fn cid_set(&self) -> Vec<u8> {
        let last = self.used.keys().next_back().copied().unwrap_or_default();
        let mut bits = vec![0_u8; usize::from(last / 8) + 1];
        for number in 0..=last {
            if let Some(byte) = bits.get_mut(usize::from(number / 8)) {
                *byte |= 0x80 >> (number % 8);
            }
        }
        bits
    }

    /// The glyphs of a text. A sign that the font does not have is written in letters that it has.
    fn glyphs(&self, text: &str) -> impl Iterator<Item = (char, GlyphId)> + '_ {
        let glyph = |sign: char| self.face.glyph_index(sign).map(|glyph| (sign, glyph));
        text.chars()
            .filter(|sign| !sign.is_control())
            .flat_map(move |sign| match glyph(sign) {
                Some(found) => vec![found],
                None => deunicode_char(sign).unwrap_or("?").chars().filter_map(glyph).collect(),
            })
            .collect::<Vec<_>>()
            .into_iter()
    }

    fn advance(&self, glyph: GlyphId) -> f32 {
        self.per_thousand(f32::from(self.face.glyph_hor_advance(glyph).unwrap_or_default()))
    }

    fn per_thousand(&self, units: f32) -> f32 {
        units * 1_000.0 / f32::from(self.face.units_per_em())
    }
}

/// A stream as files hold it.
pub(crate) fn compressed(bytes: &[u8]) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec_zlib(bytes, 6)
}
