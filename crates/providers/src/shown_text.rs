//! Texts of providers that a refusal keeps.

use regente_domain::text::chars_max;

/// The text, cut to what is kept; `None` when it is empty or has more than `digits_max` digits in a row, since it may then
/// repeat a card number. Blanks and hyphens between digits do not end a row.
pub(crate) fn shown(text: &str, digits_max: usize) -> Option<String> {
    let without_gaps: String = text.chars().filter(|sign| !matches!(sign, ' ' | '-')).collect();
    let is_long = |digits: &str| digits.len() > digits_max;
    let may_be_number = without_gaps.split(|sign: char| !sign.is_ascii_digit()).any(is_long);
    (!may_be_number && !text.is_empty()).then(|| text.chars().take(chars_max::LINE).collect())
}
