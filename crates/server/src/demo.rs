//! The shop at `/demo` of `regente dev`: a newcomer buys something and watches what a merchant's server would hear. It uses
//! the product as a merchant does: it calls the interface with the account's key, sends the buyer to the payment page, and
//! hears events like a webhook. Everything happens in the sandbox, and `regente serve` has no such page.

mod events;
mod html;
mod merchant;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use regente_domain::id::ClientId;
use regente_engine::error::Error;
use serde_json::json;
use url::{Host, Url, form_urlencoded};
use zeroize::Zeroizing;

use self::events::Events;
use self::html::Language;
use self::merchant::{Merchant, Refusal};
use crate::api::path::{Path, path_id};
use crate::api::query::Query;
use crate::api::router::router;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::limits::read_bytes;

/// Where the shop is.
pub const PATH: &str = "/demo";

/// What the shop sells, with prices in cents.
const PRODUCTS: [Product; 3] = [
    Product {
        id: "beans",
        portuguese: "Café em grãos, 250\u{a0}g",
        english: "Coffee beans, 250\u{a0}g",
        cents: 3990,
    },
    Product { id: "mug", portuguese: "Caneca esmaltada", english: "Enamel mug", cents: 5900 },
    Product { id: "kit", portuguese: "Kit coador e filtros", english: "Pour-over kit", cents: 18900 },
];

/// Something that the shop sells.
#[derive(Clone, Copy, Debug)]
struct Product {
    id: &'static str,
    portuguese: &'static str,
    english: &'static str,
    cents: i64,
}

/// The shop of an account.
struct Shop {
    app: App,
    merchant: Merchant,
    events: Arc<Events>,
}

/// The routes of the shop, which belongs to this account.
pub fn routes(app: &App, client_id: ClientId, api_key: &Zeroizing<String>, url: &str) -> Router<App> {
    let merchant = Merchant::new(router(app.clone()), client_id, api_key.clone(), format!("{url}{PATH}"));
    let shop = Arc::new(Shop { app: app.clone(), merchant, events: Arc::new(Events::of(client_id)) });
    let routes = Router::new()
        .route(PATH, get(show))
        .route(&format!("{PATH}/orders"), post(order))
        .route(&format!("{PATH}/events"), get(hear))
        .route(&format!("{PATH}/charges/{{id}}/pay"), post(pay))
        .route(&format!("{PATH}/day"), post(day_later));
    routes.route_layer(from_fn(only_from_here)).with_state(shop)
}

/// Refuses requests that a page of another site makes, also one whose name leads to this machine.
async fn only_from_here(request: Request, next: Next) -> Response {
    match is_from_here(request.headers()) {
        true => next.run(request).await,
        false => ApiError::Forbidden.into_response(),
    }
}

fn is_from_here(headers: &HeaderMap) -> bool {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let host = header(header::HOST).unwrap_or_default();
    let is_here = match Url::parse(&format!("http://{host}")).as_ref().ok().and_then(Url::host) {
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    let origin =
        header(header::ORIGIN).map(|origin| origin.split_once("://").map_or(origin, |(_, host)| host));
    // The shop's own forms tell no origin, since its pages tell nobody where a request comes from.
    is_here && origin.is_none_or(|origin| origin == host || origin == "null")
}

/// The shop with its goods. From now on it hears events.
async fn show(State(shop): State<Arc<Shop>>, headers: HeaderMap) -> Response {
    shop.events.listen(&shop.app).await;
    html::shop(Language::of(&headers)).answer(StatusCode::OK)
}

/// Makes a session for what was chosen, as a merchant's server would, and sends the buyer to its payment page.
async fn order(
    State(shop): State<Arc<Shop>>,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, ApiError> {
    let language = Language::of(&headers);
    let form = read_bytes(request).await?;
    let chosen = form_urlencoded::parse(&form).find(|(name, _)| name == "product").map(|(_, id)| id);
    let product = PRODUCTS.iter().find(|product| chosen.as_deref() == Some(product.id));
    let product = product.ok_or(Error::NotFound)?;
    Ok(match shop.merchant.sell(&shop.app, product, language).await {
        Ok(payment_page) => Redirect::to(&payment_page).into_response(),
        Err(refusal) => html::refused(language, &refusal).answer(StatusCode::BAD_GATEWAY),
    })
}

/// What the shop has heard after the event with this number.
async fn hear(State(shop): State<Arc<Shop>>, query: Query) -> Result<Response, ApiError> {
    let after = query.read(|parameters| parameters.integer("after", 0..=i64::from(u32::MAX)))?;
    shop.events.listen(&shop.app).await;
    let heard = shop.events.after(after.unwrap_or_default(), shop.merchant.id());
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(heard)).into_response())
}

/// Pays what waits for its payer, such as a Pix, by the simulator.
async fn pay(State(shop): State<Arc<Shop>>, Path(id): Path<String>) -> Result<Response, ApiError> {
    let id = path_id::<regente_domain::id::of::Charge>(&id)?;
    Ok(match shop.merchant.pay(id).await {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(refusal) => refused(refusal),
    })
}

/// Moves the time of the account a day ahead: what waits for its payer too long expires, and so on.
async fn day_later(State(shop): State<Arc<Shop>>) -> Response {
    match shop.merchant.day_later().await {
        Ok(clock) => Json(clock).into_response(),
        Err(refusal) => refused(refusal),
    }
}

fn refused(Refusal { status, body }: Refusal) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    (status, Json(json!({ "refused": body }))).into_response()
}
