//! Lists every route with the access that it demands (`docs/interface/auth.md#routes`). The document takes it from here.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::routing::Route;
use regente_domain::scope::Scope;
use regente_engine::error::Error;
use tower::layer::layer_fn;
use tower::{Layer, Service, service_fn};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

use super::docs_page::KeySource;
use super::merchants::platform_fee;
use super::openapi::gate::{Key, described};
use super::request_id::Boundary;
use super::strangers::{Behind, door};
use super::{
    auth, cards, challenge, charges, checkout, customer_cards, customers, docs_page, documents, flows,
    hosted_fields, layers, ledger, listeners, merchants, notifications, openapi, payment_page, payouts,
    plans, prepayments, providers, purchases, rates, receipts, reports, review_page, sandbox_clock, scripts,
    sellers, sessions, settings, subscriptions, tokens, vendors, webhooks,
};
use crate::access::{Access, Gate, guard};
use crate::app::App;
use crate::dashboard;
use crate::health;
use crate::http::dashboard::Dashboard;
use crate::http::error::ApiError;
use crate::http::limits::BodyLimits;

/// The routes with keys and links, and the document that describes them.
fn routes() -> OpenApiRouter<App> {
    use Access::{Buyer, ListOf, Scope as Needs, SecretKeyOnly};
    let guarded = |access, routes: OpenApiRouter<App>| routes.route_layer(guard(access));
    let behind = |access, routes| guarded(access, described(Key::Taken, routes));
    // Purchases are not made, captured or voided without an idempotency key.
    let with_key = |access, routes| {
        guarded(access, described(Key::Demanded, routes).route_layer(layer_fn(purchases::demand_key)))
    };
    let linked = |routes: UtoipaMethodRouter<App>| {
        OpenApiRouter::new().routes(routes).route_layer(door(Behind::Links))
    };
    OpenApiRouter::with_openapi(openapi::base())
        .merge(behind(Needs(Scope::Auth), routes!(auth::create)))
        .merge(behind(SecretKeyOnly, routes!(auth::revoke)))
        .merge(behind(Needs(Scope::Tokens), routes!(tokens::create)))
        .merge(behind(Needs(Scope::Cards), routes!(cards::create)))
        .merge(behind(ListOf(Scope::Cards), routes!(cards::list)))
        .merge(behind(Needs(Scope::Cards), routes!(cards::read_one)))
        .merge(behind(SecretKeyOnly, routes!(cards::delete)))
        .merge(behind(Needs(Scope::Customers), routes!(customers::create)))
        .merge(behind(ListOf(Scope::Customers), routes!(customers::list)))
        .merge(behind(Needs(Scope::Customers), routes!(customers::read)))
        .merge(behind(Needs(Scope::Customers), routes!(customers::update, customers::delete)))
        .merge(behind(Needs(Scope::Customers), routes!(customer_cards::link, customer_cards::list)))
        .merge(behind(Needs(Scope::Charges), routes!(charges::create)))
        .merge(behind(ListOf(Scope::Charges), routes!(charges::list)))
        .merge(behind(Needs(Scope::Charges), routes!(charges::read_one, charges::status::set_status)))
        .merge(behind(Needs(Scope::Charges), routes!(charges::authentication::create_setup)))
        .merge(behind(Needs(Scope::Charges), routes!(charges::anti_fraud::set_verdict)))
        .merge(behind(Needs(Scope::Charges), routes!(charges::operations::capture)))
        .merge(behind(Needs(Scope::Charges), routes!(charges::operations::void)))
        .merge(behind(Needs(Scope::Charges), routes!(charges::explanation::explain)))
        .merge(behind(SecretKeyOnly, routes!(receipts::read_of_charge)))
        .merge(behind(SecretKeyOnly, routes!(receipts::create)))
        .merge(behind(SecretKeyOnly, routes!(merchants::create, merchants::list)))
        .merge(behind(SecretKeyOnly, routes!(merchants::read, merchants::update, merchants::delete)))
        .merge(behind(SecretKeyOnly, routes!(platform_fee::create, platform_fee::read, platform_fee::update)))
        .merge(behind(SecretKeyOnly, routes!(platform_fee::delete)))
        .merge(behind(SecretKeyOnly, routes!(platform_fee::switch)))
        .merge(behind(Needs(Scope::Providers), routes!(providers::update)))
        .merge(behind(SecretKeyOnly, routes!(ledger::accounts)))
        .merge(behind(SecretKeyOnly, routes!(ledger::balances)))
        .merge(behind(SecretKeyOnly, routes!(ledger::entries)))
        .merge(behind(SecretKeyOnly, routes!(rates::list)))
        .merge(behind(SecretKeyOnly, routes!(settings::create, settings::read, settings::update)))
        .merge(behind(SecretKeyOnly, routes!(flows::create)))
        .merge(behind(ListOf(Scope::Flows), routes!(flows::list)))
        .merge(behind(SecretKeyOnly, routes!(flows::validate)))
        .merge(behind(SecretKeyOnly, routes!(flows::restore)))
        .merge(behind(Needs(Scope::Flows), routes!(flows::read)))
        .merge(behind(SecretKeyOnly, routes!(flows::delete)))
        .merge(behind(SecretKeyOnly, routes!(plans::list)))
        .merge(behind(SecretKeyOnly, routes!(plans::read)))
        .merge(behind(SecretKeyOnly, routes!(vendors::create, vendors::list)))
        .merge(behind(SecretKeyOnly, routes!(vendors::read, vendors::update, vendors::delete)))
        .merge(behind(SecretKeyOnly, routes!(reports::create, reports::list)))
        .merge(behind(SecretKeyOnly, routes!(reports::read)))
        .merge(described(Key::Taken, routes!(reports::read_file)).route_layer(key_or_link(SecretKeyOnly)))
        .merge(behind(SecretKeyOnly, routes!(payouts::balance)))
        .merge(behind(SecretKeyOnly, routes!(payouts::batches::list)))
        .merge(behind(SecretKeyOnly, routes!(payouts::batches::read)))
        .merge(behind(SecretKeyOnly, routes!(payouts::batches::list_orders)))
        .merge(behind(SecretKeyOnly, routes!(payouts::orders::list)))
        .merge(behind(SecretKeyOnly, routes!(payouts::orders::read)))
        .merge(with_key(SecretKeyOnly, routes!(purchases::create)))
        .merge(behind(SecretKeyOnly, routes!(purchases::read_one)))
        .merge(behind(SecretKeyOnly, routes!(purchases::history)))
        .merge(with_key(SecretKeyOnly, routes!(purchases::capture)))
        .merge(with_key(SecretKeyOnly, routes!(purchases::void)))
        .merge(behind(Needs(Scope::Sessions), routes!(sessions::create)))
        .merge(behind(ListOf(Scope::Sessions), routes!(sessions::list::list)))
        .merge(behind(Buyer, routes!(sessions::read_one)))
        .merge(behind(Needs(Scope::Sessions), routes!(sessions::update)))
        .merge(behind(Needs(Scope::Sessions), routes!(sessions::cancel)))
        .merge(behind(Buyer, routes!(sessions::charge)))
        .merge(behind(Buyer, routes!(sessions::card::give)))
        .merge(behind(Needs(Scope::Sessions), routes!(sessions::history)))
        .merge(behind(Buyer, routes!(sessions::link::read)))
        .merge(behind(Buyer, routes!(sessions::buyers::create_token)))
        .merge(behind(Buyer, routes!(sessions::buyers::create_card)))
        .merge(behind(Buyer, routes!(sessions::buyers::create_customer)))
        .merge(behind(Buyer, routes!(sessions::buyers::read_customer)))
        .merge(behind(Buyer, routes!(sessions::buyers::link_card, sessions::buyers::list_cards)))
        .merge(behind(Needs(Scope::Sellers), routes!(sellers::create)))
        .merge(behind(ListOf(Scope::Sellers), routes!(sellers::list)))
        .merge(behind(Needs(Scope::Sellers), routes!(sellers::documents::create)))
        .merge(behind(ListOf(Scope::Sellers), routes!(sellers::documents::list)))
        .merge(behind(Needs(Scope::Sellers), routes!(sellers::documents::read, sellers::documents::delete)))
        .merge(behind(ListOf(Scope::Sellers), routes!(sellers::reviews::list)))
        .merge(behind(Needs(Scope::Sellers), routes!(sellers::reviews::open)))
        .merge(behind(ListOf(Scope::Sellers), routes!(sellers::reviews::list_of_seller)))
        .merge(behind(Needs(Scope::Sellers), routes!(sellers::reviews::read)))
        .merge(behind(Needs(Scope::Sellers), routes!(sellers::reviews::answer)))
        .merge(behind(Needs(Scope::Sellers), routes!(sellers::read, sellers::update, sellers::delete)))
        .merge(behind(Needs(Scope::Subscriptions), routes!(subscriptions::create)))
        .merge(behind(ListOf(Scope::Subscriptions), routes!(subscriptions::list::list)))
        .merge(behind(Needs(Scope::Subscriptions), routes!(subscriptions::preview::preview)))
        .merge(behind(
            Needs(Scope::Subscriptions),
            routes!(subscriptions::settings::read, subscriptions::settings::update),
        ))
        .merge(behind(Needs(Scope::Subscriptions), routes!(subscriptions::read, subscriptions::update)))
        .merge(behind(
            Needs(Scope::Subscriptions),
            routes!(subscriptions::status::cancel, subscriptions::status::cancel_by_post),
        ))
        .merge(behind(
            Needs(Scope::Subscriptions),
            routes!(subscriptions::status::pause, subscriptions::status::pause_by_post),
        ))
        .merge(behind(
            Needs(Scope::Subscriptions),
            routes!(subscriptions::status::resume, subscriptions::status::resume_by_post),
        ))
        .merge(behind(Needs(Scope::Subscriptions), routes!(subscriptions::card_link::create)))
        .merge(behind(SecretKeyOnly, routes!(subscriptions::advance::advance)))
        .merge(behind(Needs(Scope::Subscriptions), routes!(subscriptions::cycles::list)))
        .merge(behind(Needs(Scope::Subscriptions), routes!(subscriptions::cycles::read)))
        .merge(behind(SecretKeyOnly, routes!(prepayments::create)))
        .merge(behind(SecretKeyOnly, routes!(prepayments::receivables)))
        .merge(behind(SecretKeyOnly, routes!(prepayments::read)))
        .merge(behind(SecretKeyOnly, routes!(prepayments::commit)))
        .merge(behind(Needs(Scope::Webhooks), routes!(webhooks::create, webhooks::list)))
        .merge(behind(Needs(Scope::Webhooks), routes!(webhooks::read, webhooks::update, webhooks::delete)))
        .merge(behind(Needs(Scope::Webhooks), routes!(webhooks::deliveries::list)))
        .merge(behind(Needs(Scope::Webhooks), routes!(webhooks::deliveries::replay)))
        .merge(behind(Needs(Scope::Webhooks), routes!(webhooks::deliveries::ping)))
        .merge(behind(SecretKeyOnly, routes!(listeners::create)))
        .merge(behind(SecretKeyOnly, routes!(listeners::listen, listeners::delete)))
        .merge(behind(SecretKeyOnly, routes!(sandbox_clock::read, sandbox_clock::advance)))
        .merge(behind(SecretKeyOnly, routes!(sandbox_clock::update, sandbox_clock::reset)))
        .merge(linked(routes!(
            charges::authentication::come_back,
            charges::authentication::come_back_with_form
        )))
        .merge(linked(routes!(documents::qr_code)))
        .merge(linked(routes!(documents::slip)))
        .merge(linked(routes!(settings::assets::logo)))
        .merge(linked(routes!(receipts::read_file)))
        .routes(routes!(notifications::receive))
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
}

/// The gate, or where a request brings a link in place of a key, the door for callers without one. The route sees to it that the link
/// is good.
fn key_or_link(access: Access) -> impl Layer<Route, Service: Gate> + Clone + Send + Sync + 'static {
    layer_fn(move |route: Route| {
        let (keyed, linked) = (guard(access).layer(route.clone()), door(Behind::Links).layer(route));
        service_fn(move |request: Request| {
            let (mut keyed, mut linked) = (keyed.clone(), linked.clone());
            async move {
                match reports::link_of(request.uri()) {
                    Some(_) => linked.call(request).await,
                    None => keyed.call(request).await,
                }
            }
        })
    })
}

/// What every application of this process serves, and the OpenAPI document of this release. They are put together once: the
/// document is as much work as hundreds of requests. It is kept as a text: its types took 8 MB more.
static INTERFACE: LazyLock<(Router<App>, Bytes)> = LazyLock::new(|| {
    let (routes, mut document) = routes().split_for_parts();
    openapi::finish(&mut document);
    let links =
        checkout::for_browsers().merge(payment_page::for_browsers()).merge(review_page::for_browsers());
    let document = openapi::text(&document);
    let file = openapi::for_programs(document.clone());
    let assets = checkout::scripts().merge(docs_page::assets()).merge(scripts::for_browsers(&[
        &*hosted_fields::FIELDS_SCRIPT,
        &*checkout::SCRIPT,
        &*checkout::RETURNED_SCRIPT,
        &*docs_page::SCRIPT,
    ]));
    let routes = routes
        .merge(links.route_layer(door(Behind::Links)))
        .merge(file.route_layer(door(Behind::Pages)))
        .merge(assets.route_layer(door(Behind::Files)))
        .merge(checkout::of_the_session());
    (routes, document)
});

/// The OpenAPI document of this release, as JSON.
pub fn document() -> &'static [u8] {
    &INTERFACE.1
}

/// The router of the whole interface.
pub fn router(app: App) -> Router {
    router_with(app, Pages::default())
}

/// Pages beside the interface, and the one to which a browser is led that asks for `/`.
pub struct Pages {
    /// Their routes.
    pub routes: Router<App>,
    /// The path of the page.
    pub start: &'static str,
    /// Where readers of the reference get a key.
    pub key_source: KeySource,
}

impl Default for Pages {
    fn default() -> Self {
        Self { routes: Router::new(), start: docs_page::PAGE, key_source: KeySource::Operator }
    }
}

/// The router of the whole interface, with further pages.
pub fn router_with(app: App, pages: Pages) -> Router {
    let (chance, clock) = (app.chance.clone(), app.clock.clone());
    let boundary = Boundary {
        new_id: Arc::new(move || chance.uuid()),
        now: Arc::new(move || clock.machine().elapsed()),
    };
    let (routes, document) = &*INTERFACE;
    let reference = docs_page::for_browsers(document, pages.key_source);
    let routes = routes
        .clone()
        .merge(hosted_fields::for_browsers(pages.start).route_layer(door(Behind::Files)))
        .merge(
            challenge::for_browsers().merge(reference).merge(pages.routes).route_layer(door(Behind::Pages)),
        );
    let bodies = BodyLimits::of(&app.limits);
    let around = |routes: Router<App>| {
        let routes = routes
            .fallback(async || ApiError::from(Error::NotFound))
            .method_not_allowed_fallback(async || ApiError::MethodNotAllowed)
            .with_state(app.clone());
        layers::around(routes, app.clone(), boundary.clone(), bodies.clone())
    };
    match app.dashboard {
        Dashboard::Off => around(routes),
        Dashboard::Served => {
            let interface = dashboard::Api::new(around(routes.clone()));
            let pages = dashboard::routes(interface).route_layer(door(Behind::Pages));
            around(routes.merge(pages).merge(dashboard::assets().route_layer(door(Behind::Files))))
        }
    }
}
