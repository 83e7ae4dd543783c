//! What each role may call of the interface.

use axum::body::Body;
use axum::http::Request;
use regente_domain::id::{Id, MemberId};
use regente_domain::member::role::Role;
use regente_engine::caller::{Authority, Caller};

use crate::support::app::{TestApp, stories};
use crate::support::document::Document;
use crate::support::document::doors::OPEN_TO_ALL;
use crate::support::prepayments;

stories! { a_role_may_call_what_the_table_says_and_nothing_else }

const PAYMENTS: &[Role] = &[Role::Owner, Role::Operator, Role::Support, Role::Finance, Role::ReadOnly];
const SALES: &[Role] = PAYMENTS;
const ACTS: &[Role] = &[Role::Owner, Role::Operator, Role::Support];
const PERSONS: &[Role] = &[Role::Owner, Role::Operator, Role::Support, Role::ReadOnly];
const MONEY: &[Role] = &[Role::Owner, Role::Operator, Role::Finance, Role::ReadOnly];
const SETUP: &[Role] = &[Role::Owner, Role::Operator, Role::ReadOnly];
const WRITERS: &[Role] = &[Role::Owner, Role::Operator];

/// Written by hand: derived from the code it would prove nothing. Nobody may call what is not here.
const MATRIX: &[(&[Role], &[&str])] = &[
    (
        PAYMENTS,
        &[
            "GET /v1/charges",
            "GET /v1/charges/{id}",
            "GET /v1/charges/{id}/explanation",
            "GET /v1/charges/{id}/receipts",
            "GET /v1/purchases/{id}",
            "GET /v1/purchases/{id}/history",
            "GET /v1/rates",
        ],
    ),
    (
        ACTS,
        &[
            "POST /v1/charges/{id}",
            "PATCH /v1/charges/{id}/antifraud",
            "POST /v1/charges/{id}/capture",
            "POST /v1/charges/{id}/void",
            "POST /v1/purchases/{id}/capture",
            "POST /v1/purchases/{id}/void",
        ],
    ),
    (
        PERSONS,
        &[
            "GET /v1/cards",
            "GET /v1/cards/{id}",
            "GET /v1/customers",
            "GET /v1/customers/{id}",
            "GET /v1/customers/{id}/cards",
        ],
    ),
    (
        MONEY,
        &[
            "GET /v1/ledger/accounts",
            "GET /v1/ledger/balances",
            "GET /v1/ledger/entries",
            "GET /v1/payouts/balance",
            "GET /v1/payouts/payment-batches",
            "GET /v1/payouts/payment-batches/{id}",
            "GET /v1/payouts/payment-batches/{id}/orders",
            "GET /v1/payouts/orders",
            "GET /v1/payouts/orders/{id}",
            "GET /v1/subacquirer/prepayment/receivables",
            "GET /v1/subacquirer/prepayment/{id}",
            "GET /v1/reports",
            "GET /v1/reports/{id}",
            "GET /v1/reports/{id}/files/{pageNumber}",
        ],
    ),
    (
        SALES,
        &[
            "GET /v1/sellers",
            "GET /v1/sellers/{id}",
            "GET /v1/sellers/documents",
            "GET /v1/sellers/documents/{documentId}",
            "GET /v1/sellers/registration-reviews",
            "GET /v1/sellers/{sellerId}/registration-reviews",
            "GET /v1/sellers/{sellerId}/registration-reviews/{id}",
            "GET /v1/sessions",
            "GET /v1/sessions/{id}",
            "GET /v1/sessions/{id}/history",
            "GET /v1/subscriptions",
            "GET /v1/subscriptions/{id}",
            "GET /v1/subscriptions/{id}/cycles",
            "GET /v1/subscriptions/{id}/cycles/{cycleId}",
            "GET /v1/subscriptions/settings",
            "GET /v1/vendors",
            "GET /v1/vendors/{id}",
        ],
    ),
    (
        SETUP,
        &[
            "GET /v1/flows",
            "GET /v1/flows/{id}",
            "GET /v1/merchants",
            "GET /v1/merchants/{id}",
            "GET /v1/merchants/{merchantId}/platform-fee",
            "GET /v1/settings",
            "GET /v1/subacquirer/plans",
            "GET /v1/subacquirer/plans/{id}",
            "GET /v1/webhooks",
            "GET /v1/webhooks/{id}",
            "GET /v1/webhooks/{id}/deliveries",
        ],
    ),
    (
        WRITERS,
        &[
            "POST /v1/sellers",
            "PATCH /v1/sellers/{id}",
            "DELETE /v1/sellers/{id}",
            "POST /v1/sellers/documents",
            "DELETE /v1/sellers/documents/{documentId}",
            "POST /v1/sellers/{sellerId}/registration-reviews",
            "POST /v1/sellers/{sellerId}/registration-reviews/{id}/answer",
            "POST /v1/sessions",
            "PATCH /v1/sessions/{id}",
            "POST /v1/sessions/{id}/cancel",
            "POST /v1/subscriptions",
            "POST /v1/subscriptions/preview",
            "PUT /v1/subscriptions/{id}",
            "PATCH /v1/subscriptions/settings",
            "PATCH /v1/subscriptions/{id}/cancel",
            "POST /v1/subscriptions/{id}/cancel",
            "PATCH /v1/subscriptions/{id}/pause",
            "POST /v1/subscriptions/{id}/pause",
            "PATCH /v1/subscriptions/{id}/resume",
            "POST /v1/subscriptions/{id}/resume",
            "POST /v1/subscriptions/{id}/card-link",
            "POST /v1/vendors",
            "PATCH /v1/vendors/{id}",
            "DELETE /v1/vendors/{id}",
            "POST /v1/flows",
            "POST /v1/flows/validate",
            "POST /v1/flows/{id}/restore",
            "DELETE /v1/flows/{id}",
            "POST /v1/merchants",
            "PATCH /v1/merchants/{id}",
            "DELETE /v1/merchants/{id}",
            "POST /v1/merchants/{merchantId}/platform-fee",
            "PUT /v1/merchants/{merchantId}/platform-fee",
            "DELETE /v1/merchants/{merchantId}/platform-fee/{platformFeeId}",
            "PATCH /v1/merchants/{merchantId}/platform-fee/enabled",
            "PATCH /v1/providers/{id}",
            "POST /v1/settings",
            "PATCH /v1/settings",
            "POST /v1/webhooks",
            "PATCH /v1/webhooks/{id}",
            "DELETE /v1/webhooks/{id}",
            "POST /v1/webhooks/{id}/deliveries/{deliveryId}/replay",
            "POST /v1/webhooks/{id}/ping",
        ],
    ),
];

async fn a_role_may_call_what_the_table_says_and_nothing_else(app: TestApp) {
    // Without it receivables are refused to the account, whoever asks.
    prepayments::enabled(&app).await;
    let mut wrong = Vec::new();
    let mut found = 0;
    for operation in &Document::current().operations {
        if OPEN_TO_ALL.contains(&operation.path.as_str()) {
            continue;
        }
        let name = operation.name();
        let roles = MATRIX.iter().find(|(_, names)| names.contains(&name.as_str())).map(|(roles, _)| *roles);
        found += usize::from(roles.is_some());
        let unknown = "0190f3c8-7b8e-7cc0-8000-00000000beef";
        let path = operation.path_with(&vec![unknown; operation.parameters()]);
        for (word, role) in Role::WORDS {
            let mut request = Request::builder()
                .method(operation.method.clone())
                .uri(&path)
                .header("Content-Type", "application/json")
                .body(Body::from("{}"))
                .unwrap();
            let member_id: MemberId = Id::new(uuid::Uuid::max());
            request.extensions_mut().insert(Caller {
                client_id: app.client_id(),
                credential_id: Id::new(uuid::Uuid::max()),
                authority: Authority::Member { member_id, role: *role },
            });
            let reply = app.send(request).await;
            let may = roles.is_some_and(|roles| roles.contains(role));
            if may == (reply.status == 403) || reply.status == 401 {
                wrong.push(format!("{name} as {word}: {}", reply.status));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(
        found,
        MATRIX.iter().map(|(_, names)| names.len()).sum::<usize>(),
        "a name of the table is no operation"
    );
}
