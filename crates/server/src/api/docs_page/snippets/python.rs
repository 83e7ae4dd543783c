//! A request in Python, with the package `requests`.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter};
use serde_json::{Serializer, Value};

use super::{Body, Call, HeaderValue, SENT_FILE, quoted, with_own_merchant};
use crate::api::docs_page::text::Html;

pub(super) fn code(call: &Call<'_>) -> Html {
    let has_key = call.headers.iter().any(|(_, value)| *value == HeaderValue::FreshKey);
    let uuid = if has_key { "import uuid\n" } else { "" };
    let method = call.method.to_lowercase();
    let mut code =
        Html::text(&format!("import os\n{uuid}\nimport requests\n\nanswer = requests.{method}(\n    "))
            .and(Html::own_value("os.environ[\"REGENTE_URL\"] + \""))
            .and(Html::text(&format!("{}\",\n", call.target)));
    if !call.headers.is_empty() {
        code = code.and(Html::text("    headers={\n"));
        for (name, value) in &call.headers {
            code = code.and(Html::text(&format!("        {}: ", quoted(name)))).and(match value {
                HeaderValue::ClientId => Html::own_value("os.environ[\"REGENTE_CLIENT_ID\"]"),
                HeaderValue::ApiKey => Html::own_value("os.environ[\"REGENTE_API_KEY\"]"),
                HeaderValue::FreshKey => Html::text("str(uuid.uuid4())"),
            });
            code = code.and(Html::text(",\n"));
        }
        code = code.and(Html::text("    },\n"));
    }
    let body = match &call.body {
        Body::None => String::new(),
        Body::Json(body) => format!("    json={},\n", literal(body).replace('\n', "\n    ")),
        Body::Form(fields) => form(fields),
    };
    let told = match &call.received_file {
        Some(file) => format!("open({}, \"wb\").write(answer.content)", quoted(file)),
        None => "print(answer.status_code, answer.text)".to_owned(),
    };
    code.and(with_own_merchant(&format!("{body})\n{told}")))
}

fn form(fields: &[(String, Option<String>)]) -> String {
    let (texts, files): (Vec<_>, Vec<_>) = fields.iter().partition(|(_, value)| value.is_some());
    let texts = texts
        .into_iter()
        .map(|(name, value)| format!("{}: {}", quoted(name), quoted(value.as_deref().unwrap_or_default())));
    let files =
        files.into_iter().map(|(name, _)| format!("{}: open({}, \"rb\")", quoted(name), quoted(SENT_FILE)));
    let list = |fields: Vec<String>| fields.join(", ");
    format!("    data={{{}}},\n    files={{{}}},\n", list(texts.collect()), list(files.collect()))
}

/// A value as Python writes it: JSON with three other words.
fn literal(value: &Value) -> String {
    let mut written = Vec::new();
    // A vector takes everything, and a value is JSON.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut written, Python(PrettyFormatter::new())));
    String::from_utf8(written).unwrap_or_default()
}

struct Python(PrettyFormatter<'static>);

impl Formatter for Python {
    fn write_null<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"None")
    }
    fn write_bool<W: ?Sized + Write>(&mut self, writer: &mut W, value: bool) -> io::Result<()> {
        writer.write_all(if value { b"True" } else { b"False" })
    }
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }
    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }
    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }
    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }
    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }
    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }
    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }
    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}
