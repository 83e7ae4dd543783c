//! The envelopes of resources that have their own ([purchases](super::purchases::error), webhooks, prepayments). Whatever fails below
//! their paths is answered in it: also at the gate, in a panic, for the size of a body, or for a method that the path
//! does not have.
//!
//! Handlers of these resources word their own errors. Everything else is made by [`crate::http::error`] in the general
//! envelope and is put into the resource's own one here.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use futures_util::TryFutureExt;

use super::{prepayments, purchases, webhooks};
use crate::http::Answered;
use crate::http::error::{ErrorBody, General};

/// Whose errors are answered.
#[derive(Clone, Copy, Debug)]
enum Resource {
    Prepayments,
    Purchases,
    Webhooks,
    Other,
}

impl Resource {
    fn of_path(path: &str) -> Self {
        let mut segments = path.strip_prefix("/v1/").into_iter().flat_map(|rest| rest.split('/'));
        match (segments.next(), segments.next()) {
            (Some("purchases"), _) => Self::Purchases,
            (Some("webhooks"), _) => Self::Webhooks,
            (Some("subacquirer"), Some("prepayment")) => Self::Prepayments,
            (Some(_) | None, _) => Self::Other,
        }
    }

    /// The body in the resource's envelope; `None` where the general one holds.
    fn body(self, error: ErrorBody) -> Option<Vec<u8>> {
        match self {
            Self::Prepayments => serde_json::to_vec(&prepayments::error::in_own_body(error)?).ok(),
            Self::Purchases => serde_json::to_vec(&purchases::error::in_own_envelope(error)).ok(),
            Self::Webhooks => serde_json::to_vec(&webhooks::in_own_envelope(error)?).ok(),
            Self::Other => None,
        }
    }
}

/// The layer. It must be inside of the layer that adds request ids to general envelopes.
pub(super) fn of_resource<Next: Future<Output = Answered>>(
    request: Request,
    next: impl FnOnce(Request) -> Next,
) -> impl Future<Output = Answered> {
    let resource = Resource::of_path(request.uri().path());
    next(request).map_ok(move |response| with_own_envelope(resource, response))
}

fn with_own_envelope(resource: Resource, mut response: Response) -> Response {
    let general = response.extensions().get::<General>().map(|General(envelope)| envelope.error.clone());
    let Some(body) = general.and_then(|error| resource.body(error)) else { return response };
    response.extensions_mut().remove::<General>();
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    *response.body_mut() = Body::from(body);
    response
}
