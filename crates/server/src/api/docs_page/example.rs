//! Examples of bodies: those of the document, and where it has none, one that is put together from the schema and from what the
//! document's examples say of fields with the same names.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::document::{Document, is_required, types_of};

/// A time for fields without an example.
const TIME: &str = "2026-01-15T12:00:00.000Z";

/// The examples of a document.
pub(super) struct Examples<'d, 'a> {
    pub(super) document: &'d Document<'a>,
    /// The first value of each field of the document's examples.
    known: BTreeMap<&'a str, &'a Value>,
}

impl<'d, 'a> Examples<'d, 'a> {
    pub(super) fn of(document: &'d Document<'a>) -> Self {
        let mut known = BTreeMap::new();
        collect(document.root(), &mut known);
        Self { document, known }
    }

    /// The example of a body, by its content: the document's own one, or one that fits the schema. Of closed lists it takes `word`
    /// where they have it.
    pub(super) fn content(&self, content: &'a Value, word: Option<&str>) -> Value {
        match (content.get("example"), content.get("schema")) {
            (Some(example), _) => example.clone(),
            (None, Some(schema)) => self.maker(word).value(schema, "").unwrap_or_default(),
            (None, None) => Value::Null,
        }
    }

    /// The example of a parameter or of a field of a form.
    pub(super) fn value(&self, schema: &'a Value, name: &str) -> Value {
        self.maker(None).value(schema, name).unwrap_or_default()
    }

    fn maker<'e>(&'e self, word: Option<&'e str>) -> Maker<'e, 'd, 'a> {
        Maker { examples: self, word, within: Vec::new() }
    }
}

struct Maker<'e, 'd, 'a> {
    examples: &'e Examples<'d, 'a>,
    word: Option<&'e str>,
    /// The objects that are being made.
    within: Vec<&'a str>,
}

impl<'a> Maker<'_, '_, 'a> {
    /// A value for the field `name`; `None` within an object of the same kind.
    fn value(&mut self, schema: &'a Value, name: &str) -> Option<Value> {
        let document = self.examples.document;
        let component = document.name_of(schema);
        if component.is_some_and(|component| self.within.contains(&component)) {
            return None;
        }
        self.within.extend(component);
        let made = self.unnamed(document.resolved(schema), name);
        self.within.truncate(self.within.len() - usize::from(component.is_some()));
        made
    }

    fn unnamed(&mut self, schema: &'a Value, name: &str) -> Option<Value> {
        let stated = ["example", "default"].iter().find_map(|member| schema.get(member));
        if let Some(stated) = stated {
            return Some(stated.clone());
        }
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            return self.word_of(words, name).cloned();
        }
        let choices = ["oneOf", "anyOf", "allOf"].iter().find_map(|word| schema.get(word)?.as_array());
        if let Some(choices) = choices {
            return choices.iter().find_map(|choice| self.value(choice, name));
        }
        if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
            return Some(self.object(schema, fields));
        }
        if let Some(items) = schema.get("items") {
            return Some(self.value(items, name).into_iter().collect());
        }
        Some(self.plain(schema, name))
    }

    fn word_of(&self, words: &'a [Value], name: &str) -> Option<&'a Value> {
        let told = words.iter().find(|word| self.word.is_some() && word.as_str() == self.word);
        let known = self.examples.known.get(name);
        told.or_else(|| words.iter().find(|word| Some(word) == known)).or(words.first())
    }

    /// The fields that are always there, and those that the document has examples of; all if there are none of either kind.
    fn object(&mut self, schema: &'a Value, fields: &'a Map<String, Value>) -> Value {
        let is_told = |name: &str, field: &Value| is_required(schema, name) || field.get("example").is_some();
        let tells_some = fields.iter().any(|(name, field)| is_told(name, field));
        let told = fields.iter().filter(|(name, field)| !tells_some || is_told(name, field));
        told.filter_map(|(name, field)| Some((name.clone(), self.value(field, name)?))).collect()
    }

    /// A value without parts. An id that is not known is made of the field's name, so that it is the same wherever it stands on the
    /// page.
    fn plain(&self, schema: &Value, name: &str) -> Value {
        let types = types_of(schema);
        let format = schema.get("format").and_then(Value::as_str);
        let known = self.examples.known.get(name).copied();
        let text = known.filter(|known| known.is_string() && schema.get("pattern").is_none());
        match (types.first().copied(), format) {
            (Some("string"), Some("uuid")) => match text {
                Some(id) if id.as_str().is_some_and(|id| id.parse::<Uuid>().is_ok()) => id.clone(),
                Some(_) | None => Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).to_string().into(),
            },
            (Some("string"), Some("date-time")) => TIME.into(),
            (Some("string"), Some("date")) => TIME.chars().take(10).collect::<String>().into(),
            (Some("string"), None) if text.is_some() => text.cloned().unwrap_or_default(),
            (Some("string" | "object" | "array"), _) if types.contains(&"null") => Value::Null,
            (Some("string"), _) => "…".into(),
            (Some("integer" | "number"), _) => match known.filter(|known| known.is_i64()) {
                Some(known) => known.clone(),
                None => schema.get("minimum").cloned().unwrap_or_else(|| 1.into()),
            },
            (Some("boolean"), _) => known.filter(|known| known.is_boolean()).cloned().unwrap_or(false.into()),
            (Some("object"), _) => Map::new().into(),
            (Some("array"), _) => Vec::<Value>::new().into(),
            (Some(_) | None, _) => Value::Null,
        }
    }
}

/// Finds the examples of the document.
fn collect<'a>(value: &'a Value, known: &mut BTreeMap<&'a str, &'a Value>) {
    let members = value.as_object().into_iter().flatten();
    for (name, member) in members {
        match name.as_str() {
            "example" => fields_of(member, known),
            _ => collect(member, known),
        }
    }
    value.as_array().into_iter().flatten().for_each(|value| collect(value, known));
}

fn fields_of<'a>(example: &'a Value, known: &mut BTreeMap<&'a str, &'a Value>) {
    for (name, value) in example.as_object().into_iter().flatten() {
        match value {
            Value::Object(_) | Value::Array(_) => fields_of(value, known),
            Value::Null => {}
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                known.entry(name).or_insert(value);
            }
        }
    }
    example.as_array().into_iter().flatten().for_each(|value| fields_of(value, known));
}
