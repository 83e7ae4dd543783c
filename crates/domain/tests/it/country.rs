use std::collections::HashSet;

use regente_domain::country::{Country, DocumentKind};

#[test]
fn the_list_has_82_countries() {
    let codes: HashSet<&str> = Country::all().map(Country::code).collect();
    assert_eq!(codes.len(), 82);
    for country in Country::all() {
        assert_eq!(Country::parse(country.code()), Some(country));
        assert_eq!(serde_json::from_value::<Country>(country.code().into()).unwrap(), country);
    }
    assert_eq!(Country::BR.code(), "BR");
    for wrong in ["", "br", "BRA", "XX", "ZW"] {
        assert_eq!(Country::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn document_types_are_those_of_the_country() {
    let names = |code: &str| -> Vec<&str> {
        Country::parse(code).unwrap().document_types().iter().map(|known| known.name).collect()
    };
    assert_eq!(names("BR"), ["CPF", "CNPJ"]);
    assert_eq!(names("AT"), ["Businessid", "TIN", "UID", "VNR"]);
    assert_eq!(names("FR"), ["NIF", "NIR", "SIREN", "SIRET", "TVA"]);
    assert_eq!(names("NO"), ["Fodsels", "Konto", "MVA", "Orgnr"]);
    assert_eq!(names("ZA"), ["IDNR", "TIN"]);
    assert_eq!(Country::BR.document_types()[1].kind, DocumentKind::Company);
    let without: Vec<&str> =
        Country::all().filter(|country| country.document_types().is_empty()).map(Country::code).collect();
    assert_eq!(without, ["BO", "PA"]);
    let types: usize = Country::all().map(|country| country.document_types().len()).sum();
    assert_eq!(types, 151);
}
