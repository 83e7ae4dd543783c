//! Finds card numbers and security codes in bytes, in every encoding.

use std::collections::BTreeMap;

use aho_corasick::AhoCorasick;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use crate::support::canary::cards::Canary;

/// How many consecutive digits identify a number: more than the first six or last four, which may be shown.
const WINDOW: usize = 9;
/// Windows start behind so many digits.
const SHOWN_BEFORE: usize = 3;

/// The patterns to find.
pub struct Search {
    patterns: Vec<Pattern>,
    automaton: AhoCorasick,
}

struct Pattern {
    bytes: Vec<u8>,
    kind: Kind,
    what: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Matches at any position.
    Anywhere,
    /// Four digits: match only as a separate value.
    Alone,
}

impl Search {
    pub fn of(canaries: &[Canary]) -> Self {
        let mut patterns = Vec::new();
        for canary in canaries {
            for (form, bytes) in forms(canary) {
                let what = format!("{form} of the number {}", canary.number);
                patterns.push(Pattern { bytes, kind: Kind::Anywhere, what });
            }
            let what = format!("the code {} of {}", canary.cvv, canary.number);
            patterns.push(Pattern { bytes: canary.cvv.clone().into(), kind: Kind::Alone, what });
        }
        let automaton =
            AhoCorasick::new(patterns.iter().map(|pattern| &pattern.bytes)).expect("few patterns");
        Self { patterns, automaton }
    }

    /// The matches, each once, with their surroundings.
    pub fn hits(&self, bytes: &[u8]) -> Vec<String> {
        let mut found = BTreeMap::new();
        for (pattern, at) in
            self.automaton.find_overlapping_iter(bytes).map(|hit| (hit.pattern(), hit.start()))
        {
            let pattern = &self.patterns[pattern.as_usize()];
            if pattern.fits(bytes, at) {
                let around = &bytes[at.saturating_sub(60)..(at + 60).min(bytes.len())];
                let around = String::from_utf8_lossy(around).into_owned();
                found.entry(pattern.what.as_str()).or_insert(around);
            }
        }
        found.into_iter().map(|(what, around)| format!("{what} in {around:?}")).collect()
    }
}

/// Which of the texts are among the bytes.
pub fn texts_in<'a>(texts: &[&'a str], bytes: &[u8]) -> Vec<&'a str> {
    let automaton = AhoCorasick::new(texts).expect("few texts");
    automaton.find_overlapping_iter(bytes).map(|hit| texts[hit.pattern().as_usize()]).collect()
}

impl Pattern {
    fn fits(&self, bytes: &[u8], at: usize) -> bool {
        match self.kind {
            Kind::Anywhere => true,
            Kind::Alone => {
                let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
                let after = bytes.get(at + self.bytes.len()).copied().unwrap_or(b' ');
                b"\"' :=([{,>\n\t|".contains(&before) && b"\"' ,)]}<\n\t\\;|&".contains(&after)
            }
        }
    }
}

/// The encodings of a number: text, spaced, hexadecimal, Base64, UTF-16, integer, two digits per byte.
fn forms(canary: &Canary) -> Vec<(&'static str, Vec<u8>)> {
    let number = canary.number.as_bytes();
    let mut forms = Vec::new();
    // The first six may appear anywhere, and before a digest in hexadecimal digits: of it, six would have to follow by chance.
    for window in number.windows(WINDOW).skip(SHOWN_BEFORE) {
        forms.push(("digits", window.to_vec()));
        forms.push(("hexadecimal digits", hex::encode(window).into_bytes()));
        forms.push(("UTF-16", window.iter().flat_map(|digit| [*digit, 0]).collect()));
    }
    for separator in [" ", "-", ".", "\u{a0}", "\n", "\\n", " / ", "\u{200b}"] {
        forms.push(("groups", canary.spaced(separator).into_bytes()));
    }
    for zero in ['０', '٠', '𝟎'] {
        forms.push(("digits of another script", canary.in_digits_of(zero).into_bytes()));
    }
    for (index, shift) in ["", "x", "xx"].into_iter().enumerate() {
        // The part that does not depend on surrounding bytes: whole groups of three bytes.
        let encoded = STANDARD_NO_PAD.encode([shift.as_bytes(), number].concat());
        let from = [0, 2, 3][index];
        let whole = encoded.len() - encoded.len() % 4;
        forms.push(("Base64", encoded.as_bytes()[from..whole].to_vec()));
    }
    let integer: u64 = canary.number.parse().expect("16 digits fit");
    let bytes: Vec<u8> = integer.to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect();
    forms.push(("an integer", bytes.iter().rev().copied().collect()));
    forms.push(("an integer", bytes));
    let packed =
        |digits: &[u8]| digits.chunks_exact(2).map(|pair| (pair[0] - b'0') << 4 | (pair[1] - b'0')).collect();
    forms.push(("two digits a byte", packed(number)));
    forms.push(("two digits a byte", packed(&number[1..15])));
    forms
}
