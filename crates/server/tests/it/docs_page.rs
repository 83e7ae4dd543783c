//! The reference at `/docs`: it has all of the document, its links and examples are right, and it loads nothing from elsewhere.
//! `browsers.rs` reads it in a browser.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use axum::body::Body;
use axum::http::{Method, Request};
use flate2::read::GzDecoder;
use regente::api::docs_page::{KeySource, render};
use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::client::Reply;
use crate::support::document::Document;
use crate::support::document::schema::{self, Members};
use crate::support::server::Server;

/// What the page may weigh, which phones load.
const BYTES_MAX: usize = 1_500_000;
/// The same as it is sent.
const COMPRESSED_BYTES_MAX: usize = 150_000;

async fn get(app: &TestApp, path: &str, headers: &[(&str, &str)]) -> Reply {
    let mut request = Request::builder().uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    app.send(request.body(Body::empty()).unwrap()).await
}

async fn page(app: &TestApp) -> String {
    String::from_utf8(get(app, "/docs", &[]).await.bytes).unwrap()
}

/// What stands between two texts, wherever they follow one another.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Vec<&'a str> {
    text.split(before).skip(1).map(|rest| rest.split_once(after).expect("it ends").0).collect()
}

/// Text as a browser shows it.
fn shown(html: &str) -> String {
    let plain = html.replace("<var>", "").replace("</var>", "");
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    entities.iter().fold(plain, |text, (entity, character)| text.replace(entity, character))
}

/// The section of an operation, by its id.
fn section<'a>(page: &'a str, id: &str) -> &'a str {
    let (before, section) = page.split_once(&format!("<div id=\"{id}\"")).expect(id);
    let begin = before.rfind("<details class=\"entry\">").unwrap();
    let rest = section.find("<details class=\"entry\">").map_or("", |end| &section[end..]);
    &page[begin..page.len() - rest.len()]
}

/// The example of a section in a language.
fn example(section: &str, language: &str) -> Option<String> {
    let (_, example) = section.split_once(&format!("data-language=\"{language}\""))?;
    Some(shown(between(example, "<pre>", "</pre>").first()?))
}

#[tokio::test]
async fn every_operation_and_every_event_has_its_section() {
    let app = TestApp::sqlite().await;
    let (page, document) = (page(&app).await, Document::current());
    for operation in &document.operations {
        let section = section(&page, operation.value["operationId"].as_str().unwrap());
        assert!(section.contains(&format!(">{}</b>", operation.method)), "{section}");
        assert!(section.contains(&format!("<code>{}</code>", operation.path)), "{section}");
        for parameter in operation.value["parameters"].as_array().into_iter().flatten() {
            let name = format!("<code>{}</code>", parameter["name"].as_str().unwrap());
            assert!(section.contains(&name), "{name}: {section}");
        }
        for status in operation.value["responses"].as_object().unwrap().keys() {
            assert!(section.contains(&format!("<li><b>{status}</b>")), "{status}: {section}");
        }
        let fields = document.body_schema(operation).and_then(|schema| schema["properties"].as_object());
        for name in fields.into_iter().flatten().map(|(name, _)| name) {
            assert!(section.contains(&format!("<li><code>{name}</code>")), "{name}: {section}");
        }
    }
    for (name, event) in document.value["webhooks"].as_object().unwrap() {
        let section = section(&page, event["post"]["operationId"].as_str().unwrap());
        assert!(section.contains(&format!("<code>{name}</code>")), "{section}");
        let sent: Value = serde_json::from_str(&example(section, "json").unwrap()).unwrap();
        document.assert_promised_event(&sent);
    }
}

#[tokio::test]
async fn every_link_within_the_page_leads_somewhere() {
    let app = TestApp::sqlite().await;
    let page = page(&app).await;
    let ids = between(&page, " id=\"", "\"");
    let mut seen = BTreeSet::new();
    for id in &ids {
        assert!(seen.insert(id), "{id} is there twice");
    }
    let links = between(&page, "href=\"#", "\"");
    assert!(links.len() > 500, "{}", links.len());
    for link in links.iter().chain(&between(&page, "aria-labelledby=\"", "\"")) {
        assert!(seen.contains(link), "{link} leads nowhere");
    }
}

/// The examples are what the document says, and could be sent.
#[tokio::test]
async fn the_examples_are_those_of_the_document() {
    let app = TestApp::sqlite().await;
    let (page, document) = (page(&app).await, Document::current());
    let mut bodies = 0;
    for operation in &document.operations {
        let (name, id) = (operation.name(), operation.value["operationId"].as_str().unwrap());
        let section = section(&page, id);
        let [curl, node, python] =
            ["curl", "node", "python"].map(|language| example(section, language).expect(&name));
        let path = operation.path.split('{').next().unwrap();
        assert!(curl.starts_with("curl -sS") && curl.contains(&format!("\"$REGENTE_URL{path}")), "{curl}");
        assert!(!curl.lines().next().unwrap().contains('{'), "every parameter has a value: {curl}");
        assert!(node.contains(&format!("process.env.REGENTE_URL + \"{path}")), "{node}");
        assert!(python.contains(&format!("os.environ[\"REGENTE_URL\"] + \"{path}")), "{python}");
        let needs_a_key = !operation.value["security"].is_null();
        for code in [&curl, &node, &python] {
            assert_eq!(code.contains("REGENTE_API_KEY"), needs_a_key, "{code}");
            assert_eq!(code.contains("X-Idempotency-Key"), operation.takes_a_key(), "{code}");
        }
        let Some(schema) = document.body_schema(operation) else { continue };
        bodies += 1;
        let in_curl = curl.split_once("-d '").expect(&curl).1.strip_suffix('\'').expect(&curl);
        let in_node = between(&node, "JSON.stringify(", "),\n})")[0];
        let sent: Value = serde_json::from_str(&in_curl.replace(r"'\''", "'")).expect(&curl);
        assert_eq!(serde_json::from_str::<Value>(in_node).expect(&node), sent, "{name}");
        assert_eq!(
            serde_json::from_str::<Value>(&example(section, "json").unwrap()).unwrap(),
            sent,
            "{name}"
        );
        assert_eq!(Some(&sent), document.body_example(operation), "{name}");
        assert_eq!(schema::problems(document, schema, &sent, Members::Any), [""; 0], "{name}");
    }
    assert!(bodies > 40, "{bodies}");
}

/// What is answered, as the page shows it, is what would be.
#[tokio::test]
async fn the_examples_of_answers_match_the_document() {
    let app = TestApp::sqlite().await;
    let (page, document) = (page(&app).await, Document::current());
    let mut shown_answers = 0;
    for operation in &document.operations {
        let section = section(&page, operation.value["operationId"].as_str().unwrap());
        let (_, answers) = section.split_once("<ul class=\"answers\">").unwrap();
        let (answers, _) = answers.split_once("<div class=\"side\">").unwrap();
        for answer in answers.split("<li><b>").skip(1) {
            let (status, rest) = answer.split_once("</b>").unwrap();
            let Some((_, example)) = rest.split_once("<pre>") else { continue };
            let example = shown(example.split_once("</pre>").unwrap().0);
            let example: Value = serde_json::from_str(&example).unwrap();
            let schema = &operation.value["responses"][status]["content"]["application/json"]["schema"];
            let problems = schema::problems(document, schema, &example, Members::DocumentedAlone);
            assert_eq!(problems, [""; 0], "{}: {status}: {example:#}", operation.name());
            shown_answers += 1;
        }
    }
    assert!(shown_answers > 120, "{shown_answers}");
}

#[tokio::test]
async fn the_page_loads_its_own_files_and_nothing_else() {
    let app = TestApp::sqlite().await;
    let reply = get(&app, "/docs", &[]).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), Some("text/html; charset=utf-8"));
    let policy: BTreeMap<&str, &str> = reply
        .header("content-security-policy")
        .unwrap()
        .split("; ")
        .map(|part| part.split_once(' ').unwrap())
        .collect();
    let expected = [
        ("default-src", "'none'"),
        ("script-src", "'self'"),
        ("style-src", "'self'"),
        ("img-src", "'self' data:"),
        ("connect-src", "'none'"),
        ("base-uri", "'none'"),
        ("form-action", "'none'"),
        ("frame-ancestors", "'none'"),
    ];
    assert_eq!(policy, BTreeMap::from(expected));
    let html = String::from_utf8(reply.bytes).unwrap();
    assert!(!html.contains(" style=") && !html.contains("<style") && !html.contains(" onclick="));
    let of_head = html.split_once("</head>").unwrap().0;
    let files: Vec<&str> = [between(of_head, "href=\"", "\""), between(&html, "src=\"", "\"")]
        .concat()
        .into_iter()
        .filter(|file| *file != "data:,")
        .collect();
    assert_eq!(files.len(), 2, "{files:?}");
    for file in files {
        assert!(file.starts_with("/docs/assets/docs-"), "{file}");
        let file = get(&app, file, &[]).await;
        assert_eq!(file.status, 200);
        assert_eq!(file.header("cache-control"), Some("public, max-age=31536000, immutable"));
        let text = String::from_utf8(file.bytes).unwrap();
        assert!(!text.contains("://"), "{text}");
        assert!(!text.contains("url(") && !text.contains("@import") && !text.contains("fetch("), "{text}");
    }
    // Addresses in texts are no links.
    let links = between(&html, "href=\"", "\"");
    assert!(links.iter().all(|link| link.starts_with(['#', '/']) || *link == "data:,"), "{links:?}");
    assert!(links.iter().all(|link| !link.starts_with("//")), "{links:?}");
}

#[tokio::test]
async fn a_browser_that_has_the_page_is_not_sent_it_again() {
    let app = TestApp::sqlite().await;
    let whole = get(&app, "/docs", &[]).await;
    let compressed = get(&app, "/docs", &[("accept-encoding", "gzip")]).await;
    assert_eq!(compressed.header("content-encoding"), Some("gzip"));
    assert_eq!(whole.header("vary"), Some("accept-encoding"));
    let mut unpacked = Vec::new();
    GzDecoder::new(&*compressed.bytes).read_to_end(&mut unpacked).unwrap();
    assert!(unpacked == whole.bytes, "both are the same page");
    assert!(whole.bytes.len() <= BYTES_MAX, "{} bytes", whole.bytes.len());
    assert!(compressed.bytes.len() <= COMPRESSED_BYTES_MAX, "{} bytes compressed", compressed.bytes.len());
    assert_eq!(get(&app, "/docs/", &[]).await.bytes, whole.bytes, "also where the address ends with a slash");

    let tag = whole.header("etag").unwrap();
    for (known, status) in
        [(tag.to_owned(), 304), (format!("\"other\", {tag}"), 304), ("\"other\"".to_owned(), 200)]
    {
        let reply = get(&app, "/docs", &[("if-none-match", &known)]).await;
        assert_eq!(reply.status.as_u16(), status, "{known}");
        assert_eq!(reply.bytes.is_empty(), status == 304, "{known}");
        assert_eq!(reply.header("etag"), Some(tag), "{known}");
        assert!(reply.header("content-security-policy").is_some(), "{known}");
    }
    let refused =
        app.send(Request::builder().method(Method::POST).uri("/docs").body(Body::empty()).unwrap()).await;
    assert_eq!(refused.status, 405);
}

/// What a document says is shown as text, wherever it stands.
#[test]
fn tags_in_the_document_are_shown_as_text() {
    const TAG: &str = "<script>alert(\"1\")</script>";
    let said = format!("{TAG} `{TAG}` <b>&amp;\n\n<img src=x>");
    let schema = json!({
        "type": "object", "description": said, "required": [TAG],
        "properties": { TAG: { "type": "string", "description": said, "default": TAG, "pattern": TAG, "enum": [TAG, "b"] },
            "o": { "$ref": format!("#/components/schemas/{TAG}") } },
    });
    let content = json!({ "application/json": { "schema": schema, "example": { TAG: TAG, "'": "'" } } });
    let operation = json!({
        "tags": [TAG], "operationId": "one", "summary": said, "description": said,
        "parameters": [{ "name": TAG, "in": "query", "required": true, "description": said, "schema": schema }],
        "requestBody": { "content": content },
        "responses": { "200": { "description": said, "content": content, "headers": { TAG: { "description": said } } } },
    });
    let document = json!({
        "info": { "title": said, "version": said, "description": said },
        "paths": { format!("/{TAG}"): { "post": operation }, "/b": { "get": operation } },
        "webhooks": { format!("a.{TAG}"): { "post": operation } },
        "components": { "schemas": { TAG: schema } },
    });
    let page = render(document.to_string().as_bytes(), KeySource::Operator).unwrap();
    assert_eq!(page.matches("<script").count(), 1, "the page's own: {page}");
    assert_eq!((page.matches("<img").count(), page.matches("<b>&").count()), (0, 0), "{page}");
    assert!(page.contains("&lt;script&gt;") && page.contains("<code>&lt;script&gt;"), "{page}");
}

/// The descriptions are written as the page reads them: paragraphs, and code between backquotes.
#[test]
fn the_document_has_no_markdown_that_the_page_does_not_know() {
    fn descriptions<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(members) => members.iter().for_each(|(name, member)| match member.as_str() {
                Some(text) if name == "description" || name == "summary" => found.push(text),
                Some(_) | None => descriptions(member, found),
            }),
            Value::Array(values) => values.iter().for_each(|value| descriptions(value, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut found = Vec::new();
    descriptions(&Document::current().value, &mut found);
    assert!(found.len() > 1000, "{}", found.len());
    found.retain(|text| {
        let begins =
            |line: &str| ["* ", "- ", "# ", "> ", "| ", "1. "].iter().any(|mark| line.starts_with(mark));
        let has_mark = ["](", "**", "```"].iter().any(|mark| text.contains(mark));
        has_mark || text.matches('`').count() % 2 == 1 || text.lines().any(begins)
    });
    assert_eq!(found, [""; 0]);
}

#[tokio::test]
async fn the_page_says_where_the_key_is() {
    let app = TestApp::sqlite().await;
    let of_operator = page(&app).await;
    assert!(of_operator.contains("regente keys create") && !of_operator.contains("dev.env"));
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let of_dev = server.get("/docs").send().await.unwrap().text().await.unwrap();
    assert!(of_dev.contains("dev.env") && !of_dev.contains("regente keys create"));
    server.stop().await;
}
