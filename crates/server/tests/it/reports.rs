//! Reports (`docs/interface/reports.md`).

mod bucket;
mod cells;
mod command;
mod crashes;
mod files;
mod mail;
mod moment;

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::app::{ADDRESS, TestApp, stories};
use crate::support::bodies::payers::{described, jose, pix_body};
use crate::support::bodies::{APPROVED, BLOCKED, Charge, charge_body};
use crate::support::charges::{charged, single_merchant};
use crate::support::client::As;
use crate::support::read::text;
use crate::support::reports::{REPORTS, asked, column, file, filtered, made, read, report_body, table};

stories! {
    a_report_is_asked_for_made_and_fetched,
    what_a_report_cannot_be_is_refused,
    a_report_shows_what_its_filters_take,
    titles_are_in_the_language_and_dates_in_the_zone_that_were_asked_for,
    of_one_account_five_are_made_at_once,
    reports_of_another_account_are_not_found,
    reports_are_listed,
}

async fn a_report_is_asked_for_made_and_fetched(app: TestApp) {
    let app = app.reachable().await;
    let merchant = single_merchant(&app).await;
    let charge = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let fields =
        json!(["transaction__id", "transaction__created_at", "transaction__status", "card_brand__brand"]);
    let mut body = report_body("transactions", fields.clone());
    body["filters"] = json!({
        "transactionRequestPaymentMethod": ["credit"], "transactionStatus": ["authorized"],
        "transactionCreatedAt": { "gte": "2026-03-01T00:00:00Z", "lte": "2026-03-31T23:59:59Z" },
        "transactionMerchantId": merchant,
    });
    let headers = [("Accept-Language", "pt-BR"), ("X-User-Timezone", "America/Sao_Paulo")];
    let report = asked(&app, &body, &headers).await.expect(201);
    let expected = json!({
        "id": report["id"], "clientId": app.client.id, "email": "user@example.com", "language": "pt-BR",
        "type": "transactions", "status": "pending", "pagesCount": null, "files": null, "fields": fields,
        "createdAt": "2026-03-23T15:12:38.379Z", "updatedAt": "2026-03-23T15:12:38.379Z",
        "expiredAt": "2026-04-22T15:12:38.379Z", "timezone": "America/Sao_Paulo", "filters": body["filters"],
    });
    assert_eq!(report, expected);
    assert_eq!(read(&app, &report).await, expected);
    file(&app, &report, 1).await.expect(404);

    app.later(Duration::from_secs(30)).await;
    let done = read(&app, &report).await;
    let address = format!("{ADDRESS}{REPORTS}/{}/files/1", text(&report["id"]));
    assert_eq!((&done["status"], &done["pagesCount"]), (&json!("uploaded"), &json!(1)), "{done:#}");
    assert_eq!(done["files"], json!([address]));
    let fetched = file(&app, &report, 1).await;
    let name = format!("attachment; filename=\"report-{}-1.csv\"", &text(&report["id"])[..8]);
    assert_eq!(fetched.header("content-type"), Some("application/csv"));
    assert_eq!(fetched.header("content-disposition"), Some(&*name));
    let line = format!("2026-03-23 12:12:38,{},authorized,Visa\r\n", text(&charge["id"]));
    let whole = format!("\u{feff}Data da Criação,ID da Cobrança,Status,Card Brand Brand\r\n{line}");
    assert_eq!(String::from_utf8(fetched.bytes).unwrap(), whole);
    assert_eq!(read(&app, &report).await["status"], "uploaded", "no mail was sent");
    for number in ["0", "2", "x", "99999999999"] {
        app.get(&format!("{REPORTS}/{}/files/{number}", text(&report["id"]))).await.expect(404);
    }
}

async fn what_a_report_cannot_be_is_refused(app: TestApp) {
    let good = report_body("transactions", json!(["transaction__id"]));
    let period = "filters.transactionCreatedAt";
    let cases = [
        ("/sendTo", json!("nobody"), "sendTo must be".to_owned()),
        (
            "/type",
            json!("charges"),
            "type must be one of the following values: transactions, transactionsHistory".into(),
        ),
        (
            "/fields",
            json!(["transaction__color"]),
            "fields must be one of the following values: transaction__created_at, ".into(),
        ),
        // Of the other type alone.
        (
            "/fields",
            json!(["transaction_request__amount"]),
            "fields must be one of the following values: ".into(),
        ),
        ("/fields", json!([]), "fields must contain at least 1 elements".into()),
        ("/filters", Value::Null, "filters should not be empty".into()),
        (
            "/filters/transactionCreatedAt/lte",
            json!("2026-02-01"),
            format!("{period} must not end before it begins"),
        ),
        (
            "/filters/transactionCreatedAt/lte",
            json!("2027-03-03T00:00:00Z"),
            format!("{period} must not be longer than 366 days"),
        ),
        (
            "/filters/transactionCreatedAt/gte",
            json!("March"),
            format!("{period}.gte must be a valid ISO 8601 date string"),
        ),
        ("/filters/transactionStatus", json!(["paid"]), "filters.transactionStatus".into()),
        (
            "/filters/transactionMerchantId",
            json!("any"),
            "filters.transactionMerchantId must be a UUID".into(),
        ),
    ];
    for (pointer, value, problem) in cases {
        let mut body = good.clone();
        match body.pointer_mut(pointer) {
            Some(member) => *member = value,
            None => body["filters"][pointer.rsplit_once('/').unwrap().1] = value,
        }
        let details = asked(&app, &body, &[]).await.details(400);
        assert!(details.iter().any(|detail| detail.starts_with(&problem)), "{problem}: {details:?}");
    }
    let details = asked(&app, &good, &[("X-User-Timezone", "Sao Paulo")]).await.details(400);
    assert_eq!(details, ["X-User-Timezone must be a name of the tz database"]);
    // A year with a day more than others, the whole of it.
    let mut year = good.clone();
    year["filters"]["transactionCreatedAt"] = json!({ "gte": "2024-01-01", "lte": "2025-01-01" });
    asked(&app, &year, &[]).await.expect(201);
}

async fn a_report_shows_what_its_filters_take(app: TestApp) {
    let (merchant, other) = (single_merchant(&app).await, single_merchant(&app).await);
    let paid = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let refused = charged(&app, &charge_body(&merchant, BLOCKED)).await;
    let elsewhere = charged(&app, &charge_body(&other, APPROVED)).await;
    let pix = charged(&app, &pix_body(&merchant, described(jose()))).await;
    let provider = &paid["transactionRequests"][0]["providerId"];
    app.later(Duration::from_secs(24 * 60 * 60)).await;
    let late = charged(&app, &charge_body(&merchant, APPROVED)).await;
    let all = [&paid, &refused, &elsewhere, &pix, &late];
    let cases: [(&str, Value, &[&Value]); 11] = [
        ("transactionStatus", json!(["authorized"]), &[&paid, &elsewhere, &late]),
        // The Pix has expired meanwhile.
        ("transactionStatus", json!(["failed"]), &[&refused, &pix]),
        ("transactionStatus", json!(["failed", "authorized"]), &[&paid, &refused, &elsewhere, &pix, &late]),
        ("transactionRequestPaymentMethod", json!(["pix"]), &[&pix]),
        ("transactionSourcePaymentMethod", json!(["pix", "boleto"]), &[&pix]),
        ("transactionMerchantId", json!(other), &[&elsewhere]),
        ("transactionProviderId", provider.clone(), &[&paid, &refused, &pix, &late]),
        ("transactionId", refused["id"].clone(), &[&refused]),
        ("transactionCreatedAt", json!({ "gte": "2026-03-24", "lte": "2026-03-25" }), &[&late]),
        // Both ends belong to it.
        (
            "transactionCreatedAt",
            json!({ "gte": paid["createdAt"], "lte": paid["createdAt"] }),
            &[&paid, &refused, &elsewhere, &pix],
        ),
        ("transactionStatus", json!(["pending", "created"]), &[]),
    ];
    let body = report_body("transactions", json!("transaction__id"));
    for (name, value, expected) in cases {
        let body = filtered(body.clone(), name, value.clone());
        let report = made(&app, &body, &[]).await;
        assert_eq!(report["filters"][name], value);
        if expected.is_empty() {
            assert_eq!(
                (&report["status"], &report["pagesCount"], &report["files"]),
                (&json!("empty"), &json!(0), &json!([]))
            );
            file(&app, &report, 1).await.expect(404);
            continue;
        }
        let ids: Vec<&str> = expected.iter().map(|charge| text(&charge["id"])).collect();
        assert_eq!(column(&app, &report, "Transaction Id").await, ids, "{name} {value}");
    }
    let ids: Vec<&str> = all.iter().map(|charge| text(&charge["id"])).collect();
    assert_eq!(column(&app, &made(&app, &body, &[]).await, "Transaction Id").await, ids);
    // Of the history, the calls to one provider.
    let history = report_body("transactionsHistory", json!("transaction_request__provider_id"));
    let report = made(&app, &filtered(history, "transactionProviderId", provider.clone()), &[]).await;
    let asked = column(&app, &report, "Transaction Request Provider Id").await;
    assert!(asked.len() >= 4 && asked.iter().all(|id| id == text(provider)), "{asked:?}");
}

async fn titles_are_in_the_language_and_dates_in_the_zone_that_were_asked_for(app: TestApp) {
    let merchant = single_merchant(&app).await;
    charged(&app, &charge_body(&merchant, APPROVED)).await;
    // In Lisbon summer time begins on 2026-03-29.
    app.later(Duration::from_secs(7 * 24 * 60 * 60)).await;
    charged(&app, &Charge::by_card(&merchant, APPROVED).body()).await;
    let body = report_body("transactions", json!(["transaction__created_at", "provider_error__retryable"]));
    let cases = [
        ("pt", "Europe/Lisbon", "pt", "Data da Criação", ["2026-03-23 15:12:38", "2026-03-30 16:12:38"]),
        (
            "en",
            "europe/lisbon",
            "en",
            "Transaction Created At",
            ["2026-03-23 15:12:38", "2026-03-30 16:12:38"],
        ),
        (
            "fr, pt-br;q=0.5",
            "Asia/Kolkata",
            "pt-BR",
            "Data da Criação",
            ["2026-03-23 20:42:38", "2026-03-30 20:42:38"],
        ),
    ];
    for (accepted, zone, language, title, dates) in cases {
        let headers = [("Accept-Language", accepted), ("X-User-Timezone", zone)];
        let report = made(&app, &body, &headers).await;
        assert_eq!(report["language"], language);
        assert!(text(&report["timezone"]).eq_ignore_ascii_case(zone));
        let (titles, rows) = table(&file(&app, &report, 1).await.bytes);
        assert_eq!(titles, [title, "Provider Error Retryable"]);
        assert_eq!(rows.iter().map(|row| &row[0]).collect::<Vec<_>>(), dates);
    }
    let report = made(&app, &body, &[]).await;
    assert_eq!((&report["language"], &report["timezone"]), (&json!("en-US"), &json!("America/Sao_Paulo")));
}

async fn of_one_account_five_are_made_at_once(app: TestApp) {
    charged(&app, &charge_body(&single_merchant(&app).await, APPROVED)).await;
    let body = report_body("transactions", json!("all"));
    let mut reports = Vec::new();
    for _ in 0..5 {
        reports.push(asked(&app, &body, &[]).await.expect(201));
    }
    let refused = asked(&app, &body, &[]).await;
    assert_eq!(refused.header("retry-after"), Some("60"));
    assert_eq!(refused.expect(429)["error"]["businessCode"], "reports_limit_reached");
    let other = As::another_client(&app).await;
    other.post(REPORTS, &body).await.expect(201);
    app.later(Duration::from_secs(30)).await;
    for report in &reports {
        assert_eq!(read(&app, report).await["status"], "uploaded");
    }
    asked(&app, &body, &[]).await.expect(201);
}

async fn reports_of_another_account_are_not_found(app: TestApp) {
    charged(&app, &charge_body(&single_merchant(&app).await, APPROVED)).await;
    let report = made(&app, &report_body("transactions", json!("all")), &[]).await;
    let other = As::another_client(&app).await;
    let path = format!("{REPORTS}/{}", text(&report["id"]));
    other.get(&path).await.expect(404);
    other.get(&format!("{path}/files/1")).await.expect(404);
    assert_eq!(other.get(REPORTS).await.expect(200)["meta"]["totalItems"], 0);
    // And its own report shows none of these charges.
    let report = other.post(REPORTS, &report_body("transactions", json!("all"))).await.expect(201);
    app.later(Duration::from_secs(30)).await;
    let path = format!("{REPORTS}/{}", text(&report["id"]));
    assert_eq!(other.get(&path).await.expect(200)["status"], "empty");
}

async fn reports_are_listed(app: TestApp) {
    let body = report_body("transactions", json!("all"));
    let first = app.post_with_key(REPORTS, "one", &body).await.expect(201);
    assert_eq!(app.post_with_key(REPORTS, "one", &body).await.expect(201), first);
    let second = app.post_with_key(REPORTS, "two", &body).await.expect(201);
    let listed = app.get(REPORTS).await.expect(200);
    assert_eq!(listed["items"], json!([second, first]));
    assert_eq!(app.get(&format!("{REPORTS}?page=2&limit=1")).await.expect(200)["items"], json!([first]));
}
