//! Finds and masks card numbers in texts of callers, and finds security codes. A number counts when a brand issues numbers
//! that begin so and have so many digits, and its check digit is right. Numbers that only look alike are kept apart as
//! well as their form allows: ids, hashes, keys of invoices, bar codes, documents.

use std::borrow::Cow;
use std::ops::Range;

use super::{Brand, CardNumber, passes_luhn};
use crate::customer::is_cnpj;

/// Fewest digits of a number that is looked for.
const DIGITS_MIN: usize = 14;
/// Fewest digits of one group of a number that is written in groups: phone numbers have groups of two. A number that is written
/// digit by digit has groups of one alone.
const GROUP_DIGITS_MIN: usize = 3;
/// The most blanks and hyphens between two groups.
const SEPARATORS_MAX: usize = 3;
/// Characters of a UUID; its groups of digits are no card number.
pub const UUID_CHARS: usize = 36;
/// Digits of an invoice's key or of a boleto's bar code, and of the line of a boleto. Each is written in groups, too.
const DIGITS_OF_KEYS: [usize; 2] = [44, 47];
/// The most digits of one group of these: the last one of a boleto has as many.
const GROUP_DIGITS_MAX_OF_KEYS: usize = 14;
/// Digits of the line of a bill, and how it begins.
const BILL: (usize, char) = (48, '8');
/// In how many words behind the name of a security code its digits are looked for; a blank begins a new one.
const WORDS_BEHIND_NAME_MAX: usize = 5;

/// The names of security codes, in small letters without accents.
const NAMES_OF_CODES: [&str; 9] = [
    "cvv",
    "cvv2",
    "cvc",
    "cvc2",
    "security code",
    "codigo de seguranca",
    "cod. de seguranca",
    "cod de seguranca",
    "codigo de seguridad",
];
/// The name of a security code that is also the name of a company, which sells journeys of a year.
const NAME_WITH_YEARS: &str = "cvc";

/// Whether a card number stands in the text: in one piece, or in groups or single digits that a few blanks or hyphens separate.
pub fn has_number(text: &str) -> bool {
    !numbers(text).is_empty()
}

/// The text with the first six and the last four digits of each card number: `[card 491674…4124]`.
pub fn masked(text: &str) -> Cow<'_, str> {
    let found = numbers(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(String::from_utf8_lossy(&with_masks(text.as_bytes(), &found)).into_owned())
}

/// The line with `[card 491674…4124]` in place of each card number. The numbers are in order, of ten digits at least.
pub fn with_masks(line: &[u8], numbers: &[Range<usize>]) -> Vec<u8> {
    let mut clean = Vec::with_capacity(line.len());
    let mut copied = 0;
    for number in numbers {
        let digits: Vec<u8> = line[number.clone()].iter().copied().filter(u8::is_ascii_digit).collect();
        clean.extend_from_slice(&line[copied..number.start]);
        clean.extend_from_slice(b"[card ");
        clean.extend_from_slice(&digits[..6]);
        clean.extend_from_slice("…".as_bytes());
        clean.extend_from_slice(&digits[digits.len() - 4..]);
        clean.push(b']');
        copied = number.end;
    }
    clean.extend_from_slice(&line[copied..]);
    clean
}

/// The groups of digits that begin at `from`. A separator stands between each and the next; `separator_at` gives the bytes of
/// the one at a place.
pub fn groups_from(
    line: &[u8],
    from: usize,
    separator_at: impl Fn(usize) -> Option<usize>,
) -> Vec<Range<usize>> {
    let mut groups = Vec::new();
    let mut start = from;
    loop {
        let length = line[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length == 0 {
            return groups;
        }
        let end = start + length;
        groups.push(start..end);
        match separator_at(end) {
            Some(bytes) if !is_uuid_at(line, end + bytes) => start = end + bytes,
            Some(_) | None => return groups,
        }
    }
}

/// Whether a UUID in its usual form begins here, with no letter or digit on either side.
pub fn is_uuid_at(line: &[u8], at: usize) -> bool {
    let Some(uuid) = line.get(at..at + UUID_CHARS) else { return false };
    let is_free = |neighbour: Option<&u8>| neighbour.is_none_or(|byte| !byte.is_ascii_alphanumeric());
    is_free(at.checked_sub(1).and_then(|before| line.get(before)))
        && is_free(line.get(at + UUID_CHARS))
        && uuid.iter().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// The numbers in the text that begin and end with these digits, of any brand and however their digits are separated. Who
/// knows the card compares them with it.
pub fn numbers_like(text: &str, first6: &str, last4: &str) -> Vec<CardNumber> {
    let digits = digits_of(text);
    let begins = (0..digits.len()).filter(|at| digits[*at..].starts_with(first6));
    let lengths = CardNumber::DIGITS_MIN..=CardNumber::DIGITS_MAX;
    begins
        .flat_map(|at| lengths.clone().map(move |length| (at, length)))
        .filter_map(|(at, length)| digits.get(at..at + length))
        .filter(|candidate| candidate.ends_with(last4))
        .filter_map(|candidate| CardNumber::parse(candidate).ok())
        .collect()
}

/// Whether the digits of this number stand in the text, however they are separated.
pub fn names(text: &str, number: &CardNumber) -> bool {
    let candidates = numbers_like(text, number.first6(), number.last4());
    candidates.iter().any(|candidate| candidate.expose_digits() == number.expose_digits())
}

/// Whether the text says a security code with its name: `cvv 220`.
pub fn has_security_code(text: &str) -> bool {
    let mut groups = text.split(|char: char| !char.is_ascii_digit());
    if !groups.any(is_code) {
        return false;
    }
    let text = plain(text);
    NAMES_OF_CODES.iter().any(|name| {
        text.match_indices(name).any(|(at, _)| {
            let is_word = !text[..at].ends_with(char::is_alphanumeric);
            is_word && code_after(&text[at + name.len()..]).is_some_and(|code| !is_year_of(name, code))
        })
    })
}

/// Whether a member of this name with this value says a security code: `"cardCvv": "220"`.
pub fn is_security_code(name: &str, value: &str) -> bool {
    let value = value.trim();
    let letters =
        |text: &str| -> String { plain(text).chars().filter(|char| char.is_alphanumeric()).collect() };
    is_code(value) && {
        let name = letters(name);
        NAMES_OF_CODES.iter().any(|of_code| name.ends_with(&letters(of_code)))
    }
}

/// Where card numbers stand in the text, in order.
fn numbers(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if text.bytes().filter(u8::is_ascii_digit).count() < DIGITS_MIN {
        return found;
    }
    let mut at = 0;
    while let Some(offset) = text[at..].find(|char: char| char.is_ascii_hexdigit()) {
        at += offset;
        if is_uuid_at(text.as_bytes(), at) {
            at += UUID_CHARS;
        } else if text.as_bytes()[at].is_ascii_digit() {
            let separator = |end: usize| {
                let separators =
                    text[end..].chars().take(SEPARATORS_MAX).take_while(|char| is_separator(*char));
                Some(separators.map(char::len_utf8).sum()).filter(|bytes| *bytes > 0)
            };
            let groups = groups_from(text.as_bytes(), at, separator);
            find_in_groups(text, &groups, &mut found);
            at = groups.last().map_or(at + 1, |group| group.end);
        } else {
            at += 1;
        }
    }
    found
}

/// Blanks of any width, and hyphens; not the end of a line.
fn is_separator(char: char) -> bool {
    matches!(char, '-' | '\u{2010}'..='\u{2013}') || (char.is_whitespace() && !char.is_control())
}

/// Checks each sequence of whole groups.
fn find_in_groups(text: &str, groups: &[Range<usize>], found: &mut Vec<Range<usize>>) {
    if is_other_number(text, groups) {
        return;
    }
    let mut rest = groups;
    while let Some(first) = rest.first() {
        let length = (1..=rest.len()).find(|length| is_number(text, &rest[..*length]));
        if let Some(length) = length {
            found.push(first.start..rest[length - 1].end);
        }
        rest = &rest[length.unwrap_or(1)..];
    }
}

/// Whether all groups together are a number of another kind.
fn is_other_number(text: &str, groups: &[Range<usize>]) -> bool {
    let count: usize = groups.iter().map(ExactSizeIterator::len).sum();
    let begins = |char| groups.first().is_some_and(|first| text[first.start..].starts_with(char));
    let is_key = DIGITS_OF_KEYS.contains(&count) || (count == BILL.0 && begins(BILL.1));
    is_key && groups.iter().all(|group| group.len() <= GROUP_DIGITS_MAX_OF_KEYS)
}

/// Whether these groups are the number of a card.
fn is_number(text: &str, groups: &[Range<usize>]) -> bool {
    let [first, .., last] = groups else {
        return groups.first().is_some_and(|only| is_whole_number(text, only.clone()));
    };
    let are_groups = groups.iter().all(|group| group.len() >= GROUP_DIGITS_MIN);
    let are_digits = groups.iter().all(|group| group.len() == 1);
    (are_groups || are_digits) && is_whole_number(text, first.start..last.end)
}

fn is_whole_number(text: &str, range: Range<usize>) -> bool {
    let count = text[range.clone()].bytes().filter(u8::is_ascii_digit).count();
    if !(DIGITS_MIN..=CardNumber::DIGITS_MAX).contains(&count) {
        return false;
    }
    let digits = digits_of(&text[range.clone()]);
    let is_of_brand = Brand::of_digits(&digits).is_some_and(|brand| brand.lengths().contains(&count));
    is_of_brand && passes_luhn(digits.bytes()) && !is_cnpj(&digits) && !is_part_of_a_word(text, &range)
}

/// Whether letters touch the digits on both sides, as in a hash, or the digits are the fraction of a number.
fn is_part_of_a_word(text: &str, range: &Range<usize>) -> bool {
    let before = &text[..range.start];
    let is_fraction =
        before.strip_suffix('.').is_some_and(|before| before.ends_with(|char: char| char.is_ascii_digit()));
    let is_between =
        before.ends_with(char::is_alphabetic) && text[range.end..].starts_with(char::is_alphabetic);
    is_fraction || is_between
}

fn digits_of(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

fn is_code(text: &str) -> bool {
    matches!(text.len(), 3 | 4) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The code that follows the name of one: behind punctuation, and perhaps `is`.
fn code_after(rest: &str) -> Option<&str> {
    let mut words = rest.split_inclusive(|char: char| !char.is_alphanumeric());
    for _ in 0..WORDS_BEHIND_NAME_MAX {
        let word = words.next()?.trim_end_matches(|char: char| !char.is_alphanumeric());
        if is_code(word) {
            return Some(word);
        }
        if !["", "is", "e", "es"].contains(&word) {
            return None;
        }
    }
    None
}

fn is_year_of(name: &str, code: &str) -> bool {
    name == NAME_WITH_YEARS && code.len() == 4 && (code.starts_with("19") || code.starts_with("20"))
}

/// Small letters without the accents of the names of security codes.
fn plain(text: &str) -> String {
    let plain = |char: char| match char {
        'ó' => 'o',
        'ç' => 'c',
        'é' => 'e',
        '\u{a0}' | '_' => ' ',
        _ => char,
    };
    text.chars().flat_map(char::to_lowercase).map(plain).collect()
}
