//! The document as the page reads it: operations, events, and schemas with their names.

use std::collections::BTreeMap;

use regente_domain::wire::name_in;
use serde_json::{Map, Value};

/// The header that names the account.
pub(super) const CLIENT_ID: &str = "X-Client-Id";

/// The OpenAPI document.
pub(super) struct Document<'a> {
    root: &'a Value,
    components: Option<&'a Map<String, Value>>,
    /// The components that are objects, by their text: where one stands in place it is known by it.
    objects: BTreeMap<String, &'a str>,
    /// How often each component is named.
    uses: BTreeMap<&'a str, usize>,
}

/// An operation, or an event, whose path is its name.
#[derive(Clone, Copy)]
pub(super) struct Operation<'a> {
    pub(super) path: &'a str,
    pub(super) method: &'a str,
    pub(super) value: &'a Value,
}

/// A parameter of an operation.
#[derive(Clone, Copy)]
pub(super) struct Parameter<'a> {
    pub(super) name: &'a str,
    /// `path`, `query` or `header`.
    pub(super) place: &'a str,
    pub(super) is_required: bool,
    pub(super) schema: &'a Value,
    pub(super) text: &'a str,
}

impl<'a> Operation<'a> {
    /// A text of it, such as its summary.
    pub(super) fn says(self, member: &str) -> &'a str {
        self.value.get(member).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn parameters(self) -> impl Iterator<Item = Parameter<'a>> {
        let parameters = self.value.get("parameters").and_then(Value::as_array).into_iter().flatten();
        parameters.filter_map(|parameter| {
            let text = |member: &str| parameter.get(member).and_then(Value::as_str);
            Some(Parameter {
                name: text("name")?,
                place: text("in")?,
                is_required: parameter.get("required").is_some_and(|required| *required == true),
                schema: parameter.get("schema")?,
                text: text("description").unwrap_or_default(),
            })
        })
    }

    /// The answers by their status.
    pub(super) fn answers(self) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let answers = self.value.get("responses").and_then(Value::as_object).into_iter().flatten();
        answers.map(|(status, answer)| (status.as_str(), answer))
    }
}

impl<'a> Document<'a> {
    pub(super) fn of(root: &'a Value) -> Self {
        let components = root.pointer("/components/schemas").and_then(Value::as_object);
        let named = components.into_iter().flatten();
        let objects = named.clone().filter(|(_, schema)| schema.get("properties").is_some());
        let objects = objects.map(|(name, schema)| (schema.to_string(), name.as_str())).collect();
        let mut document = Self { root, components, objects, uses: BTreeMap::new() };
        for part in ["paths", "webhooks"].into_iter().filter_map(|part| root.get(part)) {
            document.count(part);
        }
        for (_, schema) in named {
            document.count_below(schema);
        }
        document
    }

    pub(super) fn root(&self) -> &'a Value {
        self.root
    }

    pub(super) fn info(&self, member: &str) -> &'a str {
        self.root.pointer(&format!("/info/{member}")).and_then(Value::as_str).unwrap_or_default()
    }

    /// In the order of the document.
    pub(super) fn operations(&self) -> impl Iterator<Item = Operation<'a>> + use<'a> {
        self.items("paths")
    }

    /// In the order of the document.
    pub(super) fn events(&self) -> impl Iterator<Item = Operation<'a>> + use<'a> {
        self.items("webhooks")
    }

    fn items(&self, part: &str) -> impl Iterator<Item = Operation<'a>> + use<'a> {
        let paths = self.root.get(part).and_then(Value::as_object).into_iter().flatten();
        paths.flat_map(|(path, item)| {
            let methods = item.as_object().into_iter().flatten();
            methods.map(move |(method, value)| Operation { path, method, value })
        })
    }

    /// The names of the headers that an operation demands of its caller, that of the account first.
    pub(super) fn headers_of_keys(&self, operation: Operation<'a>) -> Vec<&'a str> {
        let demanded = operation.value.get("security").and_then(Value::as_array).into_iter().flatten();
        let schemes = demanded.filter_map(Value::as_object).flat_map(Map::keys);
        let header = |scheme: &String| {
            self.root.pointer(&format!("/components/securitySchemes/{scheme}/name")).and_then(Value::as_str)
        };
        let mut names: Vec<&str> = schemes.filter_map(header).collect();
        names.sort_by_key(|name| *name != CLIENT_ID);
        names
    }

    pub(super) fn component(&self, name: &str) -> Option<&'a Value> {
        self.components?.get(name)
    }

    /// The name of a schema that is a component.
    pub(super) fn name_of(&self, schema: &'a Value) -> Option<&'a str> {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return Some(name_in(reference));
        }
        schema.get("properties")?;
        self.objects.get(&schema.to_string()).copied()
    }

    /// A schema without its reference.
    pub(super) fn resolved(&self, schema: &'a Value) -> &'a Value {
        self.name_of(schema).and_then(|name| self.component(name)).unwrap_or(schema)
    }

    pub(super) fn is_used_once(&self, name: &str) -> bool {
        self.uses.get(name) == Some(&1)
    }

    fn count(&mut self, value: &'a Value) {
        match self.name_of(value) {
            Some(name) => *self.uses.entry(name).or_default() += 1,
            None => self.count_below(value),
        }
    }

    fn count_below(&mut self, value: &'a Value) {
        match value {
            Value::Object(members) => {
                let schemas = members.iter().filter(|(name, _)| *name != "example");
                schemas.for_each(|(_, member)| self.count(member));
            }
            Value::Array(values) => values.iter().for_each(|value| self.count(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// The names of the types that a schema allows.
pub(super) fn types_of(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(only)) => vec![only],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        Some(_) | None => Vec::new(),
    }
}

/// Whether an object always has this field.
pub(super) fn is_required(schema: &Value, field: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|name| name == field))
}
