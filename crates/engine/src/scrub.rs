//! Masks card numbers in a line of text: only the first six and the last four digits remain (PCI DSS 4.0.1, requirement
//! 3.4.1).

use std::borrow::Cow;
use std::ops::Range;

/// Shortest card number, in digits.
const CARD_DIGITS_MIN: usize = 13;
/// Longest card number, in digits.
const CARD_DIGITS_MAX: usize = 19;
/// Characters of a UUID; its groups of digits are not a card number.
const UUID_CHARS: usize = 36;

/// Masks card numbers: groups of digits, optionally separated by a space or a dash, that have 13 to 19 digits together
/// and pass the Luhn check. A masked number looks like `[card 491674…4124]`.
pub fn scrub(line: &[u8]) -> Cow<'_, [u8]> {
    let cards = find_cards(line);
    if cards.is_empty() {
        return Cow::Borrowed(line);
    }
    let mut clean = Vec::with_capacity(line.len());
    let mut copied = 0;
    for card in cards {
        let digits: Vec<u8> = line[card.clone()].iter().copied().filter(u8::is_ascii_digit).collect();
        clean.extend_from_slice(&line[copied..card.start]);
        clean.extend_from_slice(b"[card ");
        clean.extend_from_slice(&digits[..6]);
        clean.extend_from_slice("…".as_bytes());
        clean.extend_from_slice(&digits[digits.len() - 4..]);
        clean.push(b']');
        copied = card.end;
    }
    clean.extend_from_slice(&line[copied..]);
    Cow::Owned(clean)
}

fn find_cards(line: &[u8]) -> Vec<Range<usize>> {
    let mut cards = Vec::new();
    let mut at = 0;
    while at < line.len() {
        if !line[at].is_ascii_digit() && !is_uuid_at(line, at) {
            at += 1;
            continue;
        }
        if is_uuid_at(line, at) {
            at += UUID_CHARS;
            continue;
        }
        let groups = groups_from(line, at);
        at = groups.last().map_or(at + 1, |group| group.end);
        find_in_groups(line, &groups, &mut cards);
    }
    cards
}

/// The groups of digits that begin at `from`, each separated from the next by one space or dash.
fn groups_from(line: &[u8], from: usize) -> Vec<Range<usize>> {
    let mut groups = Vec::new();
    let mut start = from;
    loop {
        let length = line[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let end = start + length;
        if length == 0 {
            return groups;
        }
        groups.push(start..end);
        let goes_on = matches!(line.get(end), Some(b' ' | b'-')) && !is_uuid_at(line, end + 1);
        if !goes_on {
            return groups;
        }
        start = end + 1;
    }
}

/// Checks each sequence of whole groups; inside a group longer than a card number it checks every position.
fn find_in_groups(line: &[u8], groups: &[Range<usize>], cards: &mut Vec<Range<usize>>) {
    let mut rest = groups;
    while let Some(first) = rest.first() {
        if first.len() > CARD_DIGITS_MAX {
            find_in_long_group(line, first.clone(), cards);
        }
        let used = card_from_first_group(line, rest);
        if let Some(last) = used.checked_sub(1) {
            cards.push(first.start..rest[last].end);
        }
        rest = &rest[used.max(1)..];
    }
}

/// How many groups, starting with the first, form a card number; 0 for none.
fn card_from_first_group(line: &[u8], groups: &[Range<usize>]) -> usize {
    let mut digits = 0;
    for (place, group) in groups.iter().enumerate() {
        digits += group.len();
        if digits > CARD_DIGITS_MAX {
            break;
        }
        if digits >= CARD_DIGITS_MIN && passes_luhn(&line[groups[0].start..group.end]) {
            return place + 1;
        }
    }
    0
}

fn find_in_long_group(line: &[u8], group: Range<usize>, cards: &mut Vec<Range<usize>>) {
    let mut start = group.start;
    while start + CARD_DIGITS_MIN <= group.end {
        let ends = (start + CARD_DIGITS_MIN)..=(start + CARD_DIGITS_MAX).min(group.end);
        match ends.rev().find(|end| passes_luhn(&line[start..*end])) {
            Some(end) => {
                cards.push(start..end);
                start = end;
            }
            None => start += 1,
        }
    }
}

/// The Luhn check (ISO/IEC 7812-1, annex B) over the digits of `text`.
fn passes_luhn(text: &[u8]) -> bool {
    let digits = text.iter().rev().filter(|byte| byte.is_ascii_digit()).map(|byte| u32::from(byte - b'0'));
    let sum: u32 = digits
        .enumerate()
        .map(|(place, digit)| match (place % 2, digit * 2) {
            (0, _) => digit,
            (_, doubled) if doubled > 9 => doubled - 9,
            (_, doubled) => doubled,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Whether a UUID in its usual form begins here, with no alphanumeric character on either side.
fn is_uuid_at(line: &[u8], at: usize) -> bool {
    let Some(text) = line.get(at..at + UUID_CHARS) else { return false };
    let is_free = |neighbour: Option<&u8>| neighbour.is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let before = at.checked_sub(1).and_then(|before| line.get(before));
    is_free(before)
        && is_free(line.get(at + UUID_CHARS))
        && text.iter().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}
