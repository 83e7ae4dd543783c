//! Settings of payment links, and their logos (`docs/interface/settings.md`).

use axum::http::Method;
use forms::{BOMB, Form, Logo, file_at, jpeg, png};
use regente_engine::settings::Mode;
use regente_store::{args, sql};
use serde_json::{Value, json};

use crate::support::app::{ADDRESS, TestApp, stories};
use crate::support::client::{Client, Reply};
use crate::support::forms;
use crate::support::sessions::{create, session_body};

stories! {
    settings_are_made_read_and_changed,
    a_merchants_settings_count_before_the_accounts,
    a_logo_is_shown_to_everybody_without_what_was_hidden_in_it,
    a_replaced_logo_is_gone,
    every_wrong_field_is_named,
    a_change_of_nothing_is_refused,
    a_key_gets_its_answer_again,
    settings_made_at_once_are_made_once,
    addresses_without_encryption_are_for_the_sandbox,
    a_link_shows_the_settings_that_count_for_its_merchant,
}

sql! {
    COUNT_LOGOS = "SELECT COUNT(*) AS n FROM logos WHERE client_id = :client_id";
}

const SETTINGS: &str = "/v1/settings";
const COLORS: [&str; 6] =
    ["mainColor", "secondaryColor", "attentionColor", "errorColor", "successColor", "backgroundColor"];

async fn sent(
    app: &TestApp,
    client: &Client,
    method: Method,
    merchant: Option<&str>,
    body: Option<&Value>,
) -> Reply {
    let headers: Vec<(&str, &str)> =
        merchant.map(|merchant| ("X-Merchant-Id", merchant)).into_iter().collect();
    app.call(client, method, SETTINGS, &headers, body).await
}

async fn read(app: &TestApp, merchant: Option<&str>) -> Reply {
    sent(app, &app.client, Method::GET, merchant, None).await
}

async fn made(app: &TestApp, merchant: Option<&str>, body: &Value) -> Value {
    sent(app, &app.client, Method::POST, merchant, Some(body)).await.expect(201)
}

async fn logos(app: &TestApp) -> u64 {
    let client_id = app.client_id();
    app.app.store.row(&COUNT_LOGOS, args! { client_id }).await.unwrap().unwrap().get("n").unwrap()
}

async fn settings_are_made_read_and_changed(app: TestApp) {
    let app = app.reachable().await;
    assert_eq!(read(&app, None).await.status, 404);
    assert_eq!(app.patch(SETTINGS, &json!({ "mainColor": "#000" })).await.status, 404);

    let fields = [
        ("mainColor", "#FF0000"),
        ("SecondaryColor", "#abc"),
        ("attentionColor", ""),
        ("other", "x"),
        ("companyUrl", "https://www.example.com/shop?a=1"),
        ("mastercardClickToPayDpaid", "dpa-1"),
    ];
    let form = Form::of(&fields).with_logo(&png());
    let settings = app.send(form.request(&app.client, Method::POST, None)).await.expect(201);
    let logo = settings["logo"].as_str().unwrap();
    assert!(logo.starts_with(&format!("{ADDRESS}/v1/settings/assets/")) && logo.ends_with(".png"), "{logo}");
    assert_eq!(
        settings,
        json!({
            "id": settings["id"], "clientId": app.client.id, "merchantId": null, "logo": logo, "mainColor": "#FF0000",
            "secondaryColor": "#abc", "attentionColor": null, "errorColor": null, "successColor": null,
            "backgroundColor": null, "companyUrl": "https://www.example.com/shop?a=1", "mastercardClickToPayDpaid": "dpa-1",
        })
    );
    assert_eq!(read(&app, None).await.expect(200), settings);

    // What is empty or absent stays, in a form and in JSON; null is as good as absent.
    let mut after = settings.clone();
    after["errorColor"] = "#12345678".into();
    let change = json!({ "mainColor": "", "secondaryColor": null, "companyUrl": " ", "errorColor": "#12345678", "logo": "x" });
    assert_eq!(app.patch(SETTINGS, &change).await.expect(200), after);
    after["companyUrl"] = "www.example.com".into();
    let form = Form::of(&[("mainColor", ""), ("companyUrl", "www.example.com")]).with_file("logo.png", b"");
    assert_eq!(app.send(form.request(&app.client, Method::PATCH, None)).await.expect(200), after);
    // Origins are kept as browsers write them.
    let origins = json!({ "redirectOrigins": "https://Shop.example:443/, http://localhost:3000" });
    after["redirectOrigins"] = "https://shop.example,http://localhost:3000".into();
    assert_eq!(app.patch(SETTINGS, &origins).await.expect(200), after);
    // The same again changes nothing.
    assert_eq!(app.patch(SETTINGS, &json!({ "companyUrl": "www.example.com" })).await.expect(200), after);
    for color in COLORS {
        after[color] = "#123456".into();
        assert_eq!(app.patch(SETTINGS, &json!({ color: "#123456" })).await.expect(200), after);
    }
    let app = app.restart().await;
    assert_eq!(read(&app, None).await.expect(200), after);

    // Without an address of its own the service shows none.
    let app = app.with_settings(|settings| settings.base_url = None).await;
    assert_eq!(read(&app, None).await.expect(200)["logo"], Value::Null);
}

async fn a_merchants_settings_count_before_the_accounts(app: TestApp) {
    let (merchant, other) = (app.merchant().await, app.merchant().await);
    let foreign = app.another_client().await;
    // Neither level has any.
    assert_eq!(read(&app, Some(&merchant)).await.status, 404);
    let of_merchant = made(&app, Some(&merchant), &json!({ "mainColor": "#111111" })).await;
    assert_eq!(of_merchant["merchantId"], merchant.as_str());
    assert_eq!(
        (read(&app, None).await.status.as_u16(), read(&app, Some(&other)).await.status.as_u16()),
        (404, 404)
    );
    let of_account = made(&app, None, &json!({})).await;
    assert_eq!(of_account["merchantId"], Value::Null);

    assert_eq!(read(&app, Some(&merchant)).await.expect(200), of_merchant);
    assert_eq!(read(&app, Some(&other)).await.expect(200), of_account);
    assert_eq!(read(&app, None).await.expect(200), of_account);
    for merchant in [None, Some(merchant.as_str())] {
        let refused = sent(&app, &app.client, Method::POST, merchant, Some(&json!({}))).await;
        let whose = if merchant.is_some() { "merchant" } else { "account" };
        assert_eq!(refused.details(409), [format!("settings of this {whose} already exist")]);
    }
    // A change falls back to nothing.
    let change = json!({ "mainColor": "#222222" });
    let patch = async |client: &Client, merchant: Option<&str>| {
        sent(&app, client, Method::PATCH, merchant, Some(&change)).await
    };
    assert_eq!(patch(&app.client, Some(&other)).await.status, 404);
    assert_eq!(patch(&app.client, Some(&merchant)).await.expect(200)["mainColor"], "#222222");
    assert_eq!(read(&app, None).await.expect(200), of_account);

    // Merchants that the account does not have, or no longer.
    assert_eq!(app.delete(&format!("/v1/merchants/{other}")).await.status, 204);
    let nobody = "00000000-0000-0000-0000-000000000000";
    for (client, merchant) in
        [(&app.client, other.as_str()), (&app.client, nobody), (&foreign, merchant.as_str())]
    {
        for method in [Method::GET, Method::POST, Method::PATCH] {
            let body = (method != Method::GET).then_some(&change);
            let refused = sent(&app, client, method, Some(merchant), body).await;
            assert_eq!(refused.details(404), ["X-Merchant-Id was not found"]);
        }
    }
    assert_eq!(sent(&app, &foreign, Method::GET, None, None).await.status, 404, "another account has none");
    assert_eq!(patch(&foreign, None).await.status, 404);
    assert_eq!(read(&app, None).await.expect(200), of_account);
}

async fn a_logo_is_shown_to_everybody_without_what_was_hidden_in_it(app: TestApp) {
    let app = app.reachable().await;
    let foreign = app.another_client().await;
    for (client, Logo { bytes, kind, ending }) in [(&app.client, png()), (&foreign, jpeg())] {
        // The name and the type that a caller gives are not believed.
        let form = Form::of(&[]).with_file("logo.svg", &bytes);
        let settings = app.send(form.request(client, Method::POST, None)).await.expect(201);
        let path = settings["logo"].as_str().unwrap().strip_prefix(ADDRESS).unwrap().to_owned();
        assert!(path.ends_with(ending), "{path}");
        let shown = file_at(&app, &path).await;
        assert_eq!((shown.status.as_u16(), shown.header("content-type")), (200, Some(kind)));
        for (name, value) in [
            ("cache-control", "public, max-age=31536000, immutable"),
            ("x-content-type-options", "nosniff"),
            ("content-security-policy", "default-src 'none'; sandbox"),
            ("cross-origin-resource-policy", "cross-origin"),
        ] {
            assert_eq!(shown.header(name), Some(value));
        }
        let has = |bytes: &[u8]| bytes.windows(6).any(|window| window == b"secret");
        assert!(has(&bytes) && !has(&shown.bytes), "what was hidden in the file is gone");

        let other_ending = if ending == ".png" { ".jpg" } else { ".png" };
        let name = path.strip_suffix(ending).unwrap();
        for wrong in [
            name.to_owned(),
            format!("{name}{other_ending}"),
            format!("{name}x{ending}"),
            format!("{SETTINGS}/assets/.png"),
        ] {
            assert_eq!(file_at(&app, &wrong).await.status, 404, "{wrong}");
        }
    }
}

async fn a_replaced_logo_is_gone(app: TestApp) {
    let app = app.reachable().await;
    let request = |method, logo: &Logo| Form::of(&[]).with_logo(logo).request(&app.client, method, None);
    let path =
        |reply: &Reply| reply.json()["logo"].as_str().unwrap().strip_prefix(ADDRESS).unwrap().to_owned();
    let first = path(&app.send(request(Method::POST, &png())).await);
    let second = path(&app.send(request(Method::PATCH, &jpeg())).await);
    assert_eq!(file_at(&app, &first).await.status, 404);
    assert_eq!(file_at(&app, &second).await.status, 200);
    // Of changes at once one comes last, and the others leave nothing.
    let changes: Vec<_> = (0..4).map(|_| app.begin(request(Method::PATCH, &png()))).collect();
    for change in changes {
        assert_eq!(change.await.unwrap().status, 200);
    }
    let last = path(&read(&app, None).await);
    assert_eq!((file_at(&app, &last).await.status.as_u16(), logos(&app).await), (200, 1));
}

async fn every_wrong_field_is_named(app: TestApp) {
    const COLOR: &str = "must be # with 3, 6 or 8 hexadecimal digits";
    const URL: &str = "must be an http or https address, or the name of a host";
    const ORIGINS: &str = "must be http or https origins such as https://shop.example, apart by commas";
    let of = |name: &str, rule: &str| vec![format!("{name} {rule}")];
    let mut cases: Vec<(Value, Vec<String>)> = Vec::new();
    for wrong in ["red", "#ff", "#ffff", "#fffff", "#ggg", "#12345678 ", "#fff;}", "fff", "#1234567890"] {
        cases.push((json!({ "mainColor": wrong }), of("mainColor", COLOR)));
    }
    let long = format!("https://example.com/{}", "a".repeat(236));
    cases.push((
        json!({ "companyUrl": long }),
        of("companyUrl", "must be shorter than or equal to 255 characters"),
    ));
    for wrong in [
        "javascript:alert(1)",
        "javascript://example.com/%0aalert(1)",
        "ftp://example.com",
        "data:text/html,x",
        "https://",
        "https://a:b@example.com",
        "https://user@example.com",
        "example.com/shop",
        "example.com:80",
        "//example.com",
        "https:\\\\example.com",
        "exa mple.com",
        "user@example.com",
        "https://exa\tmple.com",
    ] {
        cases.push((json!({ "companyUrl": wrong }), of("companyUrl", URL)));
    }
    for wrong in [
        "shop.example",
        "ftp://shop.example",
        "https://shop.example/paid",
        "https://shop.example?a=1",
        "https://shop.example#a",
        "https://user@shop.example",
        "https://shop.example,",
        "https://shop.example https://other.example",
        "https://*.shop.example",
        "null",
    ] {
        cases.push((json!({ "redirectOrigins": wrong }), of("redirectOrigins", ORIGINS)));
    }
    cases.push((
        json!({ "SecondaryColor": "x", "companyUrl": 7, "mastercardClickToPayDpaid": [] }),
        vec![
            format!("SecondaryColor {COLOR}"),
            "companyUrl must be a string".into(),
            "mastercardClickToPayDpaid must be a string".into(),
        ],
    ));
    for (body, details) in cases {
        for method in [Method::POST, Method::PATCH] {
            let refused = sent(&app, &app.client, method, None, Some(&body)).await;
            assert_eq!(refused.details(400), details, "{body}");
        }
    }

    let too_large = [png().bytes, vec![0; 1_000_000]].concat();
    for (file, rule) in [
        (&b"<svg xmlns='http://www.w3.org/2000/svg'/>"[..], "must be a PNG or JPEG file"),
        (b"GIF89a", "must be a PNG or JPEG file"),
        (b"\xff\xd8\xff\xe0", "must be a picture that can be read"),
        (&BOMB, "must not be wider or higher than 1000 pixels"),
        (&too_large, "must not be larger than 1000000 bytes"),
    ] {
        let form = Form::of(&[("errorColor", "x")]).with_file("logo.png", file);
        let refused = app.send(form.request(&app.client, Method::POST, None)).await;
        assert_eq!(refused.details(400), [format!("errorColor {COLOR}"), format!("logo {rule}")]);
    }

    for merchant in ["", "x", "3f1c1b1e2a7b4a579d35000000000000"] {
        for method in [Method::GET, Method::POST, Method::PATCH] {
            let body = (method != Method::GET).then(|| json!({ "mainColor": "#fff" }));
            let refused = sent(&app, &app.client, method, Some(merchant), body.as_ref()).await;
            assert_eq!(refused.details(400), ["X-Merchant-Id must be a UUID"]);
        }
    }
    let whole = Form::of(&[("mainColor", "#fff")]);
    for (kind, body) in [
        ("multipart/form-data", whole.bytes()),
        ("multipart/form-data; boundary=other", whole.bytes()),
        (Form::KIND, whole.bytes()[..20].to_vec()),
        (Form::KIND, Form::of(&[("mainColor", "#fff\0")]).bytes()),
        (Form::KIND, Form::of(&[]).with_field("companyUrl", b"\xff\xfe").bytes()),
    ] {
        let refused = app.send(forms::request_of(&app.client, Method::POST, None, kind, body)).await;
        assert_eq!(refused.details(400).len(), 1, "{kind}");
    }
    let large = vec![b'x'; 1024 * 1024 + 1];
    let refused = app.send(forms::request_of(&app.client, Method::POST, None, Form::KIND, large)).await;
    assert_eq!(refused.status, 413);
    assert_eq!(read(&app, None).await.status, 404, "nothing was made");
}

async fn a_change_of_nothing_is_refused(app: TestApp) {
    made(&app, None, &json!({ "mainColor": "#fff" })).await;
    let nothing = json!({ "error": { "type": "bad_request", "code": 422, "message": "No effective field to update",
        "businessCode": "settings_no_effective_field", "details": [] } });
    for body in [
        json!({}),
        json!({ "companyUrl": "" }),
        json!({ "mainColor": null, "secondaryColor": " " }),
        json!({ "other": "x" }),
        json!({ "logo": "https://example.com/logo.png" }),
    ] {
        assert_eq!(app.patch(SETTINGS, &body).await.expect(422), nothing, "{body}");
    }
    let form = Form::of(&[("companyUrl", "")]).with_file("", b"");
    assert_eq!(app.send(form.request(&app.client, Method::PATCH, None)).await.expect(422), nothing);
}

async fn a_key_gets_its_answer_again(app: TestApp) {
    let app = app.reachable().await;
    let merchant = app.merchant().await;
    let post = async |merchant: Option<&str>, logo: &Logo| {
        let mut request = Form::of(&[]).with_logo(logo).request(&app.client, Method::POST, merchant);
        request.headers_mut().insert("X-Idempotency-Key", "key-1".parse().unwrap());
        app.send(request).await
    };
    let first = post(None, &png()).await;
    let again = post(None, &png()).await;
    assert_eq!((first.expect(201), again.header("idempotent-replayed")), (again.expect(201), Some("true")));
    let other = post(None, &jpeg()).await.expect(409);
    assert_eq!(other["error"]["message"], "Idempotency key reused with a different payload");
    // A key counts for one merchant.
    assert_eq!(post(Some(&merchant), &png()).await.expect(201)["merchantId"], merchant.as_str());
    assert_eq!(logos(&app).await, 2);
}

async fn settings_made_at_once_are_made_once(app: TestApp) {
    let request = || Form::of(&[]).with_logo(&png()).request(&app.client, Method::POST, None);
    let made: Vec<_> = (0..4).map(|_| app.begin(request())).collect();
    let mut statuses = Vec::new();
    for made in made {
        statuses.push(made.await.unwrap().status.as_u16());
    }
    statuses.sort_unstable();
    assert_eq!((statuses, logos(&app).await), (vec![201, 409, 409, 409], 1));
}

async fn addresses_without_encryption_are_for_the_sandbox(app: TestApp) {
    let body = json!({ "companyUrl": "http://www.example.com" });
    made(&app, None, &body).await;
    let app = app.with_settings(|settings| settings.mode = Mode::Production).await;
    let rule = "companyUrl must be an https address, or the name of a host";
    assert_eq!(app.patch(SETTINGS, &body).await.details(400), [rule]);
}

async fn a_link_shows_the_settings_that_count_for_its_merchant(app: TestApp) {
    let app = app.reachable().await;
    let merchant = app.merchant().await;
    let session = create(&app, &session_body(&merchant)).await;
    let path = format!("/v1/sessions/{}/link", session["id"].as_str().unwrap());
    let public = Client { id: app.client.id.clone(), key: session["publicKey"].as_str().unwrap().to_owned() };
    let link = async || {
        let link = app.call(&public, Method::GET, &path, &[], None).await.expect(201);
        assert_eq!(app.get(&path).await.expect(201), link, "both keys read the same");
        link["settings"].clone()
    };
    let mut expected = json!({
        "id": null, "email": null, "phone": null, "statementDescription": null, "logo": null, "mainColor": null,
        "secondaryColor": null, "attentionColor": null, "errorColor": null, "successColor": null,
        "backgroundColor": null, "companyName": "Loja João", "clientId": app.client.id, "documentNumber": null,
        "language": "pt-BR", "companyUrl": null, "mastercardClickToPayDpaid": null, "merchantId": null,
    });
    assert_eq!(link().await, expected);
    let of_account = made(&app, None, &json!({ "mainColor": "#111", "companyUrl": "www.example.com" })).await;
    expected["id"] = of_account["id"].clone();
    expected["mainColor"] = "#111".into();
    expected["companyUrl"] = "https://www.example.com".into();
    assert_eq!(link().await, expected);
    // Nothing of the account's shows through those of the merchant.
    let form = Form::of(&[("errorColor", "#222"), ("mastercardClickToPayDpaid", "dpa-1")]).with_logo(&png());
    let own = app.send(form.request(&app.client, Method::POST, Some(&merchant))).await.expect(201);
    let without = expected.clone();
    for (member, value) in own.as_object().unwrap() {
        expected[member] = value.clone();
    }
    assert_eq!(link().await, expected);
    // They go with their merchant.
    assert_eq!(app.delete(&format!("/v1/merchants/{merchant}")).await.status, 204);
    assert_eq!((link().await, logos(&app).await), (without, 0));
}
