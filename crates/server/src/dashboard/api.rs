//! The interface, as the dashboard calls it in this process: the very router that callers outside reach, with a member as the
//! caller.

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use regente_engine::members::SignedIn;
use serde_json::Value;
use tower::ServiceExt;

use crate::http::headers::IDEMPOTENCY_KEY;

/// Most bytes of an answer that a page reads.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The interface. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Api(Router);

/// What the interface answered in place of what was asked.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The status.
    pub status: StatusCode,
    /// The error as the interface has it; null where the answer is no JSON.
    pub body: Value,
}

impl Api {
    /// The interface behind this router, with all its layers.
    pub fn new(router: Router) -> Self {
        Self(router)
    }

    /// What a path shows to the member.
    ///
    /// # Errors
    /// What the interface refuses with.
    pub async fn get(&self, who: &SignedIn, path: &str) -> Result<Value, Refused> {
        self.call(who, Request::get(path).body(Body::empty())).await
    }

    /// Posts a body in the member's name; `key` is the idempotency key.
    ///
    /// # Errors
    /// What the interface refuses with.
    pub async fn post(&self, who: &SignedIn, path: &str, key: &str, body: &Value) -> Result<Value, Refused> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header(header::CONTENT_TYPE, "application/json")
            .header(IDEMPOTENCY_KEY, key);
        self.call(who, request.body(Body::from(body.to_string()))).await
    }

    async fn call(
        &self,
        who: &SignedIn,
        request: axum::http::Result<Request<Body>>,
    ) -> Result<Value, Refused> {
        // A path that was made of what a browser sent may be none.
        let mut request = request.map_err(|_| Refused::plain(StatusCode::NOT_FOUND))?;
        request.extensions_mut().insert(who.caller());
        let Ok(response) = self.0.clone().oneshot(request).await;
        let status = response.status();
        let bytes = axum::body::to_bytes(response.into_body(), ANSWER_BYTES_MAX).await;
        let bytes = bytes.map_err(|_| Refused::plain(StatusCode::BAD_GATEWAY))?;
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        if status.is_success() { Ok(body) } else { Err(Refused { status, body }) }
    }
}

impl Refused {
    /// A refusal without a body.
    fn plain(status: StatusCode) -> Self {
        Self { status, body: Value::Null }
    }
}
