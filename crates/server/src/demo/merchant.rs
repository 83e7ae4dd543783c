//! What a merchant's server does: it calls the interface with its key. The calls go through the router of this process, with
//! everything that stands in front of the routes.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderValue, Method, Request, header};
use regente_domain::id::{ClientId, Id, of};
use regente_domain::time::Timestamp;
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use tower::ServiceExt;
use zeroize::Zeroizing;

use super::Product;
use super::html::Language;
use crate::app::App;

/// The name of the shop's merchant, by which a later start finds it.
const NAME: &str = "Café Regente (demo)";
/// Merchants among which it is looked for.
const LOOKED_AT: &str = "/v1/merchants?limit=100";
/// The most bytes of an answer.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// How long a Pix can be paid.
const PIX_SECONDS: u32 = 900;
/// How many days a boleto can be paid.
const BOLETO_DAYS: i64 = 3;
/// What separates the parts of the form with the logo.
const BOUNDARY: &str = "regente-demo";
const LOGO: &[u8] = include_bytes!("logo.png");

/// The merchant of the shop.
pub(super) struct Merchant {
    interface: Router,
    client_id: ClientId,
    api_key: Zeroizing<String>,
    /// Where the shop is, for the buyer who wants to go back.
    shop_url: String,
    known: OnceCell<DemoRecords>,
}

/// What an earlier sale has found or made.
struct DemoRecords {
    merchant_id: String,
    /// The buyer of everything, so that nobody has to write a name and an address.
    customer_id: String,
}

/// An answer that is no success.
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) body: Value,
}

impl Merchant {
    pub(super) fn new(
        interface: Router,
        client_id: ClientId,
        api_key: Zeroizing<String>,
        shop_url: String,
    ) -> Self {
        Self { interface, client_id, api_key, shop_url, known: OnceCell::new() }
    }

    /// Its id; `None` before its first sale in this process.
    pub(super) fn id(&self) -> Option<&str> {
        self.known.get().map(|known| known.merchant_id.as_str())
    }

    /// Makes a session for one product; returns the address of its payment page, for a buyer who is known there.
    pub(super) async fn sell(
        &self,
        app: &App,
        product: &Product,
        language: Language,
    ) -> Result<String, Refusal> {
        let DemoRecords { merchant_id, customer_id } =
            self.known.get_or_try_init(|| self.find_or_make()).await?;
        let name = language.name_of(product);
        let due = app.clock.of(self.client_id);
        let session = json!({
            "name": name, "merchantId": merchant_id, "createLink": true,
            "items": [{ "name": name, "unitPrice": product.cents, "quantity": 1, "tangible": true }],
            "paymentMethods": [
                { "paymentType": "pix", "expiresIn": PIX_SECONDS },
                { "paymentType": "credit", "installments": 6 },
                { "paymentType": "boleto", "expiresDate": day_after(due) },
            ],
        });
        let made = self.post("/v1/sessions", &session).await?;
        Ok(format!("/pay/{}#customerId={customer_id}", text(&made, "id")?))
    }

    /// Pays what waits for its payer; only charges of this shop.
    pub(super) async fn pay(&self, id: Id<of::Charge>) -> Result<(), Refusal> {
        let path = format!("/v1/charges/{id}");
        let charge = self.get(&path).await?;
        if self.id().is_none() || charge["merchantId"].as_str() != self.id() {
            return Err(Refusal { status: 404, body: Value::Null });
        }
        self.post(&path, &json!({ "status": "authorized" })).await.map(drop)
    }

    /// Moves the time of the account a day ahead; returns its clock.
    pub(super) async fn day_later(&self) -> Result<Value, Refusal> {
        self.post("/v1/sandbox/clock", &json!({ "by": "1d" })).await
    }

    async fn find_or_make(&self) -> Result<DemoRecords, Refusal> {
        let buyer = json!({
            "name": "Ana Souza", "email": "ana@example.com", "phoneNumber": "21988899909",
            "document": { "type": "cpf", "number": "72912053013", "country": "BR" },
            "address": {
                "street": "Avenida Paulista", "streetNumber": "1578", "district": "Bela Vista", "city": "São Paulo",
                "state": "SP", "zipCode": "01310200", "country": "BR",
            },
        });
        let buyer = self.post("/v1/customers?force=true", &buyer).await?;
        Ok(DemoRecords { merchant_id: self.find_or_make_merchant().await?, customer_id: text(&buyer, "id")? })
    }

    /// The merchant of an earlier start, or a new one, with a logo of its own.
    async fn find_or_make_merchant(&self) -> Result<String, Refusal> {
        let merchants = self.get(LOOKED_AT).await?;
        let mut known = merchants["items"].as_array().into_iter().flatten();
        let id = match known.find(|merchant| merchant["name"] == NAME) {
            Some(merchant) => text(merchant, "id")?,
            None => {
                let provider = |name: &str, priority: u8| json!({ "name": name, "priority": priority, "credentials": { "type": "SANDBOX", "apiKey": "demo" } });
                let merchant = json!({
                    "mcc": "5814", "name": NAME, "merchantName": "Café Regente",
                    "providers": [provider("Sandbox A", 1), provider("Sandbox B", 2)],
                });
                text(&self.post("/v1/merchants", &merchant).await?, "id")?
            }
        };
        match self.send(self.settings(&id)).await {
            // 409: an earlier start has made them.
            Ok(_) | Err(Refusal { status: 409, .. }) => Ok(id),
            Err(refusal) => Err(refusal),
        }
    }

    /// The form with the looks of the shop's payment pages.
    fn settings(&self, merchant_id: &str) -> Request<Body> {
        let mut form = Vec::new();
        let fields =
            [("mainColor", "#5B3A29"), ("secondaryColor", "#C8963E"), ("companyUrl", &self.shop_url)];
        for (name, value) in fields {
            let part =
                format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
            form.extend_from_slice(part.as_bytes());
        }
        let head =
            "Content-Disposition: form-data; name=\"logo\"; filename=\"logo.png\"\r\nContent-Type: image/png";
        form.extend_from_slice(format!("--{BOUNDARY}\r\n{head}\r\n\r\n").as_bytes());
        form.extend_from_slice(LOGO);
        form.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
        let mut request = self.request(Method::POST, "/v1/settings", Body::from(form));
        let kind = HeaderValue::from_static("multipart/form-data; boundary=regente-demo");
        request.headers_mut().insert(header::CONTENT_TYPE, kind);
        if let Ok(merchant_id) = HeaderValue::from_str(merchant_id) {
            request.headers_mut().insert("x-merchant-id", merchant_id);
        }
        request
    }

    async fn get(&self, path: &str) -> Result<Value, Refusal> {
        self.send(self.request(Method::GET, path, Body::empty())).await
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value, Refusal> {
        self.send(self.request(Method::POST, path, Body::from(body.to_string()))).await
    }

    fn request(&self, method: Method, path: &str, body: Body) -> Request<Body> {
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().unwrap_or_default();
        let headers = request.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in
            [("x-client-id", self.client_id.to_string()), ("x-api-key", self.api_key.to_string())]
        {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(name, value);
            }
        }
        request
    }

    async fn send(&self, request: Request<Body>) -> Result<Value, Refusal> {
        let Ok(answer) = self.interface.clone().oneshot(request).await;
        let status = answer.status();
        let bytes = to_bytes(answer.into_body(), ANSWER_BYTES_MAX).await.unwrap_or_default();
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        if status.is_success() { Ok(body) } else { Err(Refusal { status: status.as_u16(), body }) }
    }
}

fn text(body: &Value, member: &str) -> Result<String, Refusal> {
    let text = body[member].as_str().map(str::to_owned);
    text.ok_or_else(|| Refusal { status: 502, body: body.clone() })
}

/// The day some days after `now`, `YYYY-MM-DD`.
fn day_after(now: Timestamp) -> String {
    let days = std::time::Duration::from_secs(86_400 * BOLETO_DAYS.unsigned_abs());
    (now + days).to_string().chars().take(10).collect()
}
