//! Files that hold one object, written by people.

use std::io;
use std::path::Path;

use serde_json::{Map, Value};

use super::Failure;

/// The members of a JSON object; `-` is standard input.
pub(super) fn json_object(file: &Path) -> Result<Map<String, Value>, Failure> {
    of_json(file, &text(file)?)
}

/// The same, or those of a TOML document: of a file by its ending, of standard input by its first character.
pub(super) fn object(file: &Path) -> Result<Map<String, Value>, Failure> {
    let text = text(file)?;
    let is_toml = match file.extension() {
        Some(ending) => ending.eq_ignore_ascii_case("toml"),
        None => !text.trim_start().starts_with(['{', '[']),
    };
    match is_toml {
        true => toml::from_str(&text)
            .map_err(|error| format!("{} is not a TOML document: {error}", file.display()).into()),
        false => of_json(file, &text),
    }
}

fn of_json(file: &Path, text: &str) -> Result<Map<String, Value>, Failure> {
    let members = serde_json::from_str(text);
    Ok(members.map_err(|error| format!("{} is not a JSON object: {error}", file.display()))?)
}

fn text(file: &Path) -> Result<String, Failure> {
    if file.as_os_str() == "-" {
        return Ok(io::read_to_string(io::stdin())?);
    }
    let text = std::fs::read_to_string(file);
    Ok(text.map_err(|error| format!("{} cannot be read: {error}", file.display()))?)
}
