//! A text as it is searched for card data: every character is a letter, a digit or a sign of ASCII, whatever its script, and
//! what cannot be seen is left out.

use std::borrow::Cow;
use std::ops::Range;

use deunicode::deunicode_char;

/// Stands for a sign that ASCII does not have.
const SIGN: u8 = b'*';
/// Stands for a letter that has no spelling in ASCII.
const LETTER: u8 = b'x';
/// Most digits of one character: `⑫` has two.
const DIGITS_OF_CHARACTER_MAX: usize = 2;

/// A text in ASCII, with the place of each byte in what was written.
pub struct Normal<'a> {
    text: &'a str,
    plain: Cow<'a, [u8]>,
    /// Where the character of each byte begins; `None` when nothing had to be changed.
    places: Option<Vec<usize>>,
}

impl<'a> Normal<'a> {
    /// Reads the text once. What is ASCII already is not copied.
    pub fn of(text: &'a str) -> Self {
        // Not `all`, which looks at one byte after the other.
        if text.bytes().filter(|byte| !is_plain(*byte)).count() == 0 {
            return Self { text, plain: Cow::Borrowed(text.as_bytes()), places: None };
        }
        // No character becomes longer than its UTF-8, so neither grows.
        let mut plain = Vec::with_capacity(text.len());
        let mut places = Vec::with_capacity(text.len());
        for (at, character) in text.char_indices() {
            push(character, &mut plain);
            places.resize(plain.len(), at);
        }
        Self { text, plain: Cow::Owned(plain), places: Some(places) }
    }

    /// The letters, digits and signs.
    pub fn plain(&self) -> &[u8] {
        &self.plain
    }

    /// Whether it has so many digits.
    pub fn has_digits(&self, count: usize) -> bool {
        self.plain.iter().filter(|byte| byte.is_ascii_digit()).count() >= count
    }

    /// The digits alone.
    pub fn digits(&self) -> String {
        self.plain.iter().filter(|byte| byte.is_ascii_digit()).map(|digit| char::from(*digit)).collect()
    }

    /// What was written, with `[card 491674…4124]` in place of each number. The numbers are places in [`Self::plain`], in
    /// order, with ten digits at least.
    pub fn with_masks(&self, numbers: &[Range<usize>]) -> String {
        let mut clean = String::with_capacity(self.text.len());
        let mut copied = 0;
        for number in numbers {
            let digits: String = digits_in(&self.plain[number.clone()]).map(char::from).collect();
            let written = self.written(number);
            clean.push_str(&self.text[copied..written.start.max(copied)]);
            clean.push_str("[card ");
            clean.push_str(&digits[..6]);
            clean.push('…');
            clean.push_str(&digits[digits.len() - 4..]);
            clean.push(']');
            copied = written.end;
        }
        clean.push_str(&self.text[copied..]);
        clean
    }

    /// Where a part of [`Self::plain`] stands in what was written, in whole characters.
    fn written(&self, part: &Range<usize>) -> Range<usize> {
        let Some(places) = &self.places else { return part.clone() };
        let last = places[part.end - 1];
        let length = self.text[last..].chars().next().map_or(0, char::len_utf8);
        places[part.start]..last + length
    }
}

/// The digits among these bytes.
pub fn digits_in(plain: &[u8]) -> impl DoubleEndedIterator<Item = u8> {
    plain.iter().copied().filter(u8::is_ascii_digit)
}

/// Whether the byte stands for itself: it is ASCII, and no control character but a blank or the end of a line.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' '..=b'~')
}

fn push(character: char, plain: &mut Vec<u8>) {
    if character.is_ascii() {
        plain.extend(u8::try_from(character).ok().filter(|byte| is_plain(*byte)));
        return;
    }
    if character.is_whitespace() {
        plain.push(b' ');
        return;
    }
    let spelt = deunicode_char(character).unwrap_or_default().trim();
    if spelt.is_empty() {
        // It cannot be seen, as a joiner or the mark over the letter before it.
    } else if character.is_numeric() {
        let digits = spelt.trim_matches(|sign: char| sign.is_ascii_punctuation()).as_bytes();
        let are_digits = digits.iter().all(u8::is_ascii_digit) && !digits.is_empty();
        match are_digits && digits.len() <= DIGITS_OF_CHARACTER_MAX {
            true => plain.extend_from_slice(digits),
            false => plain.push(SIGN),
        }
    } else if character.is_alphabetic() {
        plain.push(spelt.bytes().find(u8::is_ascii_alphabetic).unwrap_or(LETTER));
    } else {
        plain.push(spelt.bytes().next().filter(u8::is_ascii_punctuation).unwrap_or(SIGN));
    }
}
