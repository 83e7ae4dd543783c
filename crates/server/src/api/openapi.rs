//! The OpenAPI 3.1 document, `/openapi.json`. The page that shows it is `docs_page.rs`.

mod events;
mod finish;
pub mod gate;

use axum::Router;
use axum::body::Bytes;
use axum::http::header;
use axum::routing::get;
use regente_domain::payment_type::PaymentType;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, License, OpenApi, OpenApiBuilder};

use super::prepayments::error::{PrepaymentErrorBody, PrepaymentErrorCode};
use super::schema::words;
use super::webhooks::{WebhookErrorBody, WebhookErrorDetail};
use crate::app::App;
use crate::http::error::{ErrorBody, ErrorEnvelope, ErrorType, ForbiddenBody};

pub use finish::finish;

/// The document before routes are added.
pub fn base() -> OpenApi {
    let header = |name: &str, description: &str| {
        SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description(name, description)))
    };
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("Regente")
                .version(env!("CARGO_PKG_VERSION"))
                .description(Some(include_str!("openapi/introduction.md")))
                .license(Some(License::new("Apache-2.0")))
                .build(),
        )
        .components(Some(
            ComponentsBuilder::new()
                // The answers that all routes share refer to these components by name.
                .schema_from::<ErrorEnvelope>()
                .schema_from::<ErrorBody>()
                .schema_from::<ErrorType>()
                .schema_from::<ForbiddenBody>()
                .schema_from::<WebhookErrorBody>()
                .schema_from::<WebhookErrorDetail>()
                .schema_from::<PrepaymentErrorBody>()
                .schema_from::<PrepaymentErrorCode>()
                // Parameters of queries do so too.
                .schema_from::<words::BusinessCode>()
                .schema_from::<words::DeclinedCode>()
                .schema_from::<PaymentType>()
                .schema_from::<words::SortOrder>()
                .schema_from::<words::ListOrder>()
                .schemas_from_iter(events::components())
                .security_scheme("client_id", header("X-Client-Id", "The account."))
                .security_scheme(
                    "api_key",
                    header("X-Api-Key", "A secret key, or a client token's public key."),
                )
                .build(),
        ))
        .webhooks(Some(events::webhooks()))
        .build()
}

/// The operations of a path, of all methods that routes have.
fn operations_of(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem { get, put, post, delete, patch, .. } = item;
    [get, put, post, delete, patch].into_iter().flatten()
}

/// Where the document is.
const DOCUMENT: &str = "/openapi.json";

/// The document as it is served.
pub fn text(document: &OpenApi) -> Bytes {
    serde_json::to_vec(document).expect("its types are JSON").into()
}

/// The route of the document.
pub(super) fn for_programs(document: Bytes) -> Router<App> {
    let serve = move || async move { ([(header::CONTENT_TYPE, "application/json")], document) };
    Router::new().route(DOCUMENT, get(serve))
}
