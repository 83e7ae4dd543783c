//! Shows texts that others have written, such as those of files: what would move the cursor of a terminal, or turn the
//! direction of what follows, stands there as its code.

use std::borrow::Cow;

/// The text on one line, with codes such as `\u{1b}`.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    shown(text, is_hidden, |sign| sign.escape_default().to_string())
}

/// JSON that is printed, with codes such as `\u009b` in its texts. Line breaks stand between its members alone.
pub(crate) fn printable_json(json: &str) -> Cow<'_, str> {
    let is_in_text = |sign| is_hidden(sign) && sign != '\n';
    shown(json, is_in_text, |sign| format!("\\u{:04x}", u32::from(sign)))
}

fn shown(text: &str, is_hidden: impl Fn(char) -> bool, code: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.contains(&is_hidden) {
        return Cow::Borrowed(text);
    }
    let sign = |sign: char| if is_hidden(sign) { code(sign) } else { sign.to_string() };
    Cow::Owned(text.chars().map(sign).collect())
}

/// Whether a terminal obeys it instead of showing it.
fn is_hidden(sign: char) -> bool {
    let is_of_direction = matches!(
        sign,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    sign.is_control() || matches!(sign, '\u{2028}' | '\u{2029}') || is_of_direction
}
