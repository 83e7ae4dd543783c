//! Masks card numbers in a line of text: only the first six and the last four digits remain (PCI DSS 4.0.1, requirement
//! 3.4.1).

use std::borrow::Cow;
use std::ops::Range;

use regente_domain::card::in_text::{Normal, digits_in, for_each_run, masked_by};
use regente_domain::card::{CardNumber, passes_luhn};

/// Masks card numbers: groups of digits of any script, optionally separated by a space or a dash, that have 13 to 19 digits
/// together and pass the Luhn check. A masked number looks like `[card 491674…4124]`.
pub fn scrub(line: &[u8]) -> Cow<'_, [u8]> {
    let text = String::from_utf8_lossy(line);
    // What is left of a long group may be a number with the groups behind it.
    match masked_by(&text, scrubbed_once) {
        Cow::Borrowed(_) => Cow::Borrowed(line),
        Cow::Owned(scrubbed) => Cow::Owned(scrubbed.into_bytes()),
    }
}

/// `None` where there is no number.
fn scrubbed_once(text: &str) -> Option<String> {
    let normal = Normal::of(text);
    let cards = find_cards(normal.plain());
    (!cards.is_empty()).then(|| normal.with_masks(&cards))
}

fn find_cards(line: &[u8]) -> Vec<Range<usize>> {
    let mut cards = Vec::new();
    let separator = |rest: &[u8]| usize::from(matches!(rest.first(), Some(b' ' | b'-')));
    for_each_run(line, separator, |groups| find_in_groups(line, groups, &mut cards));
    cards
}

/// Checks each sequence of whole groups; inside a group longer than a card number it checks every position.
fn find_in_groups(line: &[u8], groups: &[Range<usize>], cards: &mut Vec<Range<usize>>) {
    let mut rest = groups;
    while let Some(first) = rest.first() {
        if first.len() > CardNumber::DIGITS_MAX {
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
        if digits > CardNumber::DIGITS_MAX {
            break;
        }
        if digits >= CardNumber::DIGITS_MIN && passes_luhn(digits_in(&line[groups[0].start..group.end])) {
            return place + 1;
        }
    }
    0
}

fn find_in_long_group(line: &[u8], group: Range<usize>, cards: &mut Vec<Range<usize>>) {
    let mut start = group.start;
    while start + CardNumber::DIGITS_MIN <= group.end {
        let ends = (start + CardNumber::DIGITS_MIN)..=(start + CardNumber::DIGITS_MAX).min(group.end);
        match ends.rev().find(|end| passes_luhn(digits_in(&line[start..*end]))) {
            Some(end) => {
                cards.push(start..end);
                start = end;
            }
            None => start += 1,
        }
    }
}
