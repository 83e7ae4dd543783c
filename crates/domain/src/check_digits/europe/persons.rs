//! Numbers that European states give to people.

use super::super::arithmetic::{
    after, all_digits, digits, letter, luhn, missing, part, place, value, weighted,
};

/// Bosnia and Herzegovina, Montenegro, North Macedonia, Serbia, Slovenia: the number of Yugoslavia.
pub(super) fn emso(text: &str) -> Option<bool> {
    let number = digits::<13>(text)?;
    let check = missing(weighted(&number[..12], &[7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]), 11) % 10;
    Some(number[12] == check)
}

pub(super) fn egn(text: &str) -> Option<bool> {
    let number = digits::<10>(text)?;
    // The month tells the century. A number that is no date may be that of a company.
    let (month, day) = (value(&number[2..4]), value(&number[4..6]));
    let is_date = matches!(month, 1..=12 | 21..=32 | 41..=52) && matches!(day, 1..=31);
    Some(is_date && number[9] == weighted(&number[..9], &[2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11 % 10)
}

pub(super) fn pnf(text: &str) -> Option<bool> {
    let number = digits::<10>(text)?;
    Some(number[9] == weighted(&number[..9], &[21, 19, 17, 13, 11, 9, 7, 3, 1]) % 10)
}

/// Czech Republic and Slovakia. The nine digits of those born until 1953 hold no check digit.
pub(super) fn birth_number(text: &str) -> Option<bool> {
    let number = all_digits(text).filter(|number| [9, 10].contains(&number.len()))?;
    // A number that is no date may be that of a company. Women have 50 more in the month, and 20 more were added later.
    let (month, day) = (value(&number[2..4]) % 50 % 20, value(&number[4..6]));
    if !matches!((month, day), (1..=12, 1..=31)) {
        return Some(false);
    }
    Some(match number.get(9) {
        None => value(&number[..2]) <= 53,
        Some(check) => u64::from(*check) == value(&number[..9]) % 11 % 10,
    })
}

/// The check digit of Estonia and Lithuania: weights from one on, and from three on where the first sum gives none.
pub(super) fn two_rounds(body: &[u32]) -> u32 {
    let sum = |first: u32| -> u32 {
        let weights = (first - 1..).map(|at| at % 9 + 1);
        body.iter().zip(weights).map(|(digit, weight)| digit * weight).sum::<u32>() % 11
    };
    match sum(1) {
        10 => sum(3) % 10,
        check => check,
    }
}

pub(super) fn isikukood(text: &str) -> Option<bool> {
    let number = digits::<11>(text)?;
    Some(number[10] == two_rounds(&number[..10]))
}

pub(super) fn asmens(text: &str) -> Option<bool> {
    isikukood(text)
}

/// Without the sign of the century, which is punctuation: `131052308T` is 131052-308T.
pub(super) fn hetu(text: &str) -> Option<bool> {
    let check = text.chars().last()?;
    let body = text.strip_suffix(check)?;
    let number = match body.len() {
        9 => body.to_owned(),
        10 => {
            let century = body.chars().nth(6)?;
            if !"ABCDEFYXWVU".contains(century) {
                return None;
            }
            format!("{}{}", part(body, 0, 6)?, part(body, 7, 10)?)
        }
        _ => return None,
    };
    let at = u32::try_from(value(&digits::<9>(&number)?) % 31).ok()?;
    Some(letter("0123456789ABCDEFHJKLMNPRSTUVWXY", at) == Some(check))
}

/// The departments of Corsica count as 19 and 18.
pub(super) fn nir(text: &str) -> Option<bool> {
    let plain = match part(text, 5, 7)? {
        "2A" => format!("{}19{}", part(text, 0, 5)?, part(text, 7, text.len())?),
        "2B" => format!("{}18{}", part(text, 0, 5)?, part(text, 7, text.len())?),
        _ => text.to_owned(),
    };
    let number = digits::<15>(&plain)?;
    Some(97 - value(&number[..13]) % 97 == value(&number[13..]))
}

/// Seven digits, the check letter, and one more letter that may count.
pub(super) fn irish(digits_text: &str, letters: &str) -> Option<bool> {
    const ALPHABET: &str = "WABCDEFGHIJKLMNOPQRSTUV";
    let number = digits::<7>(digits_text)?;
    let mut letters = letters.chars();
    let check = letters.next()?;
    let second = match (letters.next(), letters.next()) {
        (None, _) => 0,
        (Some(second), None) => place(ALPHABET, second)?,
        (Some(_), Some(_)) => return None,
    };
    let sum = weighted(&number, &[8, 7, 6, 5, 4, 3, 2]) + 9 * second;
    Some(letter(ALPHABET, sum % 23) == Some(check))
}

pub(super) fn pps(text: &str) -> Option<bool> {
    let letters = part(text, 7, text.len())?;
    let counted = match letters.chars().nth(1) {
        None | Some('A' | 'B' | 'H') => letters,
        // These letters do not count.
        Some('W' | 'T' | 'X') => part(letters, 0, 1)?,
        Some(_) => return None,
    };
    irish(part(text, 0, 7)?, counted)
}

/// Of a person or of a company.
pub(super) fn kennitala(text: &str) -> Option<bool> {
    let number = digits::<10>(text)?;
    let has_century = [0, 9].contains(&number[9]);
    Some(has_century && weighted(&number[..9], &[3, 2, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11))
}

pub(super) fn codice_fiscale(text: &str) -> Option<bool> {
    const ODD: [u32; 26] =
        [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
    let check = text.chars().last()?;
    let body = text.strip_suffix(check)?;
    if body.len() != 15 {
        return None;
    }
    let counted = |(at, character): (usize, char)| {
        let place = character.to_digit(10).or_else(|| place("ABCDEFGHIJKLMNOPQRSTUVWXYZ", character))?;
        if at % 2 == 0 { ODD.get(place as usize).copied() } else { Some(place) }
    };
    let sum: u32 = body.chars().enumerate().map(counted).sum::<Option<u32>>()?;
    Some(letter("ABCDEFGHIJKLMNOPQRSTUVWXYZ", sum % 26) == Some(check))
}

pub(super) fn fodsels(text: &str) -> Option<bool> {
    let number = digits::<11>(text)?;
    let first = missing(weighted(&number[..9], &[3, 7, 6, 1, 8, 9, 4, 5, 2]), 11);
    let second = missing(weighted(&number[..10], &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]), 11);
    Some(number[9..] == [first, second])
}

pub(super) fn pesel(text: &str) -> Option<bool> {
    let number = digits::<11>(text)?;
    Some(number[10] == missing(weighted(&number[..10], &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3]), 10))
}

pub(super) fn cnp(text: &str) -> Option<bool> {
    let number = digits::<13>(text)?;
    let check = match weighted(&number[..12], &[2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11 {
        10 => 1,
        check => check,
    };
    Some(number[0] != 0 && number[12] == check)
}

/// Ten digits, or twelve with the century.
pub(super) fn personnummer(text: &str) -> Option<bool> {
    let number = all_digits(after("SE", text)).filter(|number| [10, 12].contains(&number.len()))?;
    Some(luhn(&number[number.len() - 10..]))
}
