//! Documents of Europe.

mod persons;

use super::Rules;
use super::arithmetic::{
    after, all_digits, digits, letter, luhn, luhn_sum, missing, mod_11_10, part, place, value, weighted,
};
use persons::{
    asmens, birth_number, cnp, codice_fiscale, egn, emso, fodsels, hetu, isikukood, kennitala, nir,
    personnummer, pesel, pnf, pps,
};

#[rustfmt::skip]
pub(super) const RULES: Rules = &[
    ("AT", "UID", |text| {
        let number = digits::<8>(after("AT", text).strip_prefix('U')?)?;
        Some(number[7] == (16 - luhn_sum(&number[..7])) % 10)
    }),
    ("AT", "VNR", |text| {
        let number = digits::<10>(text)?;
        Some(number[0] != 0 && number[3] == weighted(&number, &[3, 7, 9, 0, 5, 8, 4, 2, 1, 6]) % 11)
    }),
    ("BA", "JMBG", emso),
    ("BE", "VAT", |text| {
        let number = digits::<10>(&format!("{:0>10}", after("BE", text)))?;
        Some(number[0] < 2 && value(&number) > 0 && (value(&number[..8]) + value(&number[8..])).is_multiple_of(97))
    }),
    ("BG", "EGN", egn),
    ("BG", "PNF", pnf),
    ("BG", "VAT", vat_of_bulgaria),
    ("BY", "UNP", unp),
    ("CH", "SSN", |text| {
        let number = digits::<13>(text)?;
        let sum = weighted(&number, &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]);
        Some(text.starts_with("756") && sum.is_multiple_of(10))
    }),
    ("CH", "UID", |text| uid(after("CHE", text))),
    ("CH", "VAT", |text| {
        let text = ["MWST", "TVA", "IVA", "TPV"].iter().find_map(|end| text.strip_suffix(end))?;
        uid(after("CHE", text))
    }),
    ("CY", "VAT", vat_of_cyprus),
    ("CZ", "DIC", dic),
    ("CZ", "RC", birth_number),
    ("DE", "IDNR", idnr),
    ("DE", "VAT", |text| {
        let number = digits::<9>(after("DE", text))?;
        Some(number[0] != 0 && mod_11_10(&number))
    }),
    ("DK", "VAT", |text| {
        let number = digits::<8>(after("DK", text))?;
        Some(number[0] != 0 && weighted(&number, &[2, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11))
    }),
    ("EE", "IK", isikukood),
    ("EE", "KMKR", |text| {
        let number = digits::<9>(after("EE", text))?;
        Some(weighted(&number, &[3, 7, 1, 3, 7, 1, 3, 7, 1]).is_multiple_of(10))
    }),
    ("EE", "Registrikood", |text| {
        let number = digits::<8>(text)?;
        Some([1, 7, 8, 9].contains(&number[0]) && number[7] == persons::two_rounds(&number[..7]))
    }),
    ("ES", "CIF", cif),
    ("ES", "DNI", dni),
    ("ES", "NIE", nie),
    ("ES", "NIF", nif_of_spain),
    ("FI", "ALV", |text| alv(after("FI", text))),
    ("FI", "HETU", hetu),
    ("FI", "YTUNNUS", alv),
    ("FR", "NIF", |text| {
        let number = digits::<13>(text)?;
        Some(number[0] < 4 && value(&number[..10]) % 511 == value(&number[10..]))
    }),
    ("FR", "NIR", nir),
    ("FR", "SIREN", |text| Some(luhn(&digits::<9>(text)?))),
    ("FR", "SIRET", siret),
    ("FR", "TVA", |text| tva_of_france(after("FR", text))),
    ("GB", "UTR", |text| {
        let number = digits::<10>(after("K", text))?;
        let sum = weighted(&number[1..], &[6, 7, 8, 9, 10, 5, 4, 3, 2]) % 11;
        Some(number[0] == if sum < 2 { 2 - sum } else { 11 - sum })
    }),
    ("GB", "VAT", vat_of_britain),
    ("GR", "AMKA", |text| Some(luhn(&digits::<11>(text)?))),
    ("GR", "VAT", |text| {
        let text = after("GR", after("EL", text));
        let number = digits::<9>(&format!("{text:0>9}"))?;
        Some(number[8] == weighted(&number[..8], &[256, 128, 64, 32, 16, 8, 4, 2]) % 11 % 10)
    }),
    ("HR", "OIB", |text| Some(mod_11_10(&digits::<11>(after("HR", text))?))),
    ("HU", "ANUM", |text| {
        let number = digits::<8>(after("HU", text))?;
        Some(weighted(&number, &[9, 7, 3, 1, 9, 7, 3, 1]).is_multiple_of(10))
    }),
    ("IE", "PPS", pps),
    ("IE", "VAT", vat_of_ireland),
    ("IS", "KENNITALA", kennitala),
    ("IT", "CODICEFISCALE", |text| if text.len() == 11 { iva(text) } else { codice_fiscale(text) }),
    ("IT", "IVA", |text| iva(after("IT", text))),
    ("LT", "ASMENS", asmens),
    ("LT", "PVM", pvm),
    ("LU", "TVA", |text| {
        let number = digits::<8>(after("LU", text))?;
        Some(value(&number[..6]) % 89 == value(&number[6..]))
    }),
    ("LV", "PVN", pvn),
    ("MC", "TVA", |text| {
        let text = after("FR", text);
        Some(part(text, 2, 5)? == "000" && tva_of_france(text)?)
    }),
    ("MD", "IDNO", |text| {
        let number = digits::<13>(text)?;
        Some(number[12] == weighted(&number[..12], &[7, 3, 1, 7, 3, 1, 7, 3, 1, 7, 3, 1]) % 10)
    }),
    ("ME", "JMBG", emso),
    ("MK", "JMBG", emso),
    ("MT", "VAT", |text| {
        let number = digits::<8>(after("MT", text))?;
        Some(number[0] != 0 && weighted(&number, &[3, 4, 6, 7, 8, 9, 10, 1]).is_multiple_of(37))
    }),
    ("NL", "BSN", |text| bsn(&format!("{text:0>9}"))),
    ("NL", "BTW", btw),
    ("NL", "Onderwijsnummer", |text| {
        let number = digits::<9>(text)?;
        Some(text.starts_with("10") && eleven_test(&number) == 5)
    }),
    ("NO", "Fodsels", fodsels),
    ("NO", "Konto", |text| match text.len() {
        7 => Some(luhn(&digits::<7>(text)?)),
        _ => {
            let number = digits::<11>(text)?;
            Some(number[10] == weighted(&number[..10], &[6, 7, 8, 9, 4, 5, 6, 7, 8, 9]) % 11)
        }
    }),
    ("NO", "MVA", |text| orgnr(after("NO", text).strip_suffix("MVA")?)),
    ("NO", "Orgnr", orgnr),
    ("PL", "NIP", |text| {
        let number = digits::<10>(after("PL", text))?;
        Some(number[9] == weighted(&number[..9], &[6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11)
    }),
    ("PL", "PESEL", pesel),
    ("PL", "REGON", regon),
    ("PT", "NIF", |text| {
        let number = digits::<9>(after("PT", text))?;
        let check = missing(weighted(&number[..8], &[9, 8, 7, 6, 5, 4, 3, 2]), 11) % 10;
        Some(number[0] != 0 && number[8] == check)
    }),
    ("RO", "CF", |text| match after("RO", text) {
        text if text.len() == 13 => cnp(text),
        text => cui(text),
    }),
    ("RO", "CNP", cnp),
    ("RO", "CUI", |text| cui(after("RO", text))),
    ("RS", "JMBG", emso),
    ("RS", "PIB", |text| Some(mod_11_10(&digits::<9>(text)?))),
    ("RU", "INN", inn),
    ("SE", "ORGNR", |text| Some(luhn(&digits::<10>(text)?))),
    ("SE", "PERSONNUMMER", personnummer),
    ("SE", "VAT", |text| {
        let number = digits::<10>(after("SE", text).strip_suffix("01")?)?;
        Some(luhn(&number))
    }),
    ("SI", "DDV", |text| {
        let number = digits::<8>(after("SI", text))?;
        let check = match 11 - weighted(&number[..7], &[8, 7, 6, 5, 4, 3, 2]) % 11 {
            10 => 0,
            check => check,
        };
        Some(number[0] != 0 && number[7] == check)
    }),
    ("SI", "JMBG", emso),
    ("SK", "DPH", |text| {
        let text = after("SK", text);
        let number = digits::<10>(text)?;
        let is_company = number[0] != 0 && [2, 3, 4, 7, 8, 9].contains(&number[2]);
        Some(is_company && value(&number).is_multiple_of(11) || birth_number(text)?)
    }),
    ("SK", "RC", birth_number),
    ("UA", "EDRPOU", edrpou),
    ("UA", "RNTRC", |text| {
        let number = digits::<10>(text)?;
        // The first weight is -1.
        let sum = weighted(&number[..9], &[10, 5, 7, 9, 4, 6, 10, 5, 7]);
        Some(number[9] == sum % 11 % 10)
    }),
];

/// The digits with a zero behind them, as a check digit is computed.
fn number_and_zero(digits: &[u32]) -> Vec<u32> {
    digits.iter().copied().chain([0]).collect()
}

fn vat_of_bulgaria(text: &str) -> Option<bool> {
    let text = after("BG", text);
    if let Some(number) = digits::<9>(text) {
        let check = match weighted(&number[..8], &[1, 2, 3, 4, 5, 6, 7, 8]) % 11 {
            10 => weighted(&number[..8], &[3, 4, 5, 6, 7, 8, 9, 10]) % 11,
            check => check,
        };
        return Some(number[8] == check % 10);
    }
    let number = digits::<10>(text)?;
    let of_others = missing(weighted(&number[..9], &[4, 3, 2, 7, 6, 5, 4, 3, 2]), 11);
    Some(egn(text)? || pnf(text)? || number[9] == of_others)
}

fn unp(text: &str) -> Option<bool> {
    const LETTERS: &str = "ABCEHKMOPT";
    const ALPHABET: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let number = digits::<7>(part(text, 2, 9).filter(|_| text.len() == 9)?)?;
    let mut start = text.chars().take(2);
    let (first, second) = (start.next()?, start.next()?);
    if !"1234567ABCEHKM".contains(first) {
        return None;
    }
    let second = match (first.is_ascii_digit(), second.to_digit(10)) {
        (true, Some(digit)) => digit,
        (false, None) => place(LETTERS, second)?,
        (true, None) | (false, Some(_)) => return None,
    };
    let values: Vec<u32> = [place(ALPHABET, first)?, second].into_iter().chain(number).collect();
    Some(values[8] == weighted(&values[..8], &[29, 23, 19, 17, 13, 7, 5, 3]) % 11)
}

fn uid(text: &str) -> Option<bool> {
    let number = digits::<9>(text)?;
    Some(number[8] == missing(weighted(&number[..8], &[5, 4, 3, 2, 7, 6, 5, 4]), 11))
}

fn vat_of_cyprus(text: &str) -> Option<bool> {
    const VALUES: [u32; 10] = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21];
    let text = after("CY", text);
    let check = text.chars().last()?;
    let number = digits::<8>(text.strip_suffix(check)?)?;
    let sum: u32 = number
        .iter()
        .enumerate()
        .map(|(at, digit)| if at % 2 == 0 { VALUES[*digit as usize] } else { *digit })
        .sum();
    Some(!text.starts_with("12") && letter("ABCDEFGHIJKLMNOPQRSTUVWXYZ", sum % 26) == Some(check))
}

/// Of a company, of one in a special register, or of a person.
fn dic(text: &str) -> Option<bool> {
    let text = after("CZ", text);
    if let Some(number) = digits::<8>(text) {
        let check = match missing(weighted(&number[..7], &[8, 7, 6, 5, 4, 3, 2]), 11) {
            0 => 1,
            check => check % 10,
        };
        return Some(number[0] != 9 && number[7] == check);
    }
    if let Some(number) = digits::<9>(text)
        && number[0] == 6
    {
        let sum = weighted(&number[1..8], &[8, 7, 6, 5, 4, 3, 2]) % 11;
        return Some(number[8] == (18 - (21 - sum) % 11) % 10);
    }
    birth_number(text)
}

/// One of the first ten digits stands there twice or three times, each other one once at most.
fn idnr(text: &str) -> Option<bool> {
    let number = digits::<11>(text)?;
    let counts: Vec<usize> = (0..10)
        .map(|digit| number[..10].iter().filter(|found| **found == digit).count())
        .filter(|count| *count > 1)
        .collect();
    Some(number[0] != 0 && matches!(counts[..], [2 | 3]) && mod_11_10(&number))
}

const DNI: &str = "TRWAGMYFPDXBNJZSQVHLCKE";

fn dni(text: &str) -> Option<bool> {
    let check = text.chars().last()?;
    let number = digits::<8>(text.strip_suffix(check)?)?;
    Some(letter(DNI, u32::try_from(value(&number) % 23).ok()?) == Some(check))
}

fn nie(text: &str) -> Option<bool> {
    let first = place("XYZ", text.chars().next()?)?;
    dni(&format!("{first}{}", text.get(1..)?))
}

fn cif(text: &str) -> Option<bool> {
    let check = text.chars().last()?;
    let number = digits::<7>(part(text, 1, 8).filter(|_| text.len() == 9)?)?;
    let digit = missing(luhn_sum(&number_and_zero(&number)), 10);
    let is_kind = "ABCDEFGHJNPQRSUVW".contains(text.chars().next()?);
    Some(is_kind && (check.to_digit(10) == Some(digit) || letter("JABCDEFGHI", digit) == Some(check)))
}

fn nif_of_spain(text: &str) -> Option<bool> {
    let text = after("ES", text);
    match text.chars().next()? {
        'K' | 'L' | 'M' => dni(&format!("0{}", text.get(1..)?)),
        'X' | 'Y' | 'Z' => nie(text),
        first if first.is_ascii_digit() => dni(text),
        _ => cif(text),
    }
}

fn alv(text: &str) -> Option<bool> {
    let number = digits::<8>(&format!("{text:0>8}"))?;
    Some(weighted(&number, &[7, 9, 10, 5, 8, 4, 2, 1]).is_multiple_of(11))
}

fn siret(text: &str) -> Option<bool> {
    let number = digits::<14>(text)?;
    // The post office has more branches than the algorithm tells apart.
    let is_right = if text.starts_with("356000000") && text != "35600000000048" {
        number.iter().sum::<u32>().is_multiple_of(5)
    } else {
        luhn(&number)
    };
    Some(is_right && luhn(&number[..9]))
}

fn tva_of_france(text: &str) -> Option<bool> {
    const ALPHABET: &str = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ";
    let siren = digits::<9>(part(text, 2, text.len())?)?;
    let mut key = text.chars();
    let (first, second) = (key.next()?, key.next()?);
    // Companies of Monaco have no number of France.
    if !luhn(&siren) && siren[..3] != [0, 0, 0] {
        return Some(false);
    }
    if let (Some(first), Some(second)) = (first.to_digit(10), second.to_digit(10)) {
        return Some(u64::from(first * 10 + second) == (value(&siren) * 100 + 12) % 97);
    }
    let (one, other) = (place(ALPHABET, first)?, place(ALPHABET, second)?);
    let check = if one < 10 { one * 24 + other - 10 } else { one * 34 + other - 100 };
    Some((value(&siren) + 1 + u64::from(check / 11)) % 11 == u64::from(check % 11))
}

fn vat_of_britain(text: &str) -> Option<bool> {
    let text = after("XI", after("GB", text));
    // Of government departments and health authorities.
    let office = |number: u64| match part(text, 0, 2) {
        Some("GD") => Some(number < 500),
        Some("HA") => Some(number >= 500),
        Some(_) | None => None,
    };
    match text.len() {
        5 => office(value(&digits::<3>(part(text, 2, 5)?)?)),
        11 => {
            let number = digits::<9>(part(text, 2, 11)?)?;
            let of_office = value(&number[4..7]);
            Some(number[..4] == [8, 8, 8, 8] && office(of_office)? && of_office % 97 == value(&number[7..]))
        }
        9 | 12 => {
            let number = all_digits(text)?;
            let sum = weighted(&number, &[8, 7, 6, 5, 4, 3, 2, 10, 1]) % 97;
            Some(sum == 0 || (value(&number[..3]) >= 100 && [42, 55].contains(&sum)))
        }
        _ => None,
    }
}

fn vat_of_ireland(text: &str) -> Option<bool> {
    let text = after("IE", text);
    if all_digits(part(text, 0, 7)?).is_some() {
        return persons::irish(part(text, 0, 7)?, part(text, 7, text.len())?);
    }
    // Until 1986 the second place was a letter: the first digit stood behind the others.
    let old = format!("0{}{}", part(text, 2, 7)?, part(text, 0, 1)?);
    text.chars().nth(1).filter(char::is_ascii_uppercase)?;
    persons::irish(&old, part(text, 7, 8)?)
}

fn iva(text: &str) -> Option<bool> {
    let number = digits::<11>(text)?;
    let has_office = matches!(value(&number[7..10]), 1..=100 | 120 | 121 | 888 | 999);
    Some(value(&number[..7]) > 0 && has_office && luhn(&number))
}

fn pvm(text: &str) -> Option<bool> {
    let number = all_digits(after("LT", text)).filter(|number| [9, 12].contains(&number.len()))?;
    let (check, body) = number.split_last()?;
    Some(body.last() == Some(&1) && *check == persons::two_rounds(body))
}

fn pvn(text: &str) -> Option<bool> {
    let number = digits::<11>(after("LV", text))?;
    if number[0] > 3 {
        return Some(weighted(&number, &[9, 1, 4, 8, 3, 10, 2, 5, 7, 6, 1]) % 11 == 3);
    }
    let sum = 1 + weighted(&number[..10], &[10, 5, 8, 4, 2, 1, 6, 3, 7, 9]);
    Some(number[10] == sum % 11 % 10)
}

/// The sum of the eleven test: the last digit counts against the others.
fn eleven_test(number: &[u32; 9]) -> u32 {
    weighted(number, &[9, 8, 7, 6, 5, 4, 3, 2, 10]) % 11
}

fn bsn(text: &str) -> Option<bool> {
    let number = digits::<9>(text)?;
    Some(value(&number) > 0 && eleven_test(&number) == 0)
}

/// Of a company by its own number; since 2020 of a person by ISO/IEC 7064, MOD 97-10.
fn btw(text: &str) -> Option<bool> {
    let text = after("NL", text);
    let number = digits::<9>(part(text, 0, 9)?)?;
    let branch = digits::<2>(part(text, 9, text.len())?.strip_prefix('B')?)?;
    // N, L and B count as 23, 21 and 11.
    let in_digits = format!("2321{}11{}", part(text, 0, 9)?, part(text, 10, 12)?);
    let rest = all_digits(&in_digits)?.iter().fold(0, |rest, digit| (rest * 10 + digit) % 97);
    Some(value(&number) > 0 && value(&branch) > 0 && (eleven_test(&number) == 0 || rest == 1))
}

fn orgnr(text: &str) -> Option<bool> {
    Some(weighted(&digits::<9>(text)?, &[3, 2, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11))
}

fn regon(text: &str) -> Option<bool> {
    let number = all_digits(text).filter(|number| [9, 14].contains(&number.len()))?;
    let of_company = number[8] == weighted(&number[..8], &[8, 9, 2, 3, 4, 5, 6, 7]) % 11 % 10;
    let of_branch = number.get(13).is_none_or(|check| {
        *check == weighted(&number[..13], &[2, 4, 8, 5, 0, 9, 7, 3, 6, 1, 2, 4, 8]) % 11 % 10
    });
    Some(of_company && of_branch)
}

fn cui(text: &str) -> Option<bool> {
    if !(2..=10).contains(&text.len()) || text.starts_with('0') {
        return None;
    }
    let number = digits::<10>(&format!("{text:0>10}"))?;
    Some(number[9] == weighted(&number[..9], &[7, 5, 3, 2, 1, 7, 5, 3, 2]) * 10 % 11 % 10)
}

fn inn(text: &str) -> Option<bool> {
    if let Some(number) = digits::<10>(text) {
        return Some(number[9] == weighted(&number[..9], &[2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10);
    }
    let number = digits::<12>(text)?;
    let first = weighted(&number[..10], &[7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10;
    let second = weighted(&number[..11], &[3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10;
    Some(number[10..] == [first, second])
}

fn edrpou(text: &str) -> Option<bool> {
    let number = digits::<8>(text)?;
    let weights = if matches!(number[0], 3..=5) { [7, 1, 2, 3, 4, 5, 6] } else { [1, 2, 3, 4, 5, 6, 7] };
    let check = match weighted(&number[..7], &weights) % 11 {
        10 => weighted(&number[..7], &weights.map(|weight| weight + 2)) % 11,
        check => check,
    };
    Some(number[7] == check % 10)
}
