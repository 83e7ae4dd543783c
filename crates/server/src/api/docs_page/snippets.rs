//! The example of an operation as code: what a reader pastes, with the address and the key in places of their own, which the
//! script of the page fills in.

mod curl;
mod node;
mod python;

use serde_json::Value;
use url::form_urlencoded;

use super::document::{CLIENT_ID, Operation, Parameter};
use super::example::Examples;
use super::text::Html;

/// The header that makes a request take effect once.
const IDEMPOTENCY_KEY: &str = "X-Idempotency-Key";
/// How the merchant of a body begins, in every language.
const MERCHANT: &str = "\"merchantId\": \"";
/// The file that a form sends.
const SENT_FILE: &str = "file.png";

/// An example in a language.
pub(super) struct Snippet {
    /// As in `data-language`, by which the script finds it.
    pub(super) language: &'static str,
    pub(super) title: &'static str,
    pub(super) code: Html,
}

/// A request, ready to be written in any language.
struct Call<'a> {
    method: String,
    /// Path and query.
    target: String,
    headers: Vec<(&'a str, HeaderValue)>,
    body: Body,
    /// Where an answer that is no JSON is written.
    received_file: Option<String>,
}

/// What a header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeaderValue {
    ClientId,
    ApiKey,
    /// Another one for each request.
    FreshKey,
}

enum Body {
    None,
    Json(Value),
    /// Names and values; a file has none.
    Form(Vec<(String, Option<String>)>),
}

/// The examples of an operation.
pub(super) fn of<'a>(examples: &Examples<'_, 'a>, operation: Operation<'a>) -> Vec<Snippet> {
    let call = Call::of(examples, operation);
    let mut snippets = vec![
        Snippet { language: "curl", title: "curl", code: curl::code(&call) },
        Snippet { language: "node", title: "Node.js", code: node::code(&call) },
        Snippet { language: "python", title: "Python", code: python::code(&call) },
    ];
    if let Body::Json(body) = &call.body {
        snippets.push(Snippet { language: "json", title: "JSON", code: with_own_merchant(&pretty(body)) });
    }
    snippets
}

/// Code whose merchant is a place for the reader's own.
fn with_own_merchant(code: &str) -> Html {
    let mut parts = code.split(MERCHANT);
    let before = Html::text(parts.next().unwrap_or_default());
    parts.fold(before, |html, part| {
        let (merchant, rest) = part.split_once('"').unwrap_or((part, ""));
        html.and(Html::text(MERCHANT)).and(Html::own_value(merchant)).and(Html::text(&format!("\"{rest}")))
    })
}

/// JSON over several lines.
pub(super) fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

/// A text in double quotes, as JavaScript and Python have it, too.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

impl<'a> Call<'a> {
    fn of(examples: &Examples<'_, 'a>, operation: Operation<'a>) -> Self {
        let keys = examples.document.headers_of_keys(operation).into_iter().map(|name| match name {
            CLIENT_ID => (name, HeaderValue::ClientId),
            _ => (name, HeaderValue::ApiKey),
        });
        let takes_key = operation.parameters().any(|parameter| parameter.name == IDEMPOTENCY_KEY);
        let fresh = takes_key.then_some((IDEMPOTENCY_KEY, HeaderValue::FreshKey));
        Self {
            method: operation.method.to_uppercase(),
            target: target(examples, operation),
            headers: keys.chain(fresh).collect(),
            body: Body::of(examples, operation),
            received_file: received_file(operation),
        }
    }
}

impl Body {
    fn of<'a>(examples: &Examples<'_, 'a>, operation: Operation<'a>) -> Self {
        let Some(content) = operation.value.pointer("/requestBody/content") else { return Self::None };
        if let Some(json) = content.get("application/json") {
            return Self::Json(examples.content(json, None));
        }
        let form =
            content.pointer("/multipart~1form-data/schema").map(|schema| examples.document.resolved(schema));
        let fields = form.and_then(|form| form.get("properties")?.as_object()).into_iter().flatten();
        let field = |(name, schema): (&String, &'a Value)| {
            let is_file = schema.get("format").is_some_and(|format| format == "binary");
            let value = (!is_file).then(|| plain(&examples.value(schema, name)));
            (name.clone(), value)
        };
        Self::Form(fields.map(field).collect())
    }
}

/// The path with examples in it, and the query as far as it is demanded.
fn target<'a>(examples: &Examples<'_, 'a>, operation: Operation<'a>) -> String {
    let value = |name: &str, schema: &'a Value| match plain(&examples.value(schema, name)) {
        // Nothing is known of it: the reader sees where it stands.
        unknown if unknown == "…" => name.to_uppercase(),
        value => value,
    };
    let mut path = operation.path.to_owned();
    let mut query = form_urlencoded::Serializer::new(String::new());
    for Parameter { name, place, is_required, schema, .. } in operation.parameters() {
        match place {
            "path" => path = path.replace(&format!("{{{name}}}"), &value(name, schema)),
            "query" if is_required => {
                query.append_pair(name, &value(name, schema));
            }
            _ => {}
        }
    }
    let query = query.finish();
    if query.is_empty() { path } else { format!("{path}?{query}") }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// `answer` with the ending of the first kind of file that a success sends.
fn received_file(operation: Operation<'_>) -> Option<String> {
    let (_, answer) = operation.answers().find(|(status, _)| status.starts_with('2'))?;
    let kind = answer.get("content")?.as_object()?.keys().next()?;
    let (_, ending) = kind.split_once('/').filter(|_| kind != "application/json")?;
    Some(format!("answer.{ending}"))
}
