//! The page as a whole: its sections in order, and the navigation by tag.

use askama::Template;
use serde_json::Value;

use super::document::Document;
use super::example::Examples;
use super::sections::{ObjectSection, OperationSection, Writer};
use super::text::Html;
use super::{KeySource, SCRIPT, STYLE};
use crate::http::files::Asset;

#[derive(Template)]
#[template(path = "docs/page.html")]
struct Page<'a> {
    title: &'a str,
    version: &'a str,
    introduction: Html,
    key_source: KeySource,
    style: &'static Asset,
    script: &'static Asset,
    tags: Vec<Tag<'a>>,
    events: Vec<OperationSection<'a>>,
    objects: Vec<ObjectSection<'a>>,
}

/// The operations with one tag.
struct Tag<'a> {
    name: &'a str,
    id: String,
    operations: Vec<OperationSection<'a>>,
}

/// The page of a document.
pub(super) fn render(document: &Value, key_source: KeySource) -> Result<String, askama::Error> {
    let document = Document::of(document);
    let examples = Examples::of(&document);
    let mut writer = Writer::new(&examples);
    let mut tags: Vec<Tag<'_>> = Vec::new();
    for operation in document.operations() {
        let name = operation.value.pointer("/tags/0").and_then(Value::as_str).unwrap_or("Others");
        let section = writer.operation(operation);
        match tags.iter_mut().find(|tag| tag.name == name) {
            Some(tag) => tag.operations.push(section),
            None => tags.push(Tag { name, id: tag_id(name), operations: vec![section] }),
        }
    }
    let page = Page {
        title: document.info("title"),
        version: document.info("version"),
        introduction: Html::paragraphs(document.info("description")),
        key_source,
        style: &STYLE,
        script: &SCRIPT,
        tags,
        events: document.events().map(|event| writer.event(event)).collect(),
        objects: writer.objects(),
    };
    page.render()
}

fn tag_id(name: &str) -> String {
    format!("tag-{}", name.to_lowercase().replace(' ', "-"))
}
