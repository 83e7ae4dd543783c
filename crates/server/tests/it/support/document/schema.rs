//! Validates values against schemas of the document. An unknown keyword is a problem, so that no rule is skipped.

use serde_json::{Value, json};

use crate::support::document::Document;

/// Whether an object may have members that its schema does not name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Members {
    /// As in JSON Schema: requests, where unknown members are ignored.
    Any,
    /// Answers: every member is described, and a member that is null is described as required.
    DocumentedAlone,
}

/// The problems of a value, each with its path.
pub fn problems(document: &Document, schema: &Value, value: &Value, members: Members) -> Vec<String> {
    let mut found = Vec::new();
    Check { document, members }.value(schema, value, "", &mut found);
    found
}

struct Check<'a> {
    document: &'a Document,
    members: Members,
}

impl Check<'_> {
    fn value(&self, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
        let schema = self.document.resolve(schema);
        let Some(keywords) = schema.as_object() else {
            found.push(format!("{path}: {schema} is no schema"));
            return;
        };
        let discriminator = schema.get("discriminator");
        if let Some(discriminator) = discriminator {
            match self.variant(discriminator, value) {
                Some(variant) => self.value(&variant, value, path, found),
                None => found.push(format!("{path}: {value} is none of {}", discriminator["mapping"])),
            }
        }
        for (keyword, argument) in keywords {
            if keyword == "oneOf" && discriminator.is_some() {
                continue;
            }
            if let Some(problem) = self.keyword(keyword, argument, value, path, found) {
                found.push(format!("{path}: {value} {problem}"));
            }
        }
        let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        match (self.members, value.as_object()) {
            (Members::DocumentedAlone, Some(object)) => self.undocumented(schema, object, path, found),
            (Members::Any, Some(object)) if is_closed => self.undocumented(schema, object, path, found),
            (Members::Any | Members::DocumentedAlone, _) => {}
        }
    }

    /// Checks one keyword; returns the problem of the value itself and notes those inside of it.
    fn keyword(
        &self,
        keyword: &str,
        argument: &Value,
        value: &Value,
        path: &str,
        found: &mut Vec<String>,
    ) -> Option<String> {
        let count = argument.as_u64().and_then(|count| usize::try_from(count).ok());
        let bound = argument.as_i64();
        let wrong = |is_wrong: bool| is_wrong.then(|| format!("breaks {keyword}: {argument}"));
        match (keyword, value) {
            ("title" | "description" | "example" | "default" | "deprecated" | "discriminator", _) => None,
            // `properties` checks the unknown members.
            ("additionalProperties", _) => wrong(!argument.is_boolean()),
            ("type", _) => wrong(!types_of(argument).any(|name| has_type(name, value))),
            ("enum", _) => wrong(!argument.as_array().expect("choices").contains(value)),
            ("oneOf", _) => {
                let fitting = self.fitting(argument, value);
                if fitting.len() == 1 {
                    // Checked again, to note the members that it describes.
                    self.value(fitting[0], value, path, found);
                }
                wrong(fitting.len() != 1)
            }
            ("properties", Value::Object(object)) => {
                for (name, schema) in argument.as_object().expect("properties") {
                    if let Some(value) = object.get(name) {
                        self.value(schema, value, &format!("{path}.{name}"), found);
                    }
                }
                None
            }
            ("required", Value::Object(object)) => {
                let names =
                    argument.as_array().expect("names").iter().map(|name| name.as_str().expect("a name"));
                let missing: Vec<_> = names.filter(|name| !object.contains_key(*name)).collect();
                (!missing.is_empty()).then(|| format!("lacks {missing:?}"))
            }
            ("items", Value::Array(values)) => {
                for (index, value) in values.iter().enumerate() {
                    self.value(argument, value, &format!("{path}[{index}]"), found);
                }
                None
            }
            ("format", Value::String(text)) => wrong(!has_format(argument.as_str().expect("a name"), text)),
            ("format", Value::Number(_)) => {
                wrong(!matches!(argument.as_str(), Some("int32" | "int64" | "double")))
            }
            ("pattern", Value::String(text)) => wrong(!fits_pattern(argument.as_str().expect("text"), text)),
            ("minLength", Value::String(text)) => wrong(text.chars().count() < count.expect("a number")),
            ("maxLength", Value::String(text)) => wrong(text.chars().count() > count.expect("a number")),
            ("minItems", Value::Array(values)) => wrong(values.len() < count.expect("a number")),
            ("maxItems", Value::Array(values)) => wrong(values.len() > count.expect("a number")),
            ("minimum", Value::Number(number)) => wrong(whole(number) < bound),
            ("maximum", Value::Number(number)) => wrong(whole(number) > bound),
            (
                "properties" | "required" | "items" | "format" | "pattern" | "minLength" | "maxLength"
                | "minItems" | "maxItems" | "minimum" | "maximum",
                _,
            ) => None,
            _ => Some(format!("has a schema with the keyword {keyword}, which this check does not know")),
        }
    }

    /// The variant of a sum type that the value's tag names.
    fn variant(&self, discriminator: &Value, value: &Value) -> Option<Value> {
        let tag = value.get(discriminator["propertyName"].as_str().expect("a name"))?.as_str()?;
        Some(json!({ "$ref": discriminator["mapping"].get(tag)? }))
    }

    fn fitting<'s>(&self, choices: &'s Value, value: &Value) -> Vec<&'s Value> {
        let choices = choices.as_array().expect("choices").iter();
        choices.filter(|schema| problems(self.document, schema, value, Members::Any).is_empty()).collect()
    }

    fn undocumented(
        &self,
        schema: &Value,
        object: &serde_json::Map<String, Value>,
        path: &str,
        found: &mut Vec<String>,
    ) {
        if schema.get("additionalProperties") == Some(&Value::Bool(true)) {
            return;
        }
        let Some(known) = schema.get("properties").and_then(Value::as_object) else { return };
        let is_required = |name: &str| {
            schema.get("required").and_then(Value::as_array).is_some_and(|names| names.contains(&name.into()))
        };
        for (name, value) in object {
            if !known.contains_key(name) {
                found.push(format!("{path}.{name}: is not documented"));
            } else if value.is_null() && !is_required(name) {
                found.push(format!("{path}.{name}: is shown as null, but documented as absent"));
            }
        }
    }
}

/// The names in a `type`.
pub fn types_of(argument: &Value) -> impl Iterator<Item = &str> {
    let names = argument.as_array().map_or(std::slice::from_ref(argument), Vec::as_slice);
    names.iter().map(|name| name.as_str().expect("the name of a type"))
}

fn has_type(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type {other} is not known to this check"),
    }
}

fn has_format(name: &str, text: &str) -> bool {
    match name {
        "uuid" => text.len() == 36 && uuid::Uuid::try_parse(text).is_ok(),
        // Times in answers are in UTC with milliseconds (`docs/interface/conventions.md#values`).
        "date-time" => {
            let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
            shape == "0000-00-00T00:00:00.000Z"
        }
        "date" => regente_domain::time::parse_date(text).is_some(),
        "email" => text.contains('@'),
        // Formats of numbers; `type` checks that it is a number.
        "int32" | "int64" | "double" => true,
        other => panic!("the format {other} is not known to this check"),
    }
}

/// The integer part of a number.
fn whole(number: &serde_json::Number) -> Option<i64> {
    number.to_string().split('.').next().and_then(|digits| digits.parse().ok())
}

/// The patterns in use, and choices between words.
fn fits_pattern(pattern: &str, text: &str) -> bool {
    let digits = |text: &str, counts: &[usize]| {
        counts.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    match pattern {
        "^[0-9]{3}$" => digits(text, &[3]),
        "^[0-9]{8}$" => digits(text, &[8]),
        "^[0-9]{3,4}$" => digits(text, &[3, 4]),
        "^[0-9]+([.][0-9]+)?$" => text.parse::<f64>().is_ok(),
        "^(0[1-9]|1[0-2])/[0-9]{4}$" => text.split_once('/').is_some_and(|(month, year)| {
            digits(month, &[2]) && digits(year, &[4]) && (1..=12).contains(&month.parse::<u8>().unwrap_or(0))
        }),
        "^[ -]*([0-9][ -]*){13,19}$" => {
            let count = text.bytes().filter(u8::is_ascii_digit).count();
            (13..=19).contains(&count)
                && text.bytes().all(|byte| matches!(byte, b' ' | b'-') || byte.is_ascii_digit())
        }
        _ => {
            let words = pattern.strip_prefix("^(").and_then(|rest| rest.strip_suffix(")$"));
            let words = words.unwrap_or_else(|| panic!("the pattern {pattern} is not known to this check"));
            let is_plain = |byte: u8| matches!(byte, b'|' | b'_') || byte.is_ascii_alphabetic();
            assert!(words.bytes().all(is_plain), "{pattern}");
            words.split('|').any(|word| word == text)
        }
    }
}
