//! Documents of Asia, Australia, the Pacific and Africa.

use super::Rules;
use super::arithmetic::{all_digits, digits, letter, luhn, missing, part, place, value, verhoeff, weighted};

#[rustfmt::skip]
pub(super) const RULES: Rules = &[
    ("AU", "ABN", abn),
    ("AU", "ACN", |text| {
        let number = digits::<9>(text)?;
        Some(number[8] == missing(weighted(&number[..8], &[8, 7, 6, 5, 4, 3, 2, 1]), 10))
    }),
    ("AU", "TFN", |text| {
        let number = all_digits(text).filter(|number| (8..=9).contains(&number.len()))?;
        Some(weighted(&number, &[1, 4, 3, 7, 5, 8, 6, 9, 10]).is_multiple_of(11))
    }),
    ("CN", "RIC", ric),
    ("CN", "USCC", uscc),
    ("ID", "NPWP", |text| Some(match text.len() {
        15 => luhn(&digits::<15>(text)?[..9]),
        // Of a person: the number of the identity card, which has no check digit.
        16 if !text.starts_with('0') => digits::<16>(text).is_some(),
        16 => luhn(&digits::<16>(text)?[..10]),
        _ => false,
    })),
    ("IL", "HR", |text| {
        let number = digits::<9>(text)?;
        Some(number[0] == 5 && luhn(&number))
    }),
    ("IL", "IDNR", |text| {
        let number = all_digits(text).filter(|number| number.len() <= 9 && value(number) > 0)?;
        Some(luhn(&number))
    }),
    ("IN", "AADHAAR", |text| {
        let number = digits::<12>(text)?;
        Some(number[0] >= 2 && number.iter().ne(number.iter().rev()) && verhoeff(&number))
    }),
    ("JP", "CN", |text| {
        let number = digits::<13>(text)?;
        Some(number[0] == 9 - weighted(&number[1..], &[2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1]) % 9)
    }),
    ("KR", "RRN", |text| {
        let number = digits::<13>(text)?;
        Some(number[12] == (11 - weighted(&number[..12], &[2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11) % 10)
    }),
    ("MU", "NID", nid),
    ("NZ", "IRD", ird),
    ("SG", "UEN", uen),
    ("TH", "IDNR", |text| {
        let number = digits::<13>(text)?;
        let sum = weighted(&number[..12], &[13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
        Some(![0, 9].contains(&number[0]) && number[12] == (11 - sum % 11) % 10)
    }),
    ("TR", "TCKIMLIK", tckimlik),
    ("TR", "VKN", vkn),
    ("TW", "UBN", ubn),
    ("VN", "MST", mst),
    ("ZA", "IDNR", |text| Some(luhn(&digits::<13>(text)?))),
    ("ZA", "TIN", |text| {
        let number = digits::<10>(text)?;
        Some([0, 1, 2, 3, 9].contains(&number[0]) && luhn(&number))
    }),
];

fn abn(text: &str) -> Option<bool> {
    let mut number = digits::<11>(text)?;
    number[0] = number[0].checked_sub(1)?;
    Some(weighted(&number, &[10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]).is_multiple_of(89))
}

/// ISO/IEC 7064, MOD 11-2.
fn ric(text: &str) -> Option<bool> {
    let body = digits::<17>(part(text, 0, 17)?)?;
    let doubled = body.iter().fold(0, |sum, digit| (sum + digit) * 2 % 11);
    let check = text.chars().nth(17).filter(|_| text.len() == 18)?;
    Some(letter("0123456789X", (12 - doubled) % 11) == Some(check))
}

fn uscc(text: &str) -> Option<bool> {
    const ALPHABET: &str = "0123456789ABCDEFGHJKLMNPQRTUWXY";
    const WEIGHTS: [u32; 17] = [1, 3, 9, 27, 19, 26, 16, 17, 20, 29, 25, 13, 8, 24, 10, 30, 28];
    digits::<8>(part(text, 0, 8)?)?;
    let values: Vec<u32> = text.chars().map(|character| place(ALPHABET, character)).collect::<Option<_>>()?;
    let (check, body) = values.split_last().filter(|_| values.len() == 18)?;
    Some(*check == missing(weighted(body, &WEIGHTS), 31))
}

fn nid(text: &str) -> Option<bool> {
    const ALPHABET: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    all_digits(part(text, 1, 13)?)?;
    let values: Vec<u32> = text.chars().map(|character| place(ALPHABET, character)).collect::<Option<_>>()?;
    let (check, body) = values.split_last().filter(|_| values.len() == 14 && values[0] > 9)?;
    Some(*check == missing(weighted(body, &[14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]), 17))
}

fn ird(text: &str) -> Option<bool> {
    let number = all_digits(text).filter(|number| (8..=9).contains(&number.len()))?;
    if !(10_000_001..150_000_000).contains(&value(&number)) {
        return None;
    }
    let padded = digits::<9>(&format!("{text:0>9}"))?;
    let check = match missing(weighted(&padded, &[3, 2, 7, 6, 5, 4, 3, 2]), 11) {
        10 => missing(weighted(&padded, &[7, 4, 3, 2, 5, 2, 7, 6]), 11),
        check => check,
    };
    Some(padded[8] == check)
}

/// Of a business, of a company, or of another body.
fn uen(text: &str) -> Option<bool> {
    const OTHERS: &str = "ABCDEFGHJKLMNPQRSTUVWX0123456789";
    let check = text.chars().last()?;
    let body = text.strip_suffix(check)?;
    if let Some(number) = digits::<8>(body) {
        let sum = weighted(&number, &[10, 4, 9, 3, 8, 2, 7, 1]);
        return Some(letter("XMKECAWLJDB", sum % 11) == Some(check));
    }
    if let Some(number) = digits::<9>(body) {
        let sum = weighted(&number, &[10, 8, 6, 4, 9, 7, 5, 3, 1]);
        return Some(letter("ZKCMDNERGWH", sum % 11) == Some(check));
    }
    digits::<2>(part(body, 1, 3)?)?;
    digits::<4>(part(body, 5, body.len())?)?;
    let is_other = ['R', 'S', 'T'].iter().any(|first| body.starts_with(*first));
    let values: Vec<u32> = body.chars().map(|character| place(OTHERS, character)).collect::<Option<_>>()?;
    let sum = weighted(&values, &[4, 3, 5, 3, 10, 2, 2, 5, 7]);
    Some(is_other && letter(OTHERS, (sum + 6) % 11) == Some(check))
}

fn tckimlik(text: &str) -> Option<bool> {
    let number = digits::<11>(text).filter(|number| number[0] != 0)?;
    let first = missing(weighted(&number[..9], &[3, 1, 3, 1, 3, 1, 3, 1, 3]), 10);
    let second = (first + number[..9].iter().sum::<u32>()) % 10;
    Some(number[9..] == [first, second])
}

fn vkn(text: &str) -> Option<bool> {
    let number = digits::<10>(text)?;
    let part = |(at, digit): (u32, &u32)| match (digit + at) % 10 {
        0 => 0,
        shifted => match shifted * 2_u32.pow(at) % 9 {
            0 => 9,
            rest => rest,
        },
    };
    let sum = (1..).zip(number[..9].iter().rev()).map(part).sum();
    Some(number[9] == missing(sum, 10))
}

fn ubn(text: &str) -> Option<bool> {
    let number = digits::<8>(text)?;
    let products = number.iter().zip([1, 2, 1, 2, 1, 2, 4, 1]).map(|(digit, weight)| digit * weight);
    let sum = products.map(|product| product / 10 + product % 10).sum::<u32>() % 10;
    Some(sum == 0 || (sum == 9 && number[6] == 7))
}

fn mst(text: &str) -> Option<bool> {
    let number = all_digits(text).filter(|number| [10, 13].contains(&number.len()))?;
    let has_serial = value(&number[2..9]) != 0;
    let has_branch = number.len() == 10 || value(&number[10..]) != 0;
    let sum = weighted(&number[..9], &[31, 29, 23, 19, 17, 13, 7, 5, 3]);
    Some(has_serial && has_branch && number[9] == 10 - sum % 11)
}
