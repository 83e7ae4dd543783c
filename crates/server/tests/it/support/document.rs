//! Reads the OpenAPI document for tests: its operations, and whether an answer matches it.

pub mod doors;
pub mod schema;

use std::sync::OnceLock;

use axum::http::Method;
use serde_json::Value;

use crate::support::client::Reply;
use crate::support::document::schema::Members;

/// The document of this build.
pub struct Document {
    pub value: Value,
    pub operations: Vec<Operation>,
}

/// One method of one path.
pub struct Operation {
    pub method: Method,
    pub path: String,
    pub value: Value,
}

impl Operation {
    /// `POST /v1/charges`.
    pub fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The path with these values for its parameters, in order.
    pub fn path_with(&self, values: &[&str]) -> String {
        let mut values = values.iter();
        let segment = |segment: &str| {
            let is_parameter = segment.starts_with('{');
            if is_parameter {
                (*values.next().expect("a value for each parameter")).to_owned()
            } else {
                segment.to_owned()
            }
        };
        self.path.split('/').map(segment).collect::<Vec<_>>().join("/")
    }

    /// The number of the path's parameters.
    pub fn parameters(&self) -> usize {
        self.path.matches('{').count()
    }

    /// Whether its body is a form with a file and nothing else.
    pub fn takes_a_file_alone(&self) -> bool {
        let content = self.value.pointer("/requestBody/content").and_then(Value::as_object);
        content.is_some_and(|content| content.keys().eq(["multipart/form-data"]))
    }

    /// The required headers of a request, with `key` as its idempotency key.
    pub fn headers<'k>(&self, key: &'k str) -> Vec<(&'static str, &'k str)> {
        let parameters = self.value["parameters"].as_array().into_iter().flatten();
        let mut required =
            parameters.filter(|parameter| parameter["in"] == "header" && parameter["required"] == true);
        required.next().map(|_| ("X-Idempotency-Key", key)).into_iter().collect()
    }

    /// Whether it takes an idempotency key.
    pub fn takes_a_key(&self) -> bool {
        let mut parameters = self.value["parameters"].as_array().into_iter().flatten();
        parameters.any(|parameter| parameter["name"] == "X-Idempotency-Key")
    }

    /// The number of literal segments shared with `path`; `None` when it is another operation's path.
    fn literals_of(&self, path: &str) -> Option<usize> {
        let (own, other): (Vec<_>, Vec<_>) = (self.path.split('/').collect(), path.split('/').collect());
        let fits =
            own.len() == other.len() && own.iter().zip(&other).all(|(a, b)| a.starts_with('{') || a == b);
        fits.then(|| own.iter().filter(|segment| !segment.starts_with('{')).count())
    }
}

impl Document {
    pub fn current() -> &'static Self {
        static CURRENT: OnceLock<Document> = OnceLock::new();
        CURRENT.get_or_init(|| {
            Self::of(serde_json::from_slice(regente::api::router::document()).expect("the document is JSON"))
        })
    }

    fn of(value: Value) -> Self {
        let mut operations = Vec::new();
        for (path, item) in value["paths"].as_object().expect("paths") {
            for (method, operation) in item.as_object().expect("an item of paths") {
                let method = method.to_uppercase().parse().expect("a method");
                operations.push(Operation { method, path: path.clone(), value: operation.clone() });
            }
        }
        Self { value, operations }
    }

    /// The operation of a request. A literal segment wins over a parameter, as in the router.
    pub fn operation(&self, method: &Method, path: &str) -> Option<&Operation> {
        let path = path.split('?').next().unwrap_or(path);
        let fitting = self.operations.iter();
        let fitting = fitting.filter_map(|operation| Some((operation.literals_of(path)?, operation)));
        let (_, closest) = fitting.clone().max_by_key(|(literals, _)| *literals)?;
        let mut of_path = fitting.map(|(_, operation)| operation);
        of_path.find(|operation| operation.path == closest.path && operation.method == *method)
    }

    /// A schema without its references.
    pub fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema.get("$ref").and_then(Value::as_str) {
            Some(reference) => {
                let pointer = reference.strip_prefix('#').expect("a reference into the document");
                self.resolve(
                    self.value.pointer(pointer).unwrap_or_else(|| panic!("{reference} leads nowhere")),
                )
            }
            None => schema,
        }
    }

    /// The schema of an operation's body.
    pub fn body_schema<'a>(&'a self, operation: &'a Operation) -> Option<&'a Value> {
        let content = operation.value.pointer("/requestBody/content/application~1json")?;
        Some(self.resolve(&content["schema"]))
    }

    /// An example of an operation's body.
    pub fn body_example<'a>(&'a self, operation: &'a Operation) -> Option<&'a Value> {
        let content = operation.value.pointer("/requestBody/content/application~1json")?;
        content.get("example").or_else(|| self.body_schema(operation)?.get("example"))
    }

    /// Checks an event that a test's receiver got against the document.
    ///
    /// # Panics
    /// The event contains something that the document does not describe.
    pub fn assert_promised_event(&self, event: &Value) {
        let problems = self.problems_of_event(event);
        assert!(problems.is_empty(), "{event}: not as documented: {problems:#?}");
    }

    /// The differences between an event and the section `webhooks`.
    pub fn problems_of_event(&self, event: &Value) -> Vec<String> {
        let word = |member: &str| event[member].as_str().unwrap_or_default();
        let name = match word("object") {
            "webhook" => word("event").to_owned(),
            object => format!("{object}.{}", word("event")),
        };
        let Some(entry) = self.value["webhooks"].get(&name) else {
            return vec![format!("the event {name} is not documented")];
        };
        let schema = &entry["post"]["requestBody"]["content"]["application/json"]["schema"];
        schema::problems(self, schema, event, Members::DocumentedAlone)
    }

    /// Checks an answer of a test against the document.
    ///
    /// # Panics
    /// The answer contains something that the document does not describe.
    pub fn assert_promised(&self, method: &Method, path: &str, reply: &Reply) {
        let problems = self.problems_of(method, path, reply);
        let body = String::from_utf8_lossy(&reply.bytes);
        assert!(
            problems.is_empty(),
            "{method} {path}: {} {body}: not as documented: {problems:#?}",
            reply.status
        );
    }

    /// The differences between an answer and the document; none for paths and methods outside of it.
    pub fn problems_of(&self, method: &Method, path: &str, reply: &Reply) -> Vec<String> {
        let Some(operation) = self.operation(method, path) else { return Vec::new() };
        let status = reply.status.as_u16().to_string();
        let Some(response) = operation.value["responses"].get(&status) else {
            return vec![format!("the status {status} is not documented")];
        };
        let Some(content) = response.get("content") else {
            return match reply.bytes.is_empty() {
                true => Vec::new(),
                false => vec![format!("the body of {status} is documented to be empty")],
            };
        };
        match reply.header("content-type") {
            Some("application/json") if content.get("application/json").is_some() => {}
            // A file, which has no schema.
            Some(kind) if content.get(kind).is_some() => return Vec::new(),
            kind => return vec![format!("{status} has the content type {kind:?}")],
        }
        match serde_json::from_slice(&reply.bytes) {
            Ok(body) => {
                let schema = &content["application/json"]["schema"];
                schema::problems(self, schema, &body, Members::DocumentedAlone)
            }
            Err(error) => vec![format!("the body of {status} is no JSON: {error}")],
        }
    }
}
