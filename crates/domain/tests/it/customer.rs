mod check_digits;

use proptest::prelude::*;
use regente_domain::country::Country;
use regente_domain::customer::{
    Address, Case, Demand, Document, HasDocument, IdentifiedBy, decide, normal_document, normal_email,
    normal_number,
};
use regente_domain::id::CustomerId;
use regente_domain::problems::Problems;
use serde_json::{Map, Value, json};
use uuid::Uuid;

fn document(kind: &str, number: &str, country: Option<&str>) -> Result<Document, Vec<String>> {
    let mut problems = Problems::new();
    let document = Document::parse(kind, number, country, "document", &mut problems);
    assert_eq!(document.is_none(), !problems.is_empty());
    document.ok_or(problems.into_details())
}

fn address(sent: Value, demand: Demand) -> (Option<Address>, Vec<String>) {
    let mut problems = Problems::new();
    let Value::Object(sent) = sent else { panic!("an address is an object") };
    let address = Address::parse(&sent, demand, "address", &mut problems);
    (address, problems.into_details())
}

#[test]
fn one_person_in_two_spellings() {
    assert_eq!(normal_email("  Ana@Example.COM\n"), "ana@example.com");
    assert_eq!(normal_number("970.555.030-19"), "97055503019");
    assert_eq!(normal_number("12.abc.345/01de-35"), "12ABC34501DE35");
    assert_eq!(
        document("cpf", "970.555.030-19", None).unwrap().key(),
        document("CPF", "97055503019", Some("BR")).unwrap().key(),
    );
    assert_eq!(normal_document(Country::BR, "cpf", "970.555.030-19"), "BR:CPF:97055503019");
}

#[test]
fn documents_of_different_kinds_or_countries_are_different() {
    let peru = document("RUC", "20100070970", Some("PE")).unwrap().key();
    assert_ne!(peru, document("CUI", "20100070970", Some("PE")).unwrap().key());
    assert_ne!(peru, document("RUC", "20100070970", Some("EC")).unwrap().key());
}

#[test]
fn a_document_is_kept_as_sent() {
    let document = document("cpf", "970.555.030-19", None).unwrap();
    let json = json!({ "type": "cpf", "number": "970.555.030-19", "country": "BR" });
    assert_eq!(serde_json::to_value(&document).unwrap(), json);
    assert_eq!(serde_json::from_value::<Document>(json).unwrap(), document);
    assert_eq!(document.sent(), IdentifiedBy::Document);
}

#[test]
fn right_documents() {
    for (kind, number, country) in [
        ("CPF", "11111111111", None),
        ("Cnpj", "12.ABC.345/01DE-35", Some("BR")),
        ("CNPJ", "99999999999999", None),
        ("businessID", "FN 123456 a", Some("AT")),
        ("CPF", "1-1234-5678", Some("CR")),
        ("whatever1", "7", Some("BO")),
        ("Cedula", "8-888-888", Some("PA")),
        ("noDocument", "", None),
        ("nodocument", "0", Some("DE")),
    ] {
        document(kind, number, country).unwrap();
    }
}

#[test]
fn wrong_documents_say_why() {
    let long = "1".repeat(41);
    for (kind, number, country, details) in [
        ("CPF", "1234567890", None, vec!["document.number must have 11 digits"]),
        ("CPF", "1234567890A", None, vec!["document.number must have 11 digits"]),
        ("cnpj", "1234567890123", None, vec!["document.number must have 14 letters and digits"]),
        ("CPF", "", None, vec!["document.number should not be empty"]),
        ("SSN", ".-/", Some("US"), vec!["document.number should not be empty"]),
        ("SSN", &long, Some("US"), vec!["document.number must be shorter than or equal to 40 characters"]),
        (
            "RG",
            "",
            None,
            vec![
                "document.type must be one of the following values: CPF, CNPJ, noDocument",
                "document.number should not be empty",
            ],
        ),
        ("C I", "1", Some("BO"), vec!["document.type must be 1 to 40 letters and digits"]),
        ("", "1", Some("PA"), vec!["document.type must be 1 to 40 letters and digits"]),
    ] {
        assert_eq!(document(kind, number, country).unwrap_err(), details, "{kind} {number}");
    }
    let details = document("CPF", "1", Some("br")).unwrap_err();
    assert_eq!(details.len(), 1);
    assert!(details[0].starts_with("document.country must be one of the following values: AL, AD, AR,"));
}

#[test]
fn no_document_has_no_key() {
    let absent = document("NODOCUMENT", "123", Some("BR")).unwrap();
    assert_eq!((absent.is_absent(), absent.key(), absent.sent()), (true, None, IdentifiedBy::NoDocument));
}

#[test]
fn every_case_is_decided() {
    let x = CustomerId::new(Uuid::from_u128(1));
    let y = CustomerId::new(Uuid::from_u128(2));
    let (with, without) = (Some((y, HasDocument::Yes)), Some((y, HasDocument::No)));
    for (by_document, by_email, sent, case) in [
        (Some(x), None, IdentifiedBy::Document, Case::DocumentBelongsTo(x)),
        (Some(x), with, IdentifiedBy::Document, Case::DocumentBelongsTo(x)),
        (Some(x), without, IdentifiedBy::Document, Case::DocumentBelongsTo(x)),
        (Some(y), with, IdentifiedBy::Document, Case::DocumentBelongsTo(y)),
        (None, without, IdentifiedBy::Document, Case::EmailBelongsTo(y)),
        (None, with, IdentifiedBy::Document, Case::EmailTaken),
        (None, None, IdentifiedBy::Document, Case::Free),
        (None, with, IdentifiedBy::NoDocument, Case::EmailBelongsTo(y)),
        (None, without, IdentifiedBy::NoDocument, Case::EmailBelongsTo(y)),
        (None, None, IdentifiedBy::NoDocument, Case::Free),
        // A document that was not sent finds nobody.
        (Some(x), with, IdentifiedBy::NoDocument, Case::EmailBelongsTo(y)),
        (Some(x), without, IdentifiedBy::NoDocument, Case::EmailBelongsTo(y)),
        (Some(x), None, IdentifiedBy::NoDocument, Case::Free),
    ] {
        assert_eq!(decide(by_document, by_email, sent), case, "{by_document:?} {by_email:?} {sent:?}");
    }
}

#[test]
fn a_complete_address_is_kept_as_sent() {
    let sent = json!({ "country": "BR", "state": "RJ", "city": "Rio de Janeiro", "district": "Leblon",
        "zipCode": "25650011", "street": "Av Geraldo Cardoso", "streetNumber": "205", "complement": "Apto 203" });
    let (address, details) = address(sent.clone(), Demand::Complete);
    assert_eq!(details, Vec::<String>::new());
    assert_eq!(serde_json::to_value(address.unwrap()).unwrap(), sent);
}

#[test]
fn an_incomplete_address_names_what_it_lacks() {
    let (found, details) =
        address(json!({ "street": "Rua A", "city": "", "complement": 3 }), Demand::Complete);
    assert_eq!(found.unwrap().country, Some(Country::BR));
    assert_eq!(
        details,
        [
            "address.streetNumber should not be empty",
            "address.zipCode should not be empty",
            "address.state should not be empty",
            "address.city should not be empty",
            "address.district should not be empty",
            "address.complement must be a string",
        ]
    );
    let (_, details) = address(json!({ "street": "é".repeat(256), "country": "Brasil" }), Demand::Parts);
    assert_eq!(details[0], "address.street must be shorter than or equal to 255 characters");
    assert!(
        details[1].starts_with("address.country must be one of the following values: AL, "),
        "{details:?}"
    );
}

#[test]
fn an_address_in_parts_needs_nothing() {
    let (found, details) = address(json!({ "zipCode": "25650011", "city": null }), Demand::Parts);
    assert!(details.is_empty());
    assert_eq!(serde_json::to_value(found.unwrap()).unwrap(), json!({ "zipCode": "25650011" }));
}

#[test]
fn the_blanks_of_checkouts_count_as_nothing() {
    for blank in [json!({}), json!({ "street": " ", "city": null, "country": "" })] {
        for demand in [Demand::Complete, Demand::Parts] {
            assert_eq!(address(blank.clone(), demand), (None, vec![]));
        }
    }
}

proptest! {
    #[test]
    fn normal_forms_are_final(text in any::<String>()) {
        let number = normal_number(&text);
        prop_assert!(number.chars().all(|character| !character.is_whitespace() && !character.is_ascii_punctuation()));
        let email = normal_email(&text);
        prop_assert_eq!(normal_email(&email), email);
    }

    #[test]
    fn punctuation_and_case_of_a_document_do_not_matter(digits in "[0-9]{3}[.]?[0-9]{3}[. -]?[0-9]{3}[-/]?[0-9]{2}") {
        let plain: String = digits.chars().filter(char::is_ascii_digit).collect();
        prop_assert_eq!(document("cPf", &digits, None).unwrap().key(), document("CPF", &plain, None).unwrap().key());
    }

    #[test]
    fn no_address_breaks_the_reader(members in prop::collection::hash_map("[a-zA-Z]{0,12}", any::<String>(), 0..5)) {
        let sent: Map<String, Value> = members.into_iter().map(|(name, text)| (name, Value::String(text))).collect();
        let _ = Address::parse(&sent, Demand::Complete, "address", &mut Problems::new());
    }
}
