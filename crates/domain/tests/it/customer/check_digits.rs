//! Check digits, judged by python-stdnum: `check_digits.tsv` has its verdicts (`scripts/document-vectors` made it).

use std::collections::BTreeSet;

use regente_domain::check_digits::checked_types;
use regente_domain::country::Country;
use regente_domain::customer::Document;

const JUDGED: &str = include_str!("check_digits.tsv");

fn broken(country: &str, kind: &str, number: &str) -> Option<String> {
    let country = Country::parse(country).expect("a listed country");
    Document { kind: kind.to_owned(), number: number.to_owned(), country }.broken_check_digits()
}

/// Country, type, verdict, numbers.
fn judged() -> impl Iterator<Item = (&'static str, &'static str, &'static str, &'static str)> {
    JUDGED.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [country, kind, verdict, numbers] = columns[..] else { panic!("{line}") };
        (country, kind, verdict, numbers)
    })
}

#[test]
fn a_foreign_library_comes_to_the_same_verdicts() {
    let mut numbers_judged = 0;
    for (country, kind, verdict, numbers) in judged() {
        for number in numbers.split(' ').filter(|number| !number.is_empty()) {
            let expected = match verdict {
                "valid" => None,
                _ => Some(format!("is not a valid {kind}")),
            };
            assert_eq!(broken(country, kind, number), expected, "{country} {kind} {number}");
            numbers_judged += 1;
        }
    }
    assert!(numbers_judged > 15_000, "{numbers_judged}");
}

/// Types of which python-stdnum has no module, or no check digit.
#[test]
fn numbers_that_are_published_as_examples_are_right() {
    for (country, kind, right, wrong) in [
        ("MX", "CLABE", "032180000118359719", "032180000118359718"),
        ("UY", "CEDULA", "1.234.567-2", "1.234.567-3"),
        ("US", "SSN", "536-90-4399", "666-90-4399"),
        ("US", "SSN", "111-22-3333", "078-05-1120"),
        ("MX", "RFC", "XAXX010101000", "XAXX010101001"),
        ("BR", "CNPJ", "12.ABC.345/01DE-35", "12.ABC.345/01DE-36"),
        ("br", "cpf", "970.555.030-19", "970.555.030-91"),
        ("BR", "CPF", "97055503019", "11111111111"),
    ] {
        let country = country.to_uppercase();
        assert_eq!(broken(&country, kind, right), None, "{country} {kind} {right}");
        let rule = broken(&country, kind, wrong).expect(wrong);
        assert!(rule.starts_with("is not a valid ") && rule.ends_with(&kind.to_uppercase()), "{rule}");
    }
}

#[test]
fn nothing_is_said_about_types_without_a_rule() {
    for (country, kind, number) in
        [("AR", "DNI", "1"), ("BO", "CI", "x"), ("BR", "noDocument", ""), ("DE", "STNR", "181/815/08155")]
    {
        assert_eq!(broken(country, kind, number), None, "{country} {kind}");
    }
}

#[test]
fn every_rule_is_that_of_a_listed_type_and_is_judged() {
    let by_hand = [("MX", "CLABE"), ("UY", "CEDULA"), ("US", "SSN")];
    let seen: BTreeSet<_> = judged().map(|(country, kind, ..)| (country, kind)).collect();
    let mut rules = BTreeSet::new();
    for (country, kind) in checked_types() {
        let listed = Country::parse(country).unwrap().document_types();
        assert!(listed.iter().any(|known| known.name == kind), "{country} {kind}");
        assert!(seen.contains(&(country, kind)) || by_hand.contains(&(country, kind)), "{country} {kind}");
        assert!(rules.insert((country, kind)), "{country} {kind} twice");
    }
    assert_eq!(rules.len(), seen.len() + by_hand.len());
}
