//! What stands around every route: the limit of a body, panics, cross-origin headers, the request id.
//!
//! `axum::middleware::from_fn` would hold the request three times over in each layer, for as long as its answer takes. With
//! thousands that wait for a provider that is most of their memory. So a layer is a function that looks at the
//! request, hands it on, and returns a future that waits for the answer without it.

use std::convert::Infallible;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::Route;
use tower::layer::layer_fn;
use tower::{Service, service_fn};

use super::request_id::{self, Boundary};
use super::{cors, limits};

/// What every route ends with: an answer.
pub type Answered = Result<Response, Infallible>;

/// Puts the layers around the routes: the request id around everything, and what a panic answers next to the handlers.
pub fn around(routes: Router, boundary: Boundary, body_bytes_max: usize) -> Router {
    routes.layer(limits::catch_panic()).layer(layer_fn(move |route: Route| {
        let boundary = boundary.clone();
        service_fn(move |request: Request| {
            let mut route = route.clone();
            request_id::track(&boundary, request, move |request| {
                cors::answer(request, move |request| {
                    limits::limit_body(body_bytes_max, request, move |request| route.call(request))
                })
            })
        })
    }))
}
