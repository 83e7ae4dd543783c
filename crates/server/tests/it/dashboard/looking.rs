//! Members look: at today, at the list of charges, at one of them.

use std::time::Duration;

use regente_domain::member::role::Role;
use serde_json::json;

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, BLOCKED, Charge};
use crate::support::charges::{captured, charged, single_merchant};
use crate::support::client::As;
use crate::support::members::signed_in;
use crate::support::providers::sandbox;
use crate::support::read::text;

stories! {
    every_page_is_shown_in_each_language,
    a_page_loads_its_own_files_and_nothing_else,
    texts_of_others_are_shown_as_text,
    the_list_is_filtered_by_its_address,
    the_list_has_pages,
    an_empty_list_says_what_to_do,
    a_filter_that_cannot_be_read_shows_nothing,
    the_search_leads_to_the_charge,
    a_charge_says_what_happened_and_why,
    charges_of_another_account_are_not_found,
    today_is_compared_with_the_same_day_of_last_week,
    a_language_is_chosen_and_kept,
    a_language_leads_to_pages_of_the_dashboard_alone,
}

/// What a page may weigh, with its files.
const BYTES_MAX: usize = 150_000;

fn links(page: &str) -> Vec<&str> {
    let links = page.split(" href=\"").skip(1);
    links.map(|link| link.split_once('"').unwrap().0).collect()
}

async fn every_page_is_shown_in_each_language(app: TestApp) {
    let id = captured(&app).await;
    let reserved =
        text(&charged(&app, &Charge::by_card(&app.merchant().await, APPROVED).reserved().body()).await["id"])
            .to_owned();
    let browser = signed_in(&app, Role::Owner).await;
    let charge = format!("/dashboard/charges/{id}");
    let pages = [
        "/dashboard".to_owned(),
        "/dashboard/charges".to_owned(),
        "/dashboard/charges?status=authorized&paymentType=credit&from=2026-03-01&to=2026-03-31&sort=ASC"
            .to_owned(),
        charge.clone(),
        format!("{charge}/refund"),
        format!("{charge}/refund?amount=1"),
        format!("/dashboard/charges/{reserved}"),
        format!("/dashboard/charges/{reserved}/capture"),
        format!("/dashboard/charges/{reserved}/capture?amount=1"),
        format!("/dashboard/charges/{reserved}/void"),
    ];
    let mut browser = browser;
    for (language, tag) in [("en-GB,en;q=0.9", "en"), ("pt-BR", "pt-BR"), ("es-AR", "es")] {
        browser = browser.in_language(language);
        for path in &pages {
            let page = browser.page(path, 200).await;
            assert!(page.contains(&format!("<html lang=\"{tag}\">")), "{path}: {page}");
            assert_eq!(page.matches("<h1>").count(), 1, "{path}: {page}");
            assert!(page.contains("Rita &#60;Lima&#62;"), "who has signed in: {page}");
            assert!(!page.contains('{'), "every gap is filled: {page}");
            for link in links(&page) {
                let is_own = link.starts_with("/dashboard") || link == "#content" || link == "data:,";
                assert!(is_own && !link.contains("Rita") && !link.contains("JOAO"), "{path}: {link}");
            }
        }
    }
}

async fn a_page_loads_its_own_files_and_nothing_else(app: TestApp) {
    captured(&app).await;
    let browser = signed_in(&app, Role::ReadOnly).await;
    for path in ["/dashboard", "/dashboard/charges"] {
        let reply = browser.open(path).await;
        let policy = reply.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"), "{policy}");
        assert!(policy.ends_with("base-uri 'none'; form-action 'self'; frame-ancestors 'none'"), "{policy}");
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        let page = String::from_utf8(reply.bytes).unwrap();
        assert!(!page.contains(" style=") && !page.contains("<style"), "{page}");
        assert!(!page.contains(" onclick=") && !page.contains(" onsubmit="), "{page}");
        let mut weight = page.len();
        for name in [" href=\"", " src=\""] {
            let files = page.split(name).skip(1).map(|rest| rest.split_once('"').unwrap().0);
            for file in files.filter(|file| file.starts_with("/dashboard/assets/")) {
                let file = browser.open(file).await;
                assert_eq!(file.status, 200);
                assert_eq!(file.header("cache-control"), Some("public, max-age=31536000, immutable"));
                let text = String::from_utf8(file.bytes).unwrap();
                assert!(
                    !text.contains("://") && !text.contains("url(") && !text.contains("@import"),
                    "{text}"
                );
                weight += text.len();
            }
        }
        assert!((5_000..=BYTES_MAX).contains(&weight), "{weight} bytes");
    }
}

async fn texts_of_others_are_shown_as_text(app: TestApp) {
    const TAG: &str = "<script>alert('1')</script>\"><img src=x>";
    let mut provider = sandbox("<img src=x>", 1);
    provider["options"] = json!({ "type": "SANDBOX", "faults": [{ "then": { "decline": "try_again" } }] });
    let merchant = app.merchant_with(json!([provider])).await;
    let body = Charge::by_card(&merchant, APPROVED)
        .with("orderId", TAG)
        .with("description", TAG)
        .with("statementDescriptor", "<b>shop</b>")
        .with("paymentFlow", json!({ "metadata": { "<i>key</i>": TAG } }))
        .with("appInfo", json!({ "platform": { "name": TAG, "version": "1" } }))
        .body();
    let reply = app.post("/v1/charges", &body).await;
    let charge = if reply.status == 201 {
        reply.json()
    } else {
        let mut body = body;
        for member in ["statementDescriptor", "appInfo"] {
            body.as_object_mut().unwrap().remove(member);
        }
        app.post("/v1/charges", &body).await.expect(201)
    };
    let browser = signed_in(&app, Role::Support).await;
    let order: String = url::form_urlencoded::byte_serialize(TAG.as_bytes()).collect();
    for path in [
        format!("/dashboard/charges/{}", text(&charge["id"])),
        "/dashboard/charges".to_owned(),
        format!("/dashboard/charges?orderId={order}&merchantId=%22%3E%3Cimg%20src=x%3E"),
    ] {
        let page = String::from_utf8(browser.open(&path).await.bytes).unwrap();
        assert_eq!(page.matches("<script").count(), 1, "{path}: the page's own: {page}");
        assert!(
            !page.contains("<img") && !page.contains("<b>shop") && !page.contains("<i>key"),
            "{path}: {page}"
        );
        assert!(page.contains("&#60;script&#62;"), "{path}: {page}");
    }
}

async fn the_list_is_filtered_by_its_address(app: TestApp) {
    let merchant = app.merchant().await;
    let make = async |order: &str, amount: i64, card| {
        charged(&app, &Charge::by_card(&merchant, card).amount(amount).with("orderId", order).body()).await
    };
    make("order-paid", 123_456, APPROVED).await;
    make("order-refused", 150, BLOCKED).await;
    app.later(Duration::from_secs(3 * 86_400)).await;
    let browser = signed_in(&app, Role::Finance).await;
    let shows = async |query: &str| {
        let page = browser.page(&format!("/dashboard/charges?{query}"), 200).await;
        (page.contains(">order-paid<"), page.contains(">order-refused<"))
    };
    assert_eq!(shows("").await, (true, true));
    assert_eq!(shows("status=failed").await, (false, true));
    assert_eq!(shows("status=failed&status=authorized&paymentType=credit").await, (true, true));
    assert_eq!(shows("paymentType=pix").await, (false, false));
    assert_eq!(shows("orderId=order-paid").await, (true, false));
    assert_eq!(shows("amount=1,234.56").await, (true, false));
    assert_eq!(shows(&format!("merchantId={merchant}&providerType=SANDBOX&sort=ASC")).await, (true, true));
    assert_eq!(shows("from=2026-03-23&to=2026-03-23").await, (true, true));
    assert_eq!(shows("from=2026-03-24").await, (false, false));
    assert_eq!(shows("to=2026-03-22").await, (false, false));
    assert_eq!(shows("splitRules=true").await, (false, false));
    let kept = browser.page("/dashboard/charges?status=failed&orderId=order-refused", 200).await;
    assert!(
        kept.contains("<option value=\"failed\" selected>") && kept.contains("value=\"order-refused\""),
        "{kept}"
    );
}

async fn the_list_has_pages(app: TestApp) {
    let merchant = single_merchant(&app).await;
    for number in 0..16 {
        let order = format!("order-{number}");
        charged(&app, &Charge::by_card(&merchant, APPROVED).with("orderId", order).body()).await;
    }
    let browser = signed_in(&app, Role::ReadOnly).await;
    let first = browser.page("/dashboard/charges?paymentType=credit", 200).await;
    assert!(
        first.contains("Page 1 of 2") && first.contains("16 charges") && !first.contains(">order-0<"),
        "{first}"
    );
    let next =
        links(&first).into_iter().find(|link| link.contains("page=2")).expect(&first).replace("&#38;", "&");
    assert_eq!(next, "/dashboard/charges?paymentType=credit&page=2");
    let second = browser.page(&next, 200).await;
    assert!(second.contains("Page 2 of 2") && second.contains(">order-0<"), "{second}");
    assert!(links(&second).iter().any(|link| link.contains("page=1")), "{second}");
}

async fn an_empty_list_says_what_to_do(app: TestApp) {
    let browser = signed_in(&app, Role::Owner).await;
    let page = browser.page("/dashboard/charges", 200).await;
    assert!(page.contains("This account has no charge yet."), "{page}");
    let page = browser.page("/dashboard/charges?orderId=nothing", 200).await;
    assert!(page.contains("No charge matches."), "{page}");
}

async fn a_filter_that_cannot_be_read_shows_nothing(app: TestApp) {
    captured(&app).await;
    let browser = signed_in(&app, Role::Owner).await;
    for query in ["merchantId=mine", "from=yesterday", "amount=ten", "page=0", "status=sold"] {
        let page = browser.page(&format!("/dashboard/charges?{query}"), 400).await;
        assert!(page.contains("role=\"alert\"") && !page.contains("<table"), "{query}: {page}");
    }
}

async fn the_search_leads_to_the_charge(app: TestApp) {
    let merchant = single_merchant(&app).await;
    let order = "order 1+1/é";
    let charge = charged(&app, &Charge::by_card(&merchant, APPROVED).with("orderId", order).body()).await;
    let address = format!("/dashboard/charges/{}", text(&charge["id"]));
    let browser = signed_in(&app, Role::Support).await;
    let found = async |wanted: &str| {
        let query: String = url::form_urlencoded::byte_serialize(wanted.as_bytes()).collect();
        let reply = browser.open(&format!("/dashboard/search?q={query}")).await;
        assert_eq!(reply.status, 303);
        reply.header("location").unwrap().to_owned()
    };
    assert_eq!(found(text(&charge["id"])).await, address);
    assert_eq!(found(&format!(" {} ", text(&charge["id"]).to_uppercase())).await, address);
    assert_eq!(found(order).await, address);
    assert_eq!(found("nothing").await, "/dashboard/charges?orderId=nothing");
    let nobody = "00000000-0000-4000-8000-000000000000";
    assert_eq!(found(nobody).await, format!("/dashboard/charges?orderId={nobody}"));
    charged(&app, &Charge::by_card(&merchant, APPROVED).with("orderId", order).body()).await;
    assert!(found(order).await.starts_with("/dashboard/charges?orderId=order%201%2B1"), "there are two now");
}

async fn a_charge_says_what_happened_and_why(app: TestApp) {
    let merchant = app.fallback_merchant().await;
    let charge = charged(&app, &Charge::by_card(&merchant, APPROVED).amount(1500).body()).await;
    let path = format!("/dashboard/charges/{}", text(&charge["id"]));
    let page = signed_in(&app, Role::Support).await.page(&path, 200).await;
    for shown in [
        "R$15.00",
        "<span class=\"state good\">Paid</span>",
        "491674 •••••• 4124",
        "The priorities of the providers chose the order.",
        "Declines (SANDBOX)",
        "Asked: Declined",
        "Asked: Approved",
        "Payment: Declined",
        "Reason: try_again",
        "Nothing was given back.",
        "March 23, 2026, 12:12:38",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(!page.contains(APPROVED.0), "the number of the card is masked");
    let page = signed_in(&app, Role::Finance).await.page(&path, 200).await;
    assert!(!page.contains("491674"), "whoever may not see cards sees none: {page}");
}

async fn charges_of_another_account_are_not_found(app: TestApp) {
    let other = As::another_client(&app).await;
    let merchant =
        other.post("/v1/merchants", &json!({ "mcc": "5812", "providers": [sandbox("Main", 1)] })).await;
    let merchant = text(&merchant.expect(201)["id"]).to_owned();
    let charge = other
        .post("/v1/charges", &Charge::by_card(&merchant, APPROVED).with("orderId", "theirs").body())
        .await;
    let id = text(&charge.expect(201)["id"]).to_owned();
    let browser = signed_in(&app, Role::Owner).await;
    for path in ["", "/refund", "/refund?amount=1", "/capture", "/void"] {
        let page = browser.page(&format!("/dashboard/charges/{id}{path}"), 404).await;
        assert!(page.contains("This account has nothing at this address."), "{page}");
    }
    for query in ["orderId=theirs".to_owned(), format!("merchantId={merchant}")] {
        let page = browser.page(&format!("/dashboard/charges?{query}"), 200).await;
        assert!(page.contains("No charge matches."), "{page}");
    }
    for path in ["/dashboard/charges/nothing", "/dashboard/charges/..%2Fcards"] {
        let status = browser.open(path).await.status.as_u16();
        assert!(matches!(status, 400 | 404), "{path}: {status}");
    }
}

async fn today_is_compared_with_the_same_day_of_last_week(app: TestApp) {
    let merchant = app.merchant().await;
    let charge = async |card| charged(&app, &Charge::by_card(&merchant, card).body()).await;
    charge(APPROVED).await;
    app.later(Duration::from_secs(7 * 86_400)).await;
    for card in [APPROVED, APPROVED, BLOCKED] {
        charge(card).await;
    }
    let page = signed_in(&app, Role::Owner).await.page("/dashboard", 200).await;
    for shown in [
        "Compared with March 23, 2026",
        "<dt>Charges</dt><dd><b>3</b> <small>a week ago: 1</small>",
        "<dt>Approved</dt><dd><b>2</b> <small>a week ago: 1</small>",
        "<dt>Failed</dt><dd><b>1</b> <small>a week ago: 0</small>",
        "<b>67\u{a0}%</b> <small>a week ago: 100\u{a0}%</small>",
        "Every payment has an outcome.",
        "No webhook is set up",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let page = signed_in(&app, Role::Support).await.page("/dashboard", 200).await;
    assert!(!page.contains("Webhooks"), "whoever may not see webhooks is told nothing of them: {page}");
}

async fn a_language_is_chosen_and_kept(app: TestApp) {
    let browser = signed_in(&app, Role::Owner).await;
    let page = browser.page("/dashboard/charges?status=failed", 200).await;
    let link =
        links(&page).into_iter().find(|link| link.contains("to=es")).expect(&page).replace("&#38;", "&");
    let reply = browser.open(&link).await;
    assert_eq!(reply.status, 303);
    assert_eq!(reply.header("location"), Some("/dashboard/charges?status=failed"));
    let cookie = reply.header("set-cookie").unwrap();
    assert!(cookie.starts_with("regente_dashboard_language=es; Path=/dashboard;"), "{cookie}");
}

async fn a_language_leads_to_pages_of_the_dashboard_alone(app: TestApp) {
    let browser = signed_in(&app, Role::Owner).await;
    for back in
        ["https://evil.example", "//evil.example", "/dashboard.evil.example", "/dashboard%0D%0AX: y", ""]
    {
        let reply =
            browser.open(&format!("/dashboard/language?to=en&back={}", back.replace(' ', "%20"))).await;
        assert_eq!(reply.header("location"), Some("/dashboard"), "{back}");
    }
    let reply = browser.open("/dashboard/language?to=xx&back=/dashboard/charges").await;
    assert_eq!((reply.header("set-cookie"), reply.header("location")), (None, Some("/dashboard/charges")));
}
