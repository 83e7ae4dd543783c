//! The layers around every route: body limit, panics, envelopes of resources, cross-origin headers, request id.
//!
//! `axum::middleware::from_fn` would keep three copies of the request in each layer until it is answered: most of the
//! memory of thousands of requests that wait for a provider. So a layer here is a function that reads the request,
//! passes it on, and returns a future that waits without it.

use axum::Router;
use axum::extract::Request;
use axum::routing::Route;
use tower::layer::layer_fn;
use tower::{Service, service_fn};

use super::request_id::{self, Boundary};
use super::{cors, envelope};
use crate::http::limits::{self, BodyLimits};

/// Adds the layers to the routes: the request id is outermost, the answer to panics innermost. Each request carries `app`, the
/// application, in its extensions.
pub fn around<A>(routes: Router, app: A, boundary: Boundary, bodies: BodyLimits) -> Router
where
    A: Clone + Send + Sync + 'static,
{
    routes.layer(limits::catch_panic()).layer(layer_fn(move |route: Route| {
        let (app, boundary, bodies) = (app.clone(), boundary.clone(), bodies.clone());
        service_fn(move |mut request: Request| {
            request.extensions_mut().insert(app.clone());
            let (mut route, bodies) = (route.clone(), bodies.clone());
            request_id::track(&boundary, request, move |request| {
                cors::answer(request, move |request| {
                    envelope::of_resource(request, move |request| {
                        limits::limit_body(bodies, request, move |request| route.call(request))
                    })
                })
            })
        })
    }))
}
