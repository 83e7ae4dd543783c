//! Sends card data to every input: accepted, declined, timed out, refused, malformed, in the wrong member, and during
//! internal faults.

mod outside;
mod payouts;
mod providers;
mod sessions;
mod subscriptions;

use axum::body::Body;
use axum::http::{HeaderMap, Method, Request};
use regente_store::testing::run_script;
use regente_wallets::apple_pay::test_keys::Purchase;
use serde_json::{Value, json};

use super::text;
use crate::support::anti_fraud;
use crate::support::app::TestApp;
use crate::support::bodies::payers::{boleto_body, described, jose, pix_body};
use crate::support::bodies::{APPROVED, token_body};
use crate::support::canary::cards::{Canary, Fate};
use crate::support::canary::places::Disk;
use crate::support::canary::search::Search;
use crate::support::client::{Client, Reply};
use crate::support::providers::payers::{Act, asking_payers};
use crate::support::providers::sandbox;
use crate::support::receipts::{LETTER, RECEIPT, file, issued, own_merchant, text_of};
use crate::support::records::{Records, put};
use crate::support::sessions::session_body;
use crate::support::splits::seller_body;
use crate::support::three_d_secure::{CHALLENGE_PASSES, decided, fields, post_form, three_d_secure};
use crate::support::vendors::vendor_body;
use crate::support::wallets::{Shop, by_apple_pay, purchase};

/// What was sent and what was answered.
pub struct Story<'a> {
    app: &'a TestApp,
    disk: Disk,
    merchant: String,
    fallback: String,
    customer: String,
    pub secrets: Vec<Canary>,
    /// Numbers in the caller's own identifiers, which are stored, and shown to them: neither the log nor an event contains
    /// them.
    pub own_words: Vec<Canary>,
    pub answers: Vec<u8>,
}

impl<'a> Story<'a> {
    pub async fn new(app: &'a TestApp, disk: Disk) -> Self {
        let records = Records { app, client: &app.client };
        let customer = records.customer().await;
        let (merchant, fallback) = (app.merchant().await, app.fallback_merchant().await);
        let (secrets, own_words, answers) = (Vec::new(), Vec::new(), Vec::new());
        Self { app, disk, merchant, fallback, customer, secrets, own_words, answers }
    }

    fn canary(&mut self, fate: Fate) -> Canary {
        self.secrets.push(Canary::new(fate));
        self.secrets.last().unwrap().clone()
    }

    fn own_word(&mut self) -> String {
        self.own_words.push(Canary::new(Fate::Approved));
        self.own_words.last().unwrap().number.clone()
    }

    /// Sends a request, keeps the answer, and reads the tables while they still hold what it wrote.
    async fn send(
        &mut self,
        client: &Client,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Reply {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("X-Client-Id", &client.id)
            .header("X-Api-Key", &client.key)
            .header("Content-Type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let reply = self.app.send(request.body(Body::from(body)).unwrap()).await;
        self.answers.extend(shown(&reply.headers).bytes());
        self.answers.extend_from_slice(&reply.bytes);
        self.answers.push(b'\n');
        if let Disk::Sqlite(_) = self.disk {
            self.look_into_the_tables();
        }
        reply
    }

    async fn post(&mut self, path: &str, body: &Value) -> Reply {
        let client = self.app.client.clone();
        self.send(&client, Method::POST, path, &[], body.to_string()).await
    }

    async fn post_twice(&mut self, path: &str, key: &str, body: &Value) -> Reply {
        let client = self.app.client.clone();
        self.twice(&client, path, key, body).await
    }

    async fn twice(&mut self, client: &Client, path: &str, key: &str, body: &Value) -> Reply {
        let headers = [("X-Idempotency-Key", key)];
        let first = self.send(client, Method::POST, path, &headers, body.to_string()).await;
        let again = self.send(client, Method::POST, path, &headers, body.to_string()).await;
        assert_eq!((first.status, &first.bytes), (again.status, &again.bytes), "{path}");
        assert_eq!(again.header("idempotent-replayed"), Some("true"), "{path}");
        first
    }

    pub fn look_into_the_tables(&self) {
        assert_eq!(Search::of(&self.secrets).hits(&self.disk.values()), [""; 0], "in the tables");
    }

    fn charge(&self, source: Value) -> Value {
        json!({
            "merchantId": self.merchant, "amount": 150, "capture": true,
            "paymentMethod": { "paymentType": "credit" }, "paymentSource": source
        })
    }

    fn inline(&self, canary: &Canary) -> Value {
        self.charge(json!({ "sourceType": "card", "card": canary.card() }))
    }

    async fn token(&mut self, fate: Fate) -> String {
        let card = self.canary(fate).card();
        let token = text(&self.post("/v1/tokens", &card).await.expect(201)["tokenId"]);
        if let Disk::Postgres { .. } = self.disk {
            self.look_into_the_tables();
        }
        token
    }

    async fn cvv_token(&mut self) -> String {
        let cvv = self.canary(Fate::Approved).cvv;
        text(&self.post("/v1/tokens", &json!({ "cvvUpdate": cvv })).await.expect(201)["tokenId"])
    }

    async fn card(&mut self) -> String {
        let token = self.token(Fate::Approved).await;
        text(&self.post("/v1/cards", &json!({ "tokenId": token })).await.expect(201)["id"])
    }

    pub async fn tokens_and_cards(&mut self) {
        let public_key = self.app.client_token(json!("*")).await;
        let card = self.canary(Fate::Approved).card();
        self.send(&public_key, Method::POST, "/v1/tokens", &[], card.to_string()).await.expect(201);
        let card = self.canary(Fate::Approved);
        let body = put(card.card(), "cardNumber", card.spaced(" "));
        self.post_twice("/v1/tokens", &card.number, &body).await.expect(201);
        let card = self.canary(Fate::Approved);
        let mut both = put(card.card(), "cvvUpdate", card.cvv);
        both.as_object_mut().unwrap().shift_remove("cardCvv");
        self.post_twice("/v1/tokens", "both", &both).await.expect(201);
        self.cvv_token().await;
        let token = self.token(Fate::Approved).await;
        self.post_twice("/v1/cards", "plain", &json!({ "tokenId": token })).await.expect(201);
        for (fate, status) in [(Fate::Approved, 201), (Fate::WrongCvv, 201), (Fate::TimedOut, 424)] {
            let token = self.token(fate).await;
            let body = json!({ "tokenId": token, "merchantId": self.merchant, "cvvCheck": true });
            let reply = self.post_twice("/v1/cards", &format!("check {fate:?}"), &body).await;
            assert!(reply.status == status || reply.status == 201, "{fate:?}: {reply:?}");
        }
        // The token is used up, so the card cannot be stored again.
        self.post("/v1/cards", &json!({ "tokenId": token })).await.expect(400);
    }

    pub async fn charges(&mut self) {
        for fate in [Fate::Approved, Fate::Declined, Fate::TimedOut, Fate::WrongCvv] {
            let canary = self.canary(fate);
            let body = self.inline(&canary);
            self.post("/v1/charges", &body).await.expect(201);
            let canary = self.canary(fate);
            let body = put(put(self.inline(&canary), "capture", false), "merchantId", self.fallback.clone());
            self.post_twice("/v1/charges", &canary.number, &body).await.expect(201);
            let token = self.token(fate).await;
            let body = self.charge(json!({ "sourceType": "token", "tokenId": token }));
            self.post_twice("/v1/charges", &format!("token {fate:?}"), &body).await.expect(201);
            let cvv = self.canary(fate).cvv;
            let card = self.card().await;
            let body = self.charge(json!({ "sourceType": "card", "cardId": card, "cardCvv": cvv }));
            self.post_twice("/v1/charges", &format!("stored {fate:?}"), &body).await.expect(201);
        }
        let (card, cvv) = (self.card().await, self.cvv_token().await);
        let link = format!("/v1/customers/{}/cards", self.customer);
        self.post(&link, &json!({ "cardId": card })).await.expect(204);
        let body = self.charge(json!({ "sourceType": "card", "cardId": card, "tokenCvv": cvv }));
        self.post_twice("/v1/charges", "cvv token", &body).await.expect(201);
        let cvv = self.canary(Fate::Approved).cvv;
        let body =
            self.charge(json!({ "sourceType": "customer", "customerId": self.customer, "cardCvv": cvv }));
        self.post_twice("/v1/charges", "customer", &body).await.expect(201);
        let providers = json!([asking_payers("Asks", 1), sandbox("Decides", 2)]);
        let asking = self.app.merchant_with(providers).await;
        for act in [Act::Pays, Act::TurnsBack] {
            let canary = self.canary(Fate::Approved);
            let body = put(self.inline(&canary), "merchantId", asking.clone());
            let awaiting = self.post_twice("/v1/charges", &canary.number, &body).await.expect(201);
            assert_eq!(awaiting["status"], "pending", "its security code is held meanwhile");
            self.app.wire.payers().act(act, &self.app.books).await;
        }
        self.authenticated_charges().await;
        let canary = self.canary(Fate::Approved);
        let voucher = json!({ "paymentType": "voucher", "items": [], "customer": { "name": "Ana" } });
        self.post("/v1/charges", &put(self.inline(&canary), "paymentMethod", voucher)).await.expect(201);
        self.divided_charge().await;
    }

    /// A charge among sellers, given back in part by one of them.
    async fn divided_charge(&mut self) {
        let seller = self.post("/v1/sellers", &seller_body(&self.merchant, 1, "4929")).await.expect(201);
        let canary = self.canary(Fate::Approved);
        let rules = json!([{ "sellerId": seller["id"], "percentage": 10 }]);
        let body = put(put(self.inline(&canary), "splitRules", rules), "capture", true);
        let charge = self.post_twice("/v1/charges", &canary.number, &body).await.expect(201);
        let path = format!("/v1/charges/{}/void", charge["id"].as_str().unwrap());
        let returns = json!({ "amount": 20, "splitRules": [{ "sellerId": seller["id"], "amount": 1 }] });
        self.post(&path, &returns).await.expect(201);
    }

    /// Tokens of a wallet: the number in them is the canary. Charged, refused for its amount, and used again.
    pub async fn wallets(&mut self, shop: &Shop) {
        for merchant in [self.merchant.clone(), self.fallback.clone()] {
            let canary = self.canary(Fate::Approved);
            let purchase = Purchase { device_account_number: &canary.number, ..purchase(self.app, 150) };
            let body = by_apple_pay(&merchant, shop.token_for(self.app, &purchase));
            let other = put(body.clone(), "amount", 151);
            self.post("/v1/charges", &other).await.expect(400);
            let charge = self.post_twice("/v1/charges", &canary.number, &body).await.expect(201);
            assert_eq!(charge["status"], "authorized");
            self.post("/v1/charges", &body).await.expect(400);
            let path = format!("/v1/charges/{}/void", text(&charge["id"]));
            self.post(&path, &json!({})).await.expect(201);
        }
    }

    /// By the payment provider, by a 3DS server, and with a challenge, during which the security code is held.
    async fn authenticated_charges(&mut self) {
        let canary = self.canary(Fate::Approved);
        let body = put(self.inline(&canary), "threeDSecure2", three_d_secure());
        self.post_twice("/v1/charges", &canary.number, &body).await.expect(201);
        let token = self.token(Fate::Approved).await;
        let own = self.set_up(&token).await;
        self.post_twice("/v1/charges", &format!("own {token}"), &own).await.expect(201);

        let card = put(self.canary(Fate::Approved).card(), "cardNumber", CHALLENGE_PASSES.0);
        let token = text(&self.post("/v1/tokens", &card).await.expect(201)["tokenId"]);
        let own = self.set_up(&token).await;
        let awaiting = self.post_twice("/v1/charges", &format!("own {token}"), &own).await.expect(201);
        assert_eq!(awaiting["status"], "pending", "its security code is held meanwhile: {awaiting:#}");
        let page = post_form(self.app, "/3ds/step-up", &fields(&awaiting)).await;
        self.answers.extend_from_slice(&page.bytes);
        assert_eq!(decided(self.app, &awaiting, "approve").await["status"], "authorized");
    }

    /// The body of a charge by this token in the own flow.
    async fn set_up(&mut self, token: &str) -> Value {
        let source = json!({ "sourceType": "token", "tokenId": token });
        let setup = self.post_twice("/v1/charges/3ds/setup", token, &source).await.expect(201);
        let mut body = put(self.charge(source), "threeDSecure2", three_d_secure());
        body["threeDSecure2"]["setupId"] = setup["id"].clone();
        body
    }

    /// Charges that wait for a verdict, so that their data are opened more than once.
    pub async fn analyses(&mut self) {
        let options = json!({ "captureOnApproved": true, "productType": "ASYNC", "sendAllCharges": true });
        let analysing = anti_fraud::analysing(self.app, &options).await;
        for identity in [anti_fraud::APPROVED_RISK, anti_fraud::PENDING] {
            let canary = self.canary(Fate::Approved);
            let mut body = put(self.inline(&canary), "merchantId", analysing.clone());
            body["fraudAnalysis"] = json!({ "customer": { "identity": identity } });
            let charge = self.post_twice("/v1/charges", &canary.number, &body).await.expect(201);
            assert_eq!(charge["status"], "pre_authorized");
        }
        let canary = self.canary(Fate::Approved);
        let body = put(self.inline(&canary), "merchantId", analysing);
        self.post("/v1/charges", &body).await.expect(201);
    }

    /// Refused requests: nothing of them is repeated or stored.
    pub async fn what_is_refused(&mut self) {
        let client = self.app.client.clone();
        for path in [
            "/v1/tokens",
            "/v1/cards",
            "/v1/charges",
            "/v1/customers",
            "/v1/auth",
            "/v1/merchants",
            "/v1/sessions",
            "/v1/sessions/tokens",
        ] {
            let canary = self.canary(Fate::Approved);
            let whole = self.inline(&canary).to_string();
            for broken in
                [&whole[..whole.len() - 1], &format!("[{whole}]"), &format!("{whole}{whole}"), &canary.number]
            {
                self.send(&client, Method::POST, path, &[], broken.to_owned()).await.expect(400);
            }
            let padded = format!("{whole}{}", " ".repeat(1024 * 1024));
            self.send(&client, Method::POST, path, &[], padded).await.expect(413);
            let stranger = Client { id: client.id.clone(), key: canary.number.clone() };
            self.send(&stranger, Method::POST, path, &[], whole.clone()).await.expect(403);
            let nobody = Client { id: canary.number.clone(), key: client.key.clone() };
            self.send(&nobody, Method::POST, path, &[], whole).await.expect(401);
            let keyed = [("X-Idempotency-Key", canary.number.as_str()), ("Idempotency-Key", "other")];
            self.send(&client, Method::POST, path, &keyed, canary.card().to_string()).await.expect(400);
        }
        let canary = self.canary(Fate::Approved);
        let (number, cvv) = (canary.number.as_str(), canary.cvv.as_str());
        let wrong_check_digit = format!("{}{}", &number[..15], (number.as_bytes()[15] - b'0' + 1) % 10);
        for (member, value) in [
            ("cardNumber", wrong_check_digit.as_str()),
            ("cardNumber", &format!("{number}{number}")),
            ("cardNumber", &format!("x{number}")),
            ("cardNumber", cvv),
            ("cardCvv", number),
            ("cardCvv", &format!("{cvv}x")),
            ("cardExpirationDate", number),
            ("cardExpirationDate", "01/2020"),
            ("cardHolderName", ""),
        ] {
            self.post("/v1/tokens", &put(canary.card(), member, value)).await.expect(400);
            let card = json!({ "sourceType": "card", "card": put(canary.card(), member, value) });
            self.post("/v1/charges", &self.charge(card)).await.expect(400);
        }
        for (member, value) in [
            ("merchantId", json!(number)),
            ("amount", json!(number)),
            ("currency", json!(number)),
            ("paymentMethod", json!(number)),
            ("paymentMethod", json!({ "paymentType": number, "installments": number, "recurrence": number })),
            ("paymentSource", json!({ "sourceType": number })),
            ("paymentSource", json!({ "sourceType": "card", "cardId": number, "cardCvv": number })),
            ("paymentSource", json!({ "sourceType": "token", "tokenId": number })),
            ("paymentSource", json!({ "sourceType": "card", "card": number })),
            ("splitRules", json!([{ "sellerId": number }])),
        ] {
            self.post("/v1/charges", &put(self.inline(&canary), member, value)).await.expect(400);
        }
        self.post("/v1/cards", &json!({ "tokenId": number })).await.expect(400);
        self.post("/v1/auth", &json!({ "scope": [number], "expires": number })).await.expect(400);
        self.post("/v1/customers", &json!({ "email": number, "document": { "type": number } }))
            .await
            .expect(400);
        let provider = put(sandbox("Main", 1), "credentials", json!({ "type": number }));
        self.post("/v1/merchants", &json!({ "mcc": number, "providers": [provider] })).await.expect(400);
        let foreign = put(self.inline(&canary), "merchantId", "3f1c1b1e-2a7b-4a57-9d35-000000000000");
        self.post("/v1/charges", &foreign).await.expect(404);
        // A key that was used for another request.
        let body = self.inline(&canary);
        self.post_twice("/v1/charges", "reused", &body).await.expect(201);
        let client = self.app.client.clone();
        let other = put(body, "amount", 151).to_string();
        self.send(&client, Method::POST, "/v1/charges", &[("X-Idempotency-Key", "reused")], other)
            .await
            .expect(409);
    }

    /// Numbers in the caller's own words. Texts are refused; identifiers are refused with the number of the card itself,
    /// and otherwise taken.
    pub async fn words_of_the_caller(&mut self) {
        self.texts().await;
        self.identifiers().await;
        let client = self.app.client.clone();
        let word = self.own_word();
        for path in [
            format!("/v1/charges?orderId={word}&id={word}"),
            format!("/v1/sessions?orderId={word}"),
            format!("/v1/ledger/entries?sourceId={word}&purpose={word}"),
            format!("/v1/ledger/balances?at={word}"),
            format!("/v1/cards/{word}"),
            format!("/{word}"),
        ] {
            self.send(&client, Method::GET, &path, &[("X-Request-Id", &word)], String::new()).await;
        }
    }

    async fn texts(&mut self) {
        let merchant = self.merchant.clone();
        let charge = self.charge(Value::Null);
        let pix = pix_body(&merchant, described(jose()));
        let voucher = put(charge.clone(), "paymentMethod", json!({ "paymentType": "voucher" }));
        let boleto = boleto_body(&merchant, described(jose()));
        let session = session_body(&merchant);
        let hook = json!({ "event": "*", "endpoint": "https://shop.example/hooks" });
        let of_merchant = json!({ "mcc": "5812", "name": "Shop", "providers": [sandbox("Main", 1)] });
        let seller = seller_body(&merchant, 2, "4929");
        let card = self.card().await;
        let order =
            self.purchase(json!([{ "cardId": card, "amount": 150 }, { "cardId": card, "amount": 150 }]));
        let value = json!({ "rule": "condition", "when": { "property": "metadata.shop", "type": "string",
            "operator": "eq", "value": "x", "default": false }, "yes": [], "no": [] });
        let flow = json!({ "merchantId": merchant, "paymentMethod": "credit",
            "flow": { "version": "0.0.0", "root": [value] } });
        let [name, compared, property] =
            ["name", "when/value", "when/property"].map(|member| ["", "flow", "root", "0", member].join("/"));
        for (path, body, place) in [
            ("/v1/flows", &flow, "/name"),
            ("/v1/flows", &flow, name.as_str()),
            ("/v1/flows", &flow, compared.as_str()),
            ("/v1/flows", &flow, property.as_str()),
            ("/v1/charges", &charge, "/description"),
            ("/v1/charges", &charge, "/statementDescriptor"),
            ("/v1/charges", &charge, "/appInfo/platform/name"),
            ("/v1/charges", &charge, "/paymentFlow/metadata/note"),
            ("/v1/charges", &charge, "/fraudAnalysis/customer/name"),
            ("/v1/charges", &charge, "/fraudAnalysis/customer/browser/hostName"),
            ("/v1/charges", &charge, "/fraudAnalysis/cart/items/name"),
            ("/v1/charges", &charge, "/paymentSource/card/cardHolderName"),
            ("/v1/charges", &voucher, "/paymentMethod/items/0/title"),
            ("/v1/charges", &voucher, "/paymentMethod/customer/name"),
            ("/v1/charges", &pix, "/paymentMethod/items/0/title"),
            ("/v1/charges", &pix, "/paymentMethod/additionalInfo/0/value"),
            ("/v1/charges", &boleto, "/paymentMethod/instructions"),
            ("/v1/sessions", &session, "/name"),
            ("/v1/sessions", &session, "/description"),
            ("/v1/sessions", &session, "/statementDescriptor"),
            ("/v1/sessions", &session, "/items/0/name"),
            ("/v1/sessions", &session, "/items/0/description"),
            ("/v1/purchases", &order, "/description"),
            ("/v1/purchases", &order, "/statementDescriptor"),
            ("/v1/purchases", &order, "/metadata/note"),
            ("/v1/purchases", &order, "/appInfo/note"),
            ("/v1/webhooks", &hook, "/endpoint"),
            ("/v1/merchants", &of_merchant, "/name"),
            ("/v1/merchants", &of_merchant, "/providers/0/name"),
            ("/v1/customers", &jose(), "/name"),
            ("/v1/sellers", &seller, "/owner/name"),
            ("/v1/vendors", &vendor_body(), "/name"),
            ("/v1/tokens", &token_body(APPROVED), "/cardHolderName"),
        ] {
            let (first, second) = (self.canary(Fate::Approved), self.canary(Fate::Approved));
            let mut body = body.clone();
            // The card is that of the text, so that the number is stored where the text is refused alone.
            if body["paymentSource"].is_null() && path == "/v1/charges" {
                body["paymentSource"] = json!({ "sourceType": "card", "card": first.card() });
            }
            for text in [
                first.number.clone(),
                format!("paid by {} at last", first.spaced(" ")),
                format!("{} cvv {}", first.spaced("-"), first.cvv),
                first.spaced("."),
                second.spaced(" "),
                second.spaced("\n"),
                second.spaced(" / "),
                second.spaced("\u{200b}"),
                second.in_digits_of('０'),
                second.in_digits_of('٠'),
                second.in_digits_of('𝟎'),
            ] {
                let text = if place == "/endpoint" { format!("https://shop.example/{text}") } else { text };
                let sent = with(&body, place, json!(text));
                let client = self.app.client.clone();
                let key = first.number.clone();
                let headers = [("X-Idempotency-Key", key.as_str())];
                let reply = self.send(&client, Method::POST, path, &headers, sent.to_string()).await;
                let details = reply.details(400);
                let is_told = details.iter().any(|told| told.ends_with("must not contain a card number"));
                assert!(is_told, "{path} {place}: {details:#?}");
            }
        }
        for code in ["cvv ", "CVC: ", "código de segurança ", "cod. seg. ", "Security-Code: "] {
            let canary = self.canary(Fate::Approved);
            let body = put(self.inline(&canary), "description", format!("{code}{}", canary.cvv));
            self.post("/v1/charges", &body).await.expect(400);
        }
        let canary = self.canary(Fate::Approved);
        self.post("/v1/charges", &put(self.inline(&canary), "appInfo", json!({ "cardCvv": canary.cvv })))
            .await
            .expect(400);
        self.post("/v1/charges", &put(self.inline(&canary), "appInfo", json!({ canary.number.as_str(): 1 })))
            .await
            .expect(400);
        self.post("/v1/tokens", &json!({ canary.number.as_str(): "\u{0}" })).await.expect(400);
    }

    async fn identifiers(&mut self) {
        for member in ["orderId", "providerReferenceKey"] {
            let canary = self.canary(Fate::Approved);
            for spelling in [canary.number.clone(), canary.spaced("."), format!("o{}", canary.spaced("_"))] {
                let body = put(self.inline(&canary), member, spelling);
                self.post("/v1/charges", &body).await.expect(400);
            }
            let word = self.own_word();
            self.post("/v1/charges", &put(self.inline(&canary), member, word)).await.expect(201);
        }
        let canary = self.canary(Fate::Approved);
        let token = text(&self.post("/v1/tokens", &canary.card()).await.expect(201)["tokenId"]);
        let card = text(&self.post("/v1/cards", &json!({ "tokenId": token })).await.expect(201)["id"]);
        let stored = self.charge(json!({ "sourceType": "card", "cardId": card, "cardCvv": canary.cvv }));
        self.post("/v1/charges", &put(stored, "orderId", canary.number.clone())).await.expect(400);
        let other = self.card().await;
        let payments = json!([{ "cardId": other, "amount": 150 }, { "cardId": card, "amount": 150 }]);
        let order = self.purchase(payments);
        let key = canary.spaced(" ");
        let client = self.app.client.clone();
        let keyed = [("X-Idempotency-Key", key.as_str())];
        let named = put(order.clone(), "orderId", canary.number).to_string();
        self.send(&client, Method::POST, "/v1/purchases", &keyed, named).await.expect(400);
        let word = self.own_word();
        let taken = put(order, "orderId", word).to_string();
        self.send(&client, Method::POST, "/v1/purchases", &keyed, taken).await.expect(202);
        let word = self.own_word();
        let seller = seller_body(&self.merchant, 3, &word);
        self.post("/v1/sellers", &seller).await.expect(201);
    }

    pub async fn what_is_read(&mut self) {
        let client = self.app.client.clone();
        let customer = self.customer.clone();
        let lists = ["/v1/cards?limit=100", "/v1/charges?limit=100", "/v1/merchants", "/v1/customers"];
        let mut paths: Vec<String> = lists.map(str::to_owned).to_vec();
        paths.extend(["accounts", "balances", "entries"].map(|path| format!("/v1/ledger/{path}?limit=100")));
        paths.extend(["/openapi.json", "/docs", "/health/ready"].map(str::to_owned));
        paths.extend([format!("/v1/customers/{customer}"), format!("/v1/customers/{customer}/cards")]);
        for list in &lists[..2] {
            let page = self.app.get(list).await.expect(200);
            let base = list.split('?').next().unwrap();
            assert!(page["items"].as_array().unwrap().len() > 10);
            paths.extend(
                page["items"].as_array().unwrap().iter().map(|item| format!("{base}/{}", text(&item["id"]))),
            );
        }
        for path in paths {
            self.send(&client, Method::GET, &path, &[], String::new()).await.expect_status(200);
        }
    }

    /// Documents that prove refunds, as the texts in them: a file is compressed.
    pub async fn receipts(&mut self) {
        let canary = self.canary(Fate::Approved);
        let mut body = self.inline(&canary);
        body["merchantId"] = json!(own_merchant(self.app).await);
        let charge = self.post("/v1/charges", &body).await.expect(201);
        let id = text(&charge["id"]);
        self.post(&format!("/v1/charges/{id}/void"), &json!({ "amount": 50 })).await.expect(201);
        for document in [LETTER, RECEIPT] {
            let receipt = issued(self.app, &charge, document).await;
            let said = text_of(&file(self.app, &receipt).await);
            assert!(said.contains(&id), "{said}");
            self.answers.extend(said.as_bytes());
        }
    }

    /// Internal faults, which are logged; the log is captured.
    pub async fn faults(&mut self) {
        let store = self.app.app.store.clone();
        for (table, path) in [("tokens", "/v1/tokens"), ("charges", "/v1/charges"), ("cards", "/v1/charges")]
        {
            run_script(&store, &format!("ALTER TABLE {table} RENAME TO hidden")).await.unwrap();
            let canary = self.canary(Fate::Approved);
            let body = if path == "/v1/tokens" { canary.card() } else { self.inline(&canary) };
            let client = self.app.client.clone();
            let headers = [("X-Idempotency-Key", canary.number.as_str())];
            let reply = self.send(&client, Method::POST, path, &headers, body.to_string()).await;
            assert!(reply.status.is_server_error(), "{table}: {reply:?}");
            run_script(&store, &format!("ALTER TABLE hidden RENAME TO {table}")).await.unwrap();
        }
        let merchant = self.app.merchant().await;
        self.merchant = merchant;
        let canary = self.canary(Fate::Approved);
        self.post("/v1/charges", &self.inline(&canary)).await.expect(201);
    }
}

impl Reply {
    #[track_caller]
    fn expect_status(&self, status: u16) {
        assert_eq!(self.status.as_u16(), status, "{}", String::from_utf8_lossy(&self.bytes));
    }
}

/// The body with a value at this place; objects and arrays on the way are made.
fn with(body: &Value, place: &str, value: Value) -> Value {
    let mut body = body.clone();
    let mut at = &mut body;
    for name in place.split('/').skip(1) {
        at = match name.parse::<usize>() {
            Ok(index) => {
                if at.is_null() {
                    *at = json!([{}]);
                }
                &mut at[index]
            }
            Err(_) => &mut at[name],
        };
    }
    *at = value;
    body
}

/// Signatures of deliveries: of so many hexadecimal digits, some are those of a number by chance.
const SIGNATURES: [&str; 2] = ["x-plug-signature", "webhook-signature"];

fn shown(headers: &HeaderMap) -> String {
    headers
        .iter()
        .filter(|(name, _)| !SIGNATURES.contains(&name.as_str()))
        .map(|(name, value)| format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes())))
        .collect()
}
