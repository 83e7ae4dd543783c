//! The adapter of `PAGARME_V5`: the orders interface of a Brazilian provider. An authorization is an order with one charge;
//! captures, voids and refunds are operations on the charge.
//!
//! * [`ask`] makes requests of calls, [`tell`] makes answers of answers; both are pure.
//! * The order's `code` names the call ([`reference`]): by it the order is searched, and notifications name it.
//! * `docs/providers/pagarme_v5.md` says what every fault means for every operation.

use std::time::Duration;

use futures_util::future::BoxFuture;
use http::{HeaderName, Method, StatusCode};
use regente_domain::card::{CardNumber, Cvv, Expiry};
use regente_domain::currency::Currency;
use regente_domain::decline::{Decline, DeclinedCode, Reason};
use regente_domain::payment_type::PaymentType;
use regente_domain::problems::Problems;
use regente_domain::provider_type::ProviderType;
use regente_domain::routing::Narrowed;
use reqwest::Url;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::http_client::{HttpClient, Incoming, NoResponse, Outgoing};
use crate::notification::{Authentic, Notification, NotificationRefusal, NotificationRequest, ProviderEvent};
use crate::outcome::{Answer, Probe};
use crate::provider::{Adapter, CredentialsCheck, CredentialsRefusal, NotRefused, Provider};
use crate::request::{
    Authorization, Call, CardDetails, Credentials, FollowUp, Inquiry, Mode, Operation, OperationKind,
};

pub mod ask;
mod declines;
mod notification;
pub mod reference;
pub mod tell;
pub mod wire;

use reference::{Metadata, Reference};
use tell::{Extent, UNCERTAIN, Void};
use wire::sent::NewMetadata;
use wire::told::Charge;

/// What the adapter sends.
const PAYMENT_TYPES: [PaymentType; 4] =
    [PaymentType::Credit, PaymentType::Voucher, PaymentType::Pix, PaymentType::Boleto];
const TYPE: ProviderType = ProviderType::PagarmeV5;
/// Where the interface is, for tests and for real money alike: the key tells them apart.
const BASE: &str = "https://api.pagar.me/core/v5";
/// The member of the credentials with the key.
const SECRET_KEY: &str = "secretKey";
/// What keys for tests begin with.
const TEST_KEY: &str = "sk_test_";
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// How long the provider may take; issuers take up to half a minute.
const DEADLINE: Duration = Duration::from_secs(45);
/// How long it may take to read.
const PROBE_DEADLINE: Duration = Duration::from_secs(15);
/// How long after a void was sent first it may be sent again: by then no answer is under way any more.
const SENT_AGAIN_AFTER: Duration = Duration::from_secs(10 * 60);
/// Orders of a page: for one code there is one.
const ORDERS_MAX: usize = 10;
/// From when on it proves something that an order is not found: the request is long over, and the list, for which no delay
/// is published, has had the time to show the order.
const ABSENT_AFTER: Duration = Duration::from_secs(30 * 60);

/// The adapter. `base` is the address of the interface where it is not the provider's own.
///
/// # Panics
/// Never: the provider's own address is one.
pub fn adapter(http: HttpClient, base: Option<Url>) -> Adapter {
    let base = base.unwrap_or_else(|| Url::parse(BASE).expect("it is an address"));
    (TYPE, Box::new(PagarmeV5 { http, base }))
}

struct PagarmeV5 {
    http: HttpClient,
    base: Url,
}

impl Provider for PagarmeV5 {
    fn call(&self, call: Call) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            if is_of_other_mode(&call.credentials, call.mode) {
                return match call.operation {
                    Operation::Authorize(_) | Operation::VerifyCard(_) => {
                        Answer::Declined(Decline::from_reason(Reason::InvalidCredentials))
                    }
                    // An earlier repetition may have been sent with the key before this one.
                    Operation::Capture(_) | Operation::Void(_) => Answer::NotSent,
                };
            }
            match &call.operation {
                Operation::Authorize(authorization) => self.authorize(&call, authorization).await,
                Operation::VerifyCard(_) => Answer::Declined(no_card_check()),
                Operation::Capture(follow_up) => {
                    self.capture(&call, follow_up).await.unwrap_or_else(Answer::from)
                }
                Operation::Void(follow_up) => self.void(&call, follow_up).await.unwrap_or_else(Answer::from),
            }
        })
    }

    fn probe(&self, inquiry: Inquiry) -> BoxFuture<'_, Probe> {
        Box::pin(async move {
            match inquiry.operation {
                OperationKind::Authorization => self.find_out(&inquiry).await.unwrap_or_else(Probe::from),
                // It is never sent.
                OperationKind::ZeroDollar => Probe::Absent,
                // It is sent again under its key.
                OperationKind::Capture => Probe::Unknown,
                OperationKind::Void => self.find_out_void(&inquiry).await.unwrap_or_else(Probe::from),
            }
        })
    }

    fn deadline(&self, _: OperationKind) -> Duration {
        DEADLINE
    }

    fn probe_deadline(&self) -> Duration {
        PROBE_DEADLINE
    }

    fn authenticate(&self, request: &NotificationRequest<'_>) -> Result<Authentic, NotificationRefusal> {
        notification::authenticate(request)
    }

    fn events(&self, notification: &Notification<'_>) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
        notification::events(notification)
    }

    /// No options are published. Of the payment types that the provider has, network tokens (Apple Pay) are not sent.
    fn validate_options(&self, _: &Map<String, Value>, _path: &str) -> Result<Narrowed, Problems> {
        Ok(Narrowed {
            payment_types: Some(PAYMENT_TYPES.to_vec()),
            currencies: Some(vec![Currency::BRL]),
            installments_max: None,
        })
    }

    /// The number that its simulator of cards approves.
    fn test_card(&self) -> Option<CardDetails> {
        Some(CardDetails {
            number: CardNumber::parse("4000000000000010").ok()?,
            holder_name: "TEST".to_owned(),
            expiry: Expiry::parse("12/2049")?,
            cvv: Cvv::parse("123"),
        })
    }

    /// The provider takes no order without a customer.
    fn wants_buyer(&self) -> bool {
        true
    }

    fn check_credentials(
        &self,
        check: CredentialsCheck,
    ) -> BoxFuture<'_, Result<NotRefused, CredentialsRefusal>> {
        Box::pin(async move { self.check(&check).await })
    }
}

/// Whether the key is of the other environment: a sandbox moves no money, and production takes no play money.
fn is_of_other_mode(credentials: &Credentials, mode: Mode) -> bool {
    let is_for_tests = secret_key(credentials).starts_with(TEST_KEY);
    match mode {
        Mode::Sandbox => !is_for_tests,
        Mode::Production => is_for_tests,
    }
}

impl PagarmeV5 {
    async fn authorize(&self, call: &Call, authorization: &Authorization) -> Answer {
        let order = match ask::order(call, authorization) {
            Ok(order) => order,
            Err(decline) => return Answer::Declined(decline),
        };
        let request = self.request("orders.create", Method::POST, &["orders"], &call.credentials);
        let answered = self.http.send(once(request.json(&order), call.key)).await;
        answered.map_or_else(Answer::from, |answered| tell::ordered(&answered, authorization.capture))
    }

    async fn capture(&self, call: &Call, follow_up: &FollowUp) -> Result<Answer, NoResponse> {
        let id = match charge_id(follow_up.transaction_id.as_deref()) {
            Some(id) => id.to_owned(),
            None => match self.search_one(ask::authorized(call, follow_up), &call.credentials).await? {
                Some(charge) => charge.id,
                None => return Ok(UNCERTAIN),
            },
        };
        let path = ["charges", &id, "capture"];
        let request = self.request("charges.capture", Method::POST, &path, &call.credentials);
        let change = match ask::capture(call, follow_up) {
            Ok(change) => change,
            Err(decline) => return Ok(Answer::Declined(decline)),
        };
        let request = request.json(&change);
        let answered = self.http.send(once(request, call.key)).await?;
        if let Some(answer) = tell::capture(&answered, follow_up.amount) {
            return Ok(answer);
        }
        let charge = self.read(&id, &call.credentials).await.ok().flatten();
        Ok(charge.map_or(UNCERTAIN, |charge| tell::captured_before(&charge, follow_up.amount, &answered)))
    }

    async fn void(&self, call: &Call, follow_up: &FollowUp) -> Result<Answer, NoResponse> {
        let (key, amount, credentials) = (call.key, follow_up.amount, &call.credentials);
        let change = match ask::cancellation(call, follow_up) {
            Ok(change) => change,
            Err(decline) => return Ok(Answer::Declined(decline)),
        };
        let charge = match charge_id(follow_up.transaction_id.as_deref()) {
            Some(id) => self.read(id, credentials).await?,
            None => self.search_one(ask::authorized(call, follow_up), credentials).await?,
        };
        let Some(charge) = charge else { return Ok(UNCERTAIN) };
        let is_first = match tell::void(&charge, key, amount, call.at) {
            Void::Answered(answer) => return Ok(answer),
            Void::First { marked, extent } => {
                let answered = self.mark(&charge, marked, credentials).await?;
                match (extent, tell::unmarked(&answered, key)) {
                    (Extent::Part, Some(answer)) => return Ok(answer),
                    (Extent::Part, None) | (Extent::Whole, _) => true,
                }
            }
            // The provider promises nothing of keys here: what was sent may still run.
            Void::Again { since: Some(since) } if call.at.since(since) < SENT_AGAIN_AFTER => {
                return Ok(UNCERTAIN);
            }
            Void::Again { .. } => false,
        };
        let request = self.request("charges.cancel", Method::DELETE, &["charges", &charge.id], credentials);
        let request = request.json(&change);
        let answered = self.http.send(once(request, key)).await?;
        match (tell::voided(&answered), is_first) {
            // What was sent before may have been done.
            (Some(Answer::Declined(_)), false) => return Ok(UNCERTAIN),
            (Some(answer), _) => return Ok(answer),
            (None, _) => {}
        }
        let Some(charge) = self.read(&charge.id, credentials).await.ok().flatten() else {
            return Ok(UNCERTAIN);
        };
        Ok(match tell::void(&charge, key, amount, call.at) {
            Void::Answered(answer) => answer,
            Void::First { .. } | Void::Again { .. } => match is_first {
                true => tell::refusal(&answered).map_or(UNCERTAIN, Answer::Declined),
                // What was sent before may still be on its way.
                false => UNCERTAIN,
            },
        })
    }

    async fn find_out(&self, inquiry: &Inquiry) -> Result<Probe, NoResponse> {
        if let Some(id) = charge_id(inquiry.reference.as_deref()) {
            return Ok(tell::read(&self.get_charge(id, &inquiry.credentials).await?, inquiry.capture));
        }
        let reference = Reference { object_id: inquiry.object_id, key: inquiry.key };
        let answered = self.search(reference, &inquiry.credentials).await?;
        let is_over = inquiry.at.since(inquiry.sent_at) >= ABSENT_AFTER;
        let absent = if is_over { Probe::Absent } else { Probe::Unknown };
        Ok(tell::searched(&answered, &reference.code(), inquiry.capture, absent))
    }

    /// A void is asked about once it was accepted; its reference is the charge.
    async fn find_out_void(&self, inquiry: &Inquiry) -> Result<Probe, NoResponse> {
        let Some(id) = charge_id(inquiry.reference.as_deref()) else { return Ok(Probe::Unknown) };
        let charge = self.read(id, &inquiry.credentials).await?;
        Ok(charge.map_or(Probe::Unknown, |charge| tell::void_accepted(&charge, inquiry.key)))
    }

    async fn check(&self, check: &CredentialsCheck) -> Result<NotRefused, CredentialsRefusal> {
        let refusal = |problem| Err(CredentialsRefusal { member: SECRET_KEY, problem });
        if is_of_other_mode(&check.credentials, check.mode) {
            return refusal(match check.mode {
                Mode::Sandbox => "must be a key for tests: any other moves money",
                Mode::Production => "must not be a key for tests",
            });
        }
        let page = [("page", "1"), ("size", "1")];
        let request = Outgoing::get(TYPE, "charges.list", self.list("charges", &page));
        match self.http.send(authorized(request, &check.credentials)).await {
            Ok(answered) if answered.status == StatusCode::UNAUTHORIZED => {
                refusal("is not accepted by the provider")
            }
            Ok(answered) if answered.status == StatusCode::FORBIDDEN => {
                refusal("is not accepted by the provider from this address")
            }
            Ok(answered) => Ok(NotRefused::told_by(answered.status)),
            Err(_) => Ok(NotRefused::NotReached),
        }
    }

    async fn mark(
        &self,
        charge: &Charge,
        metadata: Metadata,
        credentials: &Credentials,
    ) -> Result<Incoming, NoResponse> {
        let path = ["charges", &charge.id, "metadata"];
        let request = self.request("charges.metadata", Method::PATCH, &path, credentials);
        self.http.send(request.json(&NewMetadata { metadata })).await
    }

    /// The charge; `None` when the provider does not show it.
    async fn read(&self, id: &str, credentials: &Credentials) -> Result<Option<Charge>, NoResponse> {
        Ok(tell::charge(&self.get_charge(id, credentials).await?))
    }

    async fn get_charge(&self, id: &str, credentials: &Credentials) -> Result<Incoming, NoResponse> {
        self.http.send(self.request("charges.get", Method::GET, &["charges", id], credentials)).await
    }

    /// The one charge of an authorization; `None` when there is none, or more than one.
    async fn search_one(
        &self,
        authorization: Reference,
        credentials: &Credentials,
    ) -> Result<Option<Charge>, NoResponse> {
        let answered = self.search(authorization, credentials).await?;
        let mut charges = tell::found(&answered, &authorization.code()).unwrap_or_default();
        let charge = charges.pop();
        Ok(charge.filter(|_| charges.is_empty()))
    }

    async fn search(
        &self,
        authorization: Reference,
        credentials: &Credentials,
    ) -> Result<Incoming, NoResponse> {
        let size = ORDERS_MAX.to_string();
        let page = [("code", &*authorization.code()), ("page", "1"), ("size", &*size)];
        let request = Outgoing::get(TYPE, "orders.list", self.list("orders", &page));
        self.http.send(authorized(request, credentials)).await
    }

    fn request(
        &self,
        step: &'static str,
        method: Method,
        path: &[&str],
        credentials: &Credentials,
    ) -> Outgoing {
        authorized(Outgoing::new(TYPE, step, method, self.url(path)), credentials)
    }

    fn list(&self, of: &str, query: &[(&str, &str)]) -> Url {
        let mut url = self.url(&[of]);
        url.query_pairs_mut().extend_pairs(query);
        url
    }

    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }
}

/// The key is the user; the provider wants no password.
fn authorized(request: Outgoing, credentials: &Credentials) -> Outgoing {
    request.basic(secret_key(credentials), "")
}

fn secret_key(credentials: &Credentials) -> &str {
    credentials.expose(SECRET_KEY).unwrap_or_default()
}

/// Under our key of the operation, which is the same on every repetition.
fn once(request: Outgoing, key: Uuid) -> Outgoing {
    request.header(IDEMPOTENCY_KEY, &key.to_string())
}

/// The provider's id of a charge: some requests are known by that of a transaction.
fn charge_id(reference: Option<&str>) -> Option<&str> {
    reference.filter(|id| id.starts_with("ch_"))
}

/// Routing does not ask for it: the provider documents no check of a card without an order or a customer that it keeps.
fn no_card_check() -> Decline {
    let decline = Decline::of(DeclinedCode::TransactionNotAllowed);
    let message = decline.message.clone();
    Decline { retryable: true, ..decline.with_network("card checks not supported", message) }
}
