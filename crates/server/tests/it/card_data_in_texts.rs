//! Card numbers and security codes in texts of the caller (`docs/interface/conventions.md#card-numbers-in-texts`).

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::app::{ADDRESS, TestApp, stories};
use crate::support::bodies::payers::{boleto_body, described, jose, nupay_body, pix_body};
use crate::support::bodies::{APPROVED, BLOCKED, charge_body, payers, token_body};
use crate::support::charges::single_merchant;
use crate::support::payers::nupay_page;
use crate::support::providers::sandbox;
use crate::support::purchases;
use crate::support::read::announced;
use crate::support::receiver::Receiver;
use crate::support::records::put;
use crate::support::sessions::{buyer, by_card, pay, session_body};
use crate::support::splits::seller_body;
use crate::support::three_d_secure::visit;
use crate::support::vendors::vendor_body;
use crate::support::wallets::{by_apple_pay, open_shop, purchase};
use crate::support::webhooks::webhook;

stories! {
    a_text_with_a_card_number_is_refused_by_its_name,
    a_number_is_found_in_every_spelling,
    a_security_code_is_found_beside_its_name,
    a_problem_does_not_repeat_the_number,
    an_identifier_may_look_like_a_card_number,
    events_and_pages_mask_an_identifier_that_looks_like_a_card_number,
    no_word_of_a_charge_is_the_number_of_its_card,
    no_word_of_a_session_is_the_number_of_the_card_that_pays_it,
    no_word_of_a_purchase_is_the_number_of_one_of_its_cards,
    no_word_is_the_number_in_a_wallet,
}

const NUMBER: &str = "must not contain a card number";
const CODE: &str = "must not contain the security code of a card";
const OF_THE_CARD: &str = "must not contain the number of the card";
/// A card that pays nothing in these stories.
const ANOTHER: &str = BLOCKED.0;
const SPELLING: &str = "4556-6845-3023-8865";

/// The place of a text in a body, and its value with a card number.
type Place = (&'static str, Value);

async fn a_text_with_a_card_number_is_refused_by_its_name(app: TestApp) {
    let app = app.reachable().await;
    let merchant = single_merchant(&app).await;
    let charge = charge_body(&merchant, APPROVED);
    let text = json!(format!("paid by {SPELLING}"));
    let of_charge: &[Place] = &[
        ("/description", text.clone()),
        ("/statementDescriptor", text.clone()),
        ("/appInfo/platform/name", text.clone()),
        ("/appInfo/numbers", json!([1, 4_556_684_530_238_865_i64])),
        ("/paymentFlow/metadata/note", text.clone()),
        ("/fraudAnalysis/customer/name", text.clone()),
        ("/fraudAnalysis/cart/items", json!([{ "name": "Shoe" }, { "name": text }])),
        ("/fraudAnalysis/anything", text.clone()),
        ("/paymentSource/card/cardHolderName", text.clone()),
    ];
    refuses(&app, "/v1/charges", &charge, of_charge).await;
    let voucher = put(charge.clone(), "paymentMethod", json!({ "paymentType": "voucher" }));
    let of_voucher: &[Place] = &[
        ("/paymentMethod/items", json!([{ "title": text }])),
        ("/paymentMethod/customer/name", text.clone()),
        ("/paymentMethod/customer/anything", text.clone()),
    ];
    refuses(&app, "/v1/charges", &voucher, of_voucher).await;
    let pix = pix_body(&merchant, described(jose()));
    let of_pix: &[Place] = &[
        ("/paymentMethod/additionalInfo", json!([{ "name": "note", "value": text }])),
        ("/paymentMethod/items", json!([{ "title": text }])),
        ("/paymentMethod/items", json!([{ "title": "Shoe", "anything": { "else": text } }])),
        ("/paymentSource/customer/name", text.clone()),
        ("/paymentSource/customer/address", json!({ "street": text })),
    ];
    refuses(&app, "/v1/charges", &pix, of_pix).await;
    let boleto = boleto_body(&merchant, described(jose()));
    refuses(&app, "/v1/charges", &boleto, &[("/paymentMethod/instructions", text.clone())]).await;
    let address = json!(format!("https://shop.example/{ANOTHER}"));
    refuses(&app, "/v1/charges", &nupay_body(&merchant), &[("/paymentMethod/returnUrl", address.clone())])
        .await;
    let of_drip: &[Place] = &[
        ("/paymentMethod/successRedirectUrl", address.clone()),
        ("/paymentMethod/browser", json!({ "browserFingerprint": text })),
    ];
    refuses(&app, "/v1/charges", &payers::drip_body(&merchant), of_drip).await;

    let session = session_body(&merchant);
    let of_session: &[Place] = &[
        ("/name", text.clone()),
        ("/description", text.clone()),
        ("/statementDescriptor", text.clone()),
        ("/items/0/name", text.clone()),
        ("/items/0/description", text.clone()),
        ("/items/0/categoryId", text.clone()),
    ];
    refuses(&app, "/v1/sessions", &session, of_session).await;
    let order = purchases::body(&app, &merchant, &[APPROVED, ("5214254988499590", "220")], true).await;
    let of_purchase: &[Place] = &[
        ("/description", text.clone()),
        ("/statementDescriptor", text.clone()),
        ("/metadata/note", text.clone()),
        ("/appInfo/note", text.clone()),
        ("/fraudAnalysis/customer/name", text.clone()),
    ];
    refuses(&app, "/v1/purchases", &order, of_purchase).await;

    let hook = json!({ "event": "*", "endpoint": "https://shop.example/hooks" });
    refuses(&app, "/v1/webhooks", &hook, &[("/endpoint", address.clone())]).await;
    refuses(&app, "/v1/tokens", &token_body(APPROVED), &[("/cardHolderName", text.clone())]).await;
    let of_customer: &[Place] = &[
        ("/name", text.clone()),
        ("/email", json!(format!("{ANOTHER}@example.com"))),
        ("/address", json!({ "street": text })),
    ];
    refuses(&app, "/v1/customers", &jose(), of_customer).await;
    let of_merchant: &[Place] = &[
        ("/name", text.clone()),
        ("/merchantName", text.clone()),
        ("/merchantUrl", address),
        ("/providers/0/name", text.clone()),
    ];
    let of_one = json!({ "mcc": "5812", "name": "Shop", "providers": [sandbox("Main", 1)] });
    refuses(&app, "/v1/merchants", &of_one, of_merchant).await;
    let of_seller: &[Place] = &[
        ("/owner/name", text.clone()),
        ("/owner/address/street", text.clone()),
        ("/bankAccount/holderName", text.clone()),
        ("/metadata", json!([{ "key": "note", "value": { "any": text } }])),
        ("/metadata", json!([{ "key": text, "value": 1 }])),
    ];
    refuses(&app, "/v1/sellers", &seller_body(&merchant, 1, "4929"), of_seller).await;
    refuses(
        &app,
        "/v1/vendors",
        &vendor_body(),
        &[("/name", text.clone()), ("/email", json!(format!("{ANOTHER}@example.com")))],
    )
    .await;
    for list in ["charges", "sessions", "webhooks", "customers", "sellers", "vendors"] {
        let list = app.get(&format!("/v1/{list}")).await.expect(200);
        assert_eq!(list["meta"]["totalItems"], 0, "{list:#}");
    }
    assert_eq!(app.books.effects().await.unwrap(), 0, "nobody was asked for money");
}

/// Sends the body with each of the values, and expects that the place of the text is named.
async fn refuses(app: &TestApp, path: &str, body: &Value, places: &[Place]) {
    for (place, value) in places {
        let sent = with(body, place, value.clone());
        let refused = app.post_with_key(path, &app.app.chance.uuid().to_string(), &sent).await;
        let details = refused.details(400);
        let begins = place.trim_start_matches('/').replace("/0", "[0]").replace('/', ".");
        let is_named = |detail: &String| detail.starts_with(&begins) && detail.ends_with(NUMBER);
        assert!(details.iter().any(is_named), "{path} {begins}: {details:?}");
        assert!(!String::from_utf8_lossy(&refused.bytes).contains(&ANOTHER[4..]), "{details:?}");
    }
}

fn with(body: &Value, place: &str, value: Value) -> Value {
    let mut body = body.clone();
    let mut at = &mut body;
    for name in place.split('/').skip(1) {
        at = match name.parse::<usize>() {
            Ok(index) => &mut at[index],
            Err(_) => &mut at[name],
        };
    }
    *at = value;
    body
}

async fn a_number_is_found_in_every_spelling(app: TestApp) {
    let charge = charge_body(&app.merchant().await, APPROVED);
    for spelling in [
        ANOTHER,
        "4556 6845 3023 8865",
        SPELLING,
        "a:4556684530238865;",
        "12/2030 4556 6845 3023 8865 440",
        "371511430434941",
        "3715 114304 34941",
        "6062829302997360",
        "4556.6845.3023.8865",
        "4556/6845/3023/8865",
        "4556,6845\n3023\n8865",
        "４５５６６８４５３０２３８８６５",
        "٤٥٥٦٦٨٤٥٣٠٢٣٨٨٦٥",
        "4556\u{200b}6845\u{200b}3023\u{200b}8865",
        "④⑤⑤⑥⑥⑧④⑤③⓪②③⑧⑧⑥⑤",
    ] {
        let refused = app.post("/v1/charges", &put(charge.clone(), "description", spelling)).await;
        assert_eq!(refused.details(400), [format!("description {NUMBER}")], "{spelling}");
    }
    for text in [
        "order 4556684530238866",
        "45566845302388650",
        "9999999999999995",
        "5541998765432",
        "4006381333924",
        "45566845-3023-8865-9000-012345678901",
        "36123463000198",
        "CVC 2024",
    ] {
        let charged = app.post("/v1/charges", &put(charge.clone(), "description", text)).await.expect(201);
        assert_eq!(charged["description"], text);
    }
}

async fn a_security_code_is_found_beside_its_name(app: TestApp) {
    let charge = charge_body(&app.merchant().await, APPROVED);
    for (place, value) in [
        ("/description", json!("cvv 220")),
        ("/description", json!("CVC: 0560")),
        ("/statementDescriptor", json!("Código de segurança 220")),
        ("/statementDescriptor", json!("cod. seg. 220")),
        ("/description", json!("código de segurança: ２２０")),
        ("/appInfo/card/securityCode", json!("220")),
        ("/appInfo/cvv", json!(220)),
    ] {
        let refused = app.post("/v1/charges", &with(&charge, place, value)).await;
        let path = place[1..].replace('/', ".");
        assert_eq!(refused.details(400), [format!("{path} {CODE}")]);
    }
    let refused = app.post("/v1/charges", &put(charge, "description", format!("{SPELLING} cvv 220"))).await;
    assert_eq!(refused.details(400), [format!("description {NUMBER}")], "beside a number it is that");
}

async fn a_problem_does_not_repeat_the_number(app: TestApp) {
    let charge = charge_body(&app.merchant().await, APPROVED);
    for (member, value, problem) in [
        ("appInfo", json!({ ANOTHER: 1 }), "appInfo must not contain a card number"),
        ("appInfo", json!({ ANOTHER: { "a": SPELLING } }), "appInfo must not contain a card number"),
        (
            "fraudAnalysis",
            json!({ "cart": { "items": [{ "a": { "b": SPELLING }, "c": SPELLING }] } }),
            "fraudAnalysis.cart.items[0].a.b must not contain a card number",
        ),
        (
            "paymentFlow",
            json!({ "metadata": { ANOTHER: "a\0b" } }),
            "paymentFlow.metadata.[card 455668…8865] must not contain the character U+0000",
        ),
    ] {
        let refused = app.post("/v1/charges", &put(charge.clone(), member, value)).await;
        let details = refused.details(400);
        assert_eq!(details[0], problem);
        assert!(!details.concat().contains("5566845302"), "{details:?}");
        let mut once = details.clone();
        once.dedup();
        assert_eq!(once, details, "each is named once");
    }
    let hook = json!({ "event": ANOTHER, "endpoint": "https://shop.example/hooks" });
    let details = app.post("/v1/webhooks", &hook).await.details(400);
    assert!(details[0].ends_with("(not `[card 455668…8865]`)"), "{details:?}");
}

async fn an_identifier_may_look_like_a_card_number(app: TestApp) {
    let app = app.reachable().await;
    let merchant = single_merchant(&app).await;
    let body =
        put(put(charge_body(&merchant, APPROVED), "orderId", ANOTHER), "providerReferenceKey", ANOTHER);
    let charge = app.post_with_key("/v1/charges", "key", &body).await.expect(201);
    assert_eq!((&charge["orderId"], &charge["providerReferenceKey"]), (&json!(ANOTHER), &json!(ANOTHER)));
    assert_eq!(app.post_with_key("/v1/charges", "key", &body).await.expect(201), charge);
    let path = format!("/v1/charges/{}", charge["id"].as_str().unwrap());
    assert_eq!(app.get(&path).await.expect(200), charge, "the merchant reads what he sent");
    let list = app.get(&format!("/v1/charges?orderId={ANOTHER}")).await.expect(200);
    assert_eq!(list["items"], json!([charge]), "and finds it");

    let seller = put(seller_body(&merchant, 1, ANOTHER), "salesPlanId", ANOTHER);
    let seller = app.post("/v1/sellers", &seller).await.expect(201);
    assert_eq!(seller["bankAccount"]["accountNumber"], ANOTHER);
    let vendor = put(vendor_body(), "referenceId", "371511430434941");
    app.post("/v1/vendors", &vendor).await.expect(201);
}

async fn events_and_pages_mask_an_identifier_that_looks_like_a_card_number(app: TestApp) {
    const MASKED: &str = "[card 455668…8865]";
    let app = app.reachable().await;
    let merchant = single_merchant(&app).await;
    let receiver = Receiver::start().await;
    for event in ["*", "purchase.paid", "session.paid"] {
        webhook(&app, &receiver, event, &format!("/{event}")).await;
    }
    let charge = put(charge_body(&merchant, APPROVED), "orderId", ANOTHER);
    let charge = app.post("/v1/charges", &charge).await.expect(201);
    assert_eq!(announced(&app, charge["id"].as_str().unwrap()).await, ["pending", "authorized"]);
    let session = put(put(session_body(&merchant), "orderId", ANOTHER), "providerReferenceKey", SPELLING);
    let session = app.post("/v1/sessions", &session).await.expect(200);
    assert_eq!(session["orderId"], ANOTHER);
    let page = visit(&app, &format!("/pay/{}", session["id"].as_str().unwrap())).await;
    shows(&page.bytes, MASKED);
    let paid = pay(&app, &session, &by_card(APPROVED)).await;
    shows(&paid.bytes, MASKED);
    let key = buyer(&session);
    for path in ["", "/link"] {
        let path = format!("/v1/sessions/{}{path}", session["id"].as_str().unwrap());
        shows(&app.call(&key, Method::GET, &path, &[], None).await.bytes, MASKED);
    }
    let order = purchases::body(&app, &merchant, &[APPROVED, ("5214254988499590", "220")], true).await;
    purchases::send(&app, "/v1/purchases", &put(order, "orderId", ANOTHER)).await.expect(202);
    app.post("/v1/sellers", &seller_body(&merchant, 1, ANOTHER)).await.expect(201);
    app.later(std::time::Duration::from_secs(60)).await;
    let received = receiver.received();
    for event in ["transaction.authorized", "session.paid", "purchase.paid", "seller.active"] {
        assert!(received.iter().any(|got| got.event() == event), "{event}");
    }
    for got in received {
        let masks = match got.event().starts_with("seller.") {
            true => got.json()["data"]["seller"]["bankAccount"]["accountNumber"].clone(),
            false => got.json()["data"]["orderId"].clone(),
        };
        assert_eq!(masks, MASKED, "{}", got.event());
        shows(&got.body, MASKED);
    }

    let nupay = app.post("/v1/charges", &put(nupay_body(&merchant), "orderId", ANOTHER)).await.expect(201);
    let page = visit(&app, nupay_page(&nupay).strip_prefix(ADDRESS).unwrap()).await;
    shows(&page.bytes, MASKED);
}

fn shows(bytes: &[u8], masked: &str) {
    let text = String::from_utf8_lossy(bytes);
    assert!(
        text.contains(masked) && !text.contains(&ANOTHER[5..]) && !text.contains(&SPELLING[5..]),
        "{text}"
    );
}

async fn no_word_of_a_charge_is_the_number_of_its_card(app: TestApp) {
    let merchant = app.merchant().await;
    let charge = charge_body(&merchant, APPROVED);
    let token = app.card_token(APPROVED).await;
    let card = app.card(APPROVED).await;
    let customer = app.post("/v1/customers", &jose()).await.expect(201);
    let link = format!("/v1/customers/{}/cards", customer["id"].as_str().unwrap());
    app.post(&link, &json!({ "cardId": card })).await.expect(204);
    // A number of no known range.
    let unknown = put(token_body(("9999999999999995", "220")), "cardHolderName", "JOAO 9999.9999.9999.9995");
    let refused = app.post("/v1/tokens", &unknown).await;
    assert_eq!(refused.details(400), [format!("cardHolderName {OF_THE_CARD}")]);
    let sources = [
        charge["paymentSource"].clone(),
        json!({ "sourceType": "token", "tokenId": token }),
        json!({ "sourceType": "card", "cardId": card, "cardCvv": APPROVED.1 }),
        json!({ "sourceType": "customer", "customerId": customer["id"], "cardCvv": APPROVED.1 }),
    ];
    for source in &sources {
        let body = put(charge.clone(), "paymentSource", source.clone());
        for (member, spelling) in [
            ("orderId", "4916745120294124"),
            ("orderId", "o-4916.7451.2029.4124/2"),
            ("orderId", "４９１６７４５１２０２９４１２４"),
            ("providerReferenceKey", "49\u{200b}16745120294124"),
            ("providerReferenceKey", "4916745120294124"),
            ("description", "49 16 74 51 20 29 41 24"),
            ("statementDescriptor", "x4916_7451_2029_4124x"),
        ] {
            let refused = app.post("/v1/charges", &put(body.clone(), member, spelling)).await;
            assert_eq!(refused.details(400), [format!("{member} {OF_THE_CARD}")], "{source} {spelling}");
        }
    }
    assert_eq!(app.books.effects().await.unwrap(), 0);
    for source in sources {
        let body = put(put(charge.clone(), "paymentSource", source), "orderId", ANOTHER);
        assert_eq!(
            app.post("/v1/charges", &body).await.expect(201)["status"],
            "authorized",
            "nothing is used up"
        );
    }
    assert_eq!(app.get("/v1/charges").await.expect(200)["meta"]["totalItems"], 4);
}

async fn no_word_of_a_session_is_the_number_of_the_card_that_pays_it(app: TestApp) {
    let app = app.reachable().await;
    let merchant = single_merchant(&app).await;
    let session = put(session_body(&merchant), "orderId", APPROVED.0);
    let session = app.post("/v1/sessions", &session).await.expect(200);
    let refused = pay(&app, &session, &by_card(APPROVED)).await;
    assert_eq!(refused.details(400), [format!("orderId {OF_THE_CARD}")]);
    pay(&app, &session, &by_card(("5214254988499590", "220"))).await.expect(201);
}

async fn no_word_of_a_purchase_is_the_number_of_one_of_its_cards(app: TestApp) {
    let merchant = app.merchant().await;
    let mut order = purchases::body(&app, &merchant, &[APPROVED, ("5214254988499590", "220")], true).await;
    let token = app.card_token(("4556613630132678", "850")).await;
    for (number, is_stored) in
        [("4916745120294124", true), ("5214254988499590", true), ("4556613630132678", false)]
    {
        if !is_stored {
            order["payments"][1] = json!({ "tokenId": token, "amount": order["payments"][1]["amount"] });
        }
        for member in ["orderId", "description"] {
            let spelling = number.chars().map(|digit| format!("{digit}.")).collect::<String>();
            let refused = purchases::send(&app, "/v1/purchases", &put(order.clone(), member, spelling)).await;
            // A text must hold no number at all.
            let rule = if member == "description" { NUMBER } else { OF_THE_CARD };
            assert_eq!(refused.details(400), [format!("{member} {rule}")], "{number}");
        }
    }
    purchases::send(&app, "/v1/purchases", &put(order, "orderId", ANOTHER)).await.expect(202);
}

async fn no_word_is_the_number_in_a_wallet(app: TestApp) {
    let (app, shop) = open_shop(app).await;
    let merchant = app.merchant().await;
    let token = shop.token_for(&app, &purchase(&app, 150));
    let number = purchase(&app, 150).device_account_number;
    let body = by_apple_pay(&merchant, token);
    let refused = app.post("/v1/charges", &put(body.clone(), "orderId", number)).await;
    assert_eq!(refused.details(400), [format!("orderId {OF_THE_CARD}")]);
    let listed = app.call(&app.client, Method::GET, "/v1/charges", &[], None).await.expect(200);
    assert_eq!(listed["meta"]["totalItems"], 0);
    app.post("/v1/charges", &put(body, "orderId", ANOTHER)).await.expect(201);
}
