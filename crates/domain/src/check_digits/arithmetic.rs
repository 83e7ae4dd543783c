//! The arithmetic that rules of check digits share.

/// The digits of a text of exactly `N` digits.
pub(super) fn digits<const N: usize>(text: &str) -> Option<[u32; N]> {
    all_digits(text)?.try_into().ok()
}

/// The digits of a text of at least one digit.
pub(super) fn all_digits(text: &str) -> Option<Vec<u32>> {
    if text.is_empty() {
        return None;
    }
    text.chars().map(|character| character.to_digit(10)).collect()
}

/// The number that digits write.
pub(super) fn value(digits: &[u32]) -> u64 {
    digits.iter().fold(0, |value, digit| value * 10 + u64::from(*digit))
}

/// The digits, each times its weight, added up. Surplus digits or weights do not count.
pub(super) fn weighted(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum()
}

/// What is missing to the next multiple; below `modulus`.
pub(super) const fn missing(sum: u32, modulus: u32) -> u32 {
    (modulus - sum % modulus) % modulus
}

/// The text after a prefix, or the whole text without that prefix.
pub(super) fn after<'a>(prefix: &str, text: &'a str) -> &'a str {
    text.strip_prefix(prefix).unwrap_or(text)
}

/// The part of an ASCII text from `from` up to `to`.
pub(super) fn part(text: &str, from: usize, to: usize) -> Option<&str> {
    text.get(from..to)
}

/// The place of a character in an alphabet.
pub(super) fn place(alphabet: &str, character: char) -> Option<u32> {
    alphabet.chars().zip(0..).find(|(letter, _)| *letter == character).map(|(_, place)| place)
}

/// The character of an alphabet at a place.
pub(super) fn letter(alphabet: &str, place: u32) -> Option<char> {
    alphabet.chars().nth(usize::try_from(place).ok()?)
}

/// The sum of the Luhn algorithm (ISO/IEC 7812-1, annex B), modulo ten.
pub(super) fn luhn_sum(digits: &[u32]) -> u32 {
    let fold = |(at, digit): (usize, &u32)| match at % 2 {
        0 => *digit,
        _ => digit * 2 / 10 + digit * 2 % 10,
    };
    digits.iter().rev().enumerate().map(fold).sum::<u32>() % 10
}

/// Whether the last digit is that of the Luhn algorithm.
pub(super) fn luhn(digits: &[u32]) -> bool {
    luhn_sum(digits) == 0
}

/// Whether the last digit is that of ISO/IEC 7064, MOD 11,10.
pub(super) fn mod_11_10(digits: &[u32]) -> bool {
    let sum = digits.iter().fold(5, |check, digit| {
        let doubled = if check == 0 { 10 } else { check } * 2 % 11;
        (doubled + digit) % 10
    });
    sum == 1
}

/// The multiplication of the dihedral group of order ten.
fn times(one: u32, other: u32) -> u32 {
    match (one < 5, other < 5) {
        (true, true) => (one + other) % 5,
        (true, false) => (one + other - 5) % 5 + 5,
        (false, true) => (one - other) % 5 + 5,
        (false, false) => (one + 5 - other) % 5,
    }
}

/// Whether the last digit is that of the Verhoeff algorithm.
pub(super) fn verhoeff(digits: &[u32]) -> bool {
    const PERMUTATION: [u32; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let permuted = |at: usize, digit: u32| {
        (0..at % 8).fold(digit, |digit, _| PERMUTATION.get(digit as usize).copied().unwrap_or(digit))
    };
    let check =
        digits.iter().rev().enumerate().fold(0, |check, (at, digit)| times(check, permuted(at, *digit)));
    check == 0
}
