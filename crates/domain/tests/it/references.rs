//! What points at a document of the repository, in code and in the documents themselves: a file or a section that does not
//! exist is a mistake, and so is a text that the repository does not have.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold nothing of ours.
const SKIPPED: [&str; 4] = [".git", "target", "node_modules", "regente-data"];
/// What cannot stand in a reference.
const ENDS: [char; 12] = [' ', '`', '"', '\'', '(', ')', '[', ']', '<', '>', ',', ';'];
/// Texts that are not in the repository, when a number follows.
const UNKNOWN_TEXTS: [&str; 3] = ["contract ", "quality ", "specification "];

#[test]
fn every_reference_leads_to_a_file_and_a_section() {
    let wrong = problems(|file, line| {
        let mut found: Vec<String> = plain(line).filter(|text| !leads_somewhere(&root(), text)).collect();
        let folder = file.parent().unwrap();
        found.extend(links(file, line).filter(|link| !leads_somewhere_from(folder, file, link)));
        found
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_reference_is_to_a_text_that_readers_do_not_have() {
    let wrong = problems(|_, line| {
        let line = line.to_lowercase();
        let is_cited =
            |word: &&&str| line.match_indices(**word).any(|(at, _)| is_number(&line[at + word.len()..]));
        UNKNOWN_TEXTS.iter().filter(is_cited).map(ToString::to_string).collect()
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn sections_are_named_as_browsers_name_them() {
    assert_eq!(section("## Test cards"), Some("test-cards".to_owned()));
    assert_eq!(section("# 3. `Probe::Absent`, and why"), Some("3-probeabsent-and-why".to_owned()));
    assert_eq!(section("#[test]"), None);
}

/// Every line in which `look` finds something, with its place. Code blocks of documents show other people's files.
fn problems(look: impl Fn(&Path, &str) -> Vec<String>) -> Vec<String> {
    let mut found = Vec::new();
    for file in sources(&root()) {
        let text = fs::read_to_string(&file).unwrap();
        for (number, line) in outside_of_code_blocks(&file, &text) {
            let place = file.strip_prefix(root()).unwrap().display().to_string();
            found.extend(look(&file, line).into_iter().map(|what| format!("{place}:{number}: {what}")));
        }
    }
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        let is_skipped = SKIPPED.iter().any(|skipped| name == *skipped);
        match path.extension().and_then(|extension| extension.to_str()) {
            _ if path.is_dir() && is_skipped => {}
            _ if path.is_dir() => found.extend(sources(&path)),
            Some("rs" | "md") => found.push(path),
            Some(_) | None => {}
        }
    }
    found
}

fn outside_of_code_blocks<'t>(file: &Path, text: &'t str) -> Vec<(usize, &'t str)> {
    let has_blocks = is_document(file);
    let mut is_inside = false;
    let mut kept = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if has_blocks && line.starts_with("```") {
            is_inside = !is_inside;
        } else if !is_inside {
            kept.push((index + 1, line));
        }
    }
    kept
}

fn is_document(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "md")
}

/// References by their path from the root of the repository, such as this folder's `docs` with a file in it.
fn plain(line: &str) -> impl Iterator<Item = String> {
    let candidates = line.split(ENDS).filter_map(|word| word.find("docs/").map(|at| &word[at..]));
    let references = candidates.map(|text| text.trim_end_matches(['.', ':', '|']));
    references.filter(|text| text.ends_with(".md") || text.contains(".md#")).map(str::to_owned)
}

/// Links of a document to another one, or to a section of its own.
fn links(file: &Path, line: &str) -> impl Iterator<Item = String> {
    let line = if is_document(file) { line } else { "" };
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target));
    targets.filter(|target| !target.contains("://")).map(str::to_owned)
}

fn leads_somewhere(from: &Path, reference: &str) -> bool {
    let Some((path, wanted)) = reference.split_once('#') else { return from.join(reference).exists() };
    let file = from.join(path);
    fs::read_to_string(&file).is_ok_and(|text| has_section(&file, &text, wanted))
}

fn leads_somewhere_from(folder: &Path, file: &Path, link: &str) -> bool {
    match link.strip_prefix('#') {
        Some(wanted) => has_section(file, &fs::read_to_string(file).unwrap(), wanted),
        None => leads_somewhere(folder, link),
    }
}

fn has_section(file: &Path, text: &str, wanted: &str) -> bool {
    outside_of_code_blocks(file, text)
        .iter()
        .any(|(_, line)| section(line).is_some_and(|name| name == wanted))
}

/// The name by which a browser finds a heading.
fn section(line: &str) -> Option<String> {
    let heading = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#'))?;
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|char| char.is_alphanumeric() || matches!(char, ' ' | '-' | '_'));
    Some(kept.map(|char| if char == ' ' { '-' } else { char }).collect())
}

/// Whether a text begins with the number of a chapter or of a rule: `03`, `u4`, `§2`.
fn is_number(text: &str) -> bool {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some('§'), _) => true,
        (Some(first), Some(second)) => first.is_ascii_alphanumeric() && second.is_ascii_digit(),
        (Some(_) | None, _) => false,
    }
}
