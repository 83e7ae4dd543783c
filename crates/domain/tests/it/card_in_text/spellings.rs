//! Card numbers in any spelling are found, and texts of ordinary orders are refused only where a number stands in them.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use regente_domain::card::in_text::{has_number, masked, names};
use regente_domain::card::{Brand, CardNumber};

/// Beginnings of numbers, and how many digits they have.
const KNOWN: [(&str, usize); 14] = [
    ("4", 16),
    ("4", 19),
    ("51", 16),
    ("2221", 16),
    ("34", 15),
    ("37", 15),
    ("300", 16),
    ("36", 16),
    ("6011", 16),
    ("3528", 16),
    ("606282", 16),
    ("606282", 19),
    ("506699", 16),
    ("650031", 16),
];
/// What may stand between groups as on cards, and between single digits.
const BETWEEN: [&str; 17] =
    [" ", "  ", " - ", "-", ".", ",", ", ", "/", " / ", "\n", "\r\n", "\t", "_", "|", "\u{a0}", "—", " · "];
/// What may stand between groups of any other length.
const ONE_SIGN: [&str; 9] = [" ", "-", ".", "/", "\n", "\r\n", "_", "\u{a0}", "·"];
/// The zeros of scripts; the other digits follow them.
const ZEROS: [char; 8] = ['0', '０', '٠', '०', '๐', '𝟎', '𝟶', '🯰'];
/// What cannot be seen.
const UNSEEN: [&str; 8] = ["", "", "", "\u{200b}", "\u{200d}", "\u{feff}", "\u{ad}", "\u{fe0f}\u{20e3}"];

/// The number with its check digit.
fn checked(begins: &str, digits: &str, length: usize) -> CardNumber {
    let body = format!("{begins}{digits}");
    let body = &body[..length - 1];
    let number = (0..10).find_map(|last| CardNumber::parse(&format!("{body}{last}")).ok());
    number.expect("one of ten digits fits")
}

fn known() -> impl Strategy<Value = CardNumber> {
    (select(KNOWN.as_slice()), "[0-9]{18}")
        .prop_map(|((begins, length), digits)| checked(begins, &digits, length))
}

/// How many digits each group has, and what stands between them.
fn grouping() -> impl Strategy<Value = (Vec<usize>, &'static str)> {
    let usual = select(vec![vec![19], vec![1; 19], vec![4; 5]]);
    let others = proptest::collection::vec(3_usize..10, 7);
    prop_oneof![(usual, select(BETWEEN.as_slice())), (others, select(ONE_SIGN.as_slice())),]
}

/// The number written so. The last group takes what would be too short for one of its own.
fn written(number: &CardNumber, sizes: &[usize], between: &str, zeros: &[char], unseen: &[&str]) -> String {
    let digits = number.expose_digits().as_bytes();
    let (mut text, mut begins, mut left) = (String::new(), Vec::new(), digits.len());
    for size in sizes {
        if left == 0 {
            break;
        }
        begins.push(digits.len() - left);
        left = if *size > 1 && left < size + 3 { 0 } else { left - size };
    }
    for (place, digit) in digits.iter().enumerate() {
        if place > 0 && begins.contains(&place) {
            text.push_str(between);
        }
        let zero = u32::from(zeros[place % zeros.len()]);
        text.push(char::from_u32(zero + u32::from(digit - b'0')).unwrap());
        text.push_str(unseen[place % unseen.len()]);
    }
    text
}

/// Two halves of eight digits are telephones, unless a hyphen or a dot joins them.
fn are_telephones(number: &CardNumber, sizes: &[usize], between: &str) -> bool {
    number.expose_digits().len() == 16 && sizes[0] == 8 && !["-", ".", "—"].contains(&between)
}

/// A part of the text of an ordinary order.
fn ordinary() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("Pedido".to_owned()),
        Just("2 camisetas azuis, tamanho M".to_owned()),
        "#[0-9]{4,8}",
        "[0-9]{2}/[0-9]{2}/20[0-9]{2}( [0-9]{2}:[0-9]{2})?",
        "20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z",
        "R\\$ [1-9][0-9]{0,2}(\\.[0-9]{3}){0,2},[0-9]{2}",
        "78[0-9]{11}",
        "[2-5][0-9]{7} [2-5][0-9]{7}",
        "\\([1-9]{2}\\) 9[0-9]{4}-[0-9]{4}",
        "[2-5][0-9]{3}-[0-9]{4} [2-5][0-9]{3}-[0-9]{4}",
        "[0-9]{3}\\.[0-9]{3}\\.[0-9]{3}-[0-9]{2}",
        "[0-9]{2}\\.[0-9]{3}\\.[0-9]{3}/0001-[0-9]{2}",
        "CEP [0-9]{5}-[0-9]{3}",
        "v[0-9]\\.[0-9]{1,2}\\.[0-9]{1,3}",
        "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}",
    ]
}

fn order() -> impl Strategy<Value = String> {
    proptest::collection::vec((ordinary(), select([", ", "; ", "\n", " - "].as_slice())), 1..7)
        .prop_map(|parts| parts.into_iter().map(|(part, end)| part + end).collect())
}

/// Whether a number with a known beginning and length and a right check digit is among the digits, however they are written.
fn holds_a_number(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let known = |begins: &str| {
        let number = CardNumber::parse(begins).ok();
        number.is_some_and(|number| number.brand().is_some_and(|brand: Brand| Brand::ALL.contains(&brand)))
    };
    (0..digits.len()).any(|at| (14..=19).any(|length| digits.get(at..at + length).is_some_and(known)))
}

proptest! {
    #[test]
    fn a_known_number_is_found_in_any_spelling(
        number in known(), (sizes, between) in grouping(),
        zeros in proptest::collection::vec(select(ZEROS.as_slice()), 1..4),
        unseen in proptest::collection::vec(select(UNSEEN.as_slice()), 1..4),
    ) {
        prop_assume!(!are_telephones(&number, &sizes, between));
        let written = written(&number, &sizes, between, &zeros, &unseen);
        let text = format!("pago com {written} ontem");
        prop_assert!(has_number(&text), "{text:?}");
        prop_assert!(names(&text, &number));
        let mask = format!("[card {}…{}]", number.first6(), number.last4());
        let shown = masked(&text);
        prop_assert!(shown.starts_with(&format!("pago com {mask}")) && shown.ends_with(" ontem"), "{shown:?}");
        prop_assert!(!has_number(&shown));
    }

    #[test]
    fn an_ordinary_text_is_refused_only_for_a_number_that_stands_in_it(text in order()) {
        prop_assert!(!has_number(&text) || holds_a_number(&text), "{text:?}");
    }
}

/// The same texts in each run: the share is no matter of luck.
#[test]
fn few_ordinary_texts_look_like_a_number_by_chance() {
    const TEXTS: usize = 4_000;
    let mut runner = TestRunner::deterministic();
    let text = |_| order().new_tree(&mut runner).unwrap().current();
    let refused: Vec<String> = (0..TEXTS).map(text).filter(|text| has_number(text)).collect();
    assert!(refused.len() * 500 <= TEXTS, "{} of {TEXTS}: {:#?}", refused.len(), refused);
}
