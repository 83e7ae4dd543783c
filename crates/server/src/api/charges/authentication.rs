//! 3-D Secure (`docs/interface/charges.md#3-d-secure`): prepares an authentication, and receives the cardholder after a
//! challenge.

use std::collections::BTreeMap;

use axum::Extension;
use axum::body::Body as HttpBody;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use deserr::{Deserr, ValuePointerRef};
use regente_domain::charge::authentication::not_authenticated;
use regente_domain::charge::sent::{NewTokenSource, SourceType};
use regente_domain::decline::Reason;
use regente_domain::id::{AuthenticationSetupId, CardId, ChargeId, ClientId};
use regente_domain::problems::Problems;
use regente_domain::provider_type::ShownProviderType;
use regente_domain::wire::tagged::tag_of;
use regente_engine::audit::Openings;
use regente_engine::authentication::challenge;
use regente_engine::authentication::setup::{self, Prepared, SetupSource};
use regente_engine::caller::{Caller, RequestId};
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use regente_providers::authentication::DeviceCollection;
use serde::Serialize;
use url::{Url, form_urlencoded};
use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, Schema, Type};
use uuid::Uuid;

use crate::api::fields::Body;
use crate::api::idempotency::commit_once;
use crate::api::path::{Path, path_id};
use crate::api::schema::words;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope, KeylessErrors};
use crate::http::peer::PeerAddress;
use crate::http::rates::RateKey;

/// The most bytes of a form that a browser brings back.
const RETURNED_BYTES_MAX: usize = 64 * 1024;

/// A card to authenticate the holder of.
#[derive(ToSchema)]
#[schema(as = NewAuthenticationSetup, rename_all = "camelCase", example = json!({
    "sourceType": "token", "tokenId": "cc0b1e41-2936-45c5-947f-93995ffcdc00"
}))]
#[expect(
    dead_code,
    reason = "describes the body for the OpenAPI document; of its members `sourceType` says which is read"
)]
pub struct NewSetupBody {
    #[schema(schema_with = card_or_token)]
    source_type: String,
    /// Of `card`: a stored card.
    card_id: Option<Uuid>,
    /// Of `token`: a card token, which is not used up.
    token_id: Option<Uuid>,
}

fn card_or_token() -> Schema {
    let words = [SourceType::Card.word(), SourceType::Token.word()];
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)).into()
}

/// A prepared authentication.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuthenticationSetup)]
pub struct SetupView {
    /// For `threeDSecure2.setupId` of one charge within an hour.
    #[schema(value_type = Uuid)]
    id: AuthenticationSetupId,
    /// What the browser posts to `collectUrl` as `JWT`.
    #[schema(required = true)]
    token: Option<String>,
    /// The page that collects the data of the device.
    #[schema(required = true)]
    collect_url: Option<String>,
    /// The 3DS server.
    #[schema(value_type = ShownProviderType, example = "SANDBOX")]
    provider_type: &'static str,
    /// Why there is no token; null when there is one.
    #[schema(required = true)]
    error: Option<SetupErrorView>,
}

/// Why an authentication could not be prepared.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuthenticationSetupError)]
pub struct SetupErrorView {
    r#type: &'static str,
    #[schema(value_type = words::DeclinedCode, example = "transaction_not_allowed")]
    declined_code: &'static str,
    message: &'static str,
    details: Vec<String>,
}

/// Prepares an authentication of a cardholder.
///
/// The browser posts `token` to `collectUrl`, so that the issuer learns about the device. The charge that follows names
/// the setup. A card token is not used up.
#[utoipa::path(
    post,
    path = "/v1/charges/3ds/setup",
    operation_id = "createAuthenticationSetup",
    tag = "Charges",
    request_body(content = NewSetupBody, content_type = "application/json"),
    responses(
        (status = 201, description = "The setup.", body = SetupView),
        (status = 404, description = "The body names a card that the account does not have.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use, or was used with another body.",
            body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn create_setup(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(peer): Extension<PeerAddress>,
    request_id: Option<Extension<RequestId>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    if caller.is_public_key() {
        app.limiters.tokens.check(&RateKey::Tokens(caller.credential_id.uuid(), peer.0.into()))?;
    }
    let source = read_source(&body)?;
    let request_id = request_id.map_or_else(|| RequestId::new(""), |Extension(request_id)| request_id);
    let openings = Openings::of(&app, &caller, &request_id);
    let plan = || async {
        let (batch, prepared) = setup::plan(&app, &caller, source, &openings).await?;
        Planned::showing(batch, StatusCode::CREATED.as_u16(), &SetupView::of(prepared))
    };
    commit_once(&app, &caller, &headers, "POST /v1/charges/3ds/setup", &body, plan).await
}

/// A stored card.
#[derive(Deserr)]
#[deserr(rename_all = camelCase, error = Problems)]
struct NamedCard {
    card_id: CardId,
}

/// What `sourceType` does not name does not count.
fn read_source(body: &Body) -> Result<SetupSource, Problems> {
    let words = [(SourceType::Card.word(), false), (SourceType::Token.word(), true)];
    let is_token = tag_of(body.members(), ValuePointerRef::Origin, "sourceType", &words)?;
    Ok(if is_token {
        let NewTokenSource { token_id } = body.read_as()?;
        SetupSource::Token(token_id)
    } else {
        let NamedCard { card_id } = body.read_as()?;
        SetupSource::Card(card_id)
    })
}

impl SetupView {
    fn of(Prepared { id, server, collection }: Prepared) -> Self {
        let provider_type = server.code();
        match collection {
            Some(DeviceCollection { token, collect_url }) => {
                Self { id, token: Some(token), collect_url: Some(collect_url), provider_type, error: None }
            }
            None => {
                let decline = not_authenticated(Reason::AuthenticationUnavailable);
                let error = SetupErrorView {
                    r#type: "card_declined",
                    declined_code: decline.code.code(),
                    message: "The 3DS server does not answer",
                    details: decline.network_denied_reason.into_iter().collect(),
                };
                Self { id, token: None, collect_url: None, provider_type, error: Some(error) }
            }
        }
    }
}

/// Receives the browser of a cardholder after a challenge.
///
/// No key is needed: the signature in the address stands for it, and no program calls it. What became of the challenge is
/// asked of whoever has posed it; then the browser is sent on to `threeDSecure2.redirectURL` with `chargeId`. Whoever comes
/// again, from another tab or at the same time, is only sent on.
#[utoipa::path(
    get, path = "/v1/charges/{id}/3ds-authorization", tag = "Charges", operation_id = "returnFromChallenge",
    params(
        ("id" = Uuid, Path, description = "The charge."),
        ("clientId" = Uuid, Query, description = "The account."),
        ("hash" = String, Query, description = "The signature of the address."),
    ),
    responses(
        (status = 303, description = "On to the merchant."),
        (status = 404, description = "The address is not ours, or no longer good.", body = ErrorEnvelope),
        KeylessErrors,
    ),
)]
pub async fn come_back(app: State<App>, path: Path<String>, request: Request) -> Result<Response, ApiError> {
    lead_on(app, path, request).await
}

/// Receives the browser of a cardholder after a challenge, with a form.
///
/// As GET. The form has what the page of the challenge gives the browser to bring back; its members are the provider's own.
#[utoipa::path(
    post, path = "/v1/charges/{id}/3ds-authorization", tag = "Charges", operation_id = "returnFromChallengeWithForm",
    params(
        ("id" = Uuid, Path, description = "The charge."),
        ("clientId" = Uuid, Query, description = "The account."),
        ("hash" = String, Query, description = "The signature of the address."),
    ),
    responses(
        (status = 303, description = "On to the merchant."),
        (status = 404, description = "The address is not ours, or no longer good, or the form has more than 65,536 bytes.", body = ErrorEnvelope),
        KeylessErrors,
    ),
)]
pub async fn come_back_with_form(
    app: State<App>,
    path: Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    lead_on(app, path, request).await
}

async fn lead_on(
    State(app): State<App>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let charge_id: ChargeId = path_id(&id)?;
    let query = request.uri().query().unwrap_or_default().to_owned();
    let (client_id, hash) = signature(&query).ok_or(Error::NotFound)?;
    let now = app.clock.of(client_id);
    if !app.return_addresses.is_good(client_id, charge_id, &hash, now) {
        return Err(Error::NotFound.into());
    }
    let returned = returned(&query, request.into_body()).await?;
    // A browser that hangs up leaves nothing half done.
    let coming_back = challenge::come_back(app.engine.clone(), client_id, charge_id, returned);
    let redirect_url = app.in_flight.run(coming_back).await?.ok_or(Error::NotFound)?;
    let mut address = Url::parse(&redirect_url).map_err(Error::internal)?;
    address.query_pairs_mut().append_pair("chargeId", &charge_id.to_string());
    let location = HeaderValue::from_str(address.as_str()).map_err(Error::internal)?;
    let mut response = Response::new(HttpBody::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    response.headers_mut().insert(header::LOCATION, location);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}

/// What a provider has given the browser to bring back: the members of the query, without the signature, and of the form.
async fn returned(query: &str, body: HttpBody) -> Result<BTreeMap<String, String>, ApiError> {
    let form = axum::body::to_bytes(body, RETURNED_BYTES_MAX).await.map_err(|_| Error::NotFound)?;
    let members = form_urlencoded::parse(query.as_bytes()).chain(form_urlencoded::parse(&form));
    let members = members.filter(|(name, _)| !matches!(name.as_ref(), "clientId" | "hash"));
    Ok(members.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
}

/// The account and the signature in an address.
fn signature(query: &str) -> Option<(ClientId, String)> {
    let (mut client_id, mut hash) = (None, None);
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match name.as_ref() {
            "clientId" => client_id = value.parse().ok(),
            "hash" => hash = Some(value.into_owned()),
            _ => {}
        }
    }
    client_id.zip(hash)
}
