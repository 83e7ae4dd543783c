//! The colours of a merchant on the page: text on them can be read (WCAG 2.2, contrast AA) in light and in dark, and a
//! colour with which it could not is replaced by the nearest shade with which it can.
#![expect(clippy::float_arithmetic, reason = "the luminance of colours, no money")]

use std::fmt::Write;

/// The contrast of text with what is behind it.
pub const TEXT_CONTRAST: f32 = 4.5;
/// The contrast of the edge of a control with what is around it.
pub const EDGE_CONTRAST: f32 = 3.0;
/// The steps in which a colour is made darker or lighter.
const SHADES: u8 = 20;

/// The colours as the merchant has set them; `None` where they have not.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// Of the button that goes on.
    pub main: Option<String>,
    /// Of what stands beside it.
    pub secondary: Option<String>,
    /// Of warnings.
    pub attention: Option<String>,
    /// Of errors.
    pub error: Option<String>,
    /// Of what went well.
    pub success: Option<String>,
    /// Behind everything.
    pub background: Option<String>,
}

/// A colour without transparency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    red: u8,
    green: u8,
    blue: u8,
}

const BLACK: Colour = Colour::of(0x00_00_00);
const WHITE: Colour = Colour::of(0xFF_FF_FF);
const MAIN: Colour = Colour::of(0x34_43_83);
const ATTENTION: Colour = Colour::of(0xFA_C3_0E);
const ERROR: Colour = Colour::of(0xFF_17_44);
const SUCCESS: Colour = Colour::of(0x32_C0_00);

/// What the browser prefers.
#[derive(Clone, Copy, Debug)]
struct Scheme {
    surface: Colour,
    field: Colour,
    line: Colour,
    text: Colour,
    muted: Colour,
    edge: Colour,
}

const LIGHT: Scheme = Scheme {
    surface: WHITE,
    field: Colour::of(0xF8_F9_FB),
    line: Colour::of(0xE1_E4_EA),
    text: Colour::of(0x1A_1D_24),
    muted: Colour::of(0x59_60_6E),
    edge: Colour::of(0x80_87_95),
};

const DARK: Scheme = Scheme {
    surface: Colour::of(0x1B_1E_25),
    field: Colour::of(0x23_27_30),
    line: Colour::of(0x36_3B_47),
    text: Colour::of(0xF1_F3_F7),
    muted: Colour::of(0xAE_B5_C2),
    edge: Colour::of(0x7C_84_94),
};
/// Behind everything in dark, unless the merchant's own colour is dark.
const DARK_BACKGROUND: Colour = Colour::of(0x11_13_18);
/// Behind everything in light.
const LIGHT_BACKGROUND: Colour = WHITE;
/// A background with at most this luminance is dark.
const DARK_LUMINANCE_MAX: f32 = 0.05;

impl Chosen {
    /// The variables of the style sheet.
    pub fn variables(&self) -> String {
        let background = parsed(self.background.as_deref(), LIGHT_BACKGROUND);
        let dark_background =
            if background.luminance() <= DARK_LUMINANCE_MAX { background } else { DARK_BACKGROUND };
        format!(
            ":root{{{}}}@media (prefers-color-scheme:dark){{:root{{{}}}}}",
            self.variables_in(&LIGHT, background),
            self.variables_in(&DARK, dark_background),
        )
    }

    fn variables_in(&self, scheme: &Scheme, background: Colour) -> String {
        let Scheme { surface, field, line, text, muted, edge } = *scheme;
        let main = parsed(self.main.as_deref(), MAIN);
        let secondary = parsed(self.secondary.as_deref(), main);
        let on_surface = |colour: Colour| {
            // Errors and the like stand on fields, too.
            colour.shaded(TEXT_CONTRAST, surface).shaded(TEXT_CONTRAST, field)
        };
        let variables = [
            ("bg", background),
            ("on-bg", background.text_on()),
            // A logo is drawn for the background that the merchant has chosen, and stands on it in dark, too.
            ("plate", parsed(self.background.as_deref(), LIGHT_BACKGROUND)),
            ("surface", surface),
            ("field", field),
            ("line", line),
            ("text", text),
            ("muted", muted),
            ("edge", edge),
            ("main", main),
            ("on-main", main.text_on()),
            ("main-edge", main.shaded(EDGE_CONTRAST, surface)),
            ("accent", on_surface(main)),
            ("second", secondary),
            ("danger", on_surface(parsed(self.error.as_deref(), ERROR))),
            ("ok", on_surface(parsed(self.success.as_deref(), SUCCESS))),
            ("warn", on_surface(parsed(self.attention.as_deref(), ATTENTION))),
        ];
        variables.into_iter().fold(String::new(), |mut css, (name, colour)| {
            // Writing to a string does not fail.
            let _ = write!(css, "--{name}:{};", colour.shown());
            css
        })
    }
}

fn parsed(text: Option<&str>, otherwise: Colour) -> Colour {
    text.and_then(Colour::parse).unwrap_or(otherwise)
}

impl Colour {
    const fn of(rgb: u32) -> Self {
        let [_, red, green, blue] = rgb.to_be_bytes();
        Self { red, green, blue }
    }

    /// `#` and 3, 6 or 8 hexadecimal digits; transparency does not count.
    pub fn parse(text: &str) -> Option<Self> {
        let digits =
            text.strip_prefix('#').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        let rgb = match digits.len() {
            3 => digits.chars().flat_map(|digit| [digit, digit]).collect(),
            6 | 8 => digits.get(..6)?.to_owned(),
            _ => return None,
        };
        u32::from_str_radix(&rgb, 16).ok().map(Self::of)
    }

    fn shown(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }

    /// The relative luminance of WCAG.
    fn luminance(self) -> f32 {
        let linear = |part: u8| {
            let part = f32::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.red) + 0.7152 * linear(self.green) + 0.0722 * linear(self.blue)
    }

    /// The contrast of two colours, from 1 to 21, as WCAG defines it.
    pub fn contrast(self, other: Self) -> f32 {
        let (one, two) = (self.luminance(), other.luminance());
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    /// Black or white, whichever is easier to read on this colour: one of them always is.
    fn text_on(self) -> Self {
        if self.contrast(WHITE) >= self.contrast(BLACK) { WHITE } else { BLACK }
    }

    /// The nearest shade of the colour that has the contrast with what is behind it.
    fn shaded(self, contrast: f32, behind: Self) -> Self {
        let end = behind.text_on();
        let shades = (0..=SHADES).map(|step| self.mixed(end, step));
        shades.into_iter().find(|shade| shade.contrast(behind) >= contrast).unwrap_or(end)
    }

    /// So many steps on the way to `end`.
    fn mixed(self, end: Self, step: u8) -> Self {
        let part = |from: u8, to: u8| {
            let (from, to, step, steps) =
                (u32::from(from), u32::from(to), u32::from(step), u32::from(SHADES));
            u8::try_from((from * (steps - step) + to * step) / steps).unwrap_or(to_byte(to))
        };
        Self {
            red: part(self.red, end.red),
            green: part(self.green, end.green),
            blue: part(self.blue, end.blue),
        }
    }
}

fn to_byte(part: u32) -> u8 {
    part.min(255).to_le_bytes()[0]
}
