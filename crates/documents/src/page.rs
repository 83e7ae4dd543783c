//! One page of A4 paper on which text, lines and bars are put. Positions are in millimetres from the upper left corner.

use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};

use crate::DrawError;
use crate::archive::{self, Archival, PRODUCER};
use crate::font::{Font, FontRefs, Weight, compressed};
use crate::picture::Picture;
use crate::qr::Squares;

/// Width of the paper.
const WIDTH_MM: f32 = 210.0;
/// Height of the paper.
const HEIGHT_MM: f32 = 297.0;
/// Points of a millimetre.
const POINTS: f32 = 72.0 / 25.4;

/// How a text looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Style {
    pub(crate) weight: Weight,
    /// In points.
    pub(crate) size: f32,
    /// Red, green, blue.
    pub(crate) color: [f32; 3],
}

/// The name of the picture in the resources of a page.
const PICTURE: Name<'static> = Name(b"Picture");

/// A page that is being drawn. It has one picture at most.
pub(crate) struct Page {
    content: Content,
    regular: Font,
    bold: Font,
    picture: Option<Picture>,
}

/// The objects of a page.
#[derive(Clone, Copy)]
struct PageRefs {
    page: Ref,
    content: Ref,
    picture: Ref,
    regular: FontRefs,
    bold: FontRefs,
}

impl PageRefs {
    fn take(next: &mut Ref) -> Self {
        Self {
            page: next.bump(),
            content: next.bump(),
            picture: next.bump(),
            regular: FontRefs::take(next),
            bold: FontRefs::take(next),
        }
    }
}

/// A file of pages. One for an archive says so, and has what archives demand; any other is a document of the day, in Portuguese.
///
/// # Errors
/// [`DrawError::Font`].
pub(crate) fn finish(
    pages: Vec<Page>,
    title: &str,
    archival: Option<&Archival>,
) -> Result<Vec<u8>, DrawError> {
    let mut pdf = Pdf::new();
    let mut next = Ref::new(1);
    let (catalog, tree, info, metadata, profile) =
        (next.bump(), next.bump(), next.bump(), next.bump(), next.bump());
    let refs: Vec<PageRefs> = pages.iter().map(|_| PageRefs::take(&mut next)).collect();
    let mut written = pdf.catalog(catalog);
    written.pages(tree).lang(TextStr(archival.map_or("pt-BR", |archival| archival.language)));
    if archival.is_some() {
        written.metadata(metadata);
        archive::intent(&mut written, profile);
    }
    written.finish();
    let mut told = pdf.document_info(info);
    told.title(TextStr(title)).producer(TextStr(PRODUCER));
    if let Some(archival) = archival {
        told.creation_date(archival.date());
    }
    told.finish();
    pdf.pages(tree)
        .kids(refs.iter().map(|refs| refs.page))
        .count(i32::try_from(refs.len()).unwrap_or(i32::MAX));
    for (page, refs) in pages.iter().zip(&refs) {
        let mut written = pdf.page(refs.page);
        written.media_box(Rect::new(0.0, 0.0, WIDTH_MM * POINTS, HEIGHT_MM * POINTS));
        written.parent(tree).contents(refs.content);
        page.resources(&mut written, *refs);
        written.finish();
    }
    for (page, refs) in pages.into_iter().zip(refs) {
        page.embed(&mut pdf, refs)?;
    }
    if let Some(archival) = archival {
        archival.write(&mut pdf, title, (metadata, profile));
    }
    Ok(pdf.finish())
}

impl Page {
    pub(crate) fn new() -> Result<Self, DrawError> {
        let (regular, bold) = (Font::read(Weight::Regular)?, Font::read(Weight::Bold)?);
        Ok(Self { content: Content::new(), regular, bold, picture: None })
    }

    /// A text that begins at `x` and stands on the line `y`.
    pub(crate) fn text(&mut self, style: Style, x: f32, y: f32, text: &str) {
        self.show(style, [1.0, 0.0, 0.0, 1.0, x * POINTS, (HEIGHT_MM - y) * POINTS], text);
    }

    /// A text that ends at `x`.
    pub(crate) fn text_before(&mut self, style: Style, x: f32, y: f32, text: &str) {
        let width = self.width(style, text);
        self.text(style, x - width, y, text);
    }

    /// A text around `x` and `y` that rises by an angle.
    pub(crate) fn text_rising(&mut self, style: Style, x: f32, y: f32, degrees: f32, text: &str) {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let half = self.width(style, text) / 2.0;
        let (x, y) = (x - half * cos, y + half * sin);
        self.show(style, [cos, sin, -sin, cos, x * POINTS, (HEIGHT_MM - y) * POINTS], text);
    }

    /// The width of a text.
    pub(crate) fn width(&self, style: Style, text: &str) -> f32 {
        self.font(style.weight).width(text) * style.size / POINTS
    }

    /// The text in lines no wider than `width`, parted at spaces, and within words where one is too long.
    pub(crate) fn wrapped(&self, style: Style, width: f32, text: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for paragraph in text.lines() {
            let mut line = String::new();
            for word in paragraph.split_whitespace() {
                let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
                if self.width(style, &longer) <= width {
                    line = longer;
                    continue;
                }
                if !line.is_empty() {
                    lines.push(std::mem::take(&mut line));
                }
                lines.extend(self.broken(style, width, word));
                line = lines.pop().unwrap_or_default();
            }
            lines.push(line);
        }
        lines
    }

    /// The text in lines no wider than `width`, parted anywhere: nothing is lost, spaces neither.
    pub(crate) fn broken(&self, style: Style, width: f32, text: &str) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = String::new();
        for sign in text.chars() {
            if self.width(style, &format!("{line}{sign}")) > width && !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            line.push(sign);
        }
        lines.push(line);
        lines
    }

    /// The beginning of a text that is no wider than `width`; an ellipsis says that there is more.
    pub(crate) fn fitted(&self, style: Style, width: f32, text: &str) -> String {
        if self.width(style, text) <= width {
            return text.to_owned();
        }
        let mut kept = String::new();
        for sign in text.chars() {
            if self.width(style, &format!("{kept}{sign}…")) > width {
                break;
            }
            kept.push(sign);
        }
        format!("{}…", kept.trim_end())
    }

    /// A line.
    pub(crate) fn line(&mut self, from: (f32, f32), to: (f32, f32), width: f32) {
        self.content.set_line_width(width * POINTS);
        self.content.move_to(from.0 * POINTS, (HEIGHT_MM - from.1) * POINTS);
        self.content.line_to(to.0 * POINTS, (HEIGHT_MM - to.1) * POINTS);
        self.content.stroke();
    }

    /// A line along which paper is cut.
    pub(crate) fn cut(&mut self, from: (f32, f32), to: (f32, f32)) {
        self.content.save_state();
        self.content.set_dash_pattern([3.0, 3.0], 0.0);
        self.line(from, to, 0.2);
        self.content.restore_state();
    }

    /// Black bars beside each other: `elements` are the widths of bars and spaces in turn.
    pub(crate) fn bars(&mut self, elements: &[u8], at: (f32, f32), size: (f32, f32)) {
        let narrow = size.0 / elements.iter().map(|element| f32::from(*element)).sum::<f32>();
        let mut x = at.0;
        for (place, element) in elements.iter().enumerate() {
            let width = narrow * f32::from(*element);
            if place % 2 == 0 {
                self.black((x, at.1), (width, size.1));
            }
            x += width;
        }
        self.content.fill_nonzero();
    }

    /// A picture of squares with this side.
    pub(crate) fn squares(&mut self, squares: &Squares, at: (f32, f32), side: f32) {
        let one = side / squares.width() as f32;
        for (x, y, length) in squares.runs() {
            let place = (at.0 + x as f32 * one, at.1 + y as f32 * one);
            self.black(place, (length as f32 * one, one));
        }
        self.content.fill_nonzero();
    }

    /// A picture whose lower edge stands on the line `y`, as large as fits into `size`. Answers its width.
    pub(crate) fn picture(&mut self, picture: Picture, x: f32, y: f32, size: (f32, f32)) -> f32 {
        let (across, down) = (f32::from(picture.width), f32::from(picture.height));
        let scale = (size.0 / across).min(size.1 / down);
        let (width, height) = (across * scale, down * scale);
        self.content.save_state();
        let bottom = (HEIGHT_MM - y) * POINTS;
        self.content.transform([width * POINTS, 0.0, 0.0, height * POINTS, x * POINTS, bottom]);
        self.content.x_object(PICTURE);
        self.content.restore_state();
        self.picture = Some(picture);
        width
    }

    /// The file with this page.
    pub(crate) fn finish(self, title: &str) -> Result<Vec<u8>, DrawError> {
        finish(vec![self], title, None)
    }

    /// What the page needs of the file.
    fn resources(&self, written: &mut pdf_writer::writers::Page<'_>, refs: PageRefs) {
        let mut resources = written.resources();
        let mut fonts = resources.fonts();
        fonts.pair(self.regular.resource(), refs.regular.font());
        fonts.pair(self.bold.resource(), refs.bold.font());
        fonts.finish();
        if self.picture.is_some() {
            let mut pictures = resources.x_objects();
            pictures.pair(PICTURE, refs.picture);
            pictures.finish();
        }
        resources.finish();
    }

    fn embed(self, pdf: &mut Pdf, refs: PageRefs) -> Result<(), DrawError> {
        pdf.stream(refs.content, &compressed(&self.content.finish())).filter(Filter::FlateDecode);
        if let Some(picture) = &self.picture {
            let samples = compressed(&picture.rgb);
            let mut image = pdf.image_xobject(refs.picture, &samples);
            image.filter(Filter::FlateDecode);
            image.width(i32::from(picture.width)).height(i32::from(picture.height));
            image.color_space().device_rgb();
            image.bits_per_component(8);
            image.finish();
        }
        self.regular.embed(pdf, refs.regular)?;
        self.bold.embed(pdf, refs.bold)
    }

    fn show(&mut self, style: Style, matrix: [f32; 6], text: &str) {
        let font = match style.weight {
            Weight::Regular => &mut self.regular,
            Weight::Bold => &mut self.bold,
        };
        let (name, encoded): (Name<'_>, _) = (font.resource(), font.encode(text));
        let [red, green, blue] = style.color;
        self.content.save_state();
        self.content.set_fill_rgb(red, green, blue);
        self.content.begin_text();
        self.content.set_font(name, style.size);
        self.content.set_text_matrix(matrix);
        self.content.show(Str(&encoded));
        self.content.end_text();
        self.content.restore_state();
    }

    fn black(&mut self, at: (f32, f32), size: (f32, f32)) {
        let bottom = HEIGHT_MM - at.1 - size.1;
        self.content.rect(at.0 * POINTS, bottom * POINTS, size.0 * POINTS, size.1 * POINTS);
    }

    const fn font(&self, weight: Weight) -> &Font {
        match weight {
            Weight::Regular => &self.regular,
            Weight::Bold => &self.bold,
        }
    }
}
