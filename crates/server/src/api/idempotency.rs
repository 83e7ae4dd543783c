//! Reads idempotency keys from headers and marks replayed answers. The engine applies the keys.

use axum::body::Body as HttpBody;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use regente_domain::charge::Charge;
use regente_engine::app::Answer;
use regente_engine::caller::Caller;
use regente_engine::error::Error;
use regente_engine::idempotency::{self, Claim, Claimed, Committed, Finished, Key, KeyedRequest, Planned};
use regente_engine::metrics;
use zeroize::Zeroizing;

use super::fields::Body;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::headers::{IDEMPOTENT_REPLAYED, IdempotencyKey, idempotency_key};

/// What is stored for a request's key before the request takes effect.
pub enum KeyLookup {
    /// No answer is stored. The claim, when a key was sent, belongs in the effect's batch.
    New(Option<Claim>),
    /// The stored answer.
    Answered(Finished),
}

impl From<Claimed> for KeyLookup {
    fn from(claimed: Claimed) -> Self {
        match claimed {
            Claimed::Free(claim) => Self::New(Some(claim)),
            Claimed::Answered(finished) => Self::Answered(finished),
        }
    }
}

/// A request's key and the bytes of its body.
struct Keyed {
    key: IdempotencyKey,
    payload: Zeroizing<Vec<u8>>,
}

impl Keyed {
    /// `None` when the request has no key.
    fn of(headers: &HeaderMap, body: &Body) -> Result<Option<Self>, ApiError> {
        let key = idempotency_key(headers)?;
        Ok(key.map(|key| Self { key, payload: body.canonical_bytes() }))
    }

    /// `route` is the method and the path with its ids.
    fn request<'a>(&'a self, caller: &'a Caller, route: &'a str) -> KeyedRequest<'a> {
        KeyedRequest { caller, key: self.key.as_str(), route, payload: &self.payload }
    }
}

/// Reads the key and its stored answer. `route` is the method and the path with its ids.
pub async fn read(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    route: &str,
    body: &Body,
) -> Result<KeyLookup, ApiError> {
    let Some(keyed) = Keyed::of(headers, body)? else { return Ok(KeyLookup::New(None)) };
    Ok(Claim::read(app, &keyed.request(caller, route)).await?.into())
}

/// The key of a request that an operation of the engine reads itself, if there is one. `route` is as in [`read`].
pub fn key_of(headers: &HeaderMap, route: String, body: &Body) -> Result<Option<Key>, ApiError> {
    let Some(Keyed { key, payload }) = Keyed::of(headers, body)? else { return Ok(None) };
    Ok(Some(Key { text: key.as_str().to_owned(), route, payload }))
}

/// Makes a plan and applies it once for its key.
pub async fn commit_once<Planning: Future<Output = Result<Planned, Error>> + Send>(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    route: &str,
    body: &Body,
    plan: impl FnMut() -> Planning + Send,
) -> Result<Response, ApiError> {
    commit_once_and_complete(app, caller, headers, route, body, plan, Ok).await
}

/// As [`commit_once`] for a request that goes on after its batch; `then` makes the answer.
pub async fn commit_once_then<Planning, Going>(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    route: &str,
    body: &Body,
    plan: impl FnMut() -> Planning + Send,
    then: impl FnOnce(Answer) -> Going + Send,
) -> Result<Response, ApiError>
where
    Planning: Future<Output = Result<Planned, Error>> + Send,
    Going: Future<Output = Result<Answer, Error>> + Send,
{
    let keyed = Keyed::of(headers, body)?;
    let request = keyed.as_ref().map(|keyed| keyed.request(caller, route));
    match idempotency::commit_once_then(app, request, plan, then).await? {
        Committed::Now(answer) => json_response(answer),
        Committed::Before(finished) => body_response(finished),
    }
}

/// As [`commit_once`] for a request that has others move a charge before its batch; `begins` and `plan` as in the engine.
pub async fn commit_once_in_steps<Planning: Future<Output = Result<Planned, Error>> + Send>(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    (route, body): (&str, &Body),
    begins: impl Future<Output = Result<Option<Charge>, Error>> + Send,
    plan: impl FnMut(Option<i64>) -> Planning + Send,
) -> Result<Response, ApiError> {
    let keyed = Keyed::of(headers, body)?;
    let request = keyed.as_ref().map(|keyed| keyed.request(caller, route));
    match idempotency::commit_once_in_steps(app, request, begins, plan).await? {
        Committed::Now(answer) => json_response(answer),
        Committed::Before(finished) => body_response(finished),
    }
}

/// As [`commit_once`] for answers that show what must not be stored, such as the id of a token: `complete` puts it into
/// the answer, new or replayed, from the request, which is the same whenever its key is.
pub async fn commit_once_and_complete<E, Planning>(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    route: &str,
    body: &Body,
    plan: impl FnMut() -> Planning + Send,
    complete: impl FnOnce(Answer) -> Result<Answer, Error> + Send,
) -> Result<Response, ApiError>
where
    E: From<Error> + Into<ApiError>,
    Planning: Future<Output = Result<Planned, E>> + Send,
{
    let keyed = Keyed::of(headers, body)?;
    let request = keyed.as_ref().map(|keyed| keyed.request(caller, route));
    match idempotency::commit_once(app, request, plan).await.map_err(Into::into)? {
        Committed::Now(answer) => json_response(complete(answer)?),
        Committed::Before(Finished::Body(answer)) => Ok(replayed(json_response(complete(answer)?)?)),
        Committed::Before(finished @ Finished::Charge { .. }) => body_response(finished),
    }
}

/// A replayed answer, of an operation whose answers are bodies.
pub fn body_response(finished: Finished) -> Result<Response, ApiError> {
    match finished {
        Finished::Body(answer) => Ok(replayed(json_response(answer)?)),
        Finished::Charge { id, .. } => {
            Err(Error::internal(format!("this answer is a body, not charge {id}")).into())
        }
    }
}

/// Marks an answer as replayed.
pub fn replayed(mut response: Response) -> Response {
    metrics::idempotency_replay();
    response.headers_mut().insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
    response
}

/// Whether an answer was given before: this request had no effect.
pub fn is_replay(response: &Response) -> bool {
    response.headers().contains_key(IDEMPOTENT_REPLAYED)
}

/// The status of a stored answer.
pub fn status_code(status: u16) -> Result<StatusCode, ApiError> {
    Ok(StatusCode::from_u16(status).map_err(Error::internal)?)
}

/// A JSON answer from bytes that are JSON.
pub fn json_response(answer: Answer) -> Result<Response, ApiError> {
    let status = status_code(answer.status)?;
    if status == StatusCode::NO_CONTENT {
        return Ok(status.into_response());
    }
    let headers = [(header::CONTENT_TYPE, "application/json")];
    Ok((status, headers, HttpBody::from(answer.bytes)).into_response())
}
