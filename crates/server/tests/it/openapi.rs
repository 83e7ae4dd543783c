//! The OpenAPI document is complete and current, and bodies and answers match it.

mod bodies;
pub mod generators;
mod mutation;
mod words;

use std::collections::BTreeSet;
use std::path::Path;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, Request};
use document::Document;
use records::{Call, Records, fresh_key, put};
use schema::Members;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::client::Reply;
use crate::support::document::doors::{CHALLENGES, KEY_OR_LINK, NOTIFICATIONS, OPEN_TO_ALL};
use crate::support::document::schema;
use crate::support::{document, records};

stories! {
    every_example_succeeds,
}

#[test]
fn the_file_in_the_repository_is_the_document_of_this_build() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../openapi.json");
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    let current = &Document::current().value;
    let text = serde_json::to_string_pretty(current).unwrap() + "\n";
    assert!(stored == text, "openapi.json is stale: run `make openapi`");
    assert_eq!(current["openapi"], "3.1.0");
}

#[test]
fn every_operation_says_what_a_reader_needs() {
    let document = Document::current();
    let mut ids = BTreeSet::new();
    for operation in &document.operations {
        let (name, value) = (operation.name(), &operation.value);
        let id = value["operationId"].as_str().unwrap_or_else(|| panic!("{name} has no operationId"));
        assert!(ids.insert(id), "{name}: {id} is taken");
        assert_eq!(value["tags"].as_array().map(Vec::len), Some(1), "{name} has one tag");
        for text in [&value["summary"], &value["description"]] {
            let text = text.as_str().unwrap_or("");
            assert!(!text.contains("contract"), "{name} speaks of a text that readers do not have: {text}");
        }
        assert!(value["summary"].as_str().is_some_and(|text| text.ends_with('.')), "{name} has a summary");
        let expected = match OPEN_TO_ALL.contains(&operation.path.as_str()) {
            true => Value::Null,
            false if operation.path == KEY_OR_LINK => json!([{ "client_id": [], "api_key": [] }, {}]),
            false => json!([{ "client_id": [], "api_key": [] }]),
        };
        assert_eq!(value["security"], expected, "{name}: security");
        // Only the caller of an operation with a key can be refused for it.
        assert_eq!(value["responses"].get("403").is_none(), expected.is_null(), "{name}: 403");
        if let Some(schema) = document.body_schema(operation) {
            let example = document.body_example(operation).unwrap_or_else(|| panic!("{name} has no example"));
            let problems = schema::problems(document, schema, example, Members::Any);
            assert!(problems.is_empty(), "{name}: its own example: {problems:#?}");
        }
        let parameters = value["parameters"].as_array().into_iter().flatten();
        let in_path =
            parameters.filter(|parameter| parameter["in"] == "path" && parameter["required"] == true);
        assert_eq!(in_path.count(), operation.parameters(), "{name}: parameters of the path");
    }
}

#[test]
fn the_schemas_speak_of_nothing_that_readers_do_not_have() {
    fn texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::String(text) => found.push(text),
            Value::Array(values) => values.iter().for_each(|value| texts(value, found)),
            Value::Object(members) => members.values().for_each(|value| texts(value, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let document = Document::current();
    // Follows every reference of the document, also those in answers that no test gets.
    let text = document.value.to_string();
    for reference in text.split(r#""$ref":"#).skip(1) {
        let reference = reference.split('"').nth(1).unwrap();
        document.resolve(&json!({ "$ref": reference }));
    }
    let mut found = Vec::new();
    texts(&document.value, &mut found);
    found.retain(|text| text.contains("contract") || text.contains('§') || text.contains("crate::"));
    assert!(found.is_empty(), "{found:#?}");
    for (name, schema) in document.value["components"]["schemas"].as_object().unwrap() {
        let is_of_errors = ["ErrorBody", "ForbiddenBody"].contains(&name.as_str());
        let is_of_code = name.ends_with("View") || name.ends_with("Body");
        assert!(is_of_errors || !is_of_code, "{name} is a name of the code");
        if let Some(example) = schema.get("example") {
            // The members of credentials depend on their type.
            let members = if name == "NewCredentials" { Members::Any } else { Members::DocumentedAlone };
            let problems = schema::problems(document, schema, example, members);
            assert!(problems.is_empty(), "{name}: its own example: {problems:#?}");
        }
    }
}

/// Every described operation is in the router, and every route of the router is described.
#[test]
fn every_described_route_is_served() {
    fn sources(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }
    let mut texts = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut texts);
    let described: usize = texts.iter().map(|text| text.matches("#[utoipa::path(").count()).sum();
    assert_eq!(
        described,
        Document::current().operations.len(),
        "operations described, and operations served"
    );
    let router = include_str!("../../src/api/router.rs");
    assert!(
        !router.contains(".route(") && !router.contains(".nest("),
        "a route that the document does not know"
    );
}

#[tokio::test]
async fn only_what_is_documented_is_served() {
    let app = TestApp::sqlite().await;
    let document = Document::current();
    let paths: BTreeSet<&str> = document.operations.iter().map(|operation| operation.path.as_str()).collect();
    for path in paths {
        let concrete = path.replace(['{', '}'], "");
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let is_documented = document.operation(&method, path).is_some_and(|found| found.path == path);
            let request = Request::builder().method(&method).uri(&concrete).body(Body::empty()).unwrap();
            let status = app.send(request).await.status.as_u16();
            assert_eq!(status == 405, !is_documented, "{method} {path}: {status}");
        }
    }
}

/// Each operation with its own example, then with the errors of every caller. `support/client.rs` compares each answer with the
/// document.
async fn every_example_succeeds(app: TestApp) {
    let document = Document::current();
    let records = Records { app: &app, client: &app.client };
    let is_signed = |path: &str| [NOTIFICATIONS, CHALLENGES].contains(&path);
    for operation in document.operations.iter().filter(|operation| !is_signed(&operation.path)) {
        let name = operation.name();
        let call = records.call(operation).await;
        let path = call.path(operation);
        let send = async |headers: &[(&str, &str)], body: Option<&Value>| {
            let key = fresh_key();
            let needed = if headers.is_empty() { operation.headers(&key) } else { headers.to_vec() };
            app.call(&app.client, operation.method.clone(), &path, &needed, body).await
        };
        let key = fresh_key();
        let reply = call.send(&app, &app.client, operation, &operation.headers(&key)).await;
        assert!(
            reply.status.is_success(),
            "{name}: {} {}",
            reply.status,
            String::from_utf8_lossy(&reply.bytes)
        );
        // The same request again: the record is gone, or the token is used.
        send(&[], call.body.as_ref()).await;
        if call.body.is_some() {
            let reply = send(&[], Some(&json!({ "\u{0}": 1 }))).await;
            assert_eq!(reply.status, 400, "{name}");
        }
        let without = call.send(&app, &app.client, operation, &[("X-Idempotency-Key", "")]).await;
        let names_the_key =
            String::from_utf8_lossy(&without.bytes).contains("X-Idempotency-Key should not be empty");
        assert_eq!(
            names_the_key,
            operation.takes_a_key(),
            "{name} reads a key if it is documented, and only then"
        );
        if operation.value["responses"].get("404").is_some() && !call.ids.is_empty() {
            let nobodys = vec!["3f1c1b1e-2a7b-4a57-9d35-000000000000".to_owned(); operation.parameters()];
            let query = call.ids.get(operation.parameters()).cloned();
            let path = Call { ids: nobodys.into_iter().chain(query).collect(), body: None }.path(operation);
            let key = fresh_key();
            let headers = operation.headers(&key);
            let (method, body) = (operation.method.clone(), call.body.as_ref());
            let reply = app.call(&app.client, method, &path, &headers, body).await;
            assert_eq!(reply.status, 404, "{name}");
        }
        let parameters = operation.value["parameters"].as_array().into_iter().flatten();
        if parameters
            .filter(|parameter| ["page", "limit"].contains(&parameter["name"].as_str().unwrap()))
            .count()
            == 2
            && call.ids.is_empty()
        {
            let path = format!("{path}?limit=0&page=x");
            let reply = app.get(&path).await;
            assert_eq!(reply.details(400).len(), 2, "{name}");
        }
    }
}

/// Shows that an answer is noticed that does not match, on which every test relies.
#[test]
fn an_answer_that_is_not_as_documented_is_noticed() {
    let document = Document::current();
    let reply = |status: u16, body: Value| Reply {
        status: status.try_into().unwrap(),
        headers: [(CONTENT_TYPE, "application/json".parse().unwrap())].into_iter().collect(),
        bytes: serde_json::to_vec(&body).unwrap(),
    };
    let problems = |status, body| document.problems_of(&Method::POST, "/v1/tokens", &reply(status, body));
    let token = json!({ "tokenId": "cc0b1e41-2936-45c5-947f-93995ffcdc00" });
    assert_eq!(problems(201, token.clone()), [""; 0]);
    let refusal =
        |kind: &str| json!({ "error": { "type": kind, "code": 400, "message": "", "details": [] } });
    assert_eq!(problems(400, refusal("bad_request")), [""; 0]);
    for (status, body) in [
        (200, token.clone()),
        (418, token.clone()),
        (201, json!({})),
        (201, json!([])),
        (201, json!({ "tokenId": 7 })),
        (201, json!({ "tokenId": "7" })),
        (201, json!({ "tokenId": null })),
        (201, put(token.clone(), "number", "4916745120294124")),
        (400, refusal("no_such_type")),
        (400, json!({ "error": { "type": "bad_request", "code": "400", "message": "", "details": [] } })),
        (400, json!({ "error": { "type": "bad_request", "code": 400, "message": "", "details": [1] } })),
        (
            400,
            json!({ "error": { "type": "bad_request", "code": 400, "message": "", "declinedCode": null } }),
        ),
        (403, refusal("unauthorized")),
    ] {
        assert!(!problems(status, body.clone()).is_empty(), "{status} {body}");
    }
    let empty = Reply { bytes: Vec::new(), ..reply(204, Value::Null) };
    assert_eq!(document.problems_of(&Method::DELETE, "/v1/cards/x", &empty), [""; 0]);
    assert_eq!(document.problems_of(&Method::DELETE, "/v1/cards/x", &reply(204, token)).len(), 1);
}

#[tokio::test]
async fn the_document_is_served() {
    let app = TestApp::sqlite().await;
    let served = app.send(Request::builder().uri("/openapi.json").body(Body::empty()).unwrap()).await;
    assert_eq!(served.header("content-type"), Some("application/json"));
    assert_eq!(served.expect(200), Document::current().value);
}
