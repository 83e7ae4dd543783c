//! Makes a successful request for each operation: records of an account, and a body that names them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::{HeaderName, Method};
use regente_engine::link_settings;
use regente_engine::payouts::payday;
use regente_store::payouts::{self, Taking};
use regente_store::{Batch, Commit, args, sql};
use serde_json::{Value, json};

use crate::support::anti_fraud::PENDING;
use crate::support::app::TestApp;
use crate::support::bodies::payers::{boleto_body, described, payer, pix_body};
use crate::support::bodies::{APPROVED, charge_body, token_body};
use crate::support::client::{Client, Reply};
use crate::support::document::{Document, Operation};
use crate::support::forms::{Form, png};
use crate::support::payouts::own;
use crate::support::prepayments::PREPAYMENT;
use crate::support::providers::sandbox;
use crate::support::receipts::{RECEIPT, own_merchant_body};
use crate::support::reports::{A_WHILE, report_body};
use crate::support::sellers::{DOCUMENTS, selfie, seller_body};
use crate::support::sessions::session_body;
use crate::support::subscriptions::subscription_body;
use crate::support::{anti_fraud, documents, plans, prepayments, splits, vendors};

sql! {
    FORGET_SETTINGS = "DELETE FROM settings WHERE client_id = :client_id";
}

/// A request that succeeds once.
#[derive(Debug)]
pub struct Call {
    /// The values of the path's parameters; one more is the query.
    pub ids: Vec<String>,
    pub body: Option<Value>,
}

impl Call {
    fn of(id: &str) -> Self {
        Self { ids: vec![id.to_owned()], body: None }
    }

    /// Sends it with a key of an account.
    pub async fn send(
        &self,
        app: &TestApp,
        key: &Client,
        operation: &Operation,
        headers: &[(&str, &str)],
    ) -> Reply {
        let (method, path) = (operation.method.clone(), self.path(operation));
        if operation.takes_a_file_alone() {
            let mut request = selfie(&png().bytes).request_to(key, method, &path);
            for (name, value) in headers {
                request.headers_mut().insert(HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
            }
            return app.send(request).await;
        }
        app.call(key, method, &path, headers, self.body.as_ref()).await
    }

    fn with(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    pub fn path(&self, operation: &Operation) -> String {
        let ids: Vec<&str> = self.ids.iter().map(String::as_str).collect();
        let path = operation.path_with(&ids);
        match ids.get(operation.parameters()) {
            Some(query) => format!("{path}?{query}"),
            None => path,
        }
    }
}

/// Makes records for one account.
pub struct Records<'a> {
    pub app: &'a TestApp,
    pub client: &'a Client,
}

impl Records<'_> {
    /// A successful request of an operation: the document's example body, if any, with ids of existing records. An
    /// operation without an entry here fails its tests.
    pub async fn call(&self, operation: &Operation) -> Call {
        let none = Call { ids: Vec::new(), body: None };
        let example = || Document::current().body_example(operation).expect("an example").clone();
        match operation.name().as_str() {
            "POST /v1/auth" | "POST /v1/tokens" | "POST /v1/sessions/tokens" | "POST /v1/merchants" => {
                none.with(example())
            }
            "GET /v1/cards" | "GET /v1/customers" | "GET /v1/charges" | "GET /v1/merchants"
            | "GET /v1/sessions" | "GET /v1/sellers" => none,
            "GET /v1/sellers/documents" | "GET /v1/sellers/registration-reviews" => none,
            "POST /v1/sellers/documents" => none,
            "GET /v1/ledger/accounts" | "GET /v1/ledger/balances" | "GET /v1/ledger/entries" => none,
            "GET /v1/rates" => none,
            "GET /health/live" | "GET /health/ready" => none,
            "GET /qr/{file}" => Call::of(&format!("{}.png", self.link(pix_body).await)),
            "GET /boleto/{file}" => Call::of(&format!("{}.pdf", self.link(boleto_body).await)),
            "DELETE /v1/auth/{publicKey}" => Call::of(&self.client_token().await),
            "POST /v1/cards" | "POST /v1/sessions/cards" => {
                none.with(put(example(), "tokenId", self.token(APPROVED).await))
            }
            "GET /v1/cards/{id}" | "DELETE /v1/cards/{id}" => Call::of(&self.card().await),
            "POST /v1/customers" | "POST /v1/sessions/customers" => none.with(unique(example())),
            "GET /v1/sessions/customers/{id}" | "GET /v1/sessions/customers/{id}/cards" => {
                Call::of(&self.customer().await)
            }
            "GET /v1/customers/{id}" | "DELETE /v1/customers/{id}" => Call::of(&self.customer().await),
            "PATCH /v1/customers/{id}" => Call::of(&self.customer().await).with(example()),
            "GET /v1/customers/{id}/cards" => Call::of(&self.customer().await),
            "POST /v1/customers/{id}/cards" | "POST /v1/sessions/customers/{id}/cards" => {
                Call::of(&self.customer().await).with(put(example(), "cardId", self.card().await))
            }
            "POST /v1/charges" => none.with(put(example(), "merchantId", self.merchant().await)),
            "POST /v1/charges/3ds/setup" => none.with(put(example(), "tokenId", self.token(APPROVED).await)),
            "GET /v1/charges/{id}" | "GET /v1/charges/{id}/explanation" => Call::of(&self.charge().await),
            "POST /v1/charges/{id}" => Call::of(&self.charge().await).with(example()),
            "PATCH /v1/charges/{id}/antifraud" => Call::of(&self.pending_analysis().await).with(example()),
            "POST /v1/charges/{id}/capture" => Call::of(&self.reserved().await).with(example()),
            "POST /v1/charges/{id}/void" => Call::of(&self.charge().await).with(example()),
            "GET /v1/merchants/{id}" | "DELETE /v1/merchants/{id}" => Call::of(&self.merchant().await),
            "PATCH /v1/merchants/{id}" => Call::of(&self.merchant().await).with(example()),
            "POST /v1/merchants/{merchantId}/platform-fee"
            | "PATCH /v1/merchants/{merchantId}/platform-fee/enabled" => {
                Call::of(&self.merchant().await).with(example())
            }
            "GET /v1/merchants/{merchantId}/platform-fee" => Call::of(&self.merchant().await),
            "PUT /v1/merchants/{merchantId}/platform-fee" => {
                Call::of(&self.platform_fee().await.0).with(example())
            }
            "DELETE /v1/merchants/{merchantId}/platform-fee/{platformFeeId}" => {
                let (merchant, rule) = self.platform_fee().await;
                Call { ids: vec![merchant, rule], body: None }
            }
            "POST /v1/flows" | "POST /v1/flows/validate" => none.with(self.new_flow().await),
            "GET /v1/flows" => none,
            "GET /v1/flows/{id}" | "DELETE /v1/flows/{id}" => Call::of(&text(&self.flow().await["id"])),
            "POST /v1/flows/{id}/restore" => {
                let flow = self.flow().await;
                Call::of(&text(&flow["id"])).with(flow["merchants"][0].clone())
            }
            "GET /v1/charges/{id}/receipts" => {
                Call { ids: vec![self.refunded().await, format!("type={RECEIPT}")], body: None }
            }
            "POST /v1/receipts" => none.with(put(example(), "chargeId", self.refunded().await)),
            "GET /v1/receipts/{receiptId}/file" => {
                let body = json!({ "chargeId": self.refunded().await, "type": RECEIPT });
                let receipt = self.make("/v1/receipts", &body).await;
                let (_, query) = receipt["url"].as_str().unwrap().split_once('?').expect("a token");
                Call { ids: vec![text(&receipt["id"]), query.to_owned()], body: None }
            }
            "POST /v1/reports" => none.with(example()),
            "GET /v1/reports" => none,
            "GET /v1/reports/{id}" => Call::of(&self.report().await),
            "GET /v1/reports/{id}/files/{pageNumber}" => {
                Call { ids: vec![self.finished_report().await, "1".to_owned()], body: None }
            }
            "GET /v1/subacquirer/plans" => none,
            "GET /v1/subacquirer/plans/{id}" => Call::of(&self.plan().await),
            "GET /v1/payouts/balance" | "GET /v1/payouts/orders" | "GET /v1/payouts/payment-batches" => none,
            "GET /v1/payouts/orders/{id}" => Call::of(&self.payout().await.0),
            "GET /v1/payouts/payment-batches/{id}" | "GET /v1/payouts/payment-batches/{id}/orders" => {
                Call::of(&self.payout().await.1)
            }
            "GET /v1/subacquirer/prepayment/receivables" => {
                self.receivable().await;
                none
            }
            "POST /v1/subacquirer/prepayment" => none.with(self.receivable().await),
            "GET /v1/subacquirer/prepayment/{id}" | "POST /v1/subacquirer/prepayment/{id}/commit" => {
                let offer = self.make(PREPAYMENT, &self.receivable().await).await;
                Call::of(&text(&offer["id"]))
            }
            "POST /v1/vendors" => none.with(vendors::another()),
            "GET /v1/vendors" => none,
            "GET /v1/vendors/{id}" | "DELETE /v1/vendors/{id}" => Call::of(&self.vendor().await),
            "PATCH /v1/vendors/{id}" => Call::of(&self.vendor().await).with(vendors::another()),
            "GET /v1/sandbox/clock" | "DELETE /v1/sandbox/clock" => none,
            // What other calls have made, such as a public key, is still good then.
            "POST /v1/sandbox/clock" => none.with(json!({ "by": "1s" })),
            "PATCH /v1/sandbox/clock" => none.with(example()),
            "POST /v1/settings" => {
                self.forget_settings().await;
                none.with(example())
            }
            "GET /v1/settings" => {
                self.settings().await;
                none
            }
            "PATCH /v1/settings" => {
                self.settings().await;
                none.with(example())
            }
            "GET /v1/settings/assets/{file}" => Call::of(&self.logo().await),
            "POST /v1/purchases" => none.with(self.purchase_body(example()).await),
            "GET /v1/purchases/{id}" | "GET /v1/purchases/{id}/history" => Call::of(&self.purchase().await),
            "POST /v1/purchases/{id}/capture" | "POST /v1/purchases/{id}/void" => {
                Call::of(&self.purchase().await).with(example())
            }
            "PATCH /v1/providers/{id}" => Call::of(&self.pagseguro().await).with(example()),
            "POST /v1/sessions" => none.with(put(example(), "merchantId", self.merchant().await)),
            "GET /v1/sessions/{id}"
            | "GET /v1/sessions/{id}/link"
            | "GET /v1/sessions/{id}/history"
            | "POST /v1/sessions/{id}/cancel" => Call::of(&self.session().await),
            "PATCH /v1/sessions/{id}" => Call::of(&self.session().await).with(example()),
            "POST /v1/sessions/{id}/card" => {
                let path = format!("/v1/subscriptions/{}/card-link", self.subscription().await);
                let session = self.app.call(self.client, Method::POST, &path, &[], None).await.expect(200);
                let body = put(example(), "tokenId", self.token(APPROVED).await);
                Call::of(&text(&session["id"])).with(body)
            }
            "POST /v1/sessions/{id}/charge" => {
                let mut body = example();
                body["paymentSource"]["tokenId"] = self.token(APPROVED).await.into();
                Call::of(&self.session().await).with(body)
            }
            "GET /v1/sellers/documents/{documentId}" | "DELETE /v1/sellers/documents/{documentId}" => {
                let sent = selfie(&png().bytes).request_to(self.client, Method::POST, DOCUMENTS);
                Call::of(&text(&self.app.send(sent).await.expect(201)["id"]))
            }
            "GET /v1/sellers/{sellerId}/registration-reviews" => Call::of(&text(&self.seller().await["id"])),
            "POST /v1/sellers/{sellerId}/registration-reviews" => {
                Call::of(&text(&self.seller().await["id"])).with(example())
            }
            "GET /v1/sellers/{sellerId}/registration-reviews/{id}" => {
                Call { ids: self.review().await, body: None }
            }
            "POST /v1/sellers/{sellerId}/registration-reviews/{id}/answer" => {
                let ids = self.review().await;
                // The time of the tests stands, and so many ids are drawn in one millisecond that some have a later one.
                self.app.clock.advance(Duration::from_secs(1));
                let now = json!(self.app.clock.of(self.client.id.parse().unwrap()));
                Call { ids, body: Some(put(example(), "collectedAt", now)) }
            }
            "POST /v1/sellers" => none.with(put(example(), "merchantId", self.merchant().await)),
            "GET /v1/sellers/{id}" => Call::of(&text(&self.seller().await["id"])),
            "PATCH /v1/sellers/{id}" => Call::of(&text(&self.seller().await["id"])).with(example()),
            "DELETE /v1/sellers/{id}" => {
                let seller = self.seller().await;
                Call::of(&text(&seller["id"])).with(json!({ "merchantId": seller["merchantId"] }))
            }
            "POST /v1/subscriptions" | "POST /v1/subscriptions/preview" => {
                none.with(self.subscription_body().await)
            }
            "GET /v1/subscriptions" => none,
            "GET /v1/subscriptions/settings" => {
                let (path, body) = ("/v1/subscriptions/settings", json!({}));
                self.app.call(self.client, Method::PATCH, path, &[], Some(&body)).await.expect(200);
                none
            }
            "PATCH /v1/subscriptions/settings" => none.with(example()),
            "POST /v1/subscriptions/{id}/card-link" => Call::of(&self.subscription().await).with(example()),
            "POST /v1/subscriptions/{id}/advance" => Call::of(&self.subscription().await),
            "GET /v1/subscriptions/{id}"
            | "GET /v1/subscriptions/{id}/cycles"
            | "PATCH /v1/subscriptions/{id}/cancel"
            | "POST /v1/subscriptions/{id}/cancel"
            | "PATCH /v1/subscriptions/{id}/pause"
            | "POST /v1/subscriptions/{id}/pause" => Call::of(&self.subscription().await),
            "PUT /v1/subscriptions/{id}" => Call::of(&self.subscription().await).with(example()),
            "PATCH /v1/subscriptions/{id}/resume" | "POST /v1/subscriptions/{id}/resume" => {
                let id = self.subscription().await;
                let path = format!("/v1/subscriptions/{id}/pause");
                self.app.call(self.client, Method::PATCH, &path, &[], None).await.expect(200);
                Call::of(&id)
            }
            "GET /v1/subscriptions/{id}/cycles/{cycleId}" => Call { ids: self.cycle().await, body: None },
            "POST /v1/webhooks" => none.with(put(example(), "endpoint", unique_endpoint())),
            "GET /v1/webhooks" => none,
            "GET /v1/webhooks/{id}" | "DELETE /v1/webhooks/{id}" => Call::of(&self.webhook().await),
            "PATCH /v1/webhooks/{id}" => Call::of(&self.webhook().await).with(example()),
            "GET /v1/webhooks/{id}/deliveries" | "POST /v1/webhooks/{id}/ping" => {
                Call::of(&self.webhook().await)
            }
            "POST /v1/webhooks/{id}/deliveries/{deliveryId}/replay" => {
                let webhook = self.webhook().await;
                let path = format!("/v1/webhooks/{webhook}/ping");
                let ping = self.app.call(self.client, Method::POST, &path, &[], None).await.expect(202);
                Call { ids: vec![webhook, text(&ping["id"])], body: None }
            }
            "POST /v1/listeners" => none.with(example()),
            "PATCH /v1/listeners/{id}" => Call::of(&self.listener().await).with(example()),
            "DELETE /v1/listeners/{id}" => Call::of(&self.listener().await),
            other => panic!("{other} has no entry in support/records.rs: say there what it needs"),
        }
    }

    /// Makes a record; returns the answer.
    pub async fn make(&self, path: &str, body: &Value) -> Value {
        self.app.call(self.client, Method::POST, path, &[], Some(body)).await.expect(201)
    }

    pub async fn listener(&self) -> String {
        text(&self.make("/v1/listeners", &json!({ "event": "*" })).await["id"])
    }

    pub async fn client_token(&self) -> String {
        text(&self.make("/v1/auth", &json!({ "scope": "*", "expires": 600 })).await["publicKey"])
    }

    pub async fn token(&self, card: (&str, &str)) -> String {
        text(&self.make("/v1/tokens", &token_body(card)).await["tokenId"])
    }

    pub async fn cvv_token(&self) -> String {
        text(&self.make("/v1/tokens", &json!({ "cvvUpdate": APPROVED.1 })).await["tokenId"])
    }

    pub async fn card(&self) -> String {
        let token = self.token(APPROVED).await;
        text(&self.make("/v1/cards", &json!({ "tokenId": token })).await["id"])
    }

    pub async fn customer(&self) -> String {
        text(&self.make("/v1/customers", &unique(customer_body())).await["id"])
    }

    /// A customer with a linked card.
    pub async fn customer_with_card(&self) -> String {
        let (customer, card) = (self.customer().await, self.card().await);
        let path = format!("/v1/customers/{customer}/cards");
        let body = json!({ "cardId": card });
        self.app.call(self.client, Method::POST, &path, &[], Some(&body)).await.expect(204);
        customer
    }

    /// A merchant, and the id of its seller.
    pub async fn merchant_with_seller(&self) -> (String, Value) {
        let seller = self.seller().await;
        (text(&seller["merchantId"]), seller["id"].clone())
    }

    /// The ids of a seller and of its review, which asks for what the example of an answer has.
    async fn review(&self) -> Vec<String> {
        let seller = text(&self.seller().await["id"]);
        let body = json!({ "fields": ["owner.phoneNumber"] });
        let review = self.make(&format!("/v1/sellers/{seller}/registration-reviews"), &body).await;
        vec![seller, text(&review["id"])]
    }

    pub async fn seller(&self) -> Value {
        self.make("/v1/sellers", &seller_body(&self.merchant().await)).await
    }

    /// Settings of the account, with a logo.
    async fn settings(&self) -> Value {
        self.forget_settings().await;
        let form = Form::of(&[]).with_logo(&png());
        self.app.send(form.request(self.client, Method::POST, None)).await.expect(201)
    }

    /// The name of its logo's file.
    async fn logo(&self) -> String {
        let settings = self.settings().await;
        let read = settings["logo"].as_str().map(str::to_owned);
        let path = match read {
            Some(url) => url,
            // A service that does not know its own address tells no address of the logo.
            None => self.logo_path(&settings).await,
        };
        path.rsplit('/').next().expect("a name").to_owned()
    }

    async fn logo_path(&self, settings: &Value) -> String {
        let client_id = settings["clientId"].as_str().unwrap().parse().unwrap();
        let stored = link_settings::exactly(&self.app.app, client_id, None).await.unwrap().unwrap();
        link_settings::logo_path(client_id, stored.details.logo.unwrap())
    }

    /// No operation deletes settings, and there is one of an account.
    async fn forget_settings(&self) {
        let mut batch = Batch::new(self.client.id.parse().unwrap());
        let client_id = batch.client_id();
        batch.push_any(&FORGET_SETTINGS, args! { client_id });
        assert_eq!(self.app.app.store.apply(batch).await.unwrap(), Commit::Applied);
    }

    async fn platform_fee(&self) -> (String, String) {
        let merchant = self.merchant().await;
        let rules = json!([{ "paymentMethod": "credit", "percentage": 1, "installment": 3 }]);
        let made = self.make(&format!("/v1/merchants/{merchant}/platform-fee"), &rules).await;
        (merchant, text(&made[0]["id"]))
    }

    /// A subscription by a stored card that begins today.
    pub async fn subscription_body(&self) -> Value {
        let (merchant, customer) = (self.merchant().await, self.customer().await);
        subscription_body(&merchant, &customer, &self.card().await)
    }

    pub async fn subscription(&self) -> String {
        text(&self.make("/v1/subscriptions", &self.subscription_body().await).await["id"])
    }

    /// The ids of a subscription and of its first cycle.
    async fn cycle(&self) -> Vec<String> {
        let id = self.subscription().await;
        self.app.run_jobs().await;
        let path = format!("/v1/subscriptions/{id}");
        let shown = self.app.call(self.client, Method::GET, &path, &[], None).await.expect(200);
        vec![id, text(&shown["lastCycle"]["id"])]
    }

    /// A flow with the one provider of a new merchant.
    async fn new_flow(&self) -> Value {
        let merchant = self.merchant().await;
        let path = format!("/v1/merchants/{merchant}");
        let shown = self.app.call(self.client, Method::GET, &path, &[], None).await.expect(200);
        let node = json!({ "rule": "provider", "id": shown["providers"][0]["id"] });
        json!({ "merchantId": merchant, "paymentMethod": "credit", "flow": { "version": "0.0.0", "root": [node] } })
    }

    async fn flow(&self) -> Value {
        self.make("/v1/flows", &self.new_flow().await).await
    }

    pub async fn report(&self) -> String {
        text(&self.make("/v1/reports", &report_body("transactions", json!("all"))).await["id"])
    }

    pub async fn finished_report(&self) -> String {
        self.charge().await;
        let id = self.report().await;
        self.app.later(A_WHILE).await;
        id
    }

    pub async fn plan(&self) -> String {
        let client_id = self.client.id.parse().unwrap();
        plans::make(&self.app.app, client_id, &plans::standard()).await.id.to_string()
    }

    /// An order and the batch that it is in. The day on which it is due has not come.
    pub async fn payout(&self) -> (String, String) {
        let merchant =
            text(&self.make("/v1/merchants", &json!({ "mcc": "5812", "providers": [own()] })).await["id"]);
        let charge = self.make("/v1/charges", &charge_body(&merchant, APPROVED)).await;
        self.app.run_jobs().await;
        let client_id = self.client.id.parse().unwrap();
        let (engine, taking) = (&self.app.app, Taking::Due("2099-12-31".parse().unwrap()));
        let charge_id = text(&charge["id"]).parse().unwrap();
        let orders = payouts::orders::of_charge(&engine.store, client_id, charge_id).await.unwrap();
        for group in payouts::groups(&engine.store, client_id, None, taking, 100).await.unwrap() {
            payday::make(engine, client_id, &group, taking, 0).await.unwrap();
        }
        let order = payouts::orders::find(&engine.store, client_id, orders[0].id).await.unwrap().unwrap();
        (order.id.to_string(), order.batch_id.unwrap().to_string())
    }

    /// A charge at the platform's own provider, a part of which was given back.
    pub async fn refunded(&self) -> String {
        let merchant = text(&self.make("/v1/merchants", &own_merchant_body()).await["id"]);
        let charge = text(&self.make("/v1/charges", &charge_body(&merchant, APPROVED)).await["id"]);
        self.make(&format!("/v1/charges/{charge}/void"), &json!({ "amount": 50 })).await;
        charge
    }

    /// What asks for the prepayment of a receivable that nothing else has: that of a new seller.
    pub async fn receivable(&self) -> Value {
        prepayments::operator(self.app, self.client.id.parse().unwrap(), prepayments::PUBLISHED).await;
        let merchant = prepayments::merchant_of(self.app, self.client).await;
        let seller = self.make("/v1/sellers", &splits::seller_body(&merchant, 1, "4921")).await;
        self.app.run_jobs().await;
        let rules = json!([{ "sellerId": seller["id"], "percentage": 100 }]);
        self.make("/v1/charges", &splits::divided(&merchant, 1_000, &rules)).await;
        self.app.run_jobs().await;
        prepayments::everything_of(&seller)
    }

    pub async fn vendor(&self) -> String {
        text(&self.make("/v1/vendors", &vendors::another()).await["id"])
    }

    pub async fn merchant(&self) -> String {
        let body = json!({ "mcc": "5812", "providers": [sandbox("Main", 1)] });
        text(&self.make("/v1/merchants", &body).await["id"])
    }

    /// A provider of the type in the example of a change.
    async fn pagseguro(&self) -> String {
        let credentials = json!({ "type": "PAGSEGURO", "token": "OLDTOKEN", "email": "old@example.com" });
        let provider = json!({ "name": "PagSeguro", "priority": 1, "credentials": credentials });
        let merchant = self.make("/v1/merchants", &json!({ "mcc": "5812", "providers": [provider] })).await;
        text(&merchant["providers"][0]["id"])
    }

    /// A webhook for all events.
    pub async fn webhook(&self) -> String {
        text(&self.make("/v1/webhooks", &json!({ "event": "*", "endpoint": unique_endpoint() })).await["id"])
    }

    /// A pre-authorized charge.
    async fn reserved(&self) -> String {
        let body = put(charge_body(&self.merchant().await, APPROVED), "capture", false);
        text(&self.make("/v1/charges", &body).await["id"])
    }

    /// A pre-authorized charge whose risk analysis is pending.
    async fn pending_analysis(&self) -> String {
        let risk = anti_fraud::risk(&json!({ "captureOnApproved": true }));
        let body = json!({ "mcc": "5812", "providers": [sandbox("Main", 1), risk] });
        let merchant = text(&self.make("/v1/merchants", &body).await["id"]);
        let body = anti_fraud::analysed(&merchant, PENDING, true);
        text(&self.make("/v1/charges", &body).await["id"])
    }

    /// The example with existing records.
    pub async fn purchase_body(&self, example: Value) -> Value {
        let mut body = put(example, "merchantId", self.merchant().await);
        body["payments"][0]["cardId"] = self.card().await.into();
        body["payments"][1]["tokenId"] = self.token(APPROVED).await.into();
        body
    }

    /// A purchase whose cards are all pre-authorized.
    pub async fn purchase(&self) -> String {
        let operation = Document::current().operation(&Method::POST, "/v1/purchases").expect("purchases");
        let example = Document::current().body_example(operation).expect("an example").clone();
        let body = put(self.purchase_body(example).await, "capture", false);
        let key = fresh_key();
        let headers = operation.headers(&key);
        let reply = self.app.call(self.client, Method::POST, "/v1/purchases", &headers, Some(&body)).await;
        let id = text(&reply.expect(202)["id"]);
        self.app.run_jobs().await;
        id
    }

    /// A session that nobody has paid.
    pub async fn session(&self) -> String {
        let body = session_body(&self.merchant().await);
        let made = self.app.call(self.client, Method::POST, "/v1/sessions", &[], Some(&body)).await;
        text(&made.expect(200)["id"])
    }

    pub async fn charge(&self) -> String {
        let body = charge_body(&self.merchant().await, APPROVED);
        text(&self.make("/v1/charges", &body).await["id"])
    }

    /// A link to the documents of a charge that is paid without a card.
    async fn link(&self, body: fn(&str, Value) -> Value) -> String {
        let body = body(&self.merchant().await, described(payer("link@example.com", "72912053013")));
        let charge = text(&self.make("/v1/charges", &body).await["id"]);
        documents::link(self.app, self.client, &charge).await
    }
}

/// An unused idempotency key.
pub fn fresh_key() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("key {}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// An address without a webhook.
fn unique_endpoint() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("https://shop.example/hooks/{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A complete buyer.
pub fn customer_body() -> Value {
    json!({
        "name": "Ana Souza", "email": "", "phoneNumber": "21988899909",
        "document": { "type": "cpf", "number": "", "country": "BR" },
        "address": address(), "billingAddress": address(), "deliveryAddress": address(),
    })
}

/// A complete address.
pub fn address() -> Value {
    json!({
        "country": "BR", "state": "RJ", "city": "Rio de Janeiro", "district": "Leblon", "zipCode": "25650011",
        "street": "Av Geraldo Cardoso", "streetNumber": "205", "complement": "Apto 203"
    })
}

/// A buyer with an unused e-mail address and document.
pub fn unique(mut customer: Value) -> Value {
    static NEXT: AtomicU64 = AtomicU64::new(10_000_000_000);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    customer["email"] = format!("buyer-{number}@example.com").into();
    customer["document"]["number"] = number.to_string().into();
    customer
}

/// The body with one member replaced.
pub fn put(mut body: Value, member: &str, value: impl Into<Value>) -> Value {
    body[member] = value.into();
    body
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}
