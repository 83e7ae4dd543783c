//! Schemas as trees of fields: what a value may be, its limits, and below it the fields of an object or the kinds of a sum.

use std::collections::BTreeSet;

use askama::Template;
use askama::filters::HtmlSafe;
use serde_json::{Map, Value};

use super::document::{Document, is_required, types_of};
use super::limits::{self, WORDS_SHOWN_MAX};
use super::text::{Html, joined};

/// Fields in a list, each with those below it.
#[derive(Default, Template)]
#[template(path = "docs/fields.html")]
pub(super) struct Fields<'a> {
    fields: Vec<Field<'a>>,
}

impl HtmlSafe for Fields<'_> {}

/// A field of an object, or a kind of a sum.
struct Field<'a> {
    /// Empty for a kind that no word names.
    name: &'a str,
    is_required: bool,
    shape: Shape<'a>,
}

/// What a value may be.
#[derive(Default)]
pub(super) struct Shape<'a> {
    pub(super) kind: Html,
    pub(super) limits: Vec<Html>,
    pub(super) text: Html,
    pub(super) below: Option<Below<'a>>,
}

/// What is folded below a value.
pub(super) struct Below<'a> {
    /// What the fold is called, such as `3 fields`.
    pub(super) label: String,
    pub(super) fields: Fields<'a>,
}

impl Shape<'_> {
    /// The limits in one text.
    pub(super) fn shown_limits(&self) -> Html {
        joined(self.limits.iter().cloned(), ", ")
    }
}

/// Which objects are unfolded where they are named. The others are linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfolding {
    /// All but those that are within themselves: a body that is sent.
    All,
    /// Those that are named nowhere else.
    NamedOnce,
}

/// Reads schemas.
pub(super) struct Reader<'d, 'a> {
    document: &'d Document<'a>,
    unfolding: Unfolding,
    /// The objects that are being unfolded.
    within: Vec<&'a str>,
    /// The objects that were linked.
    linked: &'d mut BTreeSet<&'a str>,
}

impl<'d, 'a> Reader<'d, 'a> {
    pub(super) fn new(
        document: &'d Document<'a>,
        unfolding: Unfolding,
        linked: &'d mut BTreeSet<&'a str>,
    ) -> Self {
        Self { document, unfolding, within: Vec::new(), linked }
    }

    /// What a schema allows.
    pub(super) fn shape(&mut self, schema: &'a Value) -> Shape<'a> {
        let Some(name) = self.document.name_of(schema) else { return self.unnamed(schema) };
        let mut shape = self.named(name);
        // What stands beside a reference is said of this place.
        if schema.get("$ref").is_some() {
            shape.limits.extend(limits::of(schema));
        }
        if let Some(text) = schema.get("description").and_then(Value::as_str) {
            shape.text = Html::paragraphs(text);
        }
        shape
    }

    /// The object itself, as its own section shows it.
    pub(super) fn object(&mut self, name: &'a str) -> Shape<'a> {
        self.within.push(name);
        let shape = self.document.component(name).map(|schema| self.unnamed(schema));
        self.within.pop();
        shape.unwrap_or_default()
    }

    fn named(&mut self, name: &'a str) -> Shape<'a> {
        let Some(schema) = self.document.component(name) else { return Shape::default() };
        let words = schema.get("enum").and_then(Value::as_array);
        let has_parts =
            ["properties", "oneOf", "anyOf", "allOf", "items"].iter().any(|part| schema.get(part).is_some());
        let is_unfolded = match (words, self.unfolding) {
            (Some(words), _) => words.len() <= WORDS_SHOWN_MAX,
            (None, _) if !has_parts => true,
            (None, _) if self.within.contains(&name) => false,
            (None, Unfolding::All) => true,
            (None, Unfolding::NamedOnce) => self.document.is_used_once(name),
        };
        if is_unfolded {
            return self.object(name);
        }
        self.linked.insert(name);
        let text = schema.get("description").and_then(Value::as_str).map(Html::paragraphs);
        Shape { kind: link_to(name), text: text.unwrap_or_default(), ..Shape::default() }
    }

    fn unnamed(&mut self, schema: &'a Value) -> Shape<'a> {
        let choices = ["oneOf", "anyOf", "allOf"]
            .into_iter()
            .find_map(|word| Some((word, schema.get(word)?.as_array()?)));
        let mut shape = match choices {
            Some((word, choices)) => self.choice(schema, word, choices),
            None => self.plain(schema),
        };
        shape.limits.extend(limits::of(schema));
        if let Some(text) = schema.get("description").and_then(Value::as_str) {
            shape.text = Html::paragraphs(text);
        }
        shape
    }

    fn choice(&mut self, schema: &'a Value, word: &str, choices: &'a [Value]) -> Shape<'a> {
        let others: Vec<&Value> = choices.iter().filter(|choice| !is_null(choice)).collect();
        let mut shape = match others.as_slice() {
            [only] => self.shape(only),
            several => {
                let fields: Vec<Field<'_>> = several.iter().map(|kind| self.kind(schema, kind)).collect();
                let is_simple =
                    fields.iter().all(|field| field.name.is_empty() && field.shape.below.is_none());
                if is_simple && word == "oneOf" {
                    let limits = fields.iter().flat_map(|field| field.shape.limits.clone()).collect();
                    let kinds = fields.into_iter().map(|field| field.shape.kind);
                    Shape { kind: joined(kinds, " or "), limits, ..Shape::default() }
                } else {
                    let label = format!("{} kinds", fields.len());
                    let kind = Html::text(match word {
                        "allOf" => "all of",
                        "anyOf" => "any of",
                        _ => "one of",
                    });
                    Shape { kind, below: Below::of(label, fields), ..Shape::default() }
                }
            }
        };
        if others.len() < choices.len() {
            shape.kind = shape.kind.and(Html::text(" or null"));
        }
        shape
    }

    /// One kind of a sum, with the word that tells it from the others.
    fn kind(&mut self, sum: &'a Value, kind: &'a Value) -> Field<'a> {
        let reference = kind.get("$ref");
        let words = sum.pointer("/discriminator/mapping").and_then(Value::as_object).into_iter().flatten();
        let word =
            words.filter(|(_, object)| Some(*object) == reference).map(|(word, _)| word.as_str()).next();
        Field { name: word.unwrap_or_default(), is_required: false, shape: self.shape(kind) }
    }

    fn plain(&mut self, schema: &'a Value) -> Shape<'a> {
        let types = types_of(schema);
        let format = schema.get("format").and_then(Value::as_str);
        // The limits of numbers say more than their sizes.
        let format = format.filter(|format| !matches!(*format, "int32" | "int64" | "double"));
        let mut shape = match (schema.get("items"), schema.get("properties").and_then(Value::as_object)) {
            (Some(items), _) => {
                let items = self.shape(items);
                Shape { kind: Html::text("array of ").and(items.kind), ..items }
            }
            (None, Some(fields)) => self.fields(schema, fields),
            (None, None) => {
                let known = types.iter().filter(|name| **name != "null").map(|name| Html::text(name));
                let kind = match types.is_empty() {
                    true => Html::text("any value"),
                    false => joined(known, " or "),
                };
                let format = format.map(|format| Html::text(&format!(" ({format})")));
                Shape { kind: kind.and(format.unwrap_or_default()), ..Shape::default() }
            }
        };
        if types.contains(&"null") {
            shape.kind = shape.kind.and(Html::text(" or null"));
        }
        shape
    }

    fn fields(&mut self, schema: &'a Value, fields: &'a Map<String, Value>) -> Shape<'a> {
        let fields: Vec<Field<'_>> = fields
            .iter()
            .map(|(name, field)| Field {
                name,
                is_required: is_required(schema, name),
                shape: self.shape(field),
            })
            .collect();
        let label = match fields.len() {
            1 => "1 field".to_owned(),
            several => format!("{several} fields"),
        };
        Shape { kind: Html::text("object"), below: Below::of(label, fields), ..Shape::default() }
    }
}

impl<'a> Below<'a> {
    fn of(label: String, fields: Vec<Field<'a>>) -> Option<Self> {
        (!fields.is_empty()).then_some(Self { label, fields: Fields { fields } })
    }
}

/// The id of an object's section.
pub(super) fn object_id(name: &str) -> String {
    format!("object-{name}")
}

/// A link to an object's section.
pub(super) fn link_to(name: &str) -> Html {
    Html::link(&object_id(name), name)
}

fn is_null(schema: &Value) -> bool {
    types_of(schema) == ["null"]
}
