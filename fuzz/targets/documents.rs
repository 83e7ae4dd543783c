//! Documents of persons and companies of all countries, with their check digits: CPF, CNPJ and so on. The country, the type and
//! the number stand in three lines. A number without its punctuation is the same document.

#![no_main]

use libfuzzer_sys::fuzz_target;
use regente_domain::check_digits::{broken, checked_types};
use regente_domain::customer::{Document, normal_number};
use regente_domain::problems::Problems;

fuzz_target!(|text: &str| {
    let mut lines = text.splitn(3, '\n');
    let (country, kind, number) =
        (lines.next(), lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let parse = |number: &str| {
        let mut problems = Problems::new();
        let document = Document::parse(kind, number, country, "document", &mut problems);
        assert_eq!(document.is_some(), problems.into_result().is_ok());
        document
    };
    let document = parse(number);
    // A sign that counts in Mexican numbers.
    if number.contains('&') {
        return;
    }
    if let Some(document) = document {
        let plain = parse(&normal_number(number));
        if !document.is_absent()
            && let Some(plain) = plain
        {
            assert_eq!(document.key(), plain.key());
            assert_eq!(document.broken_check_digits(), plain.broken_check_digits());
        }
    }
    // Every rule, whatever the type.
    for (country, kind) in checked_types() {
        assert_eq!(
            broken(country, kind, number),
            broken(country, kind, &normal_number(number)),
            "{country} {kind}"
        );
    }
});
