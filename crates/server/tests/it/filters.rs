//! Every list refuses a filter whose value cannot mean anything, instead of finding nothing or everything
//! (`docs/interface/conventions.md#queries`).

use axum::http::Method;

use crate::support::app::{TestApp, stories};
use crate::support::document::Document;
use crate::support::records::Records;

stories! {
    a_filter_that_means_nothing_is_refused_by_every_list,
}

/// Values that a parameter of a list cannot have.
fn wrong(path: &str, name: &str) -> Vec<String> {
    let values: &[&str] = match (path, name) {
        (_, "page") => &["0", "-1", "x", "1.5", "2147483648"],
        (_, "limit") => &["0", "101", "x", "99999999999999999999"],
        (_, "sort") => &["up", "ASC,DESC"],
        (
            _,
            "id" | "merchantId" | "customerId" | "sessionId" | "subscriptionId" | "sellerId" | "sourceId"
            | "chargeId",
        ) => &["x", "1"],
        ("/v1/flows", "paymentMethod") => &["voucher"],
        (_, "status" | "multiplePayments.status" | "type" | "paymentType" | "providerType" | "movement") => {
            &["gone"]
        }
        (_, "currency" | "purpose") => &["gone", "brl,usd"],
        (_, "originalAmount") => &["1.5", "-1", "many"],
        (_, "splitRules" | "isActive" | "isDefault") => &["maybe", "1"],
        (
            _,
            "created" | "created.gt" | "created.lt" | "createdAt" | "deadline.lt" | "at" | "at.gt" | "at.lt",
        ) => &["yesterday", "2026-13-01", "1"],
        (_, "document.type") => &["foo", "c-p-f", "cpf,foo"],
        (_, "document.number") => &["--"],
        (_, "email") => &["rita"],
        (_, "businessName") => &["ab"],
        ("/v1/sessions", "orderId") => &["x"],
        // Any text may be a reference.
        ("/v1/charges", "orderId") | ("/v1/subscriptions", "referenceKey") => return vec!["x".repeat(256)],
        (_, "startDate" | "endDate" | "paymentDate") => &["yesterday", "2026-13-01"],
        // It has no effect, whatever it is.
        ("/v1/sessions", "order") => &[],
        (_, "order") => &["up"],
        (path, name) => panic!("{path}: which values of {name} are refused?"),
    };
    values.iter().map(|value| (*value).to_owned()).collect()
}

async fn a_filter_that_means_nothing_is_refused_by_every_list(app: TestApp) {
    let records = Records { app: &app, client: &app.client };
    let mut lists = Vec::new();
    for operation in Document::current().operations.iter().filter(|operation| operation.method == Method::GET)
    {
        let parameters = operation.value["parameters"].as_array().into_iter().flatten();
        let names: Vec<&str> = parameters
            .filter(|parameter| parameter["in"] == "query")
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        if !names.contains(&"limit") {
            continue;
        }
        lists.push(operation.path.as_str());
        let path = records.call(operation).await.path(operation);
        assert_eq!(app.get(&path).await.status, 200, "{path}");
        for name in &names {
            for value in wrong(&operation.path, name) {
                let refused = app.get(&format!("{path}?{name}={value}")).await;
                let details = refused.details(400);
                let is_named = details.len() == 1 && details[0].starts_with(&format!("{name} "));
                assert!(is_named, "{path}?{name}={value}: {details:?}");
            }
        }
        // All of them together, so that they are mended at once.
        let all: Vec<String> = names
            .iter()
            .filter_map(|name| Some(format!("{name}={}", wrong(&operation.path, name).into_iter().next()?)))
            .collect();
        assert_eq!(
            app.get(&format!("{path}?{}", all.join("&"))).await.details(400).len(),
            all.len(),
            "{path}"
        );
    }
    for list in ["/v1/charges", "/v1/sessions", "/v1/sellers", "/v1/customers", "/v1/webhooks", "/v1/cards"] {
        assert!(lists.contains(&list), "{list}");
    }
}
