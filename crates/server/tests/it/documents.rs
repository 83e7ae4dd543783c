//! The documents of charges, which payers see without a key (`docs/interface/charges.md#documents`). That the pictures
//! are what they should be is tested where they are drawn.

mod slip;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use regente::http::rates::Rate;
use regente_documents::{Mark, qr};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::documents::{ask, link, pix};

stories! {
    a_payer_sees_the_code_without_a_key,
    a_link_stays_the_same,
    a_link_that_we_did_not_make_is_not_found,
    a_charge_without_a_code_has_no_picture,
    an_address_that_guesses_links_waits,
}

async fn a_payer_sees_the_code_without_a_key(app: TestApp) {
    let (link, code) = pix(&app, "jose@example.com").await;
    assert_eq!(link.len(), 64);
    let drawn = qr::picture(&code, Mark::Sandbox).unwrap();
    for (format, kind, file) in
        [("png", "image/png", drawn.png().unwrap()), ("svg", "image/svg+xml", drawn.svg().into_bytes())]
    {
        let reply = ask(&app, &format!("{link}.{format}")).await;
        assert_eq!((reply.status.as_u16(), reply.header("content-type")), (200, Some(kind)));
        assert!(reply.bytes == file, "{format}: another picture");
        for (name, value) in [
            ("cache-control", "private, max-age=300"),
            ("content-security-policy", "default-src 'none'"),
            ("x-content-type-options", "nosniff"),
            ("cross-origin-resource-policy", "cross-origin"),
            ("x-robots-tag", "noindex"),
        ] {
            assert_eq!(reply.header(name), Some(value), "{format}");
        }
    }
}

async fn a_link_stays_the_same(app: TestApp) {
    let (first, _) = pix(&app, "jose@example.com").await;
    let id = app.get("/v1/charges").await.expect(200)["items"][0]["id"].as_str().unwrap().to_owned();
    let app = app.restart().await;
    assert_eq!(link(&app, &app.client, &id).await, first);
    assert_eq!(ask(&app, &format!("{first}.png")).await.status, 200);
}

async fn a_link_that_we_did_not_make_is_not_found(app: TestApp) {
    let (one, _) = pix(&app, "jose@example.com").await;
    let (other, _) = pix(&app, "maria@example.com").await;
    let stranger = app.another_client().await;
    let bytes = |link: &str| URL_SAFE_NO_PAD.decode(link).unwrap();
    let (one_bytes, other_bytes) = (bytes(&one), bytes(&other));
    let joined = |parts: [&[u8]; 3]| URL_SAFE_NO_PAD.encode(parts.concat());
    let swapped = joined([&one_bytes[..16], &one_bytes[16..32], &other_bytes[32..]]);
    let account: uuid::Uuid = stranger.id.parse().unwrap();
    let moved = joined([account.as_bytes(), &one_bytes[16..32], &one_bytes[32..]]);
    let nobody = joined([&[7; 16], &one_bytes[16..32], &one_bytes[32..]]);
    let mut last_bit = one_bytes.clone();
    *last_bit.last_mut().unwrap() ^= 1;
    // The stranger's own digest of a charge that is not the stranger's.
    let charge = uuid::Uuid::from_slice(&one_bytes[16..32]).unwrap().to_string();
    let own = link(&app, &stranger, &charge).await;
    for link in [&swapped, &moved, &nobody, &URL_SAFE_NO_PAD.encode(last_bit), &own, &one[1..], "", "x"] {
        let reply = ask(&app, &format!("{link}.png")).await;
        assert_eq!(reply.expect(404)["error"]["message"], "Resource not found", "{link}");
    }
    for file in [
        one.clone(),
        format!("{one}.pdf"),
        format!("{one}.PNG"),
        format!("{one}=.png"),
        format!("{one}.png.png"),
    ] {
        ask(&app, &file).await.expect(404);
    }
    assert_eq!(ask(&app, &format!("{one}.png")).await.status, 200);
}

async fn a_charge_without_a_code_has_no_picture(app: TestApp) {
    let body = charge_body(&app.merchant().await, APPROVED);
    let charge = app.post("/v1/charges", &body).await.expect(201);
    let link = link(&app, &app.client, charge["id"].as_str().unwrap()).await;
    ask(&app, &format!("{link}.png")).await.expect(404);
}

async fn an_address_that_guesses_links_waits(app: TestApp) {
    let app = app.with_limits(|limits| limits.rates.failed_authentications = Rate::per_minute(5)).await;
    let (link, _) = pix(&app, "jose@example.com").await;
    for _ in 0..20 {
        assert_eq!(ask(&app, &format!("{link}.png")).await.status, 200, "what exists may be asked for often");
    }
    let mut statuses = Vec::new();
    for _ in 0..100 {
        statuses.push(ask(&app, "guessed.png").await.status.as_u16());
        if statuses.ends_with(&[429]) {
            break;
        }
    }
    assert!(statuses.len() > 5 && statuses.ends_with(&[404, 429]), "{statuses:?}");
    assert_eq!(ask(&app, &format!("{link}.png")).await.header("retry-after"), Some("60"));
}
