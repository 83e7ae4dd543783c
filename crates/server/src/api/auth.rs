//! `POST /v1/auth` and `DELETE /v1/auth/{publicKey}`: client tokens, the public keys of front ends
//! (`docs/interface/auth.md`).
//!
//! Secret keys are made by the operator only.

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use regente_domain::id::ClientId;
use regente_domain::scope::Scopes;
use regente_domain::time::Timestamp;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::credentials::{self, Limits, NewClientToken};
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use serde::Serialize;
use serde_json::Value;
use utoipa::openapi::{ArrayBuilder, OneOfBuilder, Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use super::fields::{Body, Fields};
use super::idempotency::commit_once;
use super::path::Path;
use super::schema::words;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use regente_domain::wire::tagged::Components;

/// What a client token is asked for with.
#[derive(ToSchema)]
#[schema(as = NewClientToken, example = json!({ "scope": ["tokens", "cards"], "expires": 600 }))]
#[expect(
    dead_code,
    reason = "describes the body for the OpenAPI document; the body itself is read field by field"
)]
pub struct NewClientTokenBody {
    /// The groups of routes that the key may call: an array, or one word alone. `"*"` is all of them.
    scope: OneOrMany,
    /// The life of the key in seconds. `0`, the default, is the longest life allowed: a year, or what is left of the
    /// life of the client token that asks.
    #[schema(minimum = 0, maximum = 31_536_000, default = 0)]
    expires: Option<i64>,
}

/// One word, or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// `"*"`, or in a request one group alone.
    One(String),
    /// Groups of routes.
    Many(Vec<String>),
}

impl PartialSchema for OneOrMany {
    fn schema() -> RefOr<Schema> {
        let word = || Ref::from_schema_name(words::ScopeWord::name());
        let either =
            OneOfBuilder::new().item(word()).item(ArrayBuilder::new().items(word()).min_items(Some(1)));
        let either = either.description(Some("One word, or several."));
        RefOr::T(either.into())
    }
}

impl ToSchema for OneOrMany {
    fn schemas(found: &mut Components) {
        found.push((words::ScopeWord::name().into_owned(), words::ScopeWord::schema()));
    }
}

/// A client token: a public key for front ends.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "publicKey": "30173513-f2a3-42ba-822e-14078ad74c06",
    "clientId": "cc0b1e41-2936-45c5-947f-93995ffcdc00",
    "scope": ["tokens", "cards"],
    "expires": 600,
    "createdAt": "2023-09-20T18:30:22.344Z"
}))]
pub struct ClientToken {
    /// The new key, for `X-Api-Key`. It is shown in this answer alone.
    #[schema(value_type = String, format = "uuid")]
    public_key: Uuid,
    /// The account.
    #[schema(value_type = String, format = "uuid")]
    client_id: ClientId,
    /// What it may call, in the form that was sent; a single word becomes an array.
    scope: OneOrMany,
    /// Its life in seconds.
    #[schema(example = 600)]
    expires: u64,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

/// Makes a client token.
///
/// A public key for front ends: it may call the groups of routes in `scope`, until it ends. It cannot be renewed. A
/// client token can make another one when it has the scope `auth`; the new key then may do no more and live no longer
/// than the one that asks.
#[utoipa::path(
    post,
    path = "/v1/auth",
    operation_id = "createClientToken",
    tag = "Authentication",
    request_body(content = NewClientTokenBody, content_type = "application/json"),
    responses(
        (status = 201, description = "The client token.", body = ClientToken),
        (status = 409, description = "The idempotency key is in use, or was used with another body.",
            body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let limits = Limits::of(&app, &caller);
    let (new, shown) = body.read(|fields| read_new(fields, &limits))?;
    if !limits.allow(&new.scopes) {
        return Err(ApiError::Forbidden);
    }
    let plan = || async {
        let (batch, token) = credentials::plan_client_token(&app, &caller, &limits, &new);
        let view = ClientToken {
            public_key: token.public_key,
            client_id: caller.client_id,
            scope: shown.clone(),
            expires: token.life,
            created_at: token.created_at,
        };
        Planned::showing(batch, StatusCode::CREATED.as_u16(), &view)
    };
    commit_once(&app, &caller, &headers, "POST /v1/auth", &body, plan).await
}

/// Revokes a client token.
///
/// On the node that is asked it works no more at once, on others within seconds. A key that is revoked already stays
/// so.
#[utoipa::path(
    delete,
    path = "/v1/auth/{publicKey}",
    operation_id = "revokeClientToken",
    tag = "Authentication",
    params(("publicKey" = String, Path, format = "uuid", description = "The client token")),
    responses(
        (status = 204, description = "The key is revoked."),
        (status = 404, description = "The account has no such client token.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn revoke(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    request_id: Option<Extension<RequestId>>,
    Path(public_key): Path<String>,
) -> Result<StatusCode, ApiError> {
    let public_key = Uuid::try_parse(&public_key).map_err(|_| Error::NotFound)?;
    let engine = app.engine.clone();
    let revocation = async move {
        let request_id = request_id.as_ref().map(|Extension(id)| id);
        credentials::revoke_client_token(&engine, &caller, request_id, public_key).await
    };
    app.forgetting_credentials(revocation).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A client token that is asked for, and its scopes in the form in which the answer shows them.
fn read_new(fields: &Fields<'_>, limits: &Limits) -> Option<(NewClientToken, OneOrMany)> {
    let scope = fields.required("scope").read(read_scope);
    let life_max = i64::try_from(limits.life_max()).unwrap_or(i64::MAX);
    let life = fields.optional("expires").integer(0..=life_max).and_then(|life| u64::try_from(life).ok());
    let (scopes, shown) = scope?;
    Some((NewClientToken { scopes, life: life.filter(|life| *life > 0) }, shown))
}

/// Parses `"*"`, one word, or an array of words. The answer shows what was sent, each word once.
fn read_scope(value: &Value) -> Result<(Scopes, OneOrMany), &'static str> {
    const UNKNOWN: &str = "must contain only known values";
    let mut words: Vec<&str> = Vec::new();
    let sent = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    for word in sent {
        let word = word.as_str().ok_or(UNKNOWN)?;
        if !words.contains(&word) {
            words.push(word);
        }
    }
    if words.is_empty() {
        return Err("should not be empty");
    }
    let scopes = Scopes::parse(words.iter().copied()).ok_or(UNKNOWN)?;
    let shown = if value.as_str() == Some(Scopes::ALL_WORD) {
        OneOrMany::One(Scopes::ALL_WORD.to_owned())
    } else {
        OneOrMany::Many(words.into_iter().map(str::to_owned).collect())
    };
    Ok((scopes, shown))
}
