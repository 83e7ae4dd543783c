//! The document types of every country (`docs/interface/conventions.md#countries`).

use regente_domain::country::Country;
use serde_json::{Value, json};

use super::{created, details};
use crate::support::app::{TestApp, stories};

stories! {
    every_type_of_every_country_is_taken,
    a_type_of_another_country_is_not,
    no_document_goes_with_every_country,
}

fn with_document(n: usize, document: &Value) -> Value {
    json!({ "name": "N", "email": format!("n{n}@example.com"), "phoneNumber": "1", "document": document })
}

/// A number that fits the type: only Brazil's have a length.
fn number(kind: &str, country: Country, n: usize) -> String {
    match (country == Country::BR, kind) {
        (true, "CPF") => format!("{n:011}"),
        (true, "CNPJ") => format!("{n:014}"),
        _ => format!("A-{n}"),
    }
}

async fn every_type_of_every_country_is_taken(app: TestApp) {
    let mut n = 0;
    for country in Country::all() {
        let listed = country.document_types().iter().map(|known| known.name);
        let free = ["CI", "x", "A1B2C3D4E5A1B2C3D4E5A1B2C3D4E5A1B2C3D4E5"];
        let free = free.into_iter().filter(|_| country.document_types().is_empty());
        for kind in listed.chain(free) {
            n += 1;
            let sent = if n % 2 == 0 { kind.to_lowercase() } else { kind.to_uppercase() };
            let document =
                json!({ "type": sent, "number": number(kind, country, n), "country": country.code() });
            assert_eq!(created(&app, with_document(n, &document)).await["document"], document, "as sent");
        }
    }
    assert!(n > 140, "{n} types");
}

async fn a_type_of_another_country_is_not(app: TestApp) {
    for (country, kind, path) in [
        ("BR", "RUT", "document.type"),
        ("CL", "CPF", "document.type"),
        ("BO", "C-I", "document.type"),
        ("PA", "A1B2C3D4E5A1B2C3D4E5A1B2C3D4E5A1B2C3D4E5F", "document.type"),
        ("XX", "CPF", "document.country"),
    ] {
        let document = json!({ "type": kind, "number": "1", "country": country });
        let answer = app.post("/v1/customers", &with_document(1, &document)).await;
        assert_eq!(answer.status.as_u16(), 400, "{country} {kind}");
        assert!(details(&answer).iter().any(|detail| detail.starts_with(path)), "{}", answer.json());
    }
    let long = json!({ "type": "DNI", "number": "1".repeat(41), "country": "AR" });
    assert_eq!(app.post("/v1/customers", &with_document(1, &long)).await.status, 400);
}

async fn no_document_goes_with_every_country(app: TestApp) {
    for (n, country) in Country::all().enumerate() {
        let document = json!({ "type": "noDocument", "country": country.code() });
        let customer = created(&app, with_document(n, &document)).await;
        assert_eq!(customer["document"]["number"], "");
    }
}
