//! Documents of the Americas.

use super::Rules;
use super::arithmetic::{after, all_digits, digits, letter, luhn, missing, part, place, value, weighted};

#[rustfmt::skip]
pub(super) const RULES: Rules = &[
    ("AR", "CBU", cbu),
    ("AR", "CUIT", cuit),
    ("BR", "CNPJ", cnpj),
    ("BR", "CPF", cpf),
    ("CA", "BN", bn),
    ("CA", "SIN", sin),
    ("CL", "RUT", rut),
    ("CO", "NIT", nit_of_colombia),
    ("DO", "CEDULA", |text| Some(luhn(&digits::<11>(text)?))),
    ("DO", "RNC", rnc),
    ("EC", "CI", ci),
    ("EC", "RUC", ruc_of_ecuador),
    ("GT", "NIT", nit_of_guatemala),
    ("MX", "CLABE", clabe),
    ("MX", "CURP", curp),
    ("MX", "RFC", rfc),
    ("PE", "CUI", cui),
    ("PE", "RUC", ruc_of_peru),
    ("PY", "RUC", ruc_of_paraguay),
    ("SV", "NIT", nit_of_el_salvador),
    ("US", "SSN", ssn),
    ("UY", "CEDULA", cedula),
    ("UY", "RUT", rut_of_uruguay),
    ("VE", "RIF", rif),
];

fn cbu(text: &str) -> Option<bool> {
    let number = digits::<22>(text)?;
    let (branch, account) = number.split_at(8);
    let is_right = |block: &[u32]| {
        let (check, block) = block.split_last()?;
        let sum: u32 =
            block.iter().rev().zip([3, 1, 7, 9].iter().cycle()).map(|(digit, weight)| digit * weight).sum();
        Some(*check == missing(sum, 10))
    };
    Some(is_right(branch)? && is_right(account)?)
}

fn cuit(text: &str) -> Option<bool> {
    let number = digits::<11>(text)?;
    if !["20", "23", "24", "27", "30", "33", "34", "50", "51", "55"].contains(&part(text, 0, 2)?) {
        return None;
    }
    let check = match missing(weighted(&number[..10], &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]), 11) {
        10 => 9,
        check => check,
    };
    Some(number[10] == check)
}

fn cpf(text: &str) -> Option<bool> {
    let number = digits::<11>(text)?;
    // Ten numbers of one digit keep the arithmetic and were given to nobody.
    if number.iter().all(|digit| *digit == number[0]) {
        return Some(false);
    }
    let first = missing(weighted(&number[..9], &[10, 9, 8, 7, 6, 5, 4, 3, 2]), 11) % 10;
    let second = missing(weighted(&number[..10], &[11, 10, 9, 8, 7, 6, 5, 4, 3, 2]), 11) % 10;
    Some(number[9..] == [first, second])
}

/// Since July 2026 the first twelve characters may be letters: each counts as its code in ASCII less 48.
pub(super) fn cnpj(text: &str) -> Option<bool> {
    let is_alphanumeric = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
    if text.len() != 14 || !text.as_bytes().iter().all(is_alphanumeric) {
        return None;
    }
    let values: Vec<u32> = text.bytes().map(|byte| u32::from(byte) - 48).collect();
    if values.iter().all(|value| *value == values[0]) {
        return Some(false);
    }
    let first = missing(weighted(&values[..12], &[5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]), 11) % 10;
    let second = missing(weighted(&values[..13], &[6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]), 11) % 10;
    Some(values[12..] == [first, second])
}

fn bn(text: &str) -> Option<bool> {
    let number = digits::<9>(part(text, 0, 9)?)?;
    if text.len() > 9 {
        digits::<4>(part(text, 11, text.len())?)?;
        if !["RC", "RM", "RP", "RT"].contains(&part(text, 9, 11)?) {
            return None;
        }
    }
    Some(luhn(&number))
}

fn sin(text: &str) -> Option<bool> {
    let number = digits::<9>(text)?;
    Some(![0, 8].contains(&number[0]) && luhn(&number))
}

fn rut(text: &str) -> Option<bool> {
    let text = after("CL", text);
    let check = text.chars().last()?;
    let body = all_digits(text.strip_suffix(check)?)?;
    if !(7..=8).contains(&body.len()) {
        return None;
    }
    let sum: u32 = body.iter().rev().zip((2..=7).cycle()).map(|(digit, weight)| digit * weight).sum();
    Some(letter("0123456789K", missing(sum, 11)) == Some(check))
}

fn nit_of_colombia(text: &str) -> Option<bool> {
    let number = all_digits(text)?;
    let (check, body) = number.split_last()?;
    if !(8..=16).contains(&number.len()) {
        return None;
    }
    let reversed: Vec<u32> = body.iter().rev().copied().collect();
    let sum = weighted(&reversed, &[3, 7, 13, 17, 19, 23, 29, 37, 41, 43, 47, 53, 59, 67, 71]) % 11;
    Some(*check == if sum < 2 { sum } else { 11 - sum })
}

fn rnc(text: &str) -> Option<bool> {
    let number = digits::<9>(text)?;
    let sum = weighted(&number[..8], &[7, 9, 8, 6, 5, 4, 3, 2]) % 11;
    Some(number[8] == (10 - sum) % 9 + 1)
}

/// The first two digits are a province, or 30 and 50 for people abroad.
fn has_province(number: &[u32]) -> bool {
    number.get(..2).map(value).is_some_and(|province| matches!(province, 1..=24 | 30 | 50))
}

fn ci(text: &str) -> Option<bool> {
    let number = digits::<10>(text)?;
    Some(has_province(&number) && number[2] <= 6 && luhn(&number))
}

fn ruc_of_ecuador(text: &str) -> Option<bool> {
    let number = digits::<13>(text)?;
    let branch = value(&number[10..]);
    let of_person = || branch != 0 && number[2] <= 6 && luhn(&number[..10]);
    let of_state = || {
        value(&number[9..]) != 0 && weighted(&number[..9], &[3, 2, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11)
    };
    let of_company =
        || branch != 0 && weighted(&number[..10], &[4, 3, 2, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11);
    Some(
        has_province(&number)
            && match number[2] {
                0..=5 => of_person(),
                6 => of_state() || of_person(),
                9 => of_state() || of_company(),
                _ => false,
            },
    )
}

fn nit_of_guatemala(text: &str) -> Option<bool> {
    let check = text.chars().last()?;
    let body = all_digits(text.strip_suffix(check)?)?;
    if body.len() > 11 {
        return None;
    }
    let sum: u32 = body.iter().rev().zip(2..).map(|(digit, weight)| digit * weight).sum();
    Some(letter("0123456789K", missing(sum, 11)) == Some(check))
}

fn clabe(text: &str) -> Option<bool> {
    let number = digits::<18>(text)?;
    let weights = [3, 7, 1, 3, 7, 1, 3, 7, 1, 3, 7, 1, 3, 7, 1, 3, 7];
    Some(number[17] == missing(weighted(&number[..17], &weights), 10))
}

const MEXICAN: &str = "0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ Ñ";

fn mexican_sum(text: &str, heaviest: u32) -> Option<u32> {
    let heavy = |(character, at)| Some(place(MEXICAN, character)? * (heaviest - at));
    text.chars().zip(0..).map(heavy).sum()
}

fn curp(text: &str) -> Option<bool> {
    let check = text.chars().last()?.to_digit(10)?;
    if text.chars().count() != 18 {
        return None;
    }
    let body: String = text.chars().take(17).collect();
    Some(check == missing(mexican_sum(&body, 18)?, 10))
}

fn rfc(text: &str) -> Option<bool> {
    // For the public at large and for foreigners, given by the tax authority.
    if ["XAXX010101000", "XEXX010101000"].contains(&text) {
        return Some(true);
    }
    let length = text.chars().count();
    let check = text.chars().last()?;
    let body: String = text.chars().take(length - 1).collect();
    let padded = match length {
        12 => format!(" {body}"),
        13 => body,
        _ => return None,
    };
    Some(letter("0123456789A", missing(mexican_sum(&padded, 13)?, 11)) == Some(check))
}

fn cui(text: &str) -> Option<bool> {
    let number = digits::<8>(part(text, 0, 8)?)?;
    let at = weighted(&number, &[3, 2, 7, 6, 5, 4, 3, 2]) % 11;
    Some(match text.len() {
        // Without its check digit, as it is printed.
        8 => true,
        9 => {
            let check = text.chars().last();
            check == letter("65432110987", at) || check == letter("KJIHGFEDCBA", at)
        }
        _ => false,
    })
}

fn ruc_of_peru(text: &str) -> Option<bool> {
    let number = digits::<11>(text)?;
    let sum = weighted(&number[..10], &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
    Some(["10", "15", "17", "20"].contains(&part(text, 0, 2)?) && number[10] == (11 - sum) % 10)
}

fn ruc_of_paraguay(text: &str) -> Option<bool> {
    let number = all_digits(text)?;
    let (check, body) = number.split_last()?;
    if !(2..=9).contains(&number.len()) {
        return None;
    }
    let sum: u32 = body.iter().rev().zip(2..).map(|(digit, weight)| digit * weight).sum();
    Some(*check == missing(sum, 11) % 10)
}

fn nit_of_el_salvador(text: &str) -> Option<bool> {
    let number = digits::<14>(text)?;
    if ![0, 1, 9].contains(&number[0]) {
        return None;
    }
    let check = if value(&number[10..13]) <= 100 {
        weighted(&number[..13], &[14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11 % 10
    } else {
        missing(weighted(&number[..13], &[2, 7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]), 11) % 10
    };
    Some(number[13] == check)
}

/// It has no check digit; numbers that are never given are known.
fn ssn(text: &str) -> Option<bool> {
    let number = digits::<9>(text)?;
    let (area, group, serial) = (value(&number[..3]), value(&number[3..5]), value(&number[5..]));
    let printed_in_advertisements = ["078051120", "457555462", "219099999"].contains(&text);
    let is_given = !matches!(area, 0 | 666 | 900..) && group != 0 && serial != 0;
    Some(is_given && !printed_in_advertisements)
}

fn cedula(text: &str) -> Option<bool> {
    let number = all_digits(text)?;
    let (check, body) = number.split_last()?;
    if !(6..=7).contains(&body.len()) {
        return None;
    }
    let reversed: Vec<u32> = body.iter().rev().copied().collect();
    Some(*check == missing(weighted(&reversed, &[4, 3, 6, 7, 8, 9, 2]), 10))
}

fn rut_of_uruguay(text: &str) -> Option<bool> {
    let number = digits::<12>(text)?;
    let has_shape = (1..=22).contains(&value(&number[..2])) && value(&number[2..8]) != 0;
    let is_main = number[8..11] == [0, 0, 1];
    let check = missing(weighted(&number[..11], &[4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]), 11);
    Some(has_shape && is_main && number[11] == check)
}

fn rif(text: &str) -> Option<bool> {
    let kind = match text.chars().next()? {
        'V' => 4,
        'E' => 8,
        'J' => 12,
        'P' => 16,
        'G' => 20,
        _ => return None,
    };
    let number = digits::<9>(text.get(1..)?)?;
    let check = match missing(kind + weighted(&number[..8], &[3, 2, 7, 6, 5, 4, 3, 2]), 11) {
        10 => 0,
        check => check,
    };
    Some(number[8] == check)
}
