//! Finds and masks card numbers in texts of callers, and finds security codes. A number counts when a brand issues numbers
//! that begin so and have so many digits, and its check digit is right. Numbers that only look alike are kept apart as
//! well as their form allows: ids, hashes, keys of invoices, bar codes, documents, telephones.

use std::borrow::Cow;
use std::ops::Range;

use super::{Brand, CardNumber, passes_luhn};
use crate::check_digits::is_cnpj;

mod codes;
mod normal;

pub use codes::is_security_code;
pub use normal::{Normal, digits_in};

/// Most looks at one text that is masked.
pub const LOOKS_MAX: usize = 16;
/// Fewest digits of a number that is looked for.
const DIGITS_MIN: usize = 14;
/// Fewest digits of one group of a number that is grouped otherwise than on cards: phone numbers have groups of two.
const GROUP_DIGITS_MIN: usize = 3;
/// The most blanks, signs and ends of lines between two groups.
const SEPARATORS_MAX: usize = 3;
/// Characters of a UUID; its groups of digits are no card number.
const UUID_CHARS: usize = 36;
/// Digits of an invoice's key or of a boleto's bar code, and of the line of a boleto. Each is written in groups, too.
const DIGITS_OF_KEYS: [usize; 2] = [44, 47];
/// The most digits of one group of these: the last one of a boleto has as many.
const GROUP_DIGITS_MAX_OF_KEYS: usize = 14;
/// Digits of the line of a bill, and how it begins.
const BILL: (usize, u8) = (48, b'8');
/// Digits of a telephone without its area code.
const DIGITS_OF_TELEPHONE: usize = 8;

/// What must not stand in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardData {
    /// A card number: in one piece, or in groups or single digits between a few blanks or signs.
    Number,
    /// A security code with its name.
    SecurityCode,
}

/// What of a card stands in the text; of both the number.
pub fn card_data(text: &str) -> Option<CardData> {
    let text = Normal::of(text);
    if !numbers(&text).is_empty() {
        return Some(CardData::Number);
    }
    codes::has_security_code(&text).then_some(CardData::SecurityCode)
}

/// Whether a card number stands in the text.
pub fn has_number(text: &str) -> bool {
    !numbers(&Normal::of(text)).is_empty()
}

/// The text with the first six and the last four digits of each card number: `[card 491674…4124]`.
pub fn masked(text: &str) -> Cow<'_, str> {
    masked_by(text, masked_once)
}

/// Masks a text by `once`, which gives `None` where nothing is to be masked, until that is so: the digits that a mask shows may be
/// the first ones of another number. A text that needs more than [`LOOKS_MAX`] looks was made to take long, and loses its digits.
pub fn masked_by(text: &str, once: impl Fn(&str) -> Option<String>) -> Cow<'_, str> {
    let mut masked = Cow::Borrowed(text);
    for _ in 0..LOOKS_MAX {
        match once(&masked) {
            None => return masked,
            Some(next) => masked = Cow::Owned(next),
        }
    }
    Cow::Owned(masked.chars().map(|c| if c.is_numeric() { '*' } else { c }).collect())
}

/// `None` where no number stands in the text.
fn masked_once(text: &str) -> Option<String> {
    let normal = Normal::of(text);
    let found = numbers(&normal);
    (!found.is_empty()).then(|| normal.with_masks(&found))
}

/// The numbers in the text that begin and end with these digits, of any brand and however their digits are separated. Who
/// knows the card compares them with it.
pub fn numbers_like(text: &str, first6: &str, last4: &str) -> Vec<CardNumber> {
    let normal = Normal::of(text);
    if !normal.has_digits(CardNumber::DIGITS_MIN) {
        return Vec::new();
    }
    let digits = normal.digits();
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

/// Gives `each` the groups of digits that stand together, for all of the text. `separator` says how many of the bytes that
/// follow a group may stand between it and the next one. UUIDs are passed over.
pub fn for_each_run(plain: &[u8], separator: impl Fn(&[u8]) -> usize, mut each: impl FnMut(&[Range<usize>])) {
    let mut groups = Vec::new();
    let mut at = 0;
    while let Some(offset) = plain[at..].iter().position(u8::is_ascii_hexdigit) {
        at += offset;
        if is_uuid_at(plain, at) {
            at += UUID_CHARS;
            continue;
        }
        groups.clear();
        let mut next = at;
        loop {
            let length = plain[next..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            if length == 0 {
                break;
            }
            at = next + length;
            groups.push(next..at);
            next = at + separator(&plain[at..]);
            if next == at || is_uuid_at(plain, next) {
                break;
            }
        }
        match groups.is_empty() {
            true => at += 1,
            false => each(&groups),
        }
    }
}

/// Whether a UUID in its usual form begins here, with no letter or digit on either side.
fn is_uuid_at(plain: &[u8], at: usize) -> bool {
    let Some(uuid) = plain.get(at..at + UUID_CHARS) else { return false };
    let is_free = |neighbour: Option<&u8>| neighbour.is_none_or(|byte| !byte.is_ascii_alphanumeric());
    is_free(at.checked_sub(1).and_then(|before| plain.get(before)))
        && is_free(plain.get(at + UUID_CHARS))
        && uuid.iter().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Where card numbers stand in the text, in order.
fn numbers(text: &Normal<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if text.has_digits(DIGITS_MIN) {
        let plain = text.plain();
        for_each_run(plain, separator, |groups| find_in_run(plain, groups, &mut found));
    }
    found
}

/// The blanks, signs and ends of lines at the beginning of the text, if they may stand between two groups.
fn separator(rest: &[u8]) -> usize {
    let signs = rest.iter().take(SEPARATORS_MAX + 1).take_while(|byte| !byte.is_ascii_alphanumeric()).count();
    if signs > SEPARATORS_MAX { 0 } else { signs }
}

/// Checks each sequence of whole groups.
fn find_in_run(plain: &[u8], groups: &[Range<usize>], found: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while let Some(first) = groups.get(at) {
        let rest = &groups[at..];
        let begins_piece = at == 0 || !is_of_one_key(&plain[groups[at - 1].end..first.start]);
        at += match begins_piece.then(|| length_of_key(plain, rest)).flatten() {
            Some(groups) => groups,
            None => match length_of_number(plain, rest) {
                Some(groups) => {
                    found.push(first.start..rest[groups - 1].end);
                    groups
                }
                None => 1,
            },
        };
    }
}

/// How many groups from the first one on are a key of an invoice or the line of a boleto or a bill, which blanks, dots and
/// hyphens divide.
fn length_of_key(plain: &[u8], groups: &[Range<usize>]) -> Option<usize> {
    let follow = |pair: &&[Range<usize>]| is_of_one_key(&plain[pair[0].end..pair[1].start]);
    let length = 1 + groups.windows(2).take_while(follow).count();
    let piece = &groups[..length];
    let count: usize = piece.iter().map(ExactSizeIterator::len).sum();
    let is_key = DIGITS_OF_KEYS.contains(&count) || (count == BILL.0 && plain[piece[0].start] == BILL.1);
    (is_key && piece.iter().all(|group| group.len() <= GROUP_DIGITS_MAX_OF_KEYS)).then_some(length)
}

fn is_of_one_key(separator: &[u8]) -> bool {
    separator.iter().all(|byte| matches!(byte, b' ' | b'.' | b'-'))
}

/// How many groups from the first one on are the number of a card; of several lengths that would do, the longest.
fn length_of_number(plain: &[u8], groups: &[Range<usize>]) -> Option<usize> {
    let mut digits = [0; CardNumber::DIGITS_MAX];
    let (mut count, mut brand, mut found) = (0, None, None);
    for (place, group) in groups.iter().enumerate() {
        let Some(room) = digits.get_mut(count..count + group.len()) else { break };
        room.copy_from_slice(&plain[group.clone()]);
        count += group.len();
        if count < DIGITS_MIN {
            continue;
        }
        let digits = std::str::from_utf8(&digits[..count]).unwrap_or_default();
        // Nine of ten end here, before the ranges are looked through.
        if !passes_luhn(digits.bytes()) {
            continue;
        }
        // Its first digits tell the brand, however many follow.
        let Some(brand) = *brand.get_or_insert_with(|| Brand::of_digits(digits)) else { break };
        let is_number = brand.lengths().contains(&count) && !is_cnpj(digits);
        if is_number && is_written_so(plain, &groups[..=place]) {
            found = Some(place + 1);
        }
    }
    found
}

/// Whether the groups may be those of one number, and are no part of a word.
fn is_written_so(plain: &[u8], groups: &[Range<usize>]) -> bool {
    let [first, .., last] = groups else {
        return groups.first().is_some_and(|only| !is_fraction(plain, only) && !is_in_a_word(plain, only));
    };
    let are_digits = groups.iter().all(|group| group.len() == 1);
    (are_digits || are_usual(groups) || are_divided_alike(plain, groups))
        && !are_telephones(plain, groups)
        && !is_in_a_word(plain, &(first.start..last.end))
}

/// Whether the digits are grouped as on cards: by four, or 4-6-5 and 4-6-4.
fn are_usual(groups: &[Range<usize>]) -> bool {
    let by_four = groups.split_last().is_some_and(|(last, before)| {
        before.iter().all(|group| group.len() == 4) && (2..=4).contains(&last.len())
    });
    let by_six = matches!(groups, [first, second, third]
        if first.len() == 4 && second.len() == 6 && (4..=5).contains(&third.len()));
    by_four || by_six
}

/// Whether one and the same sign, blank or end of a line stands between all of them, and none that divides lists.
fn are_divided_alike(plain: &[u8], groups: &[Range<usize>]) -> bool {
    let mut between = groups.windows(2).map(|pair| &plain[pair[0].end..pair[1].start]);
    groups.iter().all(|group| group.len() >= GROUP_DIGITS_MIN)
        && between.next().is_some_and(|first| {
            let is_one = matches!(first, [sign] if !b",;#".contains(sign)) || first == b"\r\n";
            is_one && between.all(|other| other == first)
        })
}

/// Whether they are two telephones, `4133-1234 4133-5678` or `41331234 / 41335678`, or the halves of two.
fn are_telephones(plain: &[u8], groups: &[Range<usize>]) -> bool {
    let between = |place: usize| &plain[groups[place].end..groups[place + 1].start];
    let are_of = |digits: usize| groups.iter().all(|group| group.len() == digits);
    match groups.len() {
        2 => are_of(DIGITS_OF_TELEPHONE) && !matches!(between(0), b"-" | b"."),
        4 => {
            are_of(DIGITS_OF_TELEPHONE / 2)
                && between(0) == between(2)
                && between(0) != between(1)
                && (between(0) == b"-" || between(1) == b"-")
        }
        _ => false,
    }
}

/// Whether letters touch the digits on both sides, as in a hash.
fn is_in_a_word(plain: &[u8], range: &Range<usize>) -> bool {
    let is_letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphabetic);
    is_letter(plain[..range.start].last()) && is_letter(plain.get(range.end))
}

/// Whether the digits are the fraction of a number.
fn is_fraction(plain: &[u8], range: &Range<usize>) -> bool {
    plain[..range.start]
        .strip_suffix(b".")
        .is_some_and(|before| before.last().is_some_and(u8::is_ascii_digit))
}
