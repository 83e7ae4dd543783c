//! How many customers the buyers of a session make with its key.

use axum::http::Method;
use futures_util::future::join_all;
use regente_domain::session::Capacity;
use regente_store::{Batch, Commit, args, sql};
use serde_json::{Value, json};

use crate::sessions::payments::{refused, single};
use crate::support::app::{TestApp, stories};
use crate::support::bodies::APPROVED;
use crate::support::bodies::payers::{described, jose, payer};
use crate::support::charges::single_merchant;
use crate::support::client::Reply;
use crate::support::read::text;
use crate::support::records::{customer_body, unique};
use crate::support::sessions::{buyer, by_card, by_pix, create, pay, session_body};

stories! {
    customers_of_a_session_that_is_paid_once_are_bounded,
    customers_who_are_made_at_once_are_bounded_together,
    each_payment_allows_for_more_customers_where_many_pay,
}

sql! {
    /// As if so many customers had been made.
    SET_CUSTOMERS_OF_SESSION = "
        UPDATE sessions SET customers = :customers WHERE id = :id AND client_id = :client_id";
}

const FULL: &str = "session_customers_limit_reached";
const ONCE_MAX: usize = Capacity::CUSTOMERS_ONCE_MAX.unsigned_abs() as usize;

async fn make(app: &TestApp, session: &Value, customer: &Value) -> Reply {
    app.call(&buyer(session), Method::POST, "/v1/sessions/customers", &[], Some(customer)).await
}

async fn customers_of_a_session_that_is_paid_once_are_bounded(app: TestApp) {
    let session = single(&app).await;
    // A payer is one of them; who exists already is not.
    pay(&app, &session, &by_pix()).await.expect(201);
    for _ in 1..ONCE_MAX {
        make(&app, &session, &jose()).await.expect(201);
        make(&app, &session, &unique(customer_body())).await.expect(201);
    }
    refused(&make(&app, &session, &unique(customer_body())).await.expect(422), FULL);
    let new_payer = json!({ "paymentMethod": { "paymentType": "pix" },
        "paymentSource": described(payer("ana@example.com", "11144477735")) });
    refused(&pay(&app, &session, &new_payer).await.expect(422), FULL);
    pay(&app, &session, &by_pix()).await.expect(201);
    make(&app, &session, &jose()).await.expect(201);
    // The merchant's server is not bounded, and another session has places of its own.
    app.post("/v1/customers", &unique(customer_body())).await.expect(201);
    let path = format!("/v1/sessions/{}/charge", text(&session["id"]));
    app.post(&path, &new_payer).await.expect(201);
    make(&app, &single(&app).await, &unique(customer_body())).await.expect(201);
}

async fn customers_who_are_made_at_once_are_bounded_together(app: TestApp) {
    let session = single(&app).await;
    let customers: Vec<Value> = (0..2 * ONCE_MAX).map(|_| unique(customer_body())).collect();
    let replies = join_all(customers.iter().map(|customer| make(&app, &session, customer))).await;
    for reply in replies.iter().filter(|reply| reply.status == 422) {
        refused(&reply.json(), FULL);
    }
    // Of requests that meet again and again some are told to come back.
    let made = app.get("/v1/customers").await.expect(200)["meta"]["totalItems"].clone();
    let answered = replies.iter().filter(|reply| reply.status == 201).count();
    assert_eq!(made, answered);
    assert!(answered <= ONCE_MAX, "{answered}");
    let mut more = 0;
    while make(&app, &session, &unique(customer_body())).await.status == 201 {
        more += 1;
    }
    assert_eq!(answered + more, ONCE_MAX);
}

async fn each_payment_allows_for_more_customers_where_many_pay(app: TestApp) {
    let mut body = session_body(&single_merchant(&app).await);
    body["maxPayments"] = (-1).into();
    let session = create(&app, &body).await;
    let mut batch = Batch::new(app.client_id());
    let id: regente_domain::id::SessionId = text(&session["id"]).parse().unwrap();
    let customers = Capacity::CUSTOMERS_MANY_MAX - 1;
    batch.push(&SET_CUSTOMERS_OF_SESSION, args! { id, client_id: app.client_id(), customers });
    assert_eq!(app.app.store.apply(batch).await.unwrap(), Commit::Applied);
    make(&app, &session, &unique(customer_body())).await.expect(201);
    refused(&make(&app, &session, &unique(customer_body())).await.expect(422), FULL);
    pay(&app, &session, &by_card(APPROVED)).await.expect(201);
    for _ in 0..Capacity::CUSTOMERS_FOR_EACH_PAYMENT {
        make(&app, &session, &unique(customer_body())).await.expect(201);
    }
    refused(&make(&app, &session, &unique(customer_body())).await.expect(422), FULL);
}
