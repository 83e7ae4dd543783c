//! The texts that the script of the page asks for.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

fn file(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// The names of the members of an object.
fn names(object: &Value) -> BTreeSet<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn every_language_has_the_texts_that_the_script_asks_for() {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/checkout");
    let parts = fs::read_dir(assets.join("script")).unwrap();
    let script: String = parts.map(|part| file(&part.unwrap().path())).collect();
    assert!(script.contains("texts["), "names that the script computes are checked by eye");
    let asked = script.split("texts.").skip(1);
    let asked: BTreeSet<&str> =
        asked.map(|rest| rest.split(|sign: char| !sign.is_ascii_alphanumeric()).next().unwrap()).collect();
    let texts = |language| -> Value {
        serde_json::from_str(&file(&assets.join(format!("texts/{language}.json")))).unwrap()
    };
    let portuguese = texts("pt-BR");
    for language in ["pt-BR", "en", "es"] {
        let texts = texts(language);
        let known = names(&texts["script"]);
        assert!(asked.is_subset(&known), "{language} lacks {:?}", asked.difference(&known));
        assert_eq!(known, names(&portuguese["script"]), "{language}");
        let of_cards = names(&texts["card_script"]);
        assert!(
            of_cards.is_subset(&known),
            "nobody asks in {language} for {:?}",
            of_cards.difference(&known)
        );
    }
}
