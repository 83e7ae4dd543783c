//! Pages that are filled from above: a paragraph or a row goes to the next page where this one is full.

use crate::DrawError;
use crate::archive::Archival;
use crate::font::Weight;
use crate::mark::Mark;
use crate::page::{Page, Style, finish};
use crate::picture::Picture;

const BLACK: [f32; 3] = [0.0, 0.0, 0.0];
const GRAY: [f32; 3] = [0.35, 0.35, 0.35];
const TITLE: Style = Style { weight: Weight::Bold, size: 16.0, color: BLACK };
const NAME: Style = Style { weight: Weight::Bold, size: 12.0, color: BLACK };
const HEADING: Style = Style { weight: Weight::Bold, size: 10.5, color: BLACK };
const TEXT: Style = Style { weight: Weight::Regular, size: 10.0, color: BLACK };
const LABEL: Style = Style { weight: Weight::Regular, size: 9.0, color: GRAY };
const VALUE: Style = Style { weight: Weight::Regular, size: 9.5, color: BLACK };
const STRONG: Style = Style { weight: Weight::Bold, size: 9.5, color: BLACK };
const SMALL: Style = Style { weight: Weight::Regular, size: 7.5, color: GRAY };
const CELL: Style = Style { weight: Weight::Regular, size: 8.5, color: BLACK };
const WARNING: Style = Style { weight: Weight::Bold, size: 9.0, color: [0.75, 0.05, 0.05] };
const WATERMARK: Style = Style { weight: Weight::Bold, size: 96.0, color: [0.93, 0.93, 0.93] };

const LEFT: f32 = 22.0;
const RIGHT: f32 = 188.0;
/// Where the head of the first page ends, and where other pages begin.
const HEAD: f32 = 38.0;
const TOP: f32 = 26.0;
/// Where a page is full, and where its foot stands.
const BOTTOM: f32 = 268.0;
const FOOT: f32 = 278.0;
/// Where values begin beside their labels.
const VALUES: f32 = 82.0;
const LOGO: (f32, f32) = (55.0, 20.0);
const LINE: f32 = 4.8;
const ROW: f32 = 6.4;
/// Where the columns of a table begin; the last one ends on the right.
const COLUMNS: [f32; 4] = [LEFT, LEFT + 10.0, LEFT + 46.0, RIGHT];

/// The pages of a document.
pub(super) struct Sheet {
    pages: Vec<Page>,
    page: Page,
    y: f32,
    mark: Mark,
    warning: &'static str,
}

impl Sheet {
    /// Begins the first page with the merchant's logo and name.
    pub(super) fn begin(
        logo: Option<Picture>,
        name: &str,
        (mark, warning): (Mark, &'static str),
    ) -> Result<Self, DrawError> {
        let mut sheet = Self { pages: Vec::new(), page: page(mark, warning)?, y: HEAD, mark, warning };
        let beside = match logo {
            Some(logo) => LEFT + sheet.page.picture(logo, LEFT, HEAD, LOGO) + 6.0,
            None => LEFT,
        };
        let name = sheet.page.fitted(NAME, RIGHT - beside, name);
        match beside > LEFT {
            true => sheet.page.text_before(NAME, RIGHT, HEAD - 1.0, &name),
            false => sheet.page.text(NAME, LEFT, HEAD - 1.0, &name),
        }
        sheet.page.line((LEFT, HEAD + 2.5), (RIGHT, HEAD + 2.5), 0.4);
        sheet.y = HEAD + 14.0;
        Ok(sheet)
    }

    pub(super) fn title(&mut self, text: &str) {
        self.page.text(TITLE, LEFT, self.y, text);
        self.y += 9.0;
    }

    pub(super) fn on_the_right(&mut self, text: &str) {
        self.page.text_before(TEXT, RIGHT, self.y, text);
        self.y += 8.0;
    }

    pub(super) fn line(&mut self, text: &str) {
        self.page.text(TEXT, LEFT, self.y, text);
        self.y += LINE;
    }

    pub(super) fn paragraph(&mut self, text: &str) -> Result<(), DrawError> {
        self.y += 3.0;
        for line in self.page.wrapped(TEXT, RIGHT - LEFT, text) {
            self.room(LINE)?;
            self.page.text(TEXT, LEFT, self.y, &line);
            self.y += LINE;
        }
        self.y += 3.0;
        Ok(())
    }

    pub(super) fn heading(&mut self, text: &str) -> Result<(), DrawError> {
        self.y += 4.0;
        self.room(3.0 * ROW)?;
        self.page.text(HEADING, LEFT, self.y, text);
        self.y += 2.0;
        self.page.line((LEFT, self.y), (RIGHT, self.y), 0.3);
        self.y += 4.8;
        Ok(())
    }

    /// A label with its value, which has as many lines as it needs.
    pub(super) fn fact(&mut self, label: &str, value: &str) -> Result<(), DrawError> {
        let lines = self.page.wrapped(VALUE, RIGHT - VALUES, value);
        self.room(ROW + LINE * lines.len().saturating_sub(1) as f32)?;
        self.page.text(LABEL, LEFT, self.y, label);
        for (place, line) in lines.iter().enumerate() {
            if place > 0 {
                self.y += LINE;
            }
            self.page.text(VALUE, VALUES, self.y, line);
        }
        self.y += ROW;
        Ok(())
    }

    /// The names of the columns of a table.
    pub(super) fn columns(&mut self, names: [&str; 4]) {
        self.cells(LABEL, names);
    }

    /// A row of a table.
    pub(super) fn row(&mut self, cells: [&str; 4]) -> Result<(), DrawError> {
        self.room(ROW)?;
        self.cells(CELL, cells);
        Ok(())
    }

    /// The last row of a table.
    pub(super) fn total(&mut self, label: &str, amount: &str) -> Result<(), DrawError> {
        self.room(ROW)?;
        self.page.line((LEFT, self.y - 4.4), (RIGHT, self.y - 4.4), 0.3);
        self.page.text(STRONG, LEFT, self.y, label);
        self.page.text_before(STRONG, RIGHT, self.y, amount);
        self.y += ROW;
        Ok(())
    }

    /// The file. `foot` is told on each page, and `number` makes the words of a page's number and that of all.
    pub(super) fn finish(
        mut self,
        title: &str,
        foot: &[String],
        number: impl Fn(usize, usize) -> String,
        archival: &Archival,
    ) -> Result<Vec<u8>, DrawError> {
        self.pages.push(self.page);
        let all = self.pages.len();
        for (place, page) in self.pages.iter_mut().enumerate() {
            page.line((LEFT, FOOT - 5.0), (RIGHT, FOOT - 5.0), 0.2);
            for (line, text) in foot.iter().enumerate() {
                page.text(SMALL, LEFT, FOOT + 3.6 * line as f32, text);
            }
            page.text_before(SMALL, RIGHT, FOOT, &number(place + 1, all));
        }
        finish(self.pages, title, Some(archival))
    }

    fn cells(&mut self, style: Style, cells: [&str; 4]) {
        let [number, at, id, amount] = cells;
        let [first, second, third, right] = COLUMNS;
        self.page.text(style, first, self.y, number);
        self.page.text(style, second, self.y, at);
        self.page.text(style, third, self.y, id);
        self.page.text_before(style, right, self.y, amount);
        self.y += ROW;
    }

    /// Begins a page where this one has no room left.
    fn room(&mut self, height: f32) -> Result<(), DrawError> {
        if self.y + height > BOTTOM {
            let next = page(self.mark, self.warning)?;
            self.pages.push(std::mem::replace(&mut self.page, next));
            self.y = TOP;
        }
        Ok(())
    }
}

fn page(mark: Mark, warning: &str) -> Result<Page, DrawError> {
    let mut page = Page::new()?;
    match mark {
        Mark::None => {}
        Mark::Sandbox => {
            page.text_rising(WATERMARK, 105.0, 170.0, 40.0, "SANDBOX");
            page.text(WARNING, LEFT, 12.0, warning);
        }
    }
    Ok(page)
}
