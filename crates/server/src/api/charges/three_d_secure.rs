//! `threeDSecure2` of a charge, as answers show it (`docs/interface/charges.md#3-d-secure`): what was sent, and what was
//! found.

use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::authentication::{Authenticated, Authenticator, Found, newest_answer};
use regente_domain::charge::instructions::Instructions;
use regente_domain::charge::{Charge, StateName};
use regente_engine::authentication::THREE_D_SECURE;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, OneOfBuilder, Schema, Type};
use uuid::Uuid;

use super::view::Private;
use crate::api::schema::words;

/// Members that are null where no 3DS server was asked, or has not said them.
const NULL_WITHOUT_A_SERVER: [&str; 3] = ["version", "cardTokenId", "networkTransactionId"];

/// The member as `requests`, oldest first, leave it; `None` when nothing was sent.
pub(super) fn shown(charge: &Charge, private: &Private, requests: &[TransactionRequest]) -> Option<Value> {
    let mut shown = private.get(THREE_D_SECURE)?.as_object()?.clone();
    for name in NULL_WITHOUT_A_SERVER {
        shown.insert(name.to_owned(), Value::Null);
    }
    let authenticator = charge.authentication.as_deref().map(|authentication| &authentication.by);
    if let Some(Authenticator::Server { .. }) = authenticator {
        let results = results(newest_answer(requests));
        shown.extend(results.as_object().cloned().unwrap_or_default());
    }
    let awaits_payer = charge.state.name() == StateName::AwaitingPayer;
    let auth_data = awaits_payer.then(|| requests.iter().rev().find_map(auth_data)).flatten();
    shown.extend(auth_data.map(|auth_data| ("authData".to_owned(), auth_data)));
    Some(Value::Object(shown))
}

fn results(answer: Option<&Authenticated>) -> Value {
    let is = |property: fn(&Authenticated) -> bool| answer.is_some_and(property);
    json!({
        "authenticated": is(Authenticated::is_authenticated),
        "version": answer.and_then(|answer| answer.version.clone()),
        "offered": is(Authenticated::is_enrolled),
        "liabilityShift": is(Authenticated::shifts_liability),
        "cardEnrolled": is(Authenticated::is_enrolled),
        "cardTokenId": null,
        "offeredType": match answer {
            Some(answer) if answer.found == Found::ChallengeWanted => "Unknown",
            Some(answer) if answer.challenged => "Challenge",
            Some(answer) if answer.is_enrolled() => "Frictionless",
            Some(_) | None => "Unknown",
        },
        "challenged": is(|answer| answer.challenged),
        "networkTransactionId": answer
            .filter(|answer| answer.found != Found::ChallengeWanted)
            .and_then(|answer| answer.network_transaction_id.clone()),
    })
}

/// What the browser is to do, if this request says so.
fn auth_data(request: &TransactionRequest) -> Option<Value> {
    let pending = request.pending()?;
    let (response_type, response) = match &pending.instructions {
        Instructions::Challenge { step_up_url, token, pareq } => {
            ("AUTHENTICATION", json!({ "stepUrl": step_up_url, "token": token, "pareq": pareq }))
        }
        Instructions::HostedChallenge { url, md, pa_req, term_url } => {
            ("AUTHORIZATION", json!({ "url": url, "md": md, "paReq": pa_req, "termUrl": term_url }))
        }
        Instructions::Redirect { .. } | Instructions::QrCode { .. } | Instructions::Boleto(_) => {
            return None;
        }
    };
    Some(json!({
        "action": "REDIRECT",
        "providerType": request.provider_type.shown(),
        "responseType": response_type,
        "response": response,
        "networkTransactionId": pending.reference.transaction_id,
    }))
}

/// How the cardholder is authenticated. With `setupId`, a 3DS server is asked; without it, the payment provider
/// authenticates; with `mpi`, the merchant has done it.
#[derive(ToSchema)]
#[schema(as = NewThreeDSecure, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
pub struct NewThreeDSecure {
    /// Of `POST /v1/charges/3ds/setup`.
    setup_id: Option<Uuid>,
    /// Share data with the scheme without authenticating.
    data_only: Option<bool>,
    /// Go on only when the issuer is liable.
    #[schema(schema_with = boolean_or_text)]
    requires_liability_shift: Option<Value>,
    /// Where the buyer returns. Required without `mpi`.
    #[schema(rename = "redirectURL", max_length = 2048)]
    redirect_url: Option<String>,
    /// The merchant's site. Required without `mpi`.
    #[schema(rename = "requestorURL", max_length = 2048)]
    requestor_url: Option<String>,
    /// Required without `mpi`.
    browser: Option<BrowserSchema>,
    billing_address: Option<AuthenticationAddress>,
    shipping_address: Option<AuthenticationAddress>,
    card_holder: Option<AuthenticationCardHolder>,
    mpi: Option<MpiSchema>,
}

/// The only action there is.
fn redirect() -> Schema {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["REDIRECT"])).into()
}

/// A boolean, or its text.
fn boolean_or_text() -> Schema {
    OneOfBuilder::new()
        .item(ObjectBuilder::new().schema_type(Type::Boolean))
        .item(ObjectBuilder::new().schema_type(Type::String).pattern(Some("^(true|false)$")))
        .item(ObjectBuilder::new().schema_type(Type::Null))
        .description(Some("Go on only when the issuer is liable; a boolean, or its text."))
        .into()
}

/// A text, or a number.
fn text_or_number() -> Schema {
    OneOfBuilder::new()
        .item(ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)))
        .item(ObjectBuilder::new().schema_type(Type::Number))
        .description(Some("A text or a number; shown as a text."))
        .into()
}

/// The browser of the cardholder.
#[derive(ToSchema)]
#[schema(as = AuthenticationBrowser, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct BrowserSchema {
    accept_header: String,
    color_depth: i64,
    java_enabled: bool,
    java_script_enabled: Option<bool>,
    language: String,
    screen_height: i64,
    screen_width: i64,
    /// Minutes, as a text.
    time_zone_offset: String,
    user_agent: String,
    ip: String,
    accept_browser_value: Option<String>,
    accept_content: Option<String>,
}

/// An address.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct AuthenticationAddress {
    city: String,
    country: String,
    #[schema(schema_with = text_or_number)]
    street_number: Value,
    zip_code: String,
    state: String,
    street: String,
}

/// The cardholder.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct AuthenticationCardHolder {
    #[schema(format = Email)]
    email: String,
    mobile_phone: Option<String>,
}

/// The result of a 3DS server of the merchant.
#[derive(ToSchema)]
#[schema(as = Mpi, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct MpiSchema {
    acs_transaction_id: Option<String>,
    cavv: Option<String>,
    challenged: Option<bool>,
    directory_server_transaction_id: Option<String>,
    eci: Option<String>,
    #[schema(rename = "threeDSServerTransactionId")]
    three_ds_server_transaction_id: Option<String>,
    trans_status: Option<String>,
    version: Option<String>,
    xid: Option<String>,
}

/// The authentication of the cardholder. The members from `authenticated` on are there when a 3DS server was asked.
#[derive(ToSchema)]
#[schema(as = ThreeDSecure, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is answered for the OpenAPI document")]
pub struct ThreeDSecureSchema {
    setup_id: Option<Uuid>,
    data_only: Option<bool>,
    requires_liability_shift: Option<bool>,
    #[schema(rename = "redirectURL")]
    redirect_url: Option<String>,
    #[schema(rename = "requestorURL")]
    requestor_url: Option<String>,
    browser: Option<BrowserSchema>,
    billing_address: Option<AuthenticationAddress>,
    shipping_address: Option<AuthenticationAddress>,
    card_holder: Option<AuthenticationCardHolder>,
    mpi: Option<MpiSchema>,
    authenticated: Option<bool>,
    #[schema(required = true)]
    version: Option<String>,
    offered: Option<bool>,
    liability_shift: Option<bool>,
    card_enrolled: Option<bool>,
    #[schema(required = true)]
    card_token_id: Option<String>,
    /// `Unknown`, `Challenge` or `Frictionless`.
    offered_type: Option<String>,
    challenged: Option<bool>,
    #[schema(required = true)]
    network_transaction_id: Option<String>,
    /// What the browser is to do; only while the charge waits for the cardholder.
    auth_data: Option<AuthData>,
}

/// What the browser is to do.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is answered for the OpenAPI document")]
struct AuthData {
    #[schema(schema_with = redirect)]
    action: String,
    #[schema(value_type = words::ProviderType)]
    provider_type: String,
    /// `AUTHENTICATION` where a 3DS server was asked, `AUTHORIZATION` where the payment provider authenticates.
    response_type: String,
    response: AuthDataResponse,
    #[schema(required = true)]
    network_transaction_id: Option<String>,
}

/// Of a 3DS server: `token` is posted as `JWT` to `stepUrl`. Of a payment provider: `md`, `paReq` and `termUrl` are
/// posted as `MD`, `PaReq` and `TermUrl` to `url`.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is answered for the OpenAPI document")]
struct AuthDataResponse {
    step_url: Option<String>,
    token: Option<String>,
    pareq: Option<String>,
    url: Option<String>,
    md: Option<String>,
    pa_req: Option<String>,
    term_url: Option<String>,
}

/// What a request says about the authentication of the cardholder: `cardEnrolled` and `challenged` of the question,
/// `liabilityShift` of the end of a challenge, `authenticated` of an authorization.
#[derive(ToSchema)]
#[schema(as = TransactionRequestThreeDs, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is answered for the OpenAPI document")]
pub struct ThreeDsSchema {
    card_enrolled: Option<bool>,
    challenged: Option<bool>,
    liability_shift: Option<bool>,
    authenticated: Option<bool>,
}
