//! Files that show who a seller is: they wait for it, go to its providers, and come to an end.

use std::time::Duration;

use axum::http::Method;
use regente_engine::vault::{Binding, Purpose};
use regente_store::{args, seller_documents, sql};
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::client::{Client, Reply};
use crate::support::forms::{BOMB, Form, jpeg, png};
use crate::support::read::text;
use crate::support::sellers;
use crate::support::sellers::{DOCUMENTS, SELLERS, changed, made, selfie, seller_body};

stories! {
    a_file_waits_for_its_seller_and_goes_to_its_provider,
    what_is_no_document_is_refused_and_nothing_is_kept,
    a_file_comes_to_its_end,
}

sql! {
    COUNT_FILES = "SELECT COUNT(*) AS n FROM seller_documents WHERE client_id = :client_id";
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn sent(app: &TestApp, client: &Client, form: &Form) -> Reply {
    app.send(form.request_to(client, Method::POST, DOCUMENTS)).await
}

async fn uploaded(app: &TestApp, kind: &str, bytes: &[u8]) -> Value {
    let form = Form::of(&[("type", kind)]).with_upload("file", "a", bytes);
    sent(app, &app.client, &form).await.expect(201)
}

/// The heads of pictures of one pixel.
fn bmp() -> Vec<u8> {
    [&b"BM"[..], &[0; 16], &1_u32.to_le_bytes(), &1_u32.to_le_bytes()].concat()
}

fn webp() -> Vec<u8> {
    let head = b"RIFF\x20\x00\x00\x00WEBPVP8 \x14\x00\x00\x00\x00\x00\x00\x9d\x01\x2a";
    [&head[..], &1_u16.to_le_bytes(), &1_u16.to_le_bytes(), &[0; 16]].concat()
}

fn heic() -> Vec<u8> {
    let boxed = |name: &[u8; 4], content: &[u8]| {
        let length = u32::try_from(8 + content.len()).unwrap();
        [&length.to_be_bytes(), name, content].concat()
    };
    let size = boxed(b"ispe", &[&[0; 4][..], &1_u32.to_be_bytes(), &1_u32.to_be_bytes()].concat());
    let properties = boxed(b"iprp", &boxed(b"ipco", &size));
    let begin = boxed(b"ftyp", b"heic\0\0\0\0mif1heic");
    [begin, boxed(b"meta", &[&[0; 4][..], &properties].concat())].concat()
}

fn path(document: &Value) -> String {
    format!("{DOCUMENTS}/{}", text(&document["id"]))
}

/// How many files are stored.
pub(super) async fn kept(app: &TestApp) -> u64 {
    let client_id = app.client_id();
    app.app.store.row(&COUNT_FILES, args! { client_id }).await.unwrap().unwrap().get("n").unwrap()
}

async fn a_file_waits_for_its_seller_and_goes_to_its_provider(app: TestApp) {
    let (selfie, front) =
        (uploaded(&app, "SELFIE", &png().bytes).await, uploaded(&app, "CNH_FRONT", &jpeg().bytes).await);
    let expected = json!({
        "id": selfie["id"], "type": "SELFIE", "status": "uploaded", "expiresAt": "2026-03-30T15:12:38.379Z",
    });
    assert_eq!(selfie, expected);
    assert_eq!(app.get(&path(&selfie)).await.expect(200), selfie);

    // What rests in the database opens for this file alone.
    let (client_id, id) = (app.client_id(), text(&selfie["id"]).parse().unwrap());
    let sealed = seller_documents::file(&app.app.store, client_id, id).await.unwrap().unwrap();
    assert!(!sealed.bytes.windows(8).any(|window| window == &png().bytes[..8]));
    let binding = |id| Binding::new(Purpose::SellerDocument, client_id, id);
    assert_eq!(*app.app.vault.open(binding(id.uuid()), &sealed).await.unwrap(), png().bytes);
    app.app.vault.open(binding(text(&front["id"]).parse().unwrap()), &sealed).await.unwrap_err();

    let listed = async |query: &str| {
        let page = app.get(&format!("{DOCUMENTS}{query}")).await.expect(200);
        page["items"].as_array().unwrap().clone()
    };
    let (both, nothing) = (vec![front.clone(), selfie.clone()], Vec::<Value>::new());
    for (query, found) in [
        ("", both.clone()),
        ("?sort=asc", vec![selfie.clone(), front.clone()]),
        ("?type=SELFIE", vec![selfie.clone()]),
        ("?type=SELFIE,CNH_FRONT&status=uploaded", both.clone()),
        ("?status=attached", nothing.clone()),
        ("?createdAt=2026-03-23", both.clone()),
        ("?createdAt=2026-03-24", nothing.clone()),
        ("?limit=1&page=2", vec![selfie.clone()]),
    ] {
        assert_eq!(listed(query).await, found, "{query}");
    }
    assert_eq!(app.get(&format!("{DOCUMENTS}?limit=51")).await.details(400).len(), 1);

    // The simulator takes the files of a new seller at once, and those that come later.
    let merchant = app.merchant().await;
    let mut body = seller_body(&merchant);
    body["documentIds"] = json!([selfie["id"], selfie["id"]]);
    let seller = made(&app, &body).await;
    assert_eq!(listed("?status=sent").await, [with_status(&selfie, "sent")]);
    changed(&app, &seller, &json!({ "documentIds": [front["id"], selfie["id"]] })).await;
    assert_eq!(app.get(&path(&front)).await.expect(200)["status"], "sent");

    // One that a seller has stays, and no other seller gets it.
    let refusal = app.delete(&path(&selfie)).await;
    assert_eq!(refusal.details(400), ["document already attached to a seller"]);
    let mut other = seller_body(&app.merchant().await);
    for taken in [&selfie["id"], &json!(app.client.id)] {
        other["documentIds"] = json!([taken]);
        assert_eq!(app.post(SELLERS, &other).await.details(400), ["documentIds[0] was not found"]);
    }

    app.later(30 * DAY).await;
    assert_eq!(app.get(&path(&selfie)).await.status, 404);
    assert_eq!(kept(&app).await, 0, "thirty days after a provider got them they are deleted");
}

fn with_status(document: &Value, status: &str) -> Value {
    let mut document = document.clone();
    document["status"] = json!(status);
    document
}

async fn what_is_no_document_is_refused_and_nothing_is_kept(app: TestApp) {
    let pdf = b"%PDF-1.4\n<< /Type /Page >>\n%%EOF\n".to_vec();
    let program = b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0".to_vec();
    let formats = "file must be a PNG, JPEG, BMP, WebP, HEIC, HEIF or PDF file";
    let pictures = "file must be a PNG, JPEG, BMP, WebP, HEIC or HEIF file for this type";
    let file =
        |kind: &str, name: &str, bytes: &[u8]| Form::of(&[("type", kind)]).with_upload("file", name, bytes);
    let cases: Vec<(&str, Form, Vec<&str>)> = vec![
        ("a program", file("SELFIE", "id.pdf", &program), vec![formats]),
        ("a page", file("SELFIE", "id.png", b"<html><script>alert(1)</script></html>"), vec![formats]),
        ("no bytes", file("SELFIE", "id.png", b""), vec!["file should not be empty"]),
        (
            "a bomb",
            file("SELFIE", "id.png", &BOMB),
            vec!["file must not have more than 64000000 pixels, nor more than 16384 on a side"],
        ),
        ("half a file", file("SELFIE", "id.pdf", &pdf[..12]), vec!["file must be a file that can be read"]),
        (
            "many pages",
            file("CNH_FULL", "id.pdf", &[&pdf[..9], &b"<< /Type /Page >>\n".repeat(21), &pdf[9..]].concat()),
            vec!["file must not have more than 20 pages"],
        ),
        ("a PDF for one side", file("RG_FRONT", "id.png", &pdf), vec![pictures]),
        ("a PDF for the other", file("RG_BACK", "id.png", &pdf), vec![pictures]),
        ("a PDF for a front", file("CNH_FRONT", "id.png", &pdf), vec![pictures]),
        ("a PDF for a back", file("CNH_BACK", "id.png", &pdf), vec![pictures]),
        (
            "no type",
            Form::of(&[]).with_upload("file", "a", &program),
            vec!["type should not be empty", formats],
        ),
        (
            "another type",
            file("PASSPORT", "a", &png().bytes),
            vec![
                "type must be one of the following values: SELFIE, CNH_FULL, CNH_FRONT, CNH_BACK, RG_FRONT, RG_BACK",
            ],
        ),
        ("no file", Form::of(&[("type", "SELFIE")]), vec!["file should not be empty"]),
    ];
    for (name, form, details) in cases {
        let reply = sent(&app, &app.client, &form).await;
        assert_eq!(reply.details(400), details, "{name}");
    }
    let none = app.post(DOCUMENTS, &json!({ "type": "SELFIE" })).await;
    let malformed = "body must be a valid form: multipart/form-data with its boundary";
    assert_eq!(none.details(400), [malformed]);

    // One byte above the limit, and far above it.
    for (bytes, detail) in [
        (3 * 1024 * 1024 + 1, "file must not be larger than 3145728 bytes"),
        (4 * 1024 * 1024, "body must not be larger than 3162112 bytes"),
    ] {
        let mut large = png().bytes;
        large.resize(bytes, 0);
        assert_eq!(sent(&app, &app.client, &selfie(&large)).await.details(413), [detail]);
    }
    assert_eq!(kept(&app).await, 0);
    let mut largest = png().bytes;
    largest.resize(3 * 1024 * 1024, 0);
    sent(&app, &app.client, &selfie(&largest)).await.expect(201);
    let pdf = uploaded(&app, "CNH_FULL", &pdf).await;
    for (kind, picture) in [("CNH_BACK", bmp()), ("RG_FRONT", webp()), ("RG_BACK", heic())] {
        uploaded(&app, kind, &picture).await;
    }
    assert_eq!(kept(&app).await, 5);

    // Another account does not know it.
    let other = app.another_client().await;
    for method in [Method::GET, Method::DELETE] {
        assert_eq!(app.call(&other, method, &path(&pdf), &[], None).await.status, 404);
    }
}

async fn a_file_comes_to_its_end(app: TestApp) {
    let (waiting, unwanted) =
        (uploaded(&app, "SELFIE", &png().bytes).await, uploaded(&app, "SELFIE", &png().bytes).await);
    app.delete(&path(&unwanted)).await.expect(204);
    assert_eq!(app.delete(&path(&unwanted)).await.status, 404);
    app.clock.advance(7 * DAY);
    // Its time is over, also before a job has deleted it.
    assert_eq!(kept(&app).await, 1);
    assert_eq!(app.get(&path(&waiting)).await.status, 404);
    assert_eq!(app.get(DOCUMENTS).await.expect(200)["meta"]["totalItems"], 0);
    let mut body = seller_body(&app.merchant().await);
    body["documentIds"] = json!([waiting["id"]]);
    assert_eq!(app.post(SELLERS, &body).await.details(400), ["documentIds[0] was not found"]);
    app.run_jobs().await;
    assert_eq!(kept(&app).await, 0);

    // A deleted seller takes its files with it.
    let held = uploaded(&app, "SELFIE", &png().bytes).await;
    body["documentIds"] = json!([held["id"]]);
    let seller = made(&app, &body).await;
    assert_eq!(kept(&app).await, 1);
    sellers::deleted(&app, &seller).await;
    assert_eq!(kept(&app).await, 0);
    assert_eq!(app.get(&path(&held)).await.status, 404);
}
