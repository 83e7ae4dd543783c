//! The pages about providers name tests: each of them exists.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What a path in a row begins with, and where its file is.
const PLACES: [(&str, &str); 4] = [
    ("pagarme_v5", "crates/providers/tests/it/pagarme_v5"),
    ("stripe", "crates/providers/tests/it/stripe"),
    ("adyen", "crates/providers/tests/it/adyen"),
    ("real_providers", "crates/server/tests/it/real_providers"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The cells of the rows of all tables whose last column is `test`.
fn rows(page: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(root().join("docs/providers").join(page)).unwrap();
    let (mut rows, mut names_tests) = (Vec::new(), false);
    for line in text.lines() {
        let Some(inner) = line.strip_prefix('|').and_then(|line| line.strip_suffix('|')) else {
            names_tests = false;
            continue;
        };
        let cells: Vec<String> = inner.split('|').map(|cell| cell.trim().to_owned()).collect();
        match cells.last().map(String::as_str) {
            Some("test") => names_tests = true,
            Some("---") | None => {}
            Some(_) if names_tests => rows.push(cells),
            Some(_) => {}
        }
    }
    rows
}

/// What is between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The tests of each file, by its place and its name.
fn tests() -> HashMap<(String, String), String> {
    let mut files = HashMap::new();
    for (place, folder) in PLACES {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "rs") {
                let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
                files.insert((place.to_owned(), name), fs::read_to_string(&path).unwrap());
            }
        }
    }
    files
}

#[test]
fn each_row_of_what_an_answer_proves_has_its_tests() {
    let files = tests();
    let rows = rows("what-an-answer-proves.md");
    assert!(rows.len() > 50, "{} rows are read", rows.len());
    for row in rows {
        assert_eq!(row.len(), 5, "{row:?}");
        assert!(row.iter().all(|cell| !cell.is_empty()), "{row:?}");
        assert!(quoted(&row[4]).next().is_some(), "no test: {row:?}");
        for name in quoted(&row[4]) {
            let [place, file, test] = name.split("::").collect::<Vec<_>>()[..] else { panic!("{name}") };
            let text = files.get(&(place.to_owned(), file.to_owned()));
            let is_there = text.is_some_and(|text| text.contains(&format!("fn {test}(")));
            assert!(is_there, "no such test: {name}");
        }
    }
}

#[test]
fn each_fault_of_a_provider_has_its_tests() {
    let files = tests();
    for (page, place) in [("pagarme_v5.md", "pagarme_v5"), ("stripe.md", "stripe"), ("adyen.md", "adyen")] {
        let rows = rows(page);
        assert!(rows.len() > 10, "{page}: {} rows are read", rows.len());
        for row in rows {
            let cell = row.last().unwrap();
            for name in quoted(cell) {
                let test = name.rsplit("::").next().unwrap();
                let of_place = files.iter().filter(|((known, _), _)| known == place);
                let mut texts = of_place.map(|(_, text)| text);
                assert!(
                    texts.any(|text| text.contains(&format!("fn {test}("))),
                    "{page}: no such test: {name}"
                );
            }
            assert!(quoted(cell).next().is_some() || cell == "the same", "{page}: no test: {row:?}");
        }
    }
}
