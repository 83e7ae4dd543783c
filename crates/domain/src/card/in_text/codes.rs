//! Finds security codes that stand behind their name: `cvv 220`, `Cód. de seg.: 220`.

use super::normal::Normal;

/// Digits of a security code.
const DIGITS: std::ops::RangeInclusive<usize> = 3..=4;
/// In how many words behind the name of a security code its digits are looked for.
const WORDS_BEHIND_NAME_MAX: usize = 6;

/// The names of security codes, word by word, in small letters; each word has several spellings.
const NAMES: [&[&[&str]]; 4] = [
    &[&["cvv", "cvc", "cvn"]],
    &[&["security", "sec"], &["code", "cod"]],
    &[&["codigo", "cod", "code"], &["seguranca", "seguridad", "seguridade", "seg", "security"]],
    &[&["card"], &["verification"], &["value", "code", "number"]],
];
/// The letters that names begin with.
const INITIALS: [u8; 2] = [b'c', b's'];
/// Words inside of a name that mean nothing.
const JOINTS: [&str; 4] = ["de", "da", "do", "of"];
/// Words between a name and its code.
const FILLERS: [&str; 13] =
    ["is", "e", "es", "do", "da", "del", "de", "cartao", "tarjeta", "card", "number", "numero", "n"];
/// The name of a security code that is also the name of a company, which sells journeys of a year.
const NAME_WITH_YEARS: &str = "cvc";

/// Whether the text says a security code with its name.
pub(super) fn has_security_code(text: &Normal<'_>) -> bool {
    if !text.has_digits(*DIGITS.start()) {
        return false;
    }
    let plain = text.plain();
    let begins_name = |at: &usize| {
        INITIALS.contains(&plain[*at].to_ascii_lowercase())
            && (*at == 0 || !plain[*at - 1].is_ascii_alphabetic())
    };
    (0..plain.len()).filter(begins_name).any(|at| {
        let words = Words { rest: &plain[at..] };
        let first = words.clone().next().unwrap_or_default();
        NAMES.iter().any(|name| says_code(words.clone(), name, first))
    })
}

/// Whether a member of this name with this value says a security code: `"cardCvv": "220"`.
pub fn is_security_code(name: &str, value: &str) -> bool {
    let value = Normal::of(value.trim());
    is_code(value.plain()) && {
        let name = Normal::of(name);
        let letters = name.plain().iter().filter(|byte| byte.is_ascii_alphabetic());
        let letters: String = letters.map(|letter| char::from(letter.to_ascii_lowercase())).collect();
        NAMES.iter().any(|of_code| ends_with(&letters, of_code))
    }
}

/// Whether these words begin with the name, and its code follows. `first` is their first word.
fn says_code(mut words: Words<'_>, name: &[&[&str]], first: &[u8]) -> bool {
    for (place, spellings) in name.iter().enumerate() {
        let mut word = words.next();
        if place > 0 && word.is_some_and(|word| is_one_of(word, &JOINTS)) {
            word = words.next();
        }
        if !word.is_some_and(|word| is_one_of(word, spellings)) {
            return false;
        }
    }
    code_after(words).is_some_and(|code| {
        let is_year = code.len() == 4 && (code.starts_with(b"19") || code.starts_with(b"20"));
        !(is_year && first.eq_ignore_ascii_case(NAME_WITH_YEARS.as_bytes()))
    })
}

/// The code that these words begin with; its digits may stand apart, and `cvv2` ends with a digit.
fn code_after(words: Words<'_>) -> Option<Vec<u8>> {
    let mut apart = Vec::with_capacity(WORDS_BEHIND_NAME_MAX);
    for word in words.take(WORDS_BEHIND_NAME_MAX) {
        match word {
            [digit] if digit.is_ascii_digit() => apart.push(*digit),
            word if is_code(word) => return Some(word.to_vec()),
            word if apart.is_empty() && is_one_of(word, &FILLERS) => {}
            _ => break,
        }
    }
    is_code(&apart).then_some(apart)
}

fn is_code(word: &[u8]) -> bool {
    DIGITS.contains(&word.len()) && word.iter().all(u8::is_ascii_digit)
}

fn is_one_of(word: &[u8], spellings: &[&str]) -> bool {
    spellings.iter().any(|spelling| word.eq_ignore_ascii_case(spelling.as_bytes()))
}

/// Whether the letters end with the words of this name.
fn ends_with(letters: &str, name: &[&[&str]]) -> bool {
    let Some((last, before)) = name.split_last() else { return true };
    let ends = last.iter().filter_map(|spelling| letters.strip_suffix(spelling));
    let joined = |rest: &str| {
        JOINTS.iter().filter_map(|joint| rest.strip_suffix(joint)).any(|rest| ends_with(rest, before))
    };
    ends.into_iter().any(|rest| ends_with(rest, before) || (!before.is_empty() && joined(rest)))
}

/// The words of a text: letters or digits, with signs or nothing between them.
#[derive(Clone)]
struct Words<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let begin = self.rest.iter().position(u8::is_ascii_alphanumeric)?;
        let rest = &self.rest[begin..];
        let is_digit = rest[0].is_ascii_digit();
        let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() && byte.is_ascii_digit() == is_digit;
        let length = rest.iter().take_while(|byte| is_of_word(byte)).count();
        let (word, rest) = rest.split_at(length);
        self.rest = rest;
        Some(word)
    }
}
