//! What the page says of each operation, event and object.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::document::{Document, Operation, Parameter};
use super::example::Examples;
use super::fields::{Below, Fields, Reader, Shape, Unfolding, object_id};
use super::snippets::{self, Snippet, pretty};
use super::text::{Html, joined};

/// An operation or an event.
pub(super) struct OperationSection<'a> {
    pub(super) id: &'a str,
    pub(super) method: &'a str,
    /// The name of an event.
    pub(super) path: &'a str,
    pub(super) summary: Html,
    pub(super) text: Html,
    /// The headers that it demands.
    pub(super) keys: Html,
    /// Whether something else may stand for them, which its text names.
    pub(super) has_alternative: bool,
    pub(super) parameters: Vec<ParameterRow<'a>>,
    pub(super) bodies: Vec<BodySection<'a>>,
    pub(super) answers: Vec<AnswerSection<'a>>,
    pub(super) snippets: Vec<Snippet>,
}

pub(super) struct ParameterRow<'a> {
    pub(super) said: Parameter<'a>,
    pub(super) text: Html,
    pub(super) shape: Shape<'a>,
}

pub(super) struct BodySection<'a> {
    /// Such as `application/json`.
    pub(super) kind: &'a str,
    pub(super) is_required: bool,
    pub(super) shape: Shape<'a>,
}

pub(super) struct AnswerSection<'a> {
    pub(super) status: &'a str,
    pub(super) text: Html,
    pub(super) kind: Html,
    pub(super) headers: Vec<(&'a str, Html)>,
    pub(super) below: Option<Below<'a>>,
    pub(super) example: Option<Html>,
}

/// An object that several operations name.
pub(super) struct ObjectSection<'a> {
    pub(super) name: &'a str,
    pub(super) id: String,
    pub(super) text: Html,
    pub(super) shape: Shape<'a>,
    pub(super) example: Option<Html>,
}

/// Writes the sections, and keeps which objects they link to.
pub(super) struct Writer<'d, 'a> {
    examples: &'d Examples<'d, 'a>,
    document: &'d Document<'a>,
    linked: BTreeSet<&'a str>,
}

impl<'d, 'a> Writer<'d, 'a> {
    pub(super) fn new(examples: &'d Examples<'d, 'a>) -> Self {
        Self { examples, document: examples.document, linked: BTreeSet::new() }
    }

    pub(super) fn operation(&mut self, operation: Operation<'a>) -> OperationSection<'a> {
        let snippets = snippets::of(self.examples, operation);
        self.section(operation, Unfolding::All, snippets)
    }

    /// An event, with the body that Regente sends.
    pub(super) fn event(&mut self, event: Operation<'a>) -> OperationSection<'a> {
        let content = event.value.pointer("/requestBody/content/application~1json");
        // `transaction.authorized` is told by the word `authorized`, which is the status of the charge in it, too.
        let word = event.path.split_once('.').map(|(_, word)| word);
        let code = content.map(|content| Html::text(&pretty(&self.examples.content(content, word))));
        let snippets = code.map(|code| Snippet { language: "json", title: "JSON", code });
        self.section(event, Unfolding::NamedOnce, snippets.into_iter().collect())
    }

    /// All objects to which there is a link by now, and those to which they link.
    pub(super) fn objects(mut self) -> Vec<ObjectSection<'a>> {
        let (mut sections, mut written) = (Vec::new(), BTreeSet::new());
        while let Some(name) = self.linked.iter().find(|name| !written.contains(*name)).copied() {
            written.insert(name);
            let said = |member: &str| self.document.component(name).and_then(|object| object.get(member));
            let (text, example) = (said("description").and_then(Value::as_str), said("example"));
            sections.push(ObjectSection {
                name,
                id: object_id(name),
                text: Html::line(text.unwrap_or_default()),
                shape: self.reader(Unfolding::NamedOnce).object(name),
                example: example.map(|example| Html::text(&pretty(example))),
            });
        }
        sections.sort_by_key(|section| section.name);
        sections
    }

    fn reader(&mut self, unfolding: Unfolding) -> Reader<'_, 'a> {
        Reader::new(self.document, unfolding, &mut self.linked)
    }

    fn section(
        &mut self,
        operation: Operation<'a>,
        unfolding: Unfolding,
        snippets: Vec<Snippet>,
    ) -> OperationSection<'a> {
        let parameters = operation.parameters().map(|said| ParameterRow {
            said,
            text: Html::line(said.text),
            shape: self.reader(unfolding).shape(said.schema),
        });
        let parameters = parameters.collect();
        let body = operation.value.get("requestBody");
        let contents = body.and_then(|body| body.get("content")?.as_object()).into_iter().flatten();
        let is_required =
            body.and_then(|body| body.get("required")).is_some_and(|required| *required == true);
        let bodies = contents.filter_map(|(kind, content)| {
            let shape = self.reader(unfolding).shape(content.get("schema")?);
            Some(BodySection { kind, is_required, shape })
        });
        let bodies = bodies.collect();
        let demanded = operation.value.get("security").and_then(Value::as_array);
        let keys = self.document.headers_of_keys(operation).into_iter().map(Html::code);
        OperationSection {
            id: operation.says("operationId"),
            method: operation.method,
            path: operation.path,
            summary: Html::line(operation.says("summary")),
            text: Html::paragraphs(operation.says("description")),
            keys: joined(keys, " and "),
            has_alternative: demanded.is_some_and(|demanded| demanded.contains(&json!({}))),
            parameters,
            bodies,
            answers: operation.answers().map(|(status, answer)| self.answer(status, answer)).collect(),
            snippets,
        }
    }

    fn answer(&mut self, status: &'a str, answer: &'a Value) -> AnswerSection<'a> {
        let text = answer.get("description").and_then(Value::as_str).unwrap_or_default();
        let contents = answer.get("content").and_then(Value::as_object).into_iter().flatten();
        let json = contents.clone().find(|(kind, _)| *kind == "application/json").map(|(_, content)| content);
        let (kind, below) = match json.and_then(|json| json.get("schema")) {
            Some(schema) => {
                let shape = self.reader(Unfolding::NamedOnce).shape(schema);
                (shape.kind, shape.below)
            }
            None => (joined(contents.map(|(kind, _)| Html::text(kind)), ", "), None),
        };
        let headers = answer.get("headers").and_then(Value::as_object).into_iter().flatten();
        let headers = headers.map(|(name, header)| {
            let text = header.get("description").and_then(Value::as_str).unwrap_or_default();
            (name.as_str(), Html::line(text))
        });
        // The refusals of one kind look the same everywhere: their object says it.
        let example = json.filter(|json| status.starts_with('2') || json.get("example").is_some());
        let example = example.map(|json| Html::text(&pretty(&self.examples.content(json, None))));
        AnswerSection { status, text: Html::line(text), kind, headers: headers.collect(), below, example }
    }
}

impl OperationSection<'_> {
    pub(super) fn is_event(&self) -> bool {
        !self.path.starts_with('/')
    }
}

impl<'a> ObjectSection<'a> {
    /// Its fields, or its kinds.
    pub(super) fn fields(&self) -> Option<&Fields<'a>> {
        self.shape.below.as_ref().map(|below| &below.fields)
    }
}
